"""The providers an agent runs on: names resolved, agent-wide settings merged in, each field with its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.agent import Permission, Use
from agentmux_compiler.providers import canonical
from agentmux_compiler.sources.bundles import unknown_provider
from agentmux_compiler.sources.spec_models import ProviderUse
from agentmux_compiler.sources.yaml_nodes import Entry, Mapping

if TYPE_CHECKING:
    from agentmux_compiler.diagnostics import Diagnostic, Span
    from agentmux_compiler.spec import Spec

_AGENT_WIDE = ("permission", "delivery")


def uses_of(spec: Spec) -> tuple[tuple[Use, ...], list[Diagnostic]]:
    """One `Use` for each known provider, in the order of the spec."""
    listed = spec.node.get("providers")
    uses: dict[str, Use] = {}
    found: list[Diagnostic] = []
    for entry in listed.entries if isinstance(listed, Mapping) else ():
        provider = canonical(entry.key.text)
        if provider is None:
            found.append(unknown_provider(entry.key))
        elif provider in uses:
            found.append(_again(entry, uses[provider]))
        else:
            uses[provider] = _use(spec, entry, provider)
    return tuple(uses.values()), found


def _again(entry: Entry, first: Use) -> Diagnostic:
    return rules.DUPLICATE_ENTRY.at(
        entry.key.span,
        f"`{entry.key.text}` names the provider `{first.provider}` a second time",
        help="keep one of them",
        notes=(f"the first stands at {first.at.path}:{first.at.line}",),
    )


def _use(spec: Spec, entry: Entry, provider: str) -> Use:
    own = spec.fields.providers[entry.key.text] or ProviderUse()
    return Use(
        provider,
        entry.key.span,
        model=own.model,
        effort=own.effort,
        permission=own.permission or spec.fields.permission or Permission.ASK,
        delivery=own.delivery or spec.fields.delivery,
        flags=own.flags,
        base_url=own.base_url,
        api_key_env=own.api_key_env,
        backend=own.backend,
        vendor=own.vendor,
        controller=own.controller,
        version=own.version,
        mcp=own.mcp is not False,
        lend=own.lend,
        places=_places(spec.node, entry),
    )


def _places(node: Mapping, entry: Entry) -> dict[str, Span]:
    wide = {each.key.text: each.place for each in node.entries if each.key.text in _AGENT_WIDE}
    own = entry.value.entries if isinstance(entry.value, Mapping) else ()
    return wide | {each.key.text: each.place for each in own}
