"""Workflow commands of GitHub Actions, which show findings beside the lines of a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.diagnostics import Severity, has_errors, ordered
from agentmux_compiler.render.causes import causes, told
from agentmux_compiler.render.prefixes import counted
from agentmux_compiler.render.visible import visible
from agentmux_compiler.render.words import whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agentmux_compiler.diagnostics import Diagnostic, Rule, Span
    from agentmux_compiler.render import View
    from agentmux_compiler.report import BuildReport, DiffReport

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def diagnostics(items: Sequence[Diagnostic], _view: View) -> str:
    return "".join(f"{line}\n" for line in _found(items))


def build(report: BuildReport, _view: View) -> str:
    return _report((*report.diagnostics, *report.diff.diagnostics), report.diff)


def diff(report: DiffReport, _view: View) -> str:
    return _report(report.diagnostics, report)


def _report(items: Sequence[Diagnostic], report: DiffReport) -> str:
    broken = (_command(cause.rule, cause.span, told(cause)) for cause in causes(report.plans))
    lines = [*_found(items), *broken]
    if report.plans or not has_errors(items):
        lines.append(counted(report))
    return "".join(f"{line}\n" for line in lines)


def _found(items: Iterable[Diagnostic]) -> Iterator[str]:
    for item in ordered(items):
        yield _command(item.rule, item.span, whole(item))


def _command(rule: Rule, span: Span | None, message: str) -> str:
    properties = {"title": f"{rule.code} {rule.name}"}
    if span:
        properties |= {"file": span.path, "line": str(span.line), "col": str(span.column)}
        if span.end_line == span.line and span.end_column > span.column:
            properties |= {"endLine": str(span.end_line), "endColumn": str(span.end_column)}
    written = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{LEVELS[rule.severity]} {written}::{_data(message)}"


def _data(text: str) -> str:
    return "%0A".join(visible(line).replace("%", "%25") for line in text.split("\n"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
