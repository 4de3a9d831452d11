import errno
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentmux.streams import Stream, _utf8, standard, wants_color


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("terminal", "option", "environ", "expected"),
    [
        (True, "auto", {}, True),
        (False, "auto", {}, False),
        (True, "auto", {"TERM": "dumb"}, False),
        (True, "auto", {"NO_COLOR": "1"}, False),
        (True, "auto", {"NO_COLOR": ""}, True),
        (False, "auto", {"FORCE_COLOR": "1"}, True),
        (False, "auto", {"FORCE_COLOR": "1", "TERM": "dumb"}, True),
        (True, "auto", {"FORCE_COLOR": "0"}, False),
        (False, "auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (False, "always", {"NO_COLOR": "1"}, True),
        (True, "never", {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colour_is_decided_by_option_then_variables_then_terminal(terminal, option, environ, expected):
    assert wants_color(Terminal() if terminal else io.StringIO(), option, environ) is expected


def test_bytes_are_utf8_with_lf_whatever_the_locale():
    raw = io.BytesIO()
    stream = Stream(_utf8(io.TextIOWrapper(raw, encoding="cp1252", newline="\r\n")))
    stream.line("größer → 日本 \udcff")
    assert raw.getvalue() == "größer → 日本 \\udcff\n".encode()


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_stream_that_was_closed_before_the_start_swallows_everything(monkeypatch, name):
    monkeypatch.setattr(sys, name, None)
    streams = standard(environ={})
    for stream in (streams.out, streams.err):
        stream.line("lost")
        stream.write_bytes(b"lost")
    closed = streams.out if name == "stdout" else streams.err
    closed.file.close()
    assert not closed.color


class Full(io.StringIO):
    def write(self, _):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_stream_that_takes_no_more_says_so_once_and_swallows_the_rest():
    stream = Stream(Full())
    with pytest.raises(OSError, match="No space left"):
        stream.line("lost")
    stream.line("lost")

    assert (stream.closed, stream.failed.errno) == (True, errno.ENOSPC)


def test_messages_that_nobody_can_take_hinder_nothing():
    stream = Stream(Full(), vital=False)
    stream.line("lost")

    assert (stream.closed, stream.failed.errno) == (True, errno.ENOSPC)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize(("stream", "code", "said"), [(1, 2, "error: no space left on device\n"), (2, 2, "")])
def test_a_full_disk_is_told_of_in_one_line(repository, tmp_path, stream, code, said):
    command = 'exec "$@" >/dev/full' if stream == 1 else 'exec "$@" 2>/dev/full'
    words = ["-m", "agentmux", *(["explain"] if stream == 1 else ["nonsense"])]
    path = os.pathsep.join(str(repository / name) for name in ("compiler", "launcher"))

    child = subprocess.run(
        ["/bin/sh", "-c", command, "sh", sys.executable, *words],
        cwd=tmp_path,
        env={"PYTHONPATH": path},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert (child.returncode, child.stderr) == (code, said)
