from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_launcher.frames import Frame, Half, Splitter, Stray, TooLong, split, without_escapes

SHOW_CURSOR = b"\x1b[?25h"
TEXT_FRAME = (
    b'{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta",'
    b'"text":"a few words "}},"session_id":"9efd5b2a","parent_tool_use_id":null,"uuid":"f32908aa"}\n'
)
NASTY = st.sampled_from(
    [b"{", b"}", b'{"a":1}', b'"', b"\\", b"\n", b"\r", b"\r\n", b"\0", b"\x1b", SHOW_CURSOR, "é☃".encode(), b"\xc3"]
)
BYTES = st.lists(st.one_of(NASTY, st.binary(max_size=6)), max_size=30).map(b"".join)


def objects(*chunks):
    return [item.value for item in split(chunks) if isinstance(item, Frame)]


def cut(data, places):
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[begin:end] for begin, end in pairwise(edges)]


def test_lines_become_objects_and_words():
    data = b'{"a": 1}\r\n  not json \n\n   \n[1, 2]\n{"b": {"c": null}}\n'

    assert list(split([data])) == [
        Frame({"a": 1}, b'{"a": 1}'),
        Stray("  not json "),
        Stray("[1, 2]"),
        Frame({"b": {"c": None}}, b'{"b": {"c": null}}'),
    ]


def test_characters_cut_in_the_middle_stay_whole():
    line = '{"text":"Zwölf ☃ 👩‍🚀"}\n'.encode()

    assert objects(*(line[n : n + 1] for n in range(len(line)))) == [{"text": "Zwölf ☃ 👩‍🚀"}]


@pytest.mark.parametrize(
    "line",
    [
        SHOW_CURSOR + b'{"a":1}',
        b'{"a":1}' + SHOW_CURSOR,
        b'\x1b]0;a title\x07\x1b[31m{"a":1}\x1b[0m',
        b'\x1b]8;;http://x\x1b\\{"a":1}\x1b=',
        b'\0\0{"a":1}\0',
        b'\xef\xbb\xbf{"a":1}',
        b' \t{"a":1} \r\r',
    ],
)
def test_what_stands_around_an_object_is_taken_away(line):
    assert objects(line + b"\n") == [{"a": 1}]


def test_escape_sequences_after_the_last_line_are_nothing():
    assert list(split([b'{"a":1}\n' + SHOW_CURSOR])) == [Frame({"a": 1}, b'{"a":1}')]


def test_escape_sequences_inside_a_string_stay():
    assert objects(b'{"a":"\\u001b[31mred","b":"raw \x1b[1m and \x01"}\n') == [
        {"a": "\x1b[31mred", "b": "raw \x1b[1m and \x01"}
    ]


def test_a_last_line_without_its_end_counts():
    assert list(split([b'{"a":1}\n{"b":2}'])) == [Frame({"a": 1}, b'{"a":1}'), Frame({"b": 2}, b'{"b":2}')]


def test_half_a_frame_at_the_end_is_kept():
    assert list(split([b'{"a":1}\n{"b":"no en'])) == [Frame({"a": 1}, b'{"a":1}'), Half('{"b":"no en')]


def test_a_broken_line_that_is_not_the_last_is_words():
    assert list(split([b'{"b":"no en\n{"a":1}\n'])) == [Stray('{"b":"no en'), Frame({"a": 1}, b'{"a":1}')]


@pytest.mark.parametrize("line", [b"{" * 200_000, b'{"n":' + b"[" * 200_000, b'{"n":' + b"9" * 5_000 + b"}"])
def test_what_the_decoder_gives_up_on_is_words(line):
    assert [type(item) for item in split([line + b"\n"])] == [Stray]


def test_numbers_that_are_none_are_not_known():
    assert objects(b'{"a":NaN,"b":-Infinity}\n') == [{"a": None, "b": None}]


def test_invalid_utf_8_costs_a_character_not_the_frame():
    assert objects(b'{"a":"x\xffy"}\n') == [{"a": "x\ufffdy"}]


@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_a_line_beyond_the_cap_is_reported_once_and_the_next_one_is_read(size):
    data = b'{"a":"' + b"x" * 300 + b'"}\n{"b":2}\n'
    chunks = [data[n : n + size] for n in range(0, len(data), size)]

    assert list(split(chunks, limit=100)) == [TooLong(100, '{"a":"' + "x" * 94), Frame({"b": 2}, b'{"b":2}')]


def test_a_line_of_five_megabytes_arrives_whole():
    text = "0123456789" * 500_000
    data = json.dumps({"text": text}).encode() + b"\n"

    assert objects(*(data[n : n + 4096] for n in range(0, len(data), 4096))) == [{"text": text}]


def test_a_line_of_exactly_the_cap_is_read():
    line = b'{"a":"' + b"x" * 92 + b'"}'

    assert [type(item) for item in split([line + b"\n"], limit=len(line))] == [Frame]


@given(data=BYTES, places=st.lists(st.integers(0, 300), max_size=12), limit=st.sampled_from([1, 5, 20, 1 << 20]))
def test_any_bytes_in_any_cutting_give_the_same(data, places, limit):
    assert list(split(cut(data, places), limit)) == list(split([data], limit))


@given(
    values=st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=20) | st.integers() | st.none()), max_size=8),
    places=st.lists(st.integers(0, 500), max_size=12),
    end=st.sampled_from([b"\n", b"\r\n", SHOW_CURSOR + b"\n"]),
)
def test_objects_survive_any_cutting(values, places, end):
    data = b"".join(json.dumps(value, ensure_ascii=False).encode() + end for value in values)

    assert objects(*cut(data, places)) == values


def test_nothing_is_held_of_a_line_that_is_skipped():
    splitter = Splitter(limit=1_000)
    found = [item for _ in range(1_000) for item in splitter.feed(b"x" * 1_000)]

    assert [type(item) for item in found] == [TooLong]
    assert len(splitter._pending) <= 1_000


def test_edges_of_a_hostile_line_are_found():
    line = b" " * 300_000 + b"\x1b[0m" * 100_000 + b"x" + b"\x1b[0m" * 100_000 + b" " * 300_000 + b"\n"

    assert [type(item) for item in split([line])] == [Stray]


def test_twenty_thousand_frames_are_split_whatever_the_chunks():
    data = TEXT_FRAME * 20_000
    chunks = [data[n : n + 4096] for n in range(0, len(data), 4096)]

    assert sum(1 for _ in split(chunks)) == 20_000


def test_words_are_shown_without_their_colours():
    assert without_escapes("\x1b[31mred\x1b[0m and \x1b]0;title\x07plain \t") == "red and plain"
