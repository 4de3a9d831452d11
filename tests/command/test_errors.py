import io
import re
from pathlib import Path

import pytest

from agentmux.bug_report import bug_report
from agentmux.errors import CannotRun, guarded
from agentmux.streams import Stream


class Broken(io.StringIO):
    def write(self, _text):
        raise BrokenPipeError


@pytest.fixture
def err():
    return Stream(io.StringIO())


def raising(error):
    def command():
        raise error

    return command


def test_the_exit_code_of_the_command_passes(err):
    assert [guarded(lambda code=code: code, err, []) for code in (0, 1, 2)] == [0, 1, 2]
    assert err.file.getvalue() == ""


def test_what_cannot_run_is_two(err):
    error = CannotRun("no agent `x`", remedy="did you mean `y`?", notes=["there are `y`"])
    assert guarded(raising(error), err, []) == 2
    assert err.file.getvalue() == "error: no agent `x`\n  = help: did you mean `y`?\n  = note: there are `y`\n"


def test_an_interrupt_is_130_and_quiet(err):
    assert guarded(raising(KeyboardInterrupt()), err, []) == 130
    assert err.file.getvalue() == ""


def test_an_unreadable_file_is_two(err):
    error = PermissionError(13, "Permission denied", "agents.d/a.yaml")
    assert guarded(raising(error), err, []) == 2
    assert err.file.getvalue() == "error: `agents.d/a.yaml`: permission denied\n"


def test_a_bug_is_three_with_one_line_and_a_report(err, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert guarded(raising(KeyError("x")), err, ["build", "--check"]) == 3
    line = err.file.getvalue()
    path = re.fullmatch(r"internal error: KeyError; please report it with the file (.*\.md)\n", line)[1]
    report = Path(path).read_text("utf-8")
    assert Path(path).parent == tmp_path
    assert "- command: `agentmux build --check`\n" in report
    assert "KeyError: 'x'\n```\n" in report


def test_a_bug_where_no_report_can_be_written_prints_it(err, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    assert guarded(raising(KeyError("x")), err, []) == 3
    assert err.file.getvalue().startswith("internal error: KeyError; please report it with this:\n## agentmux failed\n")


def test_a_report_holds_no_secret_no_home_and_no_argument(monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.setenv("USERPROFILE", "/home/somebody")
    monkeypatch.setenv("ISSUES_TOKEN", "tok-123456")
    error = ValueError("tok-123456 in /home/somebody/project")
    report = bug_report(error, ["show", "secret-agent", "--prompt", "my words", "--resume=0123"])
    assert "ValueError: $ISSUES_TOKEN in ~/project\n" in report
    assert "- command: `agentmux show --prompt --resume`\n" in report


def test_a_reader_that_went_away_changes_no_exit_code(err):
    out = Stream(Broken())

    def command():
        out.line("first")
        out.line("second")
        return 1

    assert guarded(command, err, []) == 1
    assert (out.closed, err.file.getvalue()) == (True, "")
