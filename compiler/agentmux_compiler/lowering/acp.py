"""How an agent is driven by the Agent Client Protocol: the catalog's facts and the spec's wishes as one value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from agentmux_compiler import __version__, rules
from agentmux_compiler.agent import Permission
from agentmux_compiler.lowering.modes import controller_of, mode_of
from agentmux_launcher.manifest import AcpPlan, SessionSetting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux_compiler.agent import Use
    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.lowering.site import Site
    from agentmux_compiler.providers.schema_modes import Acp

_OPTION = "config:"
_EDITS = ("edit",)


def acp_plan(site: Site) -> AcpPlan | None:
    """None where the plan's controller is another."""
    acp, use, mode = site.provider.acp, site.use, site.mode
    if acp is None or mode.prompt_delivery != "acp":
        return None
    stop = mode.stop
    return AcpPlan(
        client_version=__version__,
        goes_on=tuple(_goes_on(acp)),
        loads_at_once=acp.loads_at_once,
        forks="fork" in acp.sessions,
        settings=tuple(_settings(acp, use, mode.takes)),
        authenticate=acp.authenticate,
        passes=_EDITS if use.permission is Permission.EDIT and acp.asks in {"always", "by-setting"} else (),
        lends=use.lend,
        ends_at_eof=stop.at_eof in {"ends", "unknown"},
        ends_at_sigterm=stop.sigterm != "ignored",
        leaves=() if stop.leaves == "unknown" else stop.leaves,
    )


def lend_faults(site: Site) -> list[Diagnostic]:
    """That an agent by another controller is lent nothing."""
    use, provider = site.use, site.provider
    if not use.lend or mode_of(provider, use)[0].prompt_delivery == "acp":
        return []
    possible = provider.modes["acp"] is not None
    remedy = f"write `controller: acp` under `providers.{provider.name}`, or remove `lend`"
    fault = rules.UNSUPPORTED_CAPABILITY.at(
        use.place("lend"),
        f"`{provider.name}` is lent nothing by the controller `{controller_of(provider, use)}`",
        help=remedy if possible else "remove `lend`",
    )
    return [fault]


def _goes_on(acp: Acp) -> Iterator[str]:
    """A session that is resumed is not played back, which one that is loaded is."""
    if acp.load is True:
        resumes = acp.resumes and "resume" in acp.sessions
        yield from ("session/resume", "session/load") if resumes else ("session/load",)


def _settings(acp: Acp, use: Use, takes: tuple[str, ...]) -> Iterator[SessionSetting]:
    """What a session has to be told; the model before the effort, whose values depend on it."""
    fields: tuple[tuple[Literal["model", "effort"], str | None], ...] = (("model", use.model), ("effort", use.effort))
    for field, value in fields:
        way = getattr(acp, field)
        if value is None or field in takes or way is None:
            continue
        if way == "set-model":
            yield SessionSetting(field, "session/set_model", "modelId", value)
        elif way.startswith(_OPTION):
            yield SessionSetting(field, "session/set_config_option", "value", value, way.removeprefix(_OPTION))
    mode = acp.session_modes.get(use.permission.value)
    if mode is not None:
        yield SessionSetting("permission", "session/set_mode", "modeId", mode)
