"""What is said of a bug of ours: one line, and a report that is ready to be pasted."""

from __future__ import annotations

import os
import platform
import re
import tempfile
import traceback
from typing import TYPE_CHECKING

from agentmux import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

_SECRET_NAME = re.compile("KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE", re.IGNORECASE)
_SHORTEST_SECRET = 6
_OPTION = re.compile("--[a-z-]+")


def bug_line(error: Exception, arguments: Sequence[str]) -> str:
    """One line for the terminal; writes the report into the system's folder for temporary files."""
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
