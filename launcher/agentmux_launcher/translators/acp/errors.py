"""What an ACP agent says went wrong: errors of JSON-RPC, attempts that it makes again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agentmux_launcher.events import Event, Retry
from agentmux_launcher.translators.values import count, first, mapping, parsed, shown
from agentmux_launcher.trouble import Trouble

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LOWEST_STATUS, HIGHEST_STATUS = 400, 599
AGAIN = re.compile(r"\bretrying\b", re.IGNORECASE)
ATTEMPT = re.compile(r"\b(?P<attempt>\d{1,4})/\d")
WAITS = re.compile(r"\bwaiting (?P<seconds>\d{1,6}) ?s\b")


def error(said: Any) -> Trouble:
    """An error of JSON-RPC. Its code may be an HTTP status; what explains it may stand in `data`, in several forms."""
    value = mapping(said)
    code, data = value.get("code"), value.get("data")
    known, inner = mapping(data), _inner(value.get("message"))
    message = first(inner.get("message"), value.get("message")) or ""
    detail = first(data, known.get("details"), known.get("message")) or ""
    words = message if not detail or detail in message else f"{message}\n{detail}".strip()
    number = code if isinstance(code, int) and not isinstance(code, bool) else None
    names = (known.get("errorKind"), known.get("errorName"), *_codex_kinds(known), inner.get("status"), _text(number))
    status = number if number is not None and LOWEST_STATUS <= number <= HIGHEST_STATUS else None
    return Trouble(words or shown(said), status, tuple(filter(None, map(first, names))), "final")


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)


def _codex_kinds(data: Mapping[str, Any]) -> tuple[Any, ...]:
    """Codex names an error by a text or, where there is more to it, by the one key of an object."""
    info = data.get("codexErrorInfo")
    return tuple(info) if isinstance(info, dict) else (info,)


def _inner(message: Any) -> Mapping[str, Any]:
    """The error that a vendor sent, where the message is its body."""
    if not isinstance(message, str) or not message.startswith("{"):
        return {}
    return mapping(mapping(parsed(message)).get("error"))


def own_words(text: str) -> Iterator[Event | Trouble]:
    """Another attempt that the CLI tells of in its own words; nothing where they say something else."""
    if not AGAIN.search(text):
        return
    attempt, waits = ATTEMPT.search(text), WAITS.search(text)
    yield Retry(
        int(attempt["attempt"]) if attempt else None, None, int(waits["seconds"]) * 1_000 if waits else None, text
    )
    yield Trouble(text, weight="retry")


def codex(said: Mapping[str, Any]) -> Iterator[Event | Trouble]:
    """What codex-acp puts beside the title of a session: an error that it means to overcome."""
    if not said:
        return
    message, detail = first(said.get("message")) or "", first(said.get("additionalDetails"))
    info = mapping(said.get("codexErrorInfo"))
    statuses = (count(mapping(value).get("httpStatusCode")) for value in info.values())
    status, attempt = next(filter(None, statuses), None), ATTEMPT.search(message)
    if said.get("willRetry") is True:
        yield Retry(int(attempt["attempt"]) if attempt else None, status, None, detail or message)
    kinds = tuple(filter(None, map(first, _codex_kinds(said))))
    yield Trouble(detail or message, status, kinds, "retry" if said.get("willRetry") is True else "error")


def grok(said: Mapping[str, Any]) -> Iterator[Event | Trouble]:
    """How Grok's own attempts go; one that failed for good is the answer to the prompt, too."""
    kind, message = first(said.get("error_type")), first(said.get("message"))
    if said.get("type") == "failed":
        yield Trouble(message or "", None, (kind,) if kind else (), "error")
        return
    yield Retry(count(said.get("attempt")), None, None, message)
    yield Trouble(message or "", None, (kind,) if kind else (), "retry")
