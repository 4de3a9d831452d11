"""Invisible characters: which are reported, which a script or an emoji needs, which a bundle allows."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_compiler.diagnostics import Span
from agentmux_compiler.text.hidden_text import character_of, find_hidden, hidden_characters, visible

PATH = "bundles/a.md"


@pytest.mark.parametrize(
    "text",
    [
        "plain\ttext\n",
        "naïve café — “quotes” … 漢字 カナ 한국어\n",
        "non-breaking\u00a0space and\u3000wide space\n",
        "👍🏽 ❤️ ©️ ☎︎ #️⃣ 1️⃣\n",
        "👩‍👩‍👧‍👦 🏳️‍🌈 👨🏿‍🚀 🧑‍💻 🏴‍☠️\n",
        "🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁧󠁢󠁷󠁬󠁳󠁿\n",
        "می‌خواهم क्‍ष ශ්‍රී\n",
        "葛\U000e0100城市\n",
        "Žluťoučký kůň\u0301\n",
        "private \ue0b0 glyph, replacement \ufffd\n",
    ],
)
def test_visible_text_is_left_alone(text):
    assert find_hidden(PATH, text) == []
    assert hidden_characters(text) == ()


@pytest.mark.parametrize(
    ("text", "column", "names"),
    [
        ("a\u200bb", 2, "`U+200B` (zero width space)"),
        ("\u202eabc", 1, "`U+202E` (right-to-left override)"),
        ("a\u2066b", 2, "`U+2066` (left-to-right isolate)"),
        ("a\u200e", 2, "`U+200E` (left-to-right mark)"),
        ("soft\u00adhyphen", 5, "`U+00AD` (soft hyphen)"),
        ("a\ufeffb", 2, "`U+FEFF` (zero width no-break space)"),
        ("a\u200db", 2, "`U+200D` (zero width joiner)"),
        ("👍\u200dx", 2, "`U+200D` (zero width joiner)"),
        ("a\ufe0f", 2, "`U+FE0F` (variation selector-16)"),
        ("👍\U000e0101", 2, "`U+E0101` (variation selector-18)"),
        ("a\U000e0041", 2, "`U+E0041` (tag latin capital letter a)"),
        ("🏴\U000e0067\U000e007f", 2, "`U+E0067` (tag latin small letter g), `U+E007F` (cancel tag)"),
        ("a\x1b[31m", 2, "`U+001B` (control character)"),
        ("a\rb", 2, "`U+000D` (control character)"),
        ("a\x85b", 2, "`U+0085` (control character)"),
        ("a\u2028b", 2, "`U+2028` (line separator)"),
        ("a\u3164b", 2, "`U+3164` (hangul filler)"),
    ],
)
def test_hidden_text_is_named(text, column, names):
    found = find_hidden(PATH, f"first\n{text}\n")
    plural = "s" if "), " in names else ""
    assert [(item.code, item.span.line, item.span.column, item.message) for item in found] == [
        ("AMX305", 2, column, f"invisible character{plural} {names}")
    ]


def test_one_report_for_each_line():
    text = "a\u200b\u200bb\u202ec\n\nd\u200b\n"
    assert [(item.span, item.message) for item in find_hidden(PATH, text)] == [
        (
            Span(PATH, 1, 2, 1, 4),
            "invisible characters `U+200B` (zero width space), `U+202E` (right-to-left override)",
        ),
        (Span(PATH, 3, 2, 3, 3), "invisible character `U+200B` (zero width space)"),
    ]


def test_a_long_list_is_cut():
    found = find_hidden(PATH, "".join(chr(0xE0020 + index) for index in range(20)))
    assert found[0].message.endswith("`U+E0027` (tag apostrophe) and 12 more")


def test_allowed_characters_are_no_fault():
    text = "a\u200bb\u202ec\n"
    assert find_hidden(PATH, text, allowed=["\u200b", "\u202e"]) == []
    assert [item.message for item in find_hidden(PATH, text, allowed=["\u200b"])] == [
        "invisible character `U+202E` (right-to-left override)"
    ]


@pytest.mark.parametrize(
    ("name", "character"),
    [
        ("U+200B", "\u200b"),
        ("u+e0101", "\U000e0101"),
        ("ZERO WIDTH SPACE", "\u200b"),
        ("zero width joiner", "\u200d"),
        ("U+110000", None),
        ("200B", None),
        ("NO SUCH THING", None),
    ],
)
def test_characters_by_name(name, character):
    assert character_of(name) == character


def test_every_format_character_is_hidden_or_known_to_print():
    printing = {0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x600, 0x606), *range(0x13430, 0x13440)}
    formats = {point for point in range(sys.maxunicode + 1) if unicodedata.category(chr(point)) == "Cf"}
    silent = {point for point in formats - printing if not hidden_characters(f"a{chr(point)}a")}
    assert silent == set()


@given(st.text())
def test_columns_stay_when_controls_become_spaces(text):
    shown = visible(text)
    assert len(shown) == len(text)
    assert all(new in {old, " "} for old, new in zip(text, shown, strict=True))
    assert not [each for each in shown if unicodedata.category(each) in {"Cc", "Zl", "Zp"} and each not in "\t\n"]
