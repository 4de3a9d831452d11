"""The modes of a provider: which of them drives a use, and what it makes of the fields of a spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.agent import Permission
from agentmux_compiler.suggest import did_you_mean, listing

if TYPE_CHECKING:
    from agentmux_compiler.agent import Use
    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.providers.schema import Provider
    from agentmux_compiler.providers.schema_base import Controller
    from agentmux_compiler.providers.schema_modes import Mode, Permissions


def controller_of(provider: Provider, use: Use) -> Controller:
    """The controller that the use asks for, else the provider's own."""
    asked = (name for name, mode in provider.modes.items() if name == use.controller and mode is not None)
    return next(asked, provider.controller)


def own_mode(provider: Provider) -> Mode:
    """The mode of a use that asks for none."""
    mode = provider.modes[provider.controller]
    if mode is None:
        raise ValueError(f"`{provider.name}` has no mode for its own controller")
    return mode


def mode_of(provider: Provider, use: Use) -> tuple[Mode, list[Diagnostic]]:
    """The mode of a use, and what is wrong with the controller it asks for."""
    known = {name: mode for name, mode in provider.modes.items() if mode is not None}
    mode = known[controller_of(provider, use)]
    if use.controller is None or use.controller in known:
        return mode, []
    fault = rules.UNSUPPORTED_VALUE.at(
        use.place("controller"),
        f"`{provider.name}` cannot be driven by the controller `{use.controller}`",
        help=did_you_mean(use.controller, known) or f"it takes {listing(known)}",
    )
    return mode, [fault]


def permissions_of(provider: Provider, mode: Mode) -> Permissions:
    """What a mode makes of the permissions."""
    return mode.permission or provider.arguments.permission


def other_permission(provider: Provider, use: Use, mode: Mode) -> str:
    """What may be written instead: a permission that this mode enforces, or a mode that enforces this one."""
    possible = [name for name in Permission if getattr(permissions_of(provider, mode), name.value) is not None]
    driven = [
        f"`controller: {name}`"
        for name, other in provider.modes.items()
        if other is not None and getattr(permissions_of(provider, other), use.permission.value) is not None
    ]
    where = f"under `providers.{provider.name}`"
    ways = [f"`permission` {where} with one of {listing(possible)}"] if possible else []
    ways += [f"{' or '.join(driven)} {where if not ways else 'there'}"] if driven else []
    return f"write {', or '.join(ways)}" if ways else "give this agent to another provider"


def in_session(provider: Provider, mode: Mode, field: str) -> bool:
    """Whether an ACP agent takes a field in its session."""
    return mode.prompt_delivery == "acp" and getattr(provider.acp, field, None) not in {None, "unknown"}


def model_by_variable(provider: Provider, use: Use) -> bool:
    """Whether a variable names the model of another endpoint, which an argument then must not."""
    redirect = provider.redirect
    if use.base_url is None or redirect is None or isinstance(redirect, str):
        return False
    return redirect.model_variable is not None


def trusting(provider: Provider, controller: Controller) -> tuple[str, ...]:
    """Arguments by which a CLI opens its gate for one launch."""
    return provider.trust.argv if controller in provider.trust.argv_for else ()


def delivered_at_first(provider: Provider) -> bool:
    """Whether the arguments of `delivery: flag` must not stand where a session goes on."""
    return provider.flag_delivery is not None and not provider.flag_delivery.on_resume


def goes_on_by_protocol(provider: Provider, mode: Mode) -> set[str]:
    """How an ACP agent goes on with a session without an argument."""
    acp = provider.acp
    if acp is None or mode.prompt_delivery != "acp":
        return set()
    named = () if isinstance(acp.sessions, str) else acp.sessions
    return ({"resume"} if acp.load is True else set()) | ({"fork"} & set(named))
