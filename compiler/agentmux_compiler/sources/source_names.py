"""Names that agents, bundles and skills may have, and paths that specs may name."""

from __future__ import annotations

import posixpath
import re

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import Diagnostic, Span
from agentmux_compiler.tree import leaves_project

OUTPUT_FOLDER = ".agentmux"
MAX_NAME = 64  # what the Agent Skills convention takes
_KEBAB = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DEVICES = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]")


def name_fault(name: str) -> str | None:
    """What is wrong with a name, or None. Names become folders, so those that Windows reserves are refused."""
    if _DEVICES.fullmatch(name):
        return "is a device on Windows"
    if len(name) > MAX_NAME:
        return f"has {len(name)} characters, more than {MAX_NAME}"
    return None if _KEBAB.fullmatch(name) else "is not lower-case letters, digits and single `-`"


def invalid_name(path: str, kind: str, name: str, fault: str) -> Diagnostic:
    better = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:MAX_NAME].strip("-")
    remedy = None if not better or name_fault(better) else f"call it `{better}`"
    return rules.INVALID_NAME.at(Span(path), f"{kind} name `{name}` {fault}", help=remedy)


def project_path(text: str) -> str | None:
    """A relative path in its shortest form, `.` for the project itself; None where it leaves the project."""
    return None if leaves_project(text) else posixpath.normpath(text)


def folder_outside(path: str) -> Diagnostic:
    """A folder of sources behind a link that leads out: it would seem empty, and what was built from it unwanted."""
    return rules.PATH_OUTSIDE_PROJECT.at(
        Span(path), f"`{path}` is a link that leaves the project", help="copy what it leads to into the project"
    )


def outside(span: Span, field: str, text: str) -> Diagnostic:
    odd = "\\" in text or ":" in text
    return rules.PATH_OUTSIDE_PROJECT.at(
        span,
        f"{field} `{text}` {'is not a relative path with `/`' if odd else 'leaves the project'}",
        help="write a path relative to the project, with `/`",
    )
