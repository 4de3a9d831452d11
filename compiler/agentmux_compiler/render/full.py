"""The format for people: diagnostics in rustc's shape, then what the prefixes lost, then what was written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentmux_compiler.diagnostics import has_errors, ordered
from agentmux_compiler.render.prefixes import prefix_report
from agentmux_compiler.render.snippet import gutter, snippet
from agentmux_compiler.render.visible import visible
from agentmux_compiler.render.words import count, found, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.render import View
    from agentmux_compiler.report import BuildReport, DiffReport, FileStatus

OUTCOMES = (
    ("written", "written"),
    ("removed", "removed"),
    ("would-write", "would be written"),
    ("would-remove", "would be removed"),
    ("unchanged", "unchanged"),
)


def diagnostics(items: Sequence[Diagnostic], view: View) -> str:
    return "\n".join(_block(item, view) for item in ordered(items))


def build(report: BuildReport, view: View) -> str:
    items = ordered((*report.diagnostics, *report.diff.diagnostics))
    parts = [diagnostics(items, view)]
    failed = has_errors(items)
    if report.diff.plans or not failed:
        parts.append(prefix_report(report.diff, replace(view, accept=None, accepted=False) if failed else view))
    parts.append(_outcome(report.files, items, view))
    return "\n".join(part for part in parts if part)


def diff(report: DiffReport, view: View) -> str:
    parts = [diagnostics(report.diagnostics, view)]
    if report.plans or not has_errors(report.diagnostics):
        parts.append(prefix_report(report, view))
    return "\n".join(part for part in parts if part)


def _block(item: Diagnostic, view: View) -> str:
    paint = view.paint
    severity = item.severity.value
    margin = " " * gutter(item.span)
    lines = [f"{paint(severity, f'{severity}[{item.code}]')}{paint('strong', f': {visible(item.message)}')}"]
    if item.span:
        place = f"{item.span.path}:{item.span.line}:{item.span.column}"
        lines.append(f"{margin}{paint('frame', '-->')} {visible(place)}")
        lines += snippet(item.span, view.source(item.span.path), severity, paint)
    remarks = [("help", item.help)] if item.help else []
    remarks += [("note", note) for note in item.notes]
    for kind, text in remarks:
        lines += _remark(margin, kind, text, view)
    return "\n".join(lines) + "\n"


def _remark(margin: str, kind: str, text: str, view: View) -> list[str]:
    """`= help: text`, further lines of the text below its first."""
    first, *more = text.split("\n")
    opening = f"{margin} {view.paint('frame', '=')} {view.paint('strong', f'{kind}:')} {visible(first)}"
    indent = " " * len(f"{margin} = {kind}: ")
    return [opening, *(f"{indent}{visible(line)}" for line in more)]


def _outcome(files: Sequence[FileStatus], items: Sequence[Diagnostic], view: View) -> str:
    """The last line of a build: what was found, what became of the files."""
    statuses = [item.status for item in files]
    counts = [(statuses.count(status), words) for status, words in OUTCOMES]
    written = [f"{count(total, 'file')} {words}" for total, words in counts if total]
    if has_errors(items):
        done = [f"{count(statuses.count(each), 'file')} {each}" for each in ("written", "removed") if each in statuses]
        sentence = f"not all was done: {listed(done)}" if done else "nothing was written"
        return view.paint("error", f"{found(items)}; {sentence}") + "\n"
    sentence = listed(written) if written else "no file to write"
    return "; ".join(part for part in (found(items), sentence) if part) + "\n"
