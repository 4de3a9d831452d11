"""What would cost less: a fix for each kind of change, tried by compiling the project with it, and told if it helps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agentmux_compiler.agent import Project
from agentmux_compiler.lower import lower
from agentmux_compiler.lowered import PlanPrefix
from agentmux_compiler.prefix.axes import KEYS, TREE
from agentmux_compiler.prefix.costs import Stated
from agentmux_compiler.prefix.diff import diff
from agentmux_compiler.prefix.environment import changed
from agentmux_compiler.prefix.fixes import bundle_of, last, ordered_as, ruled, started, unspaced
from agentmux_compiler.prefix.rendered import octets
from agentmux_compiler.render.causes import causes, unmasked
from agentmux_compiler.report import Advice
from agentmux_compiler.text.placeholders import VOLATILE, fill_volatile
from agentmux_compiler.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux_compiler.lowered import PrefixSegment
    from agentmux_compiler.render.causes import Cause
    from agentmux_compiler.report import Change, DiffReport, PlanDiff

# What a person meant to do anyway, and what loses no text of ours: it can wait for what loses everything.
DEFERRABLE = ("model", "effort", "tools", "permission", "environment", "delivery")
CAUSES = 8
# Tokens below which no advice is worth following.
WORTH_SAYING = 32
# Of a large project, so many agents are compiled once more for each fix.
AGENTS = 40


@dataclass(frozen=True, slots=True)
class Fix:
    """What to do, the project after it, and what it would have done to the baseline (None: nothing).

    A `recurring` one is not about this change but about the next value, and all after it.
    """

    text: str
    apply: Callable[[Project], Project]
    before: Callable[[PlanPrefix], PlanPrefix] | None = None
    recurring: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """A project and its baseline, to be compiled once more with a fix."""

    project: Project
    tree: Tree
    before: Mapping[str, PlanPrefix]
    after: Mapping[str, PlanPrefix]
    stated: Stated

    def compiled(self, fix: Fix, agents: frozenset[str]) -> Mapping[str, PlanPrefix]:
        """Prefixes by `AGENT/PROVIDER` after a fix; of a large project those of the agents it is for."""
        project = self.project
        if len(project.agents) > AGENTS:
            project = replace(project, agents=tuple(each for each in project.agents if each.name in agents)[:AGENTS])
        plans, _ = lower(fix.apply(project), self.tree)
        return {lowered.prefix.key: lowered.prefix for lowered in plans}


def advised(report: DiffReport, trial: Trial) -> DiffReport:
    """The report with what would have kept more of each broken plan; of many causes the first few."""
    found: dict[str, tuple[Advice, ...]] = {}
    for cause in causes(report.plans)[:CAUSES]:
        found |= _for_cause(cause, trial)
    plans = (replace(plan, advice=found.get(_key(plan), ())) for plan in report.plans)
    return replace(report, plans=tuple(plans))


def _for_cause(cause: Cause, trial: Trial) -> dict[str, tuple[Advice, ...]]:
    """What helps each plan that one cause breaks."""
    agents = frozenset(plan.agent for plan in cause.plans)
    made: dict[str, list[Advice]] = {_key(plan): [] for plan in cause.plans}
    for fix in _fixes(cause.changes[0], agents, trial) if cause.changes else ():
        prefixes = trial.compiled(fix, agents)
        for plan in cause.plans:
            made[_key(plan)] += _helpful(plan, fix, prefixes.get(_key(plan)), trial)
    for plan in cause.plans:
        made[_key(plan)] += _later(plan, trial)
    return {key: tuple(items) for key, items in made.items()}


def _fixes(change: Change, agents: frozenset[str], trial: Trial) -> Iterator[Fix]:
    """What may help against one change, by its reason."""
    bundle = bundle_of(change.segment)
    match change.reason:
        case "whitespace":
            texts = {
                item.text for plan in trial.before.values() for item in plan.segments if item.name == change.segment
            }
            yield Fix("take the invisible change back", lambda project: unspaced(project, texts))
        case "reordered":
            orders = {plan.agent: [item.name for item in plan.segments] for plan in trial.before.values()}
            yield Fix("list them in the accepted order", lambda project: ordered_as(project, agents, orders))
        case "edited" | "inserted" if bundle:
            text = f"list `{bundle}` last in `bundles`: what changes often costs least there"
            yield Fix(text, lambda project: last(project, agents, bundle), lambda plan: _behind(plan, bundle))
        case "volatile" if bundle:
            text = "put the value into `startup`, where the next one breaks less"
            yield Fix(text, lambda project: started(project, agents, bundle), recurring=True)
        case "tools":
            text = "deny single uses by a rule such as `Bash(git push *)`, not the whole tool"
            yield Fix(text, lambda project: ruled(project, agents))
        case _:
            pass


def _helpful(plan: PlanDiff, fix: Fix, fixed: PlanPrefix | None, trial: Trial) -> Iterator[Advice]:
    before, after = trial.before.get(_key(plan)), trial.after.get(_key(plan))
    if fixed is None or before is None or after is None:
        return
    if fix.recurring:
        plan = diff(after, _revalued(after), trial.stated)
        better = diff(fixed, _revalued(fixed), trial.stated)
    else:
        better = diff(fix.before(before) if fix.before else before, fixed, trial.stated)
    scenario, lost = worst(plan)
    kept = lost - _lost(better, scenario)
    if kept >= WORTH_SAYING:
        yield Advice(fix.text, kept, scenario)


def _revalued(plan: PlanPrefix) -> PlanPrefix:
    """The plan with another value of everything that changes by itself."""
    others = dict.fromkeys(VOLATILE, "another")
    return replace(plan, segments=tuple(_with_values(segment, others) for segment in plan.segments))


def _with_values(segment: PrefixSegment, values: Mapping[str, str]) -> PrefixSegment:
    if segment.body is None or not segment.volatile:
        return segment
    text = fill_volatile(segment.body.text, values)
    return replace(segment, body=replace(segment.body, text=text), size=octets(text))


def _later(plan: PlanDiff, trial: Trial) -> Iterator[Advice]:
    """A change that can wait costs nothing more than the next upgrade of the CLI does."""
    before, after = trial.before.get(_key(plan)), trial.after.get(_key(plan))
    first = next(iter(unmasked(plan)), None)
    if before is None or after is None or first is None or first.reason not in DEFERRABLE:
        return
    if first.segment.startswith(TREE):
        return
    scenario, lost = worst(plan)
    together = _lost(diff(before, changed(after, "version"), trial.stated), scenario)
    alone = _lost(diff(before, changed(before, "version"), trial.stated), scenario)
    kept = lost - (together - alone)
    if kept > 0 and not _rendered_key(plan):
        yield Advice("make it together with the next upgrade of the CLI, which loses all of it anyway", kept, scenario)


def _rendered_key(plan: PlanDiff) -> bool:
    """Whether the backend itself was exchanged: that cannot wait."""
    return any(
        change.segment == "backend" for change in plan.changes if change.layer == "key" or change.segment in KEYS
    )


def _behind(plan: PlanPrefix, bundle: str) -> PlanPrefix:
    """The plan with one bundle behind all others of its run."""
    own = [index for index, item in enumerate(plan.segments) if item.name.startswith("bundles/")]
    order = sorted(own, key=lambda index: bundle_of(plan.segments[index].name) == bundle)
    segments = list(plan.segments)
    for place, index in zip(own, order, strict=True):
        segments[place] = plan.segments[index]
    return replace(plan, segments=tuple(segments))


def worst(plan: PlanDiff) -> tuple[str, int]:
    """The scenario that loses most, and the tokens it loses; `text` where nobody knows what a cache serves."""
    known = {name: each.lost for name, each in plan.scenarios.items() if each and each.lost is not None}
    if known:
        name = max(known, key=lambda each: known[each] or 0)
        return name, known[name] or 0
    return "text", plan.text.tokens_total - plan.text.tokens_kept


def _lost(plan: PlanDiff, scenario: str) -> int:
    found = plan.scenarios.get(scenario)
    if found and found.lost is not None:
        return found.lost
    return plan.text.tokens_total - plan.text.tokens_kept


def _key(plan: PlanDiff) -> str:
    return f"{plan.agent}/{plan.provider}"
