"""All plans' outputs together: one file for each path, no two plans against each other, no volatile text in git."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.text.placeholders import volatile_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.lowered import OutputFile
    from agentmux_compiler.segment import Segment


def merge_outputs(files: Iterable[OutputFile]) -> tuple[Mapping[str, OutputFile], list[Diagnostic]]:
    """One output for each path, owned by every plan that wants these bytes; who wants others is in conflict."""
    merged: dict[str, OutputFile] = {}
    found: list[Diagnostic] = []
    for file in files:
        first = merged.get(file.path)
        if first is None:
            merged[file.path] = file
        elif first.content == file.content:
            owners = tuple(dict.fromkeys((*first.owners, *file.owners)))
            merged[file.path] = replace(first, owners=owners)
        else:
            found.append(_conflict(first, file))
    return merged, found


def _conflict(first: OutputFile, second: OutputFile) -> Diagnostic:
    wanted = ", ".join(f"`{owner}`" for owner in (*first.owners, *second.owners))
    return rules.OUTPUT_CONFLICT.at(
        second.at,
        f"{wanted} want different bytes in `{second.path}`",
        help="give all but one of them `delivery: flag` or `delivery: folder`, or another `workdir`",
        notes=(f"the first is asked for at {first.at.path}:{first.at.line}",),
    )


def volatile_faults(segments: Sequence[Segment], *, committed: bool) -> list[Diagnostic]:
    """Placeholders whose value changes by itself: refused in a committed file, priced elsewhere."""
    rule = rules.VOLATILE_IN_COMMITTED if committed else rules.VOLATILE_IN_PREFIX
    text = (
        "changes by itself, and so would a committed file"
        if committed
        else "changes by itself, and every session after that pays for it and for all text behind it"
    )
    remedy = (
        "use `delivery: flag`, or put it into `startup`"
        if committed
        else "put it into `startup`, behind everything that stays the same"
    )
    return [
        rule.at(span, f"`{{{{{name}}}}}` {text}", help=remedy)
        for segment in segments
        if segment.volatile
        for name, span in volatile_at(segment.body)
    ]
