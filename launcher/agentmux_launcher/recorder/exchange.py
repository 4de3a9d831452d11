"""A recorded request: kept byte for byte, written without its secrets, read back for a comparison."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from agentmux_launcher.codec import to_json
from agentmux_launcher.recorder.answers import ServedUsage
from agentmux_launcher.recorder.body import decode
from agentmux_launcher.recorder.wire import RenderedRequest, render

if TYPE_CHECKING:
    from pathlib import Path

FORMAT_VERSION = 1
REDACTED = "<redacted>"
Headers = tuple[tuple[str, str], ...]

_SECRET_HEADER = re.compile(r"auth|api-?key|token|secret|cookie|credential", re.IGNORECASE)
_SECRET_QUERY = re.compile(r"(?<=[?&])((?:api_?)?key|access_token|token)=[^&#]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request as it came and what it was answered with.

    `raw` are the bytes on the wire, `body` the same without content encoding (equal to `raw` where it cannot be
    undone). `kind` is main, `side:NAME`, or a question of `routes.Question`; `usage` what was served, None where
    nothing was. `outcome`: pending, whole, cut (as scripted), aborted (the client went away).
    """

    number: int
    method: str
    path: str
    headers: Headers = field(repr=False)
    raw: bytes = field(repr=False)
    body: bytes = field(repr=False)
    kind: str
    status: int = 0
    usage: ServedUsage | None = None
    outcome: str = "pending"

    @property
    def prompt(self) -> RenderedRequest:
        """The prompt in the backend's order.

        Raises:
            NotAPromptError: the body is no model request.
        """
        return render(self.body, self.path)

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")

    @property
    def file_name(self) -> str:
        return f"{self.number:04}.json"


class UnreadableRecordingError(ValueError):
    """The file holds neither a recorded request nor a request body."""


def redacted(exchange: Exchange) -> Exchange:
    """The exchange without the values of secrets in headers and query."""
    kept = tuple((key, REDACTED if _SECRET_HEADER.search(key) else value) for key, value in exchange.headers)
    return replace(exchange, headers=kept, path=_SECRET_QUERY.sub(rf"\1={REDACTED}", exchange.path))


def dumps(exchange: Exchange) -> str:
    """The exchange as JSON; the body is text where it is plain UTF-8, else base64 of the bytes on the wire."""
    safe = redacted(exchange)
    told: dict[str, Any] = {
        "format_version": FORMAT_VERSION,
        "number": safe.number,
        "method": safe.method,
        "path": safe.path,
        "headers": [list(pair) for pair in safe.headers],
        "kind": safe.kind,
        "status": safe.status,
        "usage": to_json(safe.usage),
    }
    try:
        plain = None if safe.header("content-encoding") else safe.raw.decode("utf-8")
    except UnicodeDecodeError:
        plain = None
    if plain is None:
        told["body_base64"] = base64.b64encode(safe.raw).decode("ascii")
    else:
        told["body"] = plain
    return json.dumps(told, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def loads(text: str) -> Exchange:
    """A recorded request; a bare request body is taken as one too.

    Raises:
        UnreadableRecordingError: neither of both.
    """
    try:
        value = json.loads(text)
        if isinstance(value, dict) and "format_version" not in value:
            plain = text.encode()
            return Exchange(0, "POST", "", (), plain, plain, "main")
        return _built(value)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UnreadableRecordingError(f"not a recorded request: {error}") from error


def read(path: Path) -> Exchange:
    """The recorded request in a file.

    Raises:
        OSError, UnreadableRecordingError
    """
    return loads(path.read_bytes().decode("utf-8"))


def _built(value: dict[str, Any]) -> Exchange:
    if value["format_version"] != FORMAT_VERSION:
        raise UnreadableRecordingError(f"format version {value['format_version']} is not {FORMAT_VERSION}")
    raw = base64.b64decode(value["body_base64"]) if "body_base64" in value else value["body"].encode()
    headers: Headers = tuple((str(key), str(item)) for key, item in value["headers"])
    bare = Exchange(value["number"], value["method"], value["path"], headers, raw, raw, value["kind"], value["status"])
    usage = ServedUsage(**value["usage"]) if value["usage"] else None
    return replace(bare, body=decode(raw, bare.header("content-encoding")), usage=usage, outcome="whole")
