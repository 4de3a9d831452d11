import io
import sys

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
