"""Lines are found in any file, and what is too long or no JSON is passed over and counted."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_usage.readers.lines import BLOCK, LONGEST, Lines


def wants(line):
    return b'"usage"' in line or b'"other"' in line


def read(data, offset=0):
    lines = Lines(io.BytesIO(data), wants, offset)
    return list(lines), lines


def test_only_lines_with_a_marker_are_given_each_once():
    found, lines = read(b'{"a":1}\n{"usage":1,"other":"usage"}\n{"b":2}\n{"other":3}\n{"usage"')

    assert found == [b'{"usage":1,"other":"usage"}', b'{"other":3}']
    assert (lines.offset, lines.tail, dict(lines.notes)) == (56, b'{"usage"', {})


def test_it_goes_on_where_it_was():
    data = b'{"usage":1}\n{"usage":2}\n'

    assert read(data, 12)[0] == [b'{"usage":2}']


@pytest.mark.parametrize("stray", [b"\0\0\0", b'{"usage":', b"[1]", b'half"}'])
def test_what_is_no_object_is_counted(stray):
    found, lines = read(b'{"a":1}\n' + stray + b'\n{"other":1}\n')

    assert found == [b'{"other":1}']
    assert dict(lines.notes) == {"not json": 1}


def test_blank_lines_and_line_ends_of_windows_are_no_fault():
    found, lines = read(b'{"usage":1}\r\n\r\n\n{"usage":2}\n')

    assert [line.strip() for line in found] == [b'{"usage":1}', b'{"usage":2}']
    assert dict(lines.notes) == {}


@pytest.mark.parametrize("length", [LONGEST + 1, LONGEST + BLOCK, 3 * LONGEST])
def test_a_line_that_is_too_long_is_passed_over(length):
    long = b'{"usage":"' + b"x" * (length - 12) + b'"}'
    data = b'{"usage":1}\n' + long + b'\n{"usage":2}\n'

    found, lines = read(data)

    assert len(long) == length
    assert found == [b'{"usage":1}', b'{"usage":2}']
    assert (lines.offset, dict(lines.notes)) == (len(data), {"too long": 1})


def test_a_line_of_the_largest_size_is_read():
    long = b'{"usage":"' + b"x" * (LONGEST - 12) + b'"}'

    found, lines = read(long + b"\n")

    assert (found, dict(lines.notes)) == ([long], {})


def test_a_line_that_is_too_long_and_has_no_end_may_get_one():
    begin = b'{"usage":1}\n'

    found, lines = read(begin + b"x" * (LONGEST + 2 * BLOCK))

    assert found == [b'{"usage":1}']
    assert (lines.offset, dict(lines.notes)) == (len(begin), {"no end": 1})


@given(st.lists(st.sampled_from([b'{"usage":1}', b'{"b":"\\"usage\\""}', b'{"other":[{}]}', b"", b"x"]), max_size=30))
def test_it_finds_what_a_plain_loop_finds(lines):
    expected = [line for line in lines if wants(line)]

    assert read(b"".join(line + b"\n" for line in lines))[0] == expected
