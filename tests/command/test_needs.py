"""What a CLI must find before it starts is added only where that is allowed, and only where nothing else stands."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from agentmux.launch.dry_run import entries
from agentmux.launch.needs import meet
from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.tree import MemoryTree
from agentmux_launcher.launch import Launch

LACKS = "`gemini` lacks a kind of login in its settings, which it takes no other endpoint without"
LOGIN = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
SPEC = b"providers: {gemini: {}}\npermission: bypass\n"


@pytest.fixture
def launch(tmp_path):
    """A launch of Gemini that is led to another endpoint."""
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    (lowered,) = compile_project(MemoryTree({"agents.d/a.yaml": SPEC})).plans
    env = {"HOME": str(tmp_path / "home"), "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:1"}
    return Launch(lowered.plan, tmp_path / "project", "gemini", env, "run-1")


@pytest.fixture
def settings(launch):
    return Path(launch.env["HOME"]) / ".gemini" / "settings.json"


def nobody():
    return None


class Terminal:
    """Somebody who gives the same answer to every question."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def __call__(self):
        return self

    def ask(self, text: str) -> str:
        self.asked.append(text)
        return self.answer


def test_without_leave_it_is_only_said(launch, settings):
    assert meet(launch, nobody, allowed=False) == [f"{LACKS}; `--prepare` adds it to `{settings}`"]
    assert not settings.exists()


def test_with_leave_it_is_added_beside_what_stands_there(launch, settings):
    settings.parent.mkdir()
    settings.write_bytes(b'{\n  // mine\n  "general": {"vimMode": true}\n}\n')

    said = meet(launch, nobody, allowed=True)

    assert said == [f"{LACKS}; it was added by an entry in `{settings}`; take it out there to take that back"]
    assert settings.read_bytes().startswith(b'{\n  // mine\n  "general": {"vimMode": true},\n  "security": {\n')
    assert meet(launch, nobody, allowed=True) == []


def test_the_folder_may_have_been_moved(launch, tmp_path):
    launch.env["GEMINI_CLI_HOME"] = str(tmp_path / "moved")

    meet(launch, nobody, allowed=True)

    assert json.loads((tmp_path / "moved" / ".gemini" / "settings.json").read_bytes()) == LOGIN


@pytest.mark.parametrize(("answer", "written"), [("y", True), ("", False)])
def test_a_person_is_asked_once(launch, settings, answer, written):
    terminal = Terminal(answer)

    for _ in range(2):
        meet(launch, terminal, allowed=False)

    assert terminal.asked == [f"{LACKS}; add it to {settings}? [y/N] "]
    assert settings.exists() == written


def test_what_the_user_has_chosen_stays_without_a_word(launch, settings):
    settings.parent.mkdir()
    settings.write_bytes(content := b'{"security": {"auth": {"selectedType": "oauth-personal"}}}')

    assert meet(launch, Terminal("y"), allowed=True) == []
    assert settings.read_bytes() == content


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{", "it cannot be read: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        (b"[1]", "it is not an object"),
    ],
)
def test_a_file_that_cannot_be_read_stays_and_is_named_where_it_was_to_be_changed(launch, settings, content, why):
    settings.parent.mkdir()
    settings.write_bytes(content)

    assert meet(launch, Terminal("y"), allowed=False) == []
    assert meet(launch, nobody, allowed=True) == [f"`{settings}` is left as it is: {why}", LACKS]
    assert settings.read_bytes() == content


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes with a name")
def test_what_is_no_file_is_not_waited_for(launch, settings):
    settings.parent.mkdir()
    os.mkfifo(settings)

    assert meet(launch, nobody, allowed=True) == [f"`{settings}` is left as it is: it is no file", LACKS]


def test_where_the_cli_needs_it_not_nothing_is_said(launch):
    del launch.env["GOOGLE_GEMINI_BASE_URL"]

    assert meet(launch, Terminal("y"), allowed=True) == []


def test_what_cannot_be_written_is_said_and_the_run_goes_on(launch, settings):
    settings.parent.parent.joinpath(".gemini").write_text("a file", encoding="utf-8")

    said = meet(launch, nobody, allowed=True)

    assert said == [f"`{settings}` is left as it is: `.gemini` is a file", LACKS]


def test_a_dry_run_names_the_file_that_would_get_it(launch, settings):
    assert entries(launch, prepare=False) == []
    assert entries(launch, prepare=True) == [str(settings)]

    meet(launch, nobody, allowed=True)
    assert entries(launch, prepare=True) == []
