"""One line per finding: `path:line:column: CODE message`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.diagnostics import has_errors, ordered
from agentmux_compiler.render.causes import lost_tokens, phrase, place, unmasked
from agentmux_compiler.render.costs import paid_again
from agentmux_compiler.render.prefixes import counted
from agentmux_compiler.render.visible import visible
from agentmux_compiler.render.words import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agentmux_compiler.diagnostics import Diagnostic, Span
    from agentmux_compiler.render import View
    from agentmux_compiler.report import BuildReport, DiffReport, PlanDiff


def diagnostics(items: Sequence[Diagnostic], _view: View) -> str:
    return _text(_found(items))


def build(report: BuildReport, _view: View) -> str:
    changed = (f"{item.path}: {item.status}" for item in report.files if item.status != "unchanged")
    items = (*report.diagnostics, *report.diff.diagnostics)
    return _text([*_found(items), *map(visible, changed), *_prefixes(report.diff, items)])


def diff(report: DiffReport, _view: View) -> str:
    return _text([*_found(report.diagnostics), *_prefixes(report, report.diagnostics)])


def _found(items: Iterable[Diagnostic]) -> Iterator[str]:
    for item in ordered(items):
        yield visible(f"{_at(item.span)}{item.code} {item.message}")


def _prefixes(report: DiffReport, items: Iterable[Diagnostic]) -> Iterator[str]:
    for plan in report.plans:
        if plan.verdict == "broken":
            yield from map(visible, _broken(plan))
    if report.plans or not has_errors(items):
        yield counted(report)


def _broken(plan: PlanDiff) -> Iterator[str]:
    lost = paid_again(plan) or f"{count(lost_tokens(plan), 'token')} lost"
    for change in unmasked(plan):
        yield f"{_at(place(change))}{change.code} {plan.agent}/{plan.provider}: {phrase(change)}, {lost}"


def _at(span: Span | None) -> str:
    return f"{span.path}:{span.line}:{span.column}: " if span else ""


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
