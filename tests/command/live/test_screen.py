from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from agentmux.launch.plain_view import readable
from agentmux.live.column import Column
from agentmux.live.screen import Screen
from agentmux.streams import Stream

TEXTS = st.text(st.sampled_from("ab c\n日é…☃👍\u0301\x1b[2J\u202e"), max_size=60)
SIZES = st.tuples(st.integers(12, 30), st.integers(4, 8))
ROWS = [Text(" a status"), Text(" row")]


class Drawn:
    """A screen whose bytes reach a terminal at once."""

    def __init__(self, paper, *, color=False):
        self.paper = paper
        self.file = io.StringIO()
        self.screen = Screen(Stream(self.file, color), lambda: (paper.width, paper.height))

    def draw(self, rows=()):
        self.screen.draw(rows)
        self.show()

    def show(self):
        self.paper.feed(self.file.getvalue().replace("\n", "\r\n"))
        self.file.seek(0)
        self.file.truncate()


@given(st.lists(TEXTS), SIZES, st.integers(1, 2), st.integers(0, 2))
def test_what_is_copied_is_what_was_written(paper, pieces, size, odd, rows):
    drawn = Drawn(paper(*size, odd))
    for piece in pieces:
        drawn.screen.text(readable(piece))
        drawn.draw(ROWS[:rows])
    drawn.draw()

    assert drawn.paper.lines == "".join(map(readable, pieces)).split("\n")


@given(st.lists(st.one_of(TEXTS, SIZES)), SIZES)
def test_a_resize_leaves_no_trace_of_the_rows_below(paper, steps, size):
    drawn = Drawn(paper(*size))
    for step in steps:
        if isinstance(step, tuple):
            drawn.paper.resize(*step)
        else:
            drawn.screen.line(Text(readable(step).replace("\n", "").replace("\t", "")))
        drawn.draw(ROWS)
    drawn.draw()

    said = [readable(step).replace("\n", "").replace("\t", "") for step in steps if isinstance(step, str)]
    assert drawn.paper.lines == [*said, ""]


def test_the_rows_stand_below_text_that_goes_on_and_vanish(paper):
    drawn = Drawn(paper(20, 6))
    drawn.screen.text("one\ntwo")
    drawn.draw(ROWS)
    assert drawn.paper.screen == ["one", "two", " a status", " row"]

    drawn.screen.text(" and more")
    drawn.draw(ROWS)
    assert drawn.paper.screen == ["one", "two and more", " a status", " row"]

    drawn.screen.line(Text("a line"))
    drawn.draw(ROWS[:1])
    assert drawn.paper.screen == ["one", "two and more", "a line", " a status"]

    drawn.draw()
    assert drawn.paper.lines == ["one", "two and more", "a line", ""]


def test_nothing_is_written_where_nothing_changed(paper):
    drawn = Drawn(paper(20, 6))
    drawn.screen.text("one")
    drawn.screen.draw(ROWS)
    written = drawn.file.getvalue()
    drawn.screen.draw(ROWS)

    assert drawn.file.getvalue() == written


def test_a_low_terminal_has_text_alone(paper):
    drawn = Drawn(paper(20, 3))
    drawn.screen.text("one")
    drawn.draw(ROWS)

    assert drawn.paper.lines == ["one"]


def test_a_row_that_is_full_has_nothing_below_until_it_goes_on(paper):
    drawn = Drawn(paper(10, 6))
    drawn.screen.text("x" * 10)
    drawn.draw(ROWS)
    assert drawn.paper.screen == ["x" * 10]

    drawn.screen.text("y")
    drawn.draw(ROWS)
    assert drawn.paper.screen == ["x" * 10, "y", " a status", " row"]


@pytest.mark.parametrize("color", [False, True])
def test_markup_is_text_and_colour_only_where_it_is_wanted(paper, color):
    drawn = Drawn(paper(40, 6), color=color)
    drawn.screen.line(Text("[red]not red[/red] :smile:", "bold red"))
    drawn.draw()

    assert (drawn.paper.lines, drawn.paper.styled) == (["[red]not red[/red] :smile:", ""], color)


def test_what_comes_while_a_person_writes_stands_above_their_prompt(paper):
    drawn = Drawn(paper(20, 8))
    drawn.screen.prompt("> ")
    drawn.draw(ROWS)
    drawn.screen.line(Text("a notice"))
    drawn.draw(ROWS)
    drawn.show()
    assert drawn.paper.screen == [">", "a notice", ">"]

    drawn.paper.feed("yes\r\n")
    drawn.screen.answered(line=True)
    drawn.draw(ROWS)
    assert drawn.paper.screen == [">", "a notice", "> yes", " a status", " row"]


def test_a_prompt_that_nobody_answered_has_its_line(paper):
    drawn = Drawn(paper(20, 8))
    drawn.screen.prompt("> ")
    drawn.screen.line(Text("failed"))
    drawn.screen.answered(line=False)
    drawn.draw()

    assert drawn.paper.lines == ["> ", "failed", ""]


def test_an_answer_beside_something_that_came_leaves_no_blank_line(paper):
    drawn = Drawn(paper(20, 8))
    drawn.screen.prompt("> ")
    drawn.screen.line(Text("a notice"))
    drawn.show()
    drawn.paper.feed("yes\r\n")
    drawn.screen.answered(line=True)
    drawn.draw()

    assert drawn.paper.lines == ["> yes", "a notice", ""]


def test_a_terminal_that_went_away_does_not_end_the_run():
    class Gone(io.StringIO):
        def write(self, text):
            raise OSError(5, text)

    screen = Screen(Stream(Gone()), lambda: (80, 24))
    for _ in range(2):
        screen.text("lost")
        screen.draw(ROWS)


@pytest.mark.parametrize(
    ("pieces", "safe"),
    [
        ([], True),
        (["x" * 9], True),
        (["x" * 10], False),
        (["x" * 5, "x" * 5], False),
        (["x" * 11], True),
        (["x" * 10, "\n"], True),
        (["日" * 4], True),
        (["日" * 5], False),
        (["x", "日" * 5], True),
        (["\t"], True),
        (["\t\t"], True),
        (["👍" * 4], True),
        (["👍" * 4, "xx"], False),
        (["👍" * 4, "xxxxx"], False),
        (["👍" * 4, "xxxxx\n"], True),
    ],
)
def test_where_the_cursor_surely_is(pieces, safe):
    column = Column(10)
    for piece in pieces:
        column.write(piece)

    assert column.safe == safe


@pytest.mark.parametrize(("cells", "width", "safe"), [(5, 8, True), (8, 8, False), (12, 20, False), (5, 20, True)])
def test_after_a_resize_a_row_that_was_folded_is_anywhere(cells, width, safe):
    column = Column(10)
    column.write("x" * cells)
    column.resize(width)

    assert column.safe == safe
