"""What every test may ask for: this repository, small projects, an environment that no terminal has touched."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

REPOSITORY = Path(__file__).resolve().parent.parent
TERMINAL = ("CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR", "TERM")

settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


# A shell that starts a job in the background has it ignore SIGINT, and so would every command that a test interrupts.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def repository() -> Path:
    """The root of this repository."""
    return REPOSITORY


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch):
    """Nothing of the terminal that started the tests reaches them."""
    for name in TERMINAL:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def write_project(tmp_path) -> Callable[[Mapping[str, str | bytes]], Path]:
    """Write files (POSIX path to text or bytes) below a new folder, and give that folder."""

    def write(files: Mapping[str, str | bytes]) -> Path:
        root = tmp_path / "project"
        for path, content in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        return root

    return write
