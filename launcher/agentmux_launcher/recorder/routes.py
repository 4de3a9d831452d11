"""Which question a request asks, by its method and path: any base path before the vendor's own is accepted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from agentmux_launcher.recorder.wire import Wire


class Question(StrEnum):
    """What a client wants of a model endpoint."""

    GENERATE = "generate"
    COUNT = "count"
    MODELS = "models"
    MODEL = "model"
    ALIVE = "alive"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Route:
    """A question and the wire it is asked on; `stream` is None where the body says it."""

    question: Question
    wire: Wire | None = None
    stream: bool | None = None


_ROUTES: tuple[tuple[str, str, Route], ...] = (
    ("HEAD", r"/|/api/hello", Route(Question.ALIVE)),
    ("POST", r".*/messages", Route(Question.GENERATE, "anthropic")),
    ("POST", r".*/messages/count_tokens", Route(Question.COUNT, "anthropic")),
    ("POST", r".*/responses", Route(Question.GENERATE, "responses")),
    ("POST", r".*/chat/completions", Route(Question.GENERATE, "chat")),
    ("POST", r".*/models/[^/]+:generateContent", Route(Question.GENERATE, "gemini", stream=False)),
    ("POST", r".*/models/[^/]+:streamGenerateContent", Route(Question.GENERATE, "gemini", stream=True)),
    ("POST", r".*/models/[^/]+:countTokens", Route(Question.COUNT, "gemini")),
    ("GET", r".*/v1(alpha|beta)\d*/models", Route(Question.MODELS, "gemini")),
    ("GET", r".*/v1(alpha|beta)\d*/models/[^/]+", Route(Question.MODEL, "gemini")),
    ("GET", r".*/models", Route(Question.MODELS)),
    ("GET", r".*/models/[^/]+", Route(Question.MODEL)),
)


def route(method: str, path: str) -> Route:
    plain = path.partition("?")[0]
    for verb, pattern, found in _ROUTES:
        if verb == method and re.fullmatch(pattern, plain):
            return found
    return Route(Question.UNKNOWN)
