import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_compiler.render.visible import cells, head, padded, source_line, tail, visible, with_white_space


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain `text` … größer 日本", "plain `text` … größer 日本"),
        ("\x1b[31m\x07\x7f\x9b", "\\x1b[31m\\x07\\x7f\\x9b"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("abc\u202edef\u2066\u200b\ufeff", "abc<U+202E>def<U+2066><U+200B><U+FEFF>"),
        ("tag\U000e0041\U000e007f", "tag<U+E0041><U+E007F>"),
        ("\u2028\u2029\u3164\u00ad", "<U+2028><U+2029><U+3164><U+00AD>"),
        ("\ud800", "<U+D800>"),
        ("👩‍💻 ❤️ 1️⃣ 👍🏽‍", "👩‍💻 ❤️ 1️⃣ 👍🏽<U+200D>"),
        ("a\ufe0f\u200db", "a<U+FE0F><U+200D>b"),
        ("❤️\ufe0f\ufe0f", "❤️<U+FE0F><U+FE0F>"),
    ],
)
def test_what_hides_or_drives_a_terminal_is_written_out(text, shown):
    assert visible(text) == shown


@given(st.text())
def test_no_control_or_bidi_character_is_left(text):
    left = {character for character in visible(text) if unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}}
    assert left == set()
    assert not set(visible(text)) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")


@given(st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"])))
def test_ascii_is_left_alone(text):
    assert visible(text) == text


def test_tabs_of_a_source_are_four_spaces():
    assert source_line("\ta\tb\x1b") == "    a    b\\x1b"


def test_white_space_is_drawn():
    assert with_white_space("a b\t\r\n") == "a·b→␍␤"


@pytest.mark.parametrize(
    ("text", "width"),
    [("abc", 3), ("日本", 4), ("e\u0301", 1), ("👩‍💻", 2), ("❤️", 2), ("\uff21\uff22", 4), ("", 0)],
)
def test_cells(text, width):
    assert cells(text) == width


@given(st.text(st.sampled_from("ab日é👩")), st.integers(1, 12))
def test_cut_text_fits_and_is_a_part(text, width):
    assert cells(head(text, width)) <= width
    assert cells(tail(text, width)) <= width
    assert text.startswith(head(text, width).removesuffix("…"))
    assert text.endswith(tail(text, width).removeprefix("…"))


def test_text_that_fits_is_not_cut():
    assert (head("日本", 4), tail("日本", 4), head("日本", 3), tail("日本", 3)) == ("日本", "日本", "日…", "…本")


def test_padded_to_columns():
    assert padded("日本", 6) == "日本  "
