"""What a mode's figures mean and which words are its own, for whoever reads its frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar

from agentmux_launcher.usage import Convention

if TYPE_CHECKING:
    from agentmux_compiler.providers.schema_modes import Mode

T = TypeVar("T", bool, str)


def convention_of(mode: Mode) -> Convention | None:
    """What the figures of an ACP agent mean; None elsewhere, where each dialect has a convention of its own."""
    if mode.prompt_delivery != "acp":
        return None
    usage = mode.usage
    return Convention(
        usage.source,
        _counts(usage.scope),
        _known(usage.input_includes_cached),
        _known(usage.output_includes_reasoning),
        field=_known(usage.field),
        context=_known(usage.context),
        cost=_known(usage.cost),
    )


def own_words(mode: Mode) -> tuple[str, ...]:
    """How texts begin that stand in an ACP agent's frames as if they were the model's."""
    return mode.errors.own_words if mode.prompt_delivery == "acp" else ()


def _counts(scope: str) -> Literal["turn", "last-call", "process", "cumulative", "calls", "none"]:
    """What the figures count; those of which nobody knows it are as good as none."""
    match scope:
        case "call":
            return "calls"
        case "turn" | "last-call" | "process" | "cumulative":
            return scope
        case _:
            return "none"


def _known(value: T | Literal["unknown"] | None) -> T | None:
    return None if value == "unknown" else value
