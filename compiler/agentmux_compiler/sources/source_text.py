"""Bytes of a source to its text: UTF-8, no byte order mark, LF line ends."""

from __future__ import annotations

import codecs

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import Diagnostic, Span
from agentmux_compiler.sources.conflicts import find_conflicts

_OTHER_MARKS = {
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


def decode(path: str, data: bytes) -> tuple[str | None, list[Diagnostic]]:
    """Text of a source; None where it is not UTF-8."""
    marked = data.startswith(codecs.BOM_UTF8)
    body = data[len(codecs.BOM_UTF8) :] if marked else data
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        return None, [_not_utf8(path, body, error.start)]
    found = [_byte_order_mark(path)] if marked else []
    if "\r\n" in text:
        found.append(_crlf(path, text))
    return text.replace("\r\n", "\n"), found


def decode_source(path: str, data: bytes) -> tuple[str | None, list[Diagnostic]]:
    """As `decode`; None too where a merge left a conflict."""
    text, found = decode(path, data)
    conflicts = find_conflicts(path, text) if text is not None else []
    return None if conflicts else text, [*found, *conflicts]


def position(path: str, text: str, offset: int, length: int = 1) -> Span:
    """Place of `length` characters of one line, `offset` characters into the text."""
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    return Span(path, line, column, line, column + length)


def _not_utf8(path: str, body: bytes, offset: int) -> Diagnostic:
    before = body[:offset].decode("utf-8")
    other = next((name for mark, name in _OTHER_MARKS.items() if body.startswith(mark)), None)
    return rules.NOT_UTF8.at(
        position(path, before, len(before)),
        f"byte `0x{body[offset]:02x}` is not UTF-8",
        help="save the file as UTF-8",
        notes=(f"the file looks like {other}",) if other else (),
    )


def _byte_order_mark(path: str) -> Diagnostic:
    return rules.BYTE_ORDER_MARK.at(
        Span(path), "the file begins with a byte order mark, which is dropped", help="save it as UTF-8 without BOM"
    )


def _crlf(path: str, text: str) -> Diagnostic:
    return rules.CRLF_LINE_ENDS.at(
        position(path, text, text.index("\r\n"), 1),
        "lines end with CRLF, which is read as LF",
        help="add `* text eol=lf` to `.gitattributes`",
    )
