import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_compiler.diagnostics import Span
from agentmux_compiler.render.paint import PLAIN
from agentmux_compiler.render.snippet import LINE_WIDTH, snippet
from agentmux_compiler.render.visible import cells


def lines(source, *span):
    return snippet(Span("a.yaml", *span), source, "error", PLAIN)


def test_carets_stand_under_the_span():
    assert lines("a\n  - name\n", 2, 5, 2, 9) == ["  |", "2 |   - name", "  |     ^^^^"]


def test_tabs_and_wide_characters_keep_carets_in_place():
    assert lines("\t日本: x", 1, 6, 1, 7) == ["  |", "1 |     日本: x", "  |           ^"]
    assert lines("\t日本: x", 1, 2, 1, 4) == ["  |", "1 |     日本: x", "  |     ^^^^"]


def test_a_span_over_several_lines_is_marked_to_the_end_of_its_first():
    assert lines("abc def\nghi", 1, 5, 2, 2) == ["  |", "1 | abc def", "  |     ^^^"]


def test_a_place_behind_the_line_has_one_caret():
    assert lines("abc\r\n", 1, 9, 1, 20) == ["  |", "1 | abc", "  |    ^"]


@pytest.mark.parametrize(("source", "line"), [(None, 1), ("a\n", 3)])
def test_no_source_no_snippet(source, line):
    assert lines(source, line, 1) == []


def test_a_long_line_is_cut_around_the_span():
    _, text, carets = lines("x" * 500 + "[mark]" + "y" * 500, 1, 501, 1, 507)
    assert text == "1 | …" + "x" * 59 + "[mark]" + "y" * 33 + "…"
    assert carets == "  | " + " " * 60 + "^" * 6


def test_the_gutter_grows_with_the_number():
    assert lines("\n" * 99 + "a", 100, 1) == ["    |", "100 | a", "    | ^"]


PLACES = st.integers(1, 200)


@given(st.text(max_size=150), PLACES, PLACES, PLACES)
def test_any_line_and_any_place_make_three_lines_that_fit(text, column, end_line, end_column):
    _, line, carets = lines(text, 1, column, end_line, end_column)
    assert carets.strip(" |") == "^" * carets.count("^") != ""
    assert max(cells(line), cells(carets)) <= LINE_WIDTH + len("1 | ") + 1
    assert "\x1b" not in line
