"""`--fail-on`: which findings make a command exit with 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux.errors import CannotRun
from agentmux_compiler.diagnostics import Severity
from agentmux_compiler.render.causes import lost_tokens, unmasked
from agentmux_compiler.rules import RULES
from agentmux_compiler.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.report import PlanDiff

LEVELS = ("never", "error", "warning", "break")


@dataclass(frozen=True, slots=True)
class FailOn:
    """`error` and above for every level but `never`; `tokens` is the least loss of a broken prefix that counts."""

    level: str = "error"
    tokens: int = 0

    def reached(self, items: Iterable[Diagnostic], plans: Iterable[PlanDiff]) -> bool:
        if self.level == "never":
            return False
        severities = {item.severity for item in items}
        if Severity.ERROR in severities:
            return True
        broken = [plan for plan in plans if plan.verdict == "broken"]
        if self.level == "warning":
            return Severity.WARNING in severities or any(map(_warns, broken))
        return self.level == "break" and any(lost_tokens(plan) >= self.tokens for plan in broken)


def parse(text: str) -> FailOn:
    """`never`, `error`, `warning`, `break` or `break:TOKENS`.

    Raises:
        CannotRun: anything else.
    """
    level, colon, tokens = text.partition(":")
    if level not in LEVELS:
        remedy = did_you_mean(level, LEVELS)
        raise CannotRun(f"`--fail-on` takes never, error, warning or break[:TOKENS], not `{text}`", remedy=remedy)
    if not colon:
        return FailOn(level)
    if level != "break" or not (tokens.isascii() and tokens.isdigit()):
        raise CannotRun(f"`--fail-on` takes a number of tokens only as `break:TOKENS`, not `{text}`")
    return FailOn(level, int(tokens))


def _warns(plan: PlanDiff) -> bool:
    severities = (RULES[change.code].severity for change in unmasked(plan) if change.code in RULES)
    return Severity.WARNING in severities
