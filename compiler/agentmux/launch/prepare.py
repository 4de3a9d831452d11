"""Compile one plan for a launch: `python -m agentmux.launch.prepare TASK`, with the answer as JSON on stdout.

A process of its own, since what compiles and counts tokens takes several times the memory that a launcher may take.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux import project
from agentmux.errors import DONE, guarded
from agentmux.launch.cached import Before, before
from agentmux.launch.launch_price import lifetime_of, what_it_costs
from agentmux.launch.preparation import Answer, Prepared, Price, Task, Wanted, kept, key_of, record_path
from agentmux.streams import standard
from agentmux_compiler.agent import Permission
from agentmux_compiler.argv import Overrides
from agentmux_compiler.diagnostics import Severity, has_errors, ordered
from agentmux_compiler.lower import lower
from agentmux_compiler.lowered import PlanPrefix
from agentmux_compiler.pipeline import BuildOptions, Scope, compile_project, run_build
from agentmux_compiler.prefix.resumed import sent
from agentmux_compiler.render import View, full
from agentmux_compiler.render.paint import Paint
from agentmux_compiler.tree import DiskTree
from agentmux_compiler.writing import record
from agentmux_compiler.writing.disk import write_file
from agentmux_launcher.codec import from_json, to_json
from agentmux_launcher.ledger import UNREADABLE, Ledger
from agentmux_launcher.retention import Keep
from agentmux_launcher.startup import Peer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentmux_compiler.agent import Settings
    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.lowered import Lowered
    from agentmux_compiler.pipeline import Built, Compiled


def main() -> int:
    task = from_json(Task, json.loads(sys.argv[1]))
    answer = priced(task) if task.after else prepared(task)
    sys.stdout.buffer.write(json.dumps(to_json(answer), ensure_ascii=False).encode("utf-8", "backslashreplace"))
    return DONE


def prepared(task: Task) -> Answer:
    """Compile and build one plan, and everything that a launch must know of it."""
    root, wanted = Path(task.root), task.wanted
    tree = DiskTree(root)
    compiled = compile_project(tree)
    plan = _chosen(compiled.plans, wanted)
    if plan is None:
        return Answer(said=_said(task, compiled.diagnostics) or _no_plan(compiled, wanted))
    built = _built(task, tree, compiled, plan.plan.provider)
    lowered, found = _overridden(compiled, plan, wanted, tree)
    said = _said(task, (*built.report.diagnostics, *found))
    if has_errors((*built.report.diagnostics, *found)) or lowered is None:
        return Answer(said=said)
    kept_prefix, runs = _keep(task, lowered.prefix), _kept_runs(compiled.settings)
    lifetime = lifetime_of(lowered.prefix)
    ready = Prepared(lowered.plan, _peers(compiled), kept_prefix, _keeps(lowered.prefix), runs, lifetime)
    if task.write:
        _remember(task, tree, built, ready)
    return Answer(ready, said, _price(task, lowered.prefix))


def priced(task: Task) -> Answer:
    """What a plan that is prepared already costs, after the one that a cache may hold."""
    after = _prefix(task, task.after)
    return Answer(price=_price(task, after) if after else Price())


def _chosen(plans: Sequence[Lowered], wanted: Wanted) -> Lowered | None:
    ours = (each for each in plans if each.plan.agent == wanted.agent)
    return next((each for each in ours if wanted.provider in {None, each.plan.provider}), None)


def _no_plan(compiled: Compiled, wanted: Wanted) -> str:
    names = [each.plan.provider for each in compiled.plans if each.plan.agent == wanted.agent]
    if not names:
        return f"error: `{wanted.agent}` is abstract: only agents that extend it are built\n"
    return f"error: `{wanted.agent}` does not run on `{wanted.provider}`\n  = note: it runs on {', '.join(names)}\n"


def _built(task: Task, tree: DiskTree, compiled: Compiled, provider: str) -> Built:
    scope = Scope((task.wanted.agent,), (provider,))
    options = BuildOptions(scope, check=not task.write, today=task.today, compare=False)
    return run_build(Path(task.root), options, tree, compiled)


def _overridden(
    compiled: Compiled, plan: Lowered, wanted: Wanted, tree: DiskTree
) -> tuple[Lowered | None, list[Diagnostic]]:
    """The plan with another model, effort or permission, lowered anew, and what the provider says to that."""
    if not any((wanted.model, wanted.effort, wanted.permission)):
        return plan, []
    permission = Permission(wanted.permission) if wanted.permission else None
    overrides = Overrides(wanted.model, wanted.effort, permission)
    agents = tuple(
        replace(
            agent, uses=tuple(overrides.apply(use) if use.provider == plan.plan.provider else use for use in agent.uses)
        )
        if agent.name == wanted.agent
        else agent
        for agent in compiled.project.agents
    )
    plans, found = lower(replace(compiled.project, agents=agents), tree)
    new = [item for item in found if item not in compiled.diagnostics]
    return _chosen(plans, replace(wanted, provider=plan.plan.provider)), new


def _said(task: Task, found: Iterable[Diagnostic]) -> str:
    """What a launch has to say: everything that is wrong, and what only a launch of this plan warns of."""
    items = ordered(item for item in dict.fromkeys(found) if item.severity is not Severity.NOTE)
    return full.diagnostics(items, View(project.source_reader(Path(task.root)), Paint(task.color)))


def _peers(compiled: Compiled) -> tuple[Peer, ...]:
    """The agents of the project, each with its first provider."""
    first = {each.plan.agent: each.plan for each in reversed(compiled.plans)}
    return tuple(Peer(plan.agent, plan.display, plan.provider) for plan in reversed(first.values()))


def _kept_runs(settings: Settings) -> Keep:
    stated = {"days": settings.retention_days, "runs": settings.retention_runs}
    return Keep(**{name: number for name, number in stated.items() if number is not None})


def _keeps(prefix: PlanPrefix) -> bool:
    rules = prefix.resume
    rule = "" if rules is None else rules.flag_text if prefix.delivery == "flag" else rules.instructions
    return rule in {"ignored", "appended"}


def _keep(task: Task, prefix: PlanPrefix) -> str | None:
    if task.ledger is None:
        return None
    try:
        with Ledger(Path(task.ledger)) as ledger:
            return ledger.keep_prefix(to_json(prefix))
    except UNREADABLE:
        return None


def _prefix(task: Task, wanted: str | None) -> PlanPrefix | None:
    """A prefix of the ledger; None where it is not there, or is of a shape that an older agentmux wrote."""
    if task.ledger is None or wanted is None:
        return None
    try:
        with Ledger(Path(task.ledger)) as ledger:
            kept_value = ledger.prefix(wanted)
            return None if kept_value is None else from_json(PlanPrefix, kept_value)
    except (*UNREADABLE, TypeError, ValueError, KeyError, AttributeError):
        return None


def _remember(task: Task, tree: DiskTree, built: Built, ready: Prepared) -> None:
    """Keep it for the next launch; where that is not possible, or another launch does it now, there is none to keep."""
    root, wanted = Path(task.root), task.wanted
    try:
        write_file(root, wanted.path, kept(ready))
    except OSError:
        return
    key, path = key_of(wanted, task.today), record_path(wanted)
    record.save(root, key, tree.trace, built.paths, built.report, dated=built.dated, path=path)


def _price(task: Task, after: PlanPrefix) -> Price:
    pairs = [(earlier, _prefix(task, earlier.prefix)) for earlier in _before(task, after.provider)]
    lines = tuple(what_it_costs(pairs, after, task.now))
    known = next((each for _, each in pairs), None) if task.session is not None else None
    held = sent(known, after) if known else None
    return Price(lines, _keep(task, held) if held else None)


def _before(task: Task, provider: str) -> tuple[Before, ...]:
    if task.ledger is None:
        return ()
    try:
        with Ledger(Path(task.ledger)) as ledger:
            return before(ledger, task, provider)
    except UNREADABLE:
        return ()


if __name__ == "__main__":
    sys.exit(guarded(main, standard().err, ["run"]))
