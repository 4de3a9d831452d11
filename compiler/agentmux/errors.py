"""The one place where exceptions become a message and an exit code."""

from __future__ import annotations

import os
import platform
import re
import tempfile
import traceback
from typing import TYPE_CHECKING

from agentmux import __version__
from agentmux_compiler.render.paint import Paint
from agentmux_compiler.render.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentmux.streams import Stream

DONE, FINDINGS, CANNOT_RUN, OUR_BUG, INTERRUPTED = 0, 1, 2, 3, 130

_SECRET_NAME = re.compile("KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE", re.IGNORECASE)
_SHORTEST_SECRET = 6
_OPTION = re.compile("--[a-z-]+")


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
        refuse(err, CannotRun(_system_message(error)))
        return CANNOT_RUN
    except Exception as error:  # noqa: BLE001  the boundary
        err.line(_bug_line(error, arguments))
        return OUR_BUG


def refuse(err: Stream, error: CannotRun) -> None:
    """Say why the command did not run, in the shape of a diagnostic."""
    paint = Paint(err.color)
    err.line(f"{paint('error', 'error')}{paint('strong', f': {visible(error.message)}')}")
    remarks = [("help", error.remedy)] if error.remedy else []
    for kind, text in (*remarks, *(("note", note) for note in error.notes)):
        err.line(f"  {paint('frame', '=')} {paint('strong', f'{kind}:')} {visible(text)}")


def _system_message(error: OSError) -> str:
    what = error.strerror or type(error).__name__
    return f"`{error.filename}`: {what.lower()}" if error.filename else what.lower()


def _bug_line(error: Exception, arguments: Sequence[str]) -> str:
    kind = type(error).__name__
    report = bug_report(error, arguments)
    try:
        descriptor, path = tempfile.mkstemp(prefix="agentmux-", suffix=".md")
        with open(descriptor, "wb") as file:  # noqa: PTH123  a descriptor, not a path
            file.write(report.encode("utf-8", "backslashreplace"))
    except OSError:
        return f"internal error: {kind}; please report it with this:\n{report}"
    return f"internal error: {kind}; please report it with the file {path}"


def bug_report(error: Exception, arguments: Sequence[str]) -> str:
    """Markdown ready to be pasted: no environment value, no home path, of the arguments only command and options."""
    trace = "".join(traceback.format_exception(error)).rstrip()
    options = (argument.partition("=")[0] for argument in arguments[1:])
    told = ["agentmux", *arguments[:1], *(option for option in options if _OPTION.fullmatch(option))]
    text = (
        "## agentmux failed\n\n"
        f"- agentmux {__version__}\n"
        f"- Python {platform.python_version()} ({platform.python_implementation()})\n"
        f"- {platform.system()} {platform.release()} {platform.machine()}\n"
        f"- command: `{' '.join(told)}`\n\n"
        f"```\n{trace}\n```\n"
    )
    return _without_secrets(text)


def _without_secrets(text: str) -> str:
    home = os.path.expanduser("~")  # noqa: PTH111  as text, whatever stands in it
    for name, value in sorted(os.environ.items(), key=lambda item: -len(item[1])):
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, f"${name}")
    return text.replace(home, "~") if len(home) > 1 else text
