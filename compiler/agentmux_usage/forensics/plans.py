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

    `kept` are the tokens that the comparison said a session that goes on still finds; null where it could not say.
    `harmless` says that by the comparison such a session loses nothing.
    """

    reason: Reason
    what: str
    line: Line | None
    kept: int | None
    harmless: bool

    def predicted(self, expected: int) -> int | None:
        """Tokens that would be lost of so many in the cache: prefix and conversation."""
        if self.harmless:
            return 0
        return None if self.kept is None else max(0, expected - self.kept)


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
        resume.reusable_after if resume else None,
        harmless=resume is not None and resume.lost == 0,
    )


def _line(change: Change, found: PlanDiff) -> Line | None:
    """Where the change was made, else where the texts part."""
    places = (change, found.first_break)
    named = ((each.path, each.line) for each in places if each is not None)
    return next((Line(path, line or 1) for path, line in named if path), None)
