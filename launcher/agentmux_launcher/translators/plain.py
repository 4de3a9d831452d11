"""No frames: the output of a CLI that draws its own screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentmux_launcher.events import Event, Unknown
from agentmux_launcher.translators.base import Translator

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agentmux_launcher.trouble import Trouble
    from agentmux_launcher.usage import Convention, Start


class PlainTranslator(Translator):
    """Knows no frame at all."""

    closes = False

    def __init__(self, _convention: Convention, _start: Start) -> None:
        pass

    def translate(self, frame: Mapping[str, Any]) -> Iterator[Event | Trouble]:
        yield Unknown(frame)
