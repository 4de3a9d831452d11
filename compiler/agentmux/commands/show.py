"""`agentmux show`: what one agent becomes on one provider."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentmux import project
from agentmux.errors import CANNOT_RUN, DONE, FINDINGS, CannotRun
from agentmux.views import cost as cost_view
from agentmux.views import plan as plan_view
from agentmux_compiler.agent import Permission
from agentmux_compiler.argv import Overrides, build_argv
from agentmux_compiler.diagnostics import Severity
from agentmux_compiler.lowering.environment import with_use
from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.prefix.standing_cost import standing_cost
from agentmux_compiler.prefix.words import resolved_model
from agentmux_compiler.providers import load_provider
from agentmux_compiler.render import View, full, machine
from agentmux_compiler.render.paint import Paint
from agentmux_compiler.suggest import listing
from agentmux_compiler.tree import DiskTree

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from agentmux.streams import Streams
    from agentmux_compiler.agent import Use
    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.lowered import Lowered

OVERRIDDEN = ("model", "effort", "permission")


def run(arguments: argparse.Namespace, streams: Streams) -> int:
    root = project.find(arguments.project)
    project.check_agents(root, [arguments.agent])
    compiled = compile_project(DiskTree(root))
    errors = [item for item in compiled.diagnostics if item.severity is Severity.ERROR]
    wanted = project.check_providers([arguments.provider] if arguments.provider else [])
    plans = [lowered for lowered in compiled.plans if lowered.plan.agent == arguments.agent]
    _say(errors, root, streams)
    if not plans and errors:
        return FINDINGS
    overrides = Overrides(
        model=arguments.model,
        effort=arguments.effort,
        permission=Permission(arguments.permission) if arguments.permission else None,
        resume=arguments.resume,
        prompt=arguments.prompt,
    )
    lowered, found = overridden(chosen(plans, arguments.agent, wanted), overrides)
    _say(found, root, streams)
    if any(item.severity is Severity.ERROR for item in found):
        return CANNOT_RUN
    cost = None
    if arguments.part == "cost":
        cost = standing_cost(lowered.prefix, arguments.turns, compiled.settings.launches_per_day)
    if arguments.format == "json":
        more = {"cost": cost_view.as_json(cost)} if cost else {}
        streams.out.write(machine.dumps({**plan_view.as_json(lowered, overrides), **more}))
    elif cost:
        streams.out.write(cost_view.for_people(cost, Paint(streams.out.color)))
    else:
        streams.out.write(plan_view.for_people(lowered, overrides, arguments.part, Paint(streams.out.color)))
        if arguments.part in {None, "argv"}:
            streams.err.write(plan_view.shortened(lowered, overrides))
    return FINDINGS if errors else DONE


def chosen(plans: Sequence[Lowered], agent: str, wanted: Sequence[str]) -> Lowered:
    """The plan on the provider asked for, else on the agent's first.

    Raises:
        CannotRun: the agent is abstract, or does not run on that provider.
    """
    if not plans:
        raise CannotRun(f"`{agent}` is abstract: only agents that extend it are built")
    found = next((lowered for lowered in plans if lowered.plan.provider in (wanted or [lowered.plan.provider])), None)
    if found is None:
        names = listing(lowered.plan.provider for lowered in plans)
        raise CannotRun(f"`{agent}` does not run on `{wanted[0]}`", notes=[f"it runs on {names}"])
    return found


def overridden(lowered: Lowered, overrides: Overrides) -> tuple[Lowered, list[Diagnostic]]:
    """The plan with another model, effort or permission, and what the provider says to that."""
    if lowered.use is None:
        return lowered, []
    provider = load_provider(lowered.plan.provider)
    _, known = build_argv(provider, lowered.use, lowered.parts)
    argv, found = build_argv(provider, lowered.use, lowered.parts, overrides)
    use = overrides.apply(lowered.use)
    asked = {name: value for name in OVERRIDDEN if (value := getattr(overrides, name))}
    plan = replace(
        lowered.plan,
        argv=argv,
        env=with_use(lowered.plan.env, provider, lowered.use, use),
        model=use.model,
        effort=use.effort,
        permission=use.permission.value,
    )
    prefix = replace(
        lowered.prefix,
        model=use.model if provider.arguments.model else None,
        effort=use.effort if provider.arguments.effort else None,
        resolved_model=resolved_model(provider, use.model),
    )
    return replace(lowered, plan=plan, prefix=prefix), [
        _of_the_option(item, lowered.use, asked) for item in found if item not in known
    ]


def _of_the_option(item: Diagnostic, use: Use, asked: Mapping[str, str]) -> Diagnostic:
    """The same of an option of the command line, where that is at fault: no source has its place."""
    about = [name for name in asked if item.span == use.place(name) and f"`{asked[name]}`" in item.message]
    if len(about) != 1 and not (about := [name for name in about if name in item.message]):
        return item
    return replace(item, span=None, message=f"`--{about[0]} {asked[about[0]]}`: {item.message}")


def _say(found: Sequence[Diagnostic], root: Path, streams: Streams) -> None:
    streams.err.write(full.diagnostics(found, View(project.source_reader(root), Paint(streams.err.color))))
