"""The files of all plans as one list: each path once, with what only a machine and a day can fill in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentmux_compiler.text.placeholders import fill_volatile
from agentmux_compiler.tree import byte_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from agentmux_compiler.lowered import Lowered, OutputFile


def joined(plans: Iterable[Lowered]) -> tuple[OutputFile, ...]:
    """Every output in byte order of its path; plans that want one path share it and own it together."""
    found: dict[str, OutputFile] = {}
    for file in (file for plan in plans for file in plan.files):
        owners = found[file.path].owners if file.path in found else ()
        found[file.path] = replace(file, owners=(*owners, *(name for name in file.owners if name not in owners)))
    return tuple(found[path] for path in sorted(found, key=byte_order))


def filled(outputs: Sequence[OutputFile], plans: Sequence[Lowered], root: Path, today: str) -> tuple[OutputFile, ...]:
    """The outputs with `{{DATE}}` and `{{WORKING_DIR}}` replaced; only generated files hold any."""
    folders = {f"{plan.plan.agent}/{plan.plan.provider}": str((root / plan.plan.cwd).resolve()) for plan in plans}
    return tuple(_filled(output, folders, today) if output.volatile else output for output in outputs)


def _filled(output: OutputFile, folders: Mapping[str, str], today: str) -> OutputFile:
    values = {"DATE": today, "WORKING_DIR": folders[output.owners[0]]}
    runs = (run for run in output.lines if run.segment in output.quoting)
    quoted = {line for run in runs for line in range(run.line, run.line + run.count)}
    lines = output.content.decode().split("\n")
    made = (line if number in quoted else fill_volatile(line, values) for number, line in enumerate(lines, 1))
    return replace(output, content="\n".join(made).encode("utf-8", "surrogateescape"))
