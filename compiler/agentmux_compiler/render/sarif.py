"""SARIF 2.1.0, for code scanning and editors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from agentmux_compiler.diagnostics import Severity, ordered
from agentmux_compiler.render.causes import causes, told
from agentmux_compiler.render.words import whole
from agentmux_compiler.rules import RULES
from agentmux_compiler.tree import byte_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentmux_compiler.diagnostics import Diagnostic, Rule, Span
    from agentmux_compiler.render import View
    from agentmux_compiler.render.causes import Cause
    from agentmux_compiler.report import BuildReport, DiffReport

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def diagnostics(items: Sequence[Diagnostic], _view: View) -> str:
    return _log(items, [])


def build(report: BuildReport, _view: View) -> str:
    return _log((*report.diagnostics, *report.diff.diagnostics), causes(report.diff.plans))


def diff(report: DiffReport, _view: View) -> str:
    return _log(report.diagnostics, causes(report.plans))


def _log(items: Iterable[Diagnostic], broken: Iterable[Cause]) -> str:
    results = [_result(item.rule, item.span, whole(item)) for item in ordered(items)]
    results += [_result(cause.rule, cause.span, told(cause)) for cause in broken]
    codes = sorted({result["ruleId"] for result in results})
    driver = {"name": "agentmux", "rules": [_rule(RULES[code]) for code in codes]}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, sort_keys=True) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
    }


def _result(rule: Rule, span: Span | None, text: str) -> dict[str, Any]:
    locations = [{"physicalLocation": _location(span)}] if span else []
    return {
        "ruleId": rule.code,
        "level": LEVELS[rule.severity],
        "message": {"text": text},
        "locations": locations,
    }


def _location(span: Span) -> dict[str, Any]:
    region = {"startLine": span.line, "startColumn": span.column}
    if (span.end_line, span.end_column) > (span.line, span.column):
        region |= {"endLine": span.end_line, "endColumn": span.end_column}
    return {"artifactLocation": {"uri": quote(byte_order(span.path)), "uriBaseId": "%SRCROOT%"}, "region": region}
