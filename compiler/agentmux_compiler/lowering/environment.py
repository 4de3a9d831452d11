"""The environment of a plan's CLI, by name: what is set, passed through, renamed, removed; and another endpoint."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.argv import literals
from agentmux_compiler.diagnostics import Diagnostic
from agentmux_compiler.lowering.modes import mode_of, permissions_of
from agentmux_compiler.providers.schema import Redirect
from agentmux_compiler.text.references import names_in, not_expressible, whole
from agentmux_compiler.tree import byte_order
from agentmux_launcher.arguments import json_literal
from agentmux_launcher.manifest import Argument, Environment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agentmux_compiler.agent import Use
    from agentmux_compiler.lowering.site import Site
    from agentmux_compiler.providers.schema import Provider

AGENT_ID = "AGENTMUX_AGENT_ID"


@dataclass(slots=True)
class _Making:
    """An environment while it is put together."""

    values: dict[str, str] = field(default_factory=dict)
    passed: set[str] = field(default_factory=set)
    renamed: dict[str, str] = field(default_factory=dict)
    argv: list[Argument] = field(default_factory=list)
    found: list[Diagnostic] = field(default_factory=list)

    def take(self, name: str, variable: str) -> None:
        """Give the child's `name` the value that `variable` has at launch."""
        if name == variable:
            self.passed.add(name)
        else:
            self.renamed[name] = variable


def environment(
    site: Site, needed: Iterable[str], delivered: Mapping[str, str] | None = None
) -> tuple[Environment, tuple[Argument, ...], list[Diagnostic]]:
    """Environment and redirecting arguments of a plan.

    `needed` are variables that its MCP servers name, `delivered` those that lead the CLI to its text.
    """
    making = _Making(values={AGENT_ID: site.agent.name, **site.provider.variables.set, **(delivered or {})})
    making.values |= by_use(site.provider, site.use)
    _redirect(site, making)
    _from_spec(site, making)
    making.passed.update(needed)
    ours = {*making.values, *making.passed, *making.renamed}
    made = Environment(
        set={name: making.values[name] for name in sorted(making.values, key=byte_order)},
        passed=tuple(sorted(making.passed - making.values.keys() - making.renamed.keys(), key=byte_order)),
        unset=tuple(name for name in site.provider.variables.unset if name not in ours),
        renamed={name: making.renamed[name] for name in sorted(making.renamed, key=byte_order)},
    )
    return made, tuple(making.argv), making.found


def names(made: Environment) -> tuple[str, ...]:
    """Names that the child has from us, for `snapshots/`."""
    return tuple(sorted({*made.set, *made.passed, *made.renamed}, key=byte_order))


def _from_spec(site: Site, making: _Making) -> None:
    for name, value in site.agent.env.items():
        making.values.pop(name, None)
        variable = whole(value)
        if variable is not None:
            making.take(name, variable)
        elif names_in((value,)):
            making.found.append(
                not_expressible(
                    site.agent.place("env"),
                    f"`env` of `{name}`",
                    value,
                    "mixes a variable with other text, which would have to be put together here",
                    "give the variable a name of its own and nothing besides: `NAME: ${NAME}`",
                )
            )
        else:
            making.values[name] = value


def _redirect(site: Site, making: _Making) -> None:
    use, redirect = site.use, site.provider.redirect
    if use.base_url is None:
        _key(site, making, None)
    elif not isinstance(redirect, Redirect) or (redirect.argv and "redirect" not in site.mode.takes):
        making.found.append(
            rules.UNSUPPORTED_CAPABILITY.at(
                use.place("base_url"), f"nothing is known that leads `{site.provider.name}` to another endpoint"
            )
        )
    else:
        if redirect.variable is not None:
            making.values[redirect.variable] = use.base_url
        making.argv += literals(
            item.replace("{base_url}", json_literal(use.base_url)).replace("{url}", use.base_url)
            for item in redirect.argv
        )
        making.values |= redirect.set
        _model(site, making, redirect)
        _key(site, making, redirect)


def _model(site: Site, making: _Making, redirect: Redirect) -> None:
    """Say what is missing where a variable names the endpoint's model."""
    name = site.provider.name
    if redirect.model_variable is not None and site.use.model is None:
        making.found.append(
            rules.UNSUPPORTED_CAPABILITY.at(
                site.use.place("base_url"),
                f"`{name}` goes to another endpoint only with the name of a model there",
                help=f"write `model` under `providers.{name}`",
            )
        )


def by_use(provider: Provider, use: Use) -> dict[str, str]:
    """What model, effort and permission set where a variable takes them, rather than an argument."""
    mode, _ = mode_of(provider, use)
    options = ((provider.arguments.model, use.model), (provider.arguments.effort, use.effort))
    chosen = {option.variable: value for option, value in options if option and option.variable and value}
    redirect = provider.redirect if use.base_url else None
    if isinstance(redirect, Redirect) and redirect.model_variable and use.model:
        chosen[redirect.model_variable] = use.model
    return {**permissions_of(provider, mode).set.get(use.permission.value, {}), **chosen}


def with_use(made: Environment, provider: Provider, before: Use, after: Use) -> Environment:
    """The environment of a plan whose use has become another one."""
    chosen = by_use(provider, before)
    values = by_use(provider, after) | {name: value for name, value in made.set.items() if chosen.get(name) != value}
    return replace(made, set={name: values[name] for name in sorted(values, key=byte_order)})


def _key(site: Site, making: _Making, redirect: Redirect | None) -> None:
    """The variable that holds the endpoint's key, under the name that the CLI looks for."""
    variable = site.use.api_key_env
    if variable is None:
        return
    own = site.provider.variables.api_keys
    target = redirect.key_variable if redirect else variable if variable in own else next(iter(own), None)
    if redirect and redirect.key_argv:
        making.argv += literals(item.replace("{name}", json_literal(variable)) for item in redirect.key_argv)
        making.passed.add(variable)
    elif target is not None:
        making.take(target, variable)
    else:
        making.found.append(
            rules.UNSUPPORTED_CAPABILITY.at(
                site.use.place("api_key_env"), f"nothing is known by which `{site.provider.name}` takes a key"
            )
        )
