"""Why a call read less than was stored: the evidence for each reason, the strongest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_usage.breaks import Line, Reason
from agentmux_usage.forensics.calls import Held, Step
from agentmux_usage.forensics.plans import Edit
from agentmux_usage.forensics.serving import HOUR, same_model
from agentmux_usage.forensics.words import span, tokens

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Cause:
    """The one reason of a break. `planned` says that the comparison of the two plans had foretold it."""

    reason: Reason
    evidence: str
    line: Line | None = None
    planned: bool = False


@dataclass(frozen=True, slots=True)
class Missed:
    """What the first call of a session could have been served, and why it was not.

    `predicted` is what the comparison of two plans said it would lose, where what it lost is not taken from that.
    """

    expected: int
    cause: Cause
    predicted: int | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A call that fell short, and what another plan than that of the call before sends."""

    step: Step
    edit: Edit | None

    @property
    def gap(self) -> float:
        """Seconds since the call before."""
        return self.step.response.time - self.step.before.response.time if self.step.before else 0.0


def cause_of(case: Case) -> Cause:
    return next(filter(None, (check(case) for check in CHECKS)), _SERVER)


def lifetime_of(step: Step) -> str | None:
    """The lifetime that a call asked for: an hour where it wrote for one, else what its plan or backend has."""
    if step.response.tokens.cache_write_1h:
        return HOUR
    return step.serving.terms.lifetime if step.serving.terms else None


def _lifetime(case: Case) -> Cause | None:
    before = case.step.before
    if before is None or case.step.first:
        return None
    names = [name for name, written in ((_usual(before), before.short), (HOUR, before.hour)) if written]
    for name in names or [_usual(before)]:
        seconds = before.serving.seconds(name) if name else None
        # Where both were written, the shorter one explains no more than was written for it.
        if seconds is not None and case.gap > seconds and (len(names) < 2 or name == HOUR or _fits(case)):  # noqa: PLR2004
            kept = f"{span(case.gap)} after the call before, and entries live {span(seconds)}"
            return Cause(Reason.LIFETIME, f"it came {kept} without use")
    return None


def _usual(call: Held) -> str | None:
    return call.serving.terms.lifetime if call.serving.terms else None


def _fits(case: Case) -> bool:
    return case.step.before is not None and case.step.lost <= case.step.before.short


def _model(case: Case) -> Cause | None:
    step = case.step
    old, new = (step.before.response.model if step.before else None), step.response.model
    if step.first or same_model(step.serving.vendor, old, new):
        return None
    return Cause(Reason.MODEL, f"the model was `{old}` and is `{new}`", *_planned(case, Reason.MODEL))


def _effort(case: Case) -> Cause | None:
    before, now = case.step.before, case.step.response
    if before is None or case.step.first:
        return None
    old, new = before.response.effort, now.effort
    # A transcript that does not say the effort has none to compare; a launch without one has the CLI's default.
    launches = all(each.run_id and each.source is None for each in (before.response, now))
    if old == new or not (launches or (old and new)):
        return None
    evidence = f"the effort was {_named(old)} and is {_named(new)}"
    return Cause(Reason.EFFORT, evidence, *_planned(case, Reason.EFFORT))


def _named(effort: str | None) -> str:
    return f"`{effort}`" if effort else "the CLI's default"


def _planned(case: Case, reason: Reason) -> tuple[Line | None, bool]:
    same = case.edit is not None and case.edit.reason is reason
    return (case.edit.line if case.edit and same else None), same


def _plan(case: Case) -> Cause | None:
    found = case.edit
    if found is None or found.harmless or case.step.first:
        return None
    return Cause(found.reason, f"the plan is another one: {found.told}", found.line, planned=True)


def _compaction(case: Case) -> Cause | None:
    if not case.step.response.after_compaction:
        return None
    before = case.step.before.response.context if case.step.before else None
    size = f" of {tokens(before)}" if before else ""
    return Cause(Reason.COMPACTION, f"the conversation{size} was summarised, and this is its first call since")


def _cli_version(case: Case) -> Cause | None:
    old, new = (case.step.before.response.cli_version if case.step.before else None), case.step.response.cli_version
    if case.step.first or old is None or new is None or old == new:
        return None
    return Cause(Reason.CLI_VERSION, f"the CLI was {old} and is {new}")


def _subagent(case: Case) -> Cause | None:
    if not case.step.first or case.step.response.kind != "subagent":
        return None
    prompt = case.step.response.context
    size = f" of {tokens(prompt)}" if prompt else ""
    return Cause(Reason.SUBAGENT, f"a sub-agent began, with a prompt{size} of its own")


def _harmless_plan(case: Case) -> Cause | None:
    """An edit of which a session that goes on was to keep the old text; still nearer at hand than a server's fault."""
    found = case.edit
    if found is None or case.step.first:
        return None
    evidence = f"the plan is another one: {found.told}, though a session that goes on was to lose nothing by that"
    return Cause(found.reason, evidence, found.line, planned=True)


_SERVER = Cause(
    Reason.SERVER, "nothing that was sent explains it: the server dropped the entry, or another one answered"
)
CHECKS: tuple[Callable[[Case], Cause | None], ...] = (
    _lifetime,
    _model,
    _effort,
    _plan,
    _compaction,
    _cli_version,
    _subagent,
    _harmless_plan,
)
