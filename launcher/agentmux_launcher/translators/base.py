"""What every translator is: frames in, in their order; events and troubles out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agentmux_launcher.events import Event
    from agentmux_launcher.trouble import Trouble
    from agentmux_launcher.usage import Tokens


class Translator:
    """Reads the frames of one process; no JSON object makes it raise.

    `counters` is what the session's counters stand at, for the process that goes on with it; None where they begin
    with each process or are not known. `closes` says that a turn which comes to its end has a closing frame; `open`,
    that one was asked for and has not come to its end. `own_words` begin texts that are the CLI's and not the model's.
    """

    counters: Tokens | None = None
    closes: bool = True
    own_words: tuple[str, ...] = ()

    @property
    def open(self) -> bool:
        return False

    def translate(self, frame: Mapping[str, Any]) -> Iterator[Event | Trouble]:
        """One frame that the CLI wrote."""
        raise NotImplementedError

    def sent(self, _frame: Mapping[str, Any]) -> Iterator[Event | Trouble]:
        """One frame that went to the CLI: the answer to what it asked."""
        yield from ()

    def finish(self) -> Iterator[Event | Trouble]:
        """What is still to be said when the stream ends."""
        yield from ()
