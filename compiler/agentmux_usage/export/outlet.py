"""What takes sessions one after the other and hands them on; none is kept longer than it must be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentmux_usage.breaks import Break
    from agentmux_usage.response import Session


class CannotExport(Exception):  # noqa: N818  it states what happened
    """What was asked for cannot be handed on; `remedy` says what to do, where there is something."""

    def __init__(self, message: str, remedy: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


class Outlet(Protocol):
    """Where sessions go. All methods may raise `CannotExport`."""

    def take(self, session: Session, breaks: Iterable[Break]) -> None:
        """One session, as much of it as was asked for, and the breaks of that."""
        ...

    def finish(self) -> str:
        """No more will come; one sentence that says what was handed on, and where to."""
        ...

    def close(self) -> None:
        """Let go of everything, finished or not."""
        ...


def counted(count: int, plural: str) -> str:
    """A count of what has its plural in `s`: `1 session`, `1,200 spans`."""
    return f"{count:,} {plural.removesuffix('s') if count == 1 else plural}"
