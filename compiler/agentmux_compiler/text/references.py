"""`${NAME}` in `env` and `mcp`: a variable of the launching environment, whose value no output ever holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentmux_compiler import rules

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentmux_compiler.diagnostics import Diagnostic, Span

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def names_in(values: Iterable[str]) -> tuple[str, ...]:
    """Every variable that is named, each once, in the order of its first use."""
    return tuple(dict.fromkeys(match[1] for value in values for match in _REFERENCE.finditer(value)))


def whole(value: str) -> str | None:
    """The variable that a value consists of, None where it holds anything else."""
    match = _REFERENCE.fullmatch(value)
    return match[1] if match else None


def behind(prefix: str, value: str) -> str | None:
    """The variable that a value consists of behind a fixed prefix."""
    return whole(value.removeprefix(prefix)) if value.startswith(prefix) else None


def not_expressible(span: Span, where: str, value: str, why: str, remedy: str) -> Diagnostic:
    return rules.SECRET_NOT_EXPRESSIBLE.at(span, f"`{value}` in {where} {why}", help=remedy)
