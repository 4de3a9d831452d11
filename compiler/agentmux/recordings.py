"""How a recording of a CLI's output is read: by what its provider's catalog says, and by what it looks like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentmux import project
from agentmux.errors import CannotRun
from agentmux_launcher.failure_table import table_for
from agentmux_launcher.frames import Frame, split
from agentmux_launcher.reading import Reading
from agentmux_launcher.translators import DIALECTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agentmux_compiler.providers.schema import Provider
    from agentmux_compiler.providers.schema_modes import Mode


def reading_of(name: str, recording: bytes) -> Reading:
    """How a recording of a provider's output is read: as its usual mode writes, unless it shows that another did.

    Raises:
        CannotRun: there is no such provider, or its output is no recording that can be replayed.
    """
    from agentmux_compiler.lowering.figures import convention_of, own_words  # noqa: PLC0415  pydantic
    from agentmux_compiler.providers import load_provider  # noqa: PLC0415

    (provider,) = project.check_providers([name])
    mode = _mode(load_provider(provider), _speaks_acp(recording))
    dialect = mode.frames if mode else "none"
    if mode is None or dialect not in DIALECTS:
        raise CannotRun(f"what `{provider}` writes (`{dialect}`) cannot be replayed")
    return Reading(
        dialect,
        table_for(provider, dialect),
        convention=convention_of(mode),
        lasting=_is_acp(mode),
        own_words=own_words(mode),
    )


def _mode(provider: Provider, acp: bool | None) -> Mode | None:
    """The mode that wrote a recording; the usual one where the recording does not show which."""
    usual = provider.modes[provider.controller]
    framed = [mode for mode in (usual, *provider.modes.values()) if mode and mode.frames in DIALECTS and _framed(mode)]
    fitting = (mode for mode in framed if _is_acp(mode) == acp)
    return usual if acp is None else next(fitting, usual)


def _framed(mode: Mode) -> bool:
    return DIALECTS[mode.frames].framed


def _is_acp(mode: Mode) -> bool:
    return mode.prompt_delivery == "acp"


def _speaks_acp(recording: bytes) -> bool | None:
    """Whether its first frame is one of JSON-RPC; None where there is no frame."""
    first = next(_frames(recording), None)
    return None if first is None else first.get("jsonrpc") == "2.0"


def _frames(recording: bytes) -> Iterator[Mapping[str, Any]]:
    for item in split(line + b"\n" for line in recording.split(b"\n")):
        if isinstance(item, Frame):
            inner = item.value.get("frame")
            yield inner if isinstance(inner, dict) else item.value
