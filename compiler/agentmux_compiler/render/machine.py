"""JSON for programs: one object, sorted keys, `format_version` 1; neither clock nor absolute path."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from agentmux_compiler.diagnostics import ordered
from agentmux_compiler.render.visible import HIDDEN, UNPAIRED
from agentmux_launcher.codec import to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.render import View
    from agentmux_compiler.report import BuildReport, DiffReport, PlanDiff

FORMAT_VERSION = 1
SCENARIOS = ("relaunch", "new_prompt", "resume")

# Inside JSON such characters stand only in strings, where an escape says the same.
_UNSAFE = re.compile(f"[\x7f-\x9f{UNPAIRED}{HIDDEN}]")


def diagnostics(items: Sequence[Diagnostic], _view: View) -> str:
    return dumps({"diagnostics": listed(items)})


def build(report: BuildReport, _view: View) -> str:
    items = (*report.diagnostics, *report.diff.diagnostics)
    files = [to_json(item) for item in report.files]
    return dumps({"diagnostics": listed(items), "files": files, **_prefixes(report.diff)})


def diff(report: DiffReport, _view: View) -> str:
    return dumps({"diagnostics": listed(report.diagnostics), **_prefixes(report)})


def dumps(value: dict[str, Any]) -> str:
    """The object with its format version, as ASCII-safe text that ends with a newline."""
    text = json.dumps({"format_version": FORMAT_VERSION, **value}, indent=2, sort_keys=True, ensure_ascii=False)
    return _UNSAFE.sub(lambda match: json.dumps(match[0])[1:-1], text) + "\n"


def listed(items: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Diagnostics in report order, as the values that every JSON of ours has them in."""
    return [_diagnostic(item) for item in ordered(items)]


def _diagnostic(item: Diagnostic) -> dict[str, Any]:
    span = item.span
    return {
        "code": item.code,
        "name": item.rule.name,
        "severity": item.severity.value,
        "message": item.message,
        "path": span.path if span else None,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "end_line": span.end_line if span else None,
        "end_column": span.end_column if span else None,
        "help": item.help,
        "notes": list(item.notes),
    }


def _prefixes(report: DiffReport) -> dict[str, Any]:
    return {
        "baseline": report.baseline,
        "plans": [_plan(plan) for plan in report.plans],
        "summary": to_json(report.summary),
    }


def _plan(plan: PlanDiff) -> dict[str, Any]:
    """Every field is there, unknown ones as null, so that a reader need not ask."""
    scenarios = {name: to_json(plan.scenarios.get(name)) for name in SCENARIOS}
    return {**to_json(plan), "scenarios": scenarios}
