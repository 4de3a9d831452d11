"""What changed between the plans of two calls: the build's own comparison, down to the source line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_usage.breaks import Line, Reason

if TYPE_CHECKING:
    from agentmux_compiler.report import Change, PlanDiff
    from agentmux_usage.forensics.calls import Step
    from agentmux_usage.forensics.known import Known

# The comparison has more words than a break has reasons: every other one is a change of the text.
REASONS = {
    "model": Reason.MODEL,
    "effort": Reason.EFFORT,
    "tools": Reason.TOOLS,
    "permission": Reason.PERMISSION,
    "cli-version": Reason.CLI_VERSION,
}


@dataclass(frozen=True, slots=True)
class Edit:
    """The first change between two plans. `what` says it in words, `line` where it was made.

    `lost` are the tokens of its prefix that a session which goes on was to lose by it, of `held` that it would have
    been served; null where the comparison could not say.
    """

    reason: Reason
    what: str
    line: Line | None
    lost: int | None
    held: int | None

    @property
    def harmless(self) -> bool:
        """Whether such a session was to lose nothing."""
        return self.lost == 0

    def predicted(self, expected: int) -> int | None:
        """Tokens that were to be lost of so many in the cache: of the prefix, and all of the conversation behind it."""
        if self.lost is None or self.held is None:
            return None
        return 0 if self.harmless else min(expected, self.lost + max(0, expected - self.held))


def edit(step: Step, known: Known) -> Edit | None:
    """What another plan than that of the call before sends; null where both are equal or one is not known."""
    before = step.before.response if step.before else None
    if before is None or not before.prefix or before.prefix == step.response.prefix:
        return None
    old, new = (known.prefixes.get(each or "") for each in (before.prefix, step.response.prefix))
    if old is None or new is None:
        return None
    from agentmux_compiler.prefix.diff import diff  # noqa: PLC0415  it counts tokens, which few breaks need

    return _edit(diff(old, new))


def _edit(found: PlanDiff) -> Edit | None:
    if not found.changes:
        return None
    from agentmux_compiler.render.causes import phrase  # noqa: PLC0415  as above

    change, resume = found.changes[0], found.scenarios.get("resume")
    return Edit(
        REASONS.get(change.reason, Reason.INSTRUCTIONS),
        phrase(change),
        _line(change, found),
        resume.lost if resume else None,
        resume.reusable_before if resume else None,
    )


def _line(change: Change, found: PlanDiff) -> Line | None:
    """Where the change was made, else where the texts part."""
    places = (change, found.first_break)
    named = ((each.path, each.line) for each in places if each is not None)
    return next((Line(path, line or 1) for path, line in named if path), None)
