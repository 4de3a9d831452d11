"""The one place where exceptions become a message and an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.render.paint import Paint
from agentmux_compiler.render.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentmux.streams import Stream

DONE, FINDINGS, CANNOT_RUN, OUR_BUG, INTERRUPTED = 0, 1, 2, 3, 130


class CannotRun(Exception):  # noqa: N818  it states what happened; the user made no error that we could name better
    """The command cannot do what was asked: wrong usage, no project, a name that is not there."""

    def __init__(self, message: str, *, remedy: str | None = None, notes: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.notes = tuple(notes)


def guarded(command: Callable[[], int], err: Stream, arguments: Sequence[str]) -> int:
    """The command's exit code, or that of the exception which ended it."""
    try:
        return command()
    except CannotRun as error:
        refuse(err, error)
        return CANNOT_RUN
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return DONE
    except OSError as error:
        refuse(err, CannotRun(system_message(error)))
        return CANNOT_RUN
    except Exception as error:  # noqa: BLE001  the boundary
        from agentmux.bug_report import bug_line  # noqa: PLC0415  what it needs is slow to import

        err.line(bug_line(error, arguments))
        return OUR_BUG


def refuse(err: Stream, error: CannotRun) -> None:
    """Say why the command did not run, in the shape of a diagnostic."""
    paint = Paint(err.color)
    err.line(f"{paint('error', 'error')}{paint('strong', f': {visible(error.message)}')}")
    remarks = [("help", error.remedy)] if error.remedy else []
    for kind, text in (*remarks, *(("note", note) for note in error.notes)):
        err.line(f"  {paint('frame', '=')} {paint('strong', f'{kind}:')} {visible(text)}")


def system_message(error: OSError) -> str:
    """What the system refused, and for which file."""
    what = error.strerror or type(error).__name__
    return f"`{error.filename}`: {what.lower()}" if error.filename else what.lower()
