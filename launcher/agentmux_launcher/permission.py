"""Who answers when a CLI asks whether it may: the agent's policy, or the person at the terminal, or nobody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentmux_launcher.events import Permission

# The CLI's own questions to the user come the same way as its requests for a tool.
QUESTION, LEAVE_PLAN = "AskUserQuestion", "ExitPlanMode"
NOBODY = "Nobody is there who could be asked. Go on without it, or say what you would need."
NO_ANSWER = "Nobody is there who could answer. Decide it yourself."


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer. `answers` are those to the questions of a CLI that asked some; `message` goes to the model."""

    allows: bool
    always: bool = False
    message: str = ""
    answers: Mapping[str, str] | None = None


ALLOW, ALWAYS = Decision(allows=True), Decision(allows=True, always=True)
UNANSWERED = Decision(allows=False, message=NO_ANSWER)


def by_policy(asked: Permission, permission: str, *, person: bool) -> Decision | None:
    """The answer that needs nobody; None where it is the person's."""
    if asked.tool == QUESTION:
        return None if person else UNANSWERED
    if permission == "bypass":
        return ALLOW
    return None if person else Decision(allows=False, message=NOBODY)


def counts(asked: Permission, permission: str) -> bool:
    """Whether a run in which this was denied, with nobody to ask, did less than it was asked for."""
    return asked.tool != QUESTION and not (asked.tool == LEAVE_PLAN and permission == "plan")


def lasting(asked: Permission) -> str | None:
    """What the answer `always` grants, in the CLI's own words where it has some; None where it cannot be given."""
    option = next((option for option in asked.options if option.kind == "allow_always"), None)
    if option is None:
        return None
    return "always in this session" if option.id == option.kind or not option.name else f"always: {option.name}"


def from_line(line: str, asked: Permission) -> Decision | None:
    """What a person typed, as an answer; None where it is none."""
    word, _, rest = line.strip().partition(" ")
    word, rest = word.lower(), rest.strip()
    if asked.tool == QUESTION:
        return _answered(line.strip(), asked.input)
    if word in {"y", "yes"} and not rest:
        return ALLOW
    if word in {"a", "always"} and not rest and any(option.kind == "allow_always" for option in asked.options):
        return ALWAYS
    if word in {"n", "no"}:
        return Decision(allows=False, message=rest or "The user denied this.")
    return None


def _answered(line: str, given: Any) -> Decision | None:
    """Numbers of options, or words of one's own; questions are answered in one line, with `;` between them."""
    listed = given.get("questions") if isinstance(given, dict) else None
    questions = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    if not questions:
        return Decision(allows=False, message=line or NO_ANSWER)
    parts = [part.strip() for part in line.split(";")]
    if not line or len(parts) != len(questions):
        return None
    pairs = zip(questions, parts, strict=True)
    return Decision(allows=True, answers={str(each.get("question")): _choice(each, part) for each, part in pairs})


def _choice(question: Mapping[str, Any], said: str) -> str:
    options = question.get("options")
    known = [option for option in options if isinstance(option, dict)] if isinstance(options, list) else []
    labels = {str(number): str(option.get("label")) for number, option in enumerate(known, 1)}
    numbers = [word.strip() for word in said.split(",")]
    chosen = [labels[word] for word in numbers if word in labels]
    return ", ".join(chosen) if len(chosen) == len(numbers) else said
