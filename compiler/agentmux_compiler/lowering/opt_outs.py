"""What a project does not want its CLIs to do, as each of them is told: by variables, by arguments, or not at all."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import Diagnostic
from agentmux_launcher.manifest import Argument, Literal

if TYPE_CHECKING:
    from agentmux_compiler.agent import Listed, Settings
    from agentmux_compiler.lowering.site import Site
    from agentmux_compiler.providers.schema_machine import Switch


@dataclass(slots=True)
class OptOuts:
    """Variables and arguments of one plan that turn things off, and what cannot be turned off by either."""

    set: dict[str, str] = field(default_factory=dict)
    argv: tuple[Argument, ...] = ()
    found: list[Diagnostic] = field(default_factory=list)


def opted_out(site: Site, settings: Settings) -> OptOuts:
    """Variables come before arguments, which the adapter of another package does not take."""
    outs, own = OptOuts(), site.mode.executable in {None, site.provider.executable}
    for wanted in settings.opt_outs:
        switch: Switch | str | None = getattr(site.provider.switches, wanted.item)
        if switch is None:
            continue
        if isinstance(switch, str):
            outs.found.append(_unknown(site, wanted))
        elif switch.set:
            outs.set |= switch.set
        elif switch.argv and own:
            outs.argv += tuple(Literal(word) for word in switch.argv)
        else:
            outs.found.append(_by_settings(site, wanted, switch))
    return outs


def _unknown(site: Site, wanted: Listed[str]) -> Diagnostic:
    message = f"nothing is known by which `{site.provider.name}` opts out of `{wanted.item}`"
    return rules.OPT_OUT_NOT_PASSED.at(wanted.at, message)


def _by_settings(site: Site, wanted: Listed[str], switch: Switch) -> Diagnostic:
    name = site.provider.name
    message = f"`{name}` takes no opt-out of `{wanted.item}` for one launch"
    remedy = None if switch.file is None else f"set `{switch.key}` to `{json.dumps(switch.value)}` in {switch.file}"
    return rules.OPT_OUT_NOT_PASSED.at(wanted.at, message, help=remedy)
