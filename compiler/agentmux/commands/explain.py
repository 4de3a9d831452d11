"""`agentmux explain`: the page of a diagnostic, or the table of all."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any

from agentmux.errors import DONE, CannotRun
from agentmux.table import table
from agentmux_compiler.render import machine
from agentmux_compiler.render.paint import Paint
from agentmux_compiler.rules import RULES
from agentmux_compiler.suggest import did_you_mean

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from agentmux.streams import Streams
    from agentmux_compiler.diagnostics import Rule


def run(arguments: argparse.Namespace, streams: Streams) -> int:
    rules = [find(arguments.code)] if arguments.code else sorted(RULES.values(), key=lambda rule: rule.code)
    if arguments.format == "json":
        streams.out.write(machine.dumps({"rules": [_as_json(rule) for rule in rules]}))
    elif arguments.code:
        streams.out.write(page(rules[0]))
    else:
        streams.out.write(_listing(rules, Paint(streams.out.color)))
    return DONE


def find(code: str) -> Rule:
    """The rule of a code or a kebab name, in any case.

    Raises:
        CannotRun: there is none.
    """
    names = {rule.name: rule for rule in RULES.values()} | RULES
    rule = names.get(code.upper()) or names.get(code.lower())
    if rule is None:
        remedy = did_you_mean(code.upper(), RULES) if code[:1] in "aA" and code[-1:].isdigit() else None
        remedy = remedy or did_you_mean(code.lower(), names)
        raise CannotRun(f"no diagnostic `{code}`", remedy=remedy, notes=["`agentmux explain` lists them"])
    return rule


def page(rule: Rule) -> str:
    """The rule's Markdown page."""
    file = resources.files("agentmux_compiler") / "rules" / f"{rule.code}.md"
    return file.read_text(encoding="utf-8")


def _as_json(rule: Rule) -> dict[str, Any]:
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.value,
        "summary": rule.summary,
        "page": page(rule),
    }


def _listing(rules: Iterable[Rule], paint: Paint) -> str:
    rows = [(rule.code, rule.name, rule.severity.value, rule.summary) for rule in rules]
    return table(("CODE", "NAME", "SEVERITY", "SUMMARY"), rows, paint)
