"""A whole build in one line, for `watch`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.diagnostics import Severity, ordered
from agentmux_compiler.render.causes import lost_tokens
from agentmux_compiler.render.visible import visible
from agentmux_compiler.render.words import count, found, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.report import BuildReport, PlanDiff

TOUCHED = {"written", "removed"}


def rebuilt(report: BuildReport, seconds: float) -> str:
    """`rebuilt 3 files, 1 prefix break (-4,667 tokens)  0.12 s`, or the first error and how many more there are."""
    items = ordered((*report.diagnostics, *report.diff.diagnostics))
    errors = [item for item in items if item.severity is Severity.ERROR]
    said = _failed(report, errors) if errors else _built(report, items)
    return f"{visible(said)}  {seconds:.2f} s"


def _failed(report: BuildReport, errors: Sequence[Diagnostic]) -> str:
    first = errors[0]
    at = f" {first.span.path}:{first.span.line}:{first.span.column}" if first.span else ""
    files = sum(file.status in TOUCHED for file in report.files)
    done = f"not all was done: rebuilt {count(files, 'file')}" if files else "nothing was written"
    more = f"; {count(len(errors) - 1, 'more error')}" if len(errors) > 1 else ""
    return f"error[{first.code}]{at}: {first.message}{more}; {done}"


def _built(report: BuildReport, items: Sequence[Diagnostic]) -> str:
    files = sum(file.status in TOUCHED for file in report.files)
    broken = [plan for plan in report.diff.plans if plan.verdict == "broken"]
    parts = [f"rebuilt {count(files, 'file')}", _breaks(broken), found(items)]
    return ", ".join(part for part in parts if part)


def _breaks(broken: Sequence[PlanDiff]) -> str:
    if not broken:
        return "no prefix break"
    lost = number(sum(map(lost_tokens, broken)))
    return f"{count(len(broken), 'prefix break')} (-{lost} tokens)"
