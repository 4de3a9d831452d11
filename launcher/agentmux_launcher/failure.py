"""Why a run or a turn failed, from its exit, its signal, its stderr and what stood in its frames."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from agentmux_launcher.events import Failure, FailureClass
from agentmux_launcher.trouble import Trouble

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentmux_launcher.failure_table import FailureTable, Pattern

HEAD, TAIL = 4, 40
SHOWN_TAIL = 3
NOT_EXECUTABLE, NOT_FOUND, BY_SIGNAL = 126, 127, 128
INTERRUPT = 2
LOW_BYTE = 255
# A CLI that caught one of these exits with 128 and its number; other sums are exit codes of their own.
DEADLY = {1, 3, 4, 6, 7, 8, 9, 11, 15}
CONTROL_C_ON_WINDOWS = 0xC000013A

STATUSES = {
    401: FailureClass.AUTH,
    402: FailureClass.USAGE_LIMIT,
    403: FailureClass.AUTH,
    404: FailureClass.MODEL_NOT_FOUND,
    408: FailureClass.NETWORK,
    413: FailureClass.CONTEXT_EXCEEDED,
    429: FailureClass.RATE_LIMITED,
    500: FailureClass.SERVER_ERROR,
    502: FailureClass.SERVER_ERROR,
    503: FailureClass.OVERLOADED,
    504: FailureClass.SERVER_ERROR,
    529: FailureClass.OVERLOADED,
}
TITLES = {
    FailureClass.AUTH: "the credentials were refused",
    FailureClass.RATE_LIMITED: "too many requests or tokens in a short time",
    FailureClass.USAGE_LIMIT: "the account's quota or credit is used up",
    FailureClass.OVERLOADED: "the model's servers are overloaded",
    FailureClass.SERVER_ERROR: "the model's server failed",
    FailureClass.NETWORK: "the connection to the model failed",
    FailureClass.CONTEXT_EXCEEDED: "the conversation does not fit the model's context window",
    FailureClass.MAX_TURNS: "the limit of turns was reached",
    FailureClass.MODEL_NOT_FOUND: "the model does not exist, or this account may not use it",
    FailureClass.PERMISSION_DENIED: "a permission was denied",
    FailureClass.BAD_ARGUMENTS: "the CLI refused its arguments or settings",
    FailureClass.CLI_MISSING: "the CLI could not be started",
    FailureClass.CLI_TOO_OLD: "this version of the CLI no longer works",
    FailureClass.RESUME_NOT_FOUND: "the session to go on with does not exist",
    FailureClass.TRUNCATED: "the CLI ended in the middle of its output",
    FailureClass.NO_OUTPUT: "the CLI ended without saying anything",
    FailureClass.KILLED: "the CLI was killed",
    FailureClass.TIMEOUT: "the time ran out",
    FailureClass.INTERRUPTED: "the turn was interrupted",
    FailureClass.UNKNOWN: "the CLI failed for a reason it does not name",
}
RETRYABLE = {FailureClass.RATE_LIMITED, FailureClass.OVERLOADED, FailureClass.SERVER_ERROR, FailureClass.NETWORK}

AFTER = re.compile(
    r"\b(?:try again|retry) (?:in|after) (?P<time>(?:\d+(?:\.\d+)? ?(?:ms|s|m|h)[a-z]* ?)+)", re.IGNORECASE
)
SPAN = re.compile(r"(?P<number>\d+(?:\.\d+)?) ?(?P<unit>ms|s|m|h)", re.IGNORECASE)
UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is known of how a process, or one turn of it, ended.

    `exit_code` is null where it is not known; a signal that ended the process is `signal`. `by` says who ended
    it. `stderr` and `stdout` are the last `TAIL` lines that are no frames (and of stderr the first `HEAD`, since a
    usage text follows what it explains), `troubles` what went wrong in the last turn
    (oldest first) and was not overcome. `opened`: a frame came; `spoke`: the model said or did something; `closed`:
    the closing frame came, where `closes` says that there is one; `cut`: the stream ended inside a frame.
    """

    exit_code: int | None = None
    signal: int | None = None
    by: Literal["itself", "stopped", "timed_out", "not_found", "not_executable"] = "itself"
    stderr: tuple[str, ...] = ()
    stdout: tuple[str, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    opened: bool = False
    spoke: bool = False
    closes: bool = True
    closed: bool = False
    cut: bool = False

    @property
    def looks_well(self) -> bool:
        """Whether only words that mean a failure in any case can make one of it."""
        return self.exit_code in {0, None} and self.spoke and (self.closed or not self.closes) and not self.cut


@dataclass(frozen=True, slots=True)
class Found:
    """A class, and the words that say it."""

    means: FailureClass
    words: str = ""


def classify(evidence: Evidence, table: FailureTable) -> Failure | None:
    """The failure that the evidence shows; None where nothing failed."""
    looks: tuple[Callable[[Evidence, FailureTable], Found | None], ...] = (
        _not_started,
        _stopped,
        _by_frames,
        _timed_out,
        _by_signal,
        _by_words,
        _by_exit_code,
        _by_retries,
        _unfinished,
        _silent,
        _otherwise,
    )
    found = next((each for look in looks if (each := look(evidence, table))), None)
    return None if found is None else _failure(found, evidence, table)


def _failure(found: Found, evidence: Evidence, table: FailureTable) -> Failure:
    words = found.words or _aside(evidence, table)
    retryable = found.means in RETRYABLE
    return Failure(
        found.means,
        TITLES[found.means],
        words.strip(),
        evidence.exit_code,
        evidence.signal,
        retryable,
        _retry_after(words) if retryable else None,
    )


def _aside(evidence: Evidence, table: FailureTable) -> str:
    """The end of stderr, where it may say why; whoever ended the CLI needs no reason of its."""
    if evidence.by in {"stopped", "timed_out"}:
        return ""
    return "\n".join([line for line in evidence.stderr if table.explains(line)][-SHOWN_TAIL:])


def _retry_after(words: str) -> int | None:
    named = AFTER.search(words)
    spans = SPAN.finditer(named["time"]) if named else ()
    return round(sum(float(span["number"]) * UNITS[span["unit"].lower()] for span in spans)) if named else None


def _not_started(evidence: Evidence, _table: FailureTable) -> Found | None:
    by_shell = evidence.exit_code in {NOT_EXECUTABLE, NOT_FOUND} and not evidence.opened
    missing = evidence.by in {"not_found", "not_executable"}
    return Found(FailureClass.CLI_MISSING) if missing or by_shell else None


def _stopped(evidence: Evidence, _table: FailureTable) -> Found | None:
    return Found(FailureClass.INTERRUPTED) if evidence.by == "stopped" else None


def _by_frames(evidence: Evidence, table: FailureTable) -> Found | None:
    """The last word of a turn that failed, then the errors before it."""
    told = [trouble for trouble in reversed(evidence.troubles) if trouble.weight != "retry"]
    known = (Found(means, each.text) for each in _weighed(told) if (means := _of_trouble(each, table)))
    return next(known, None)


def _timed_out(evidence: Evidence, table: FailureTable) -> Found | None:
    if evidence.by != "timed_out":
        return None
    return _by_retries(evidence, table) or Found(FailureClass.TIMEOUT)


def _by_signal(evidence: Evidence, _table: FailureTable) -> Found | None:
    code = evidence.exit_code or 0
    caught = code - BY_SIGNAL if code - BY_SIGNAL in {*DEADLY, INTERRUPT} else None
    signal = evidence.signal or (INTERRUPT if code & 0xFFFFFFFF == CONTROL_C_ON_WINDOWS else caught)
    if signal is None:
        return None
    return Found(FailureClass.INTERRUPTED if signal == INTERRUPT else FailureClass.KILLED)


def _by_words(evidence: Evidence, table: FailureTable) -> Found | None:
    texts = {"stderr": "\n".join(evidence.stderr), "stdout": "\n".join(evidence.stdout)}
    for row in table.patterns:
        match = row.search(texts.get(row.where, "")) if row.always or not evidence.looks_well else None
        means = _meaning(row, match, table)
        if match and means:
            return Found(means, _line_of(match))
    return None


def _by_exit_code(evidence: Evidence, table: FailureTable) -> Found | None:
    code = evidence.exit_code
    if not code:
        return None
    listed = [row.means for row in table.exit_codes if row.code == code]
    low_bytes = STATUSES.items() if table.exit_is_status else ()
    means = next(iter([*listed, *(means for status, means in low_bytes if status & LOW_BYTE == code)]), None)
    return Found(means, _last_words(evidence)) if means else None


def _by_retries(evidence: Evidence, table: FailureTable) -> Found | None:
    """What the CLI was still trying to overcome when it ended."""
    if evidence.closed:
        return None
    known = (Found(means, each.text) for each in reversed(evidence.troubles) if (means := _of_trouble(each, table)))
    return next(known, None)


def _unfinished(evidence: Evidence, _table: FailureTable) -> Found | None:
    begun = evidence.opened and evidence.closes and not evidence.closed
    return Found(FailureClass.TRUNCATED, _last_words(evidence)) if begun or evidence.cut else None


def _silent(evidence: Evidence, _table: FailureTable) -> Found | None:
    quiet = not evidence.spoke and evidence.exit_code in {0, None} and not _last_words(evidence)
    return Found(FailureClass.NO_OUTPUT) if quiet else None


def _otherwise(evidence: Evidence, _table: FailureTable) -> Found | None:
    told = any(trouble.weight == "final" for trouble in evidence.troubles)
    return Found(FailureClass.UNKNOWN, _last_words(evidence)) if evidence.exit_code or told else None


def _weighed(troubles: Iterable[Trouble]) -> list[Trouble]:
    return sorted(troubles, key=lambda trouble: trouble.weight != "final")


def _of_trouble(trouble: Trouble, table: FailureTable) -> FailureClass | None:
    for row in table.patterns:
        match = row.search(trouble.text) if row.where == "frame" else None
        if means := _meaning(row, match, table):
            return means
    named = (means for kind in trouble.kinds if (means := table.kind(kind)))
    return next(named, None) or STATUSES.get(trouble.status or 0)


def _meaning(row: Pattern, match: re.Match[str] | None, table: FailureTable) -> FailureClass | None:
    if match is None or row.means:
        return row.means if match else None
    groups = match.groupdict()
    kind, status = groups.get("kind"), groups.get("status")
    return (table.kind(kind) if kind else None) or (STATUSES.get(int(status)) if status else None)


def _line_of(match: re.Match[str]) -> str:
    text = match.string
    begin = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    return text[begin : None if end < 0 else end]


def _last_words(evidence: Evidence) -> str:
    return next((trouble.text for trouble in _weighed(reversed(evidence.troubles)) if trouble.text), "")
