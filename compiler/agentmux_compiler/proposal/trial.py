"""Try proposed sources: what a build would make of them, before any of them is written."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agentmux_compiler import emit
from agentmux_compiler.diagnostics import Diagnostic, Severity, has_errors
from agentmux_compiler.lowered import OutputFile
from agentmux_compiler.lowering.output_files import filled, joined
from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.tree import byte_order
from agentmux_compiler.trees.overlay import OverlayTree
from agentmux_compiler.writing.header import HEADER
from agentmux_compiler.writing.write_plan import Unchanged

if TYPE_CHECKING:
    from agentmux_compiler.proposal.composing import Choices, Sources
    from agentmux_compiler.proposal.spec_text import Item
    from agentmux_compiler.proposal.survey import FoundText
    from agentmux_compiler.tree import DiskTree

_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Proof:
    """What a build gives for a file that is there: `differences` are all that it changes, in words.

    `diff` shows what no bundle could give back; the file then stays as it is.
    """

    path: str
    bytes: int
    differences: tuple[str, ...] = ()
    diff: str = ""
    link: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """The outputs of proposed sources, by path, the faults a build finds, the outputs that are there already."""

    outputs: Mapping[str, OutputFile]
    diagnostics: tuple[Diagnostic, ...]
    standing: tuple[OutputFile, ...]


def build(tree: DiskTree, sources: Sources) -> Trial:
    """Compile the sources over the repository as it is; nothing is written."""
    compiled = compile_project(OverlayTree(tree, sources.files, sources.executables))
    outputs = filled(joined(compiled.plans), compiled.plans, tree.root, "")
    plan, _ = emit.plan_writes(outputs, None, {}, tree)
    taken = {text.path for text in sources.texts}
    blocked = [step.diagnostic for step in plan.blocked if step.path not in taken]
    found = [item for item in (*compiled.diagnostics, *blocked) if item.severity is not Severity.NOTE]
    standing = tuple(step.output for step in plan.steps if isinstance(step, Unchanged))
    return Trial({output.path: output for output in outputs}, tuple(found), standing)


def proofs(sources: Sources, trial: Trial) -> tuple[Proof, ...]:
    """For every file that was taken in, what a build of the sources gives in its place."""
    return tuple(_proof(text, trial.outputs.get(text.path)) for text in sources.texts)


def culprits(sources: Sources, trial: Trial, choices: Choices) -> dict[Item, str]:
    """Skills and servers that a build refuses, with the reason."""
    found: dict[Item, str] = {}
    for fault in trial.diagnostics:
        if has_errors([fault]) and fault.span is not None:
            for item in _items_at(fault.span.path, fault.span.line, sources, choices):
                found.setdefault(item, fault.message + (f"; {fault.help}" if fault.help else ""))
    return found


def _items_at(path: str, line: int, sources: Sources, choices: Choices) -> list[Item]:
    item = sources.items.get((path, line))
    if item is not None:
        return [item]
    folder = f"{choices.settings.skills}/"
    name = path.removeprefix(folder).partition("/")[0] if path.startswith(folder) else ""
    return [each for each in sources.items.values() if each.kind == "skill" and each.name == name]


def _proof(text: FoundText, output: OutputFile | None) -> Proof:
    built = output.content if output else b""
    proof = Proof(text.path, len(text.data), link=text.link)
    if built == text.data:
        return proof
    opening = f"{HEADER}\n\n".encode()
    differences = ["the header line above it"] if built.startswith(opening) and not text.marked else []
    bare = built.removeprefix(opening)
    if bare.decode() != text.text:
        return replace(proof, differences=("text",), diff=_diff(text, bare))
    body = text.data.removeprefix(_MARK)
    differences += ["no byte order mark"] if body != text.data else []
    differences += ["LF line ends"] if b"\r\n" in body else []
    end = body.replace(b"\r\n", b"\n")
    differences += ["one final newline"] if end != end.rstrip(b"\n") + b"\n" else []
    return replace(proof, differences=tuple(differences) or ("the lines around the header",))


def _diff(text: FoundText, built: bytes) -> str:
    """Lines that differ, the file's own first."""
    lines = difflib.unified_diff(
        text.text.splitlines(keepends=True),
        built.decode().splitlines(keepends=True),
        text.path,
        f"{text.path} as built",
        n=1,
    )
    return "".join(lines)


def fresh(sources: Sources, trial: Trial) -> tuple[str, ...]:
    """Outputs that a build would add to the repository, in byte order; what git ignores is none."""
    there = {text.path for text in sources.texts} | {output.path for output in trial.standing}
    added = (path for path, output in trial.outputs.items() if output.committed and path not in there)
    return tuple(sorted(added, key=byte_order))
