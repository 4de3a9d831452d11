"""Front matter of Markdown: what is split off, and where every line stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_compiler.diagnostics import Span
from agentmux_compiler.sources.front_matter import Document, split

PATH = "bundles/a.md"


def said(text: str):
    document, found = split(PATH, text)
    plain = None if document.front is None else document.front.plain()
    return plain, document.body, document.body_line, [(each.code, each.span.line, each.span.column) for each in found]


@pytest.mark.parametrize(
    "text", ["", "\n", "# Title\n", "text\n---\na: 1\n---\n", " ---\na: 1\n---\n", "----\n", "--- a\n"]
)
def test_text_without_front_matter_is_its_own_body(text):
    assert split(PATH, text) == (Document(None, text, 1), [])


@pytest.mark.parametrize(
    ("text", "front", "body", "line"),
    [
        ("---\ntitle: A\n---\nText.\n", {"title": "A"}, "Text.\n", 4),
        ("---\ntitle: A\n---\n\n \n\nText.\n", {"title": "A"}, "Text.\n", 7),
        ("--- \t\ntitle: A\n...\nText.", {"title": "A"}, "Text.", 4),
        ("---\n---\nText.\n", {}, "Text.\n", 3),
        ("---\n# nothing\n\n---\nText.\n", {}, "Text.\n", 5),
        ("---\ntitle: A\n---", {"title": "A"}, "", 4),
        ("---\ntitle: A\n---\n", {"title": "A"}, "", 4),
        ("---\ntitle: |\n  ---\n  b\n---\nText\n---\n", {"title": "---\nb\n"}, "Text\n---\n", 6),
    ],
)
def test_front_matter_is_split_off(text, front, body, line):
    assert said(text) == (front, body, line, [])


def test_places_are_those_of_the_file():
    document, _ = split(PATH, "---\n\ntitle: A\nproviders: [claude]\n---\n")
    assert document.front.entry("title").place == Span(PATH, 3, 8, 3, 9)
    assert document.front.get("providers").items[0].span == Span(PATH, 4, 13, 4, 19)


@pytest.mark.parametrize(
    ("text", "front", "body", "found"),
    [
        ("---\ntitle: A\n", None, "---\ntitle: A\n", [("AMX114", 1, 1)]),
        ("---\ntitle: [A\n---\nText.\n", None, "Text.\n", [("AMX114", 2, 8)]),
        ("---\ntitle:\n\tA\n---\nText.\n", None, "Text.\n", [("AMX114", 3, 1)]),
        ("---\njust words\n---\nText.\n", None, "Text.\n", [("AMX114", 2, 1)]),
        ("---\n- a\n---\nText.\n", None, "Text.\n", [("AMX114", 2, 1)]),
        ("---\ndescription: Use it: often\n---\nText.\n", None, "Text.\n", [("AMX114", 2, 20)]),
        ("---\na: 1\na: 2\n---\nText.\n", {"a": 1}, "Text.\n", [("AMX104", 3, 1)]),
        ("---\na: !x 1\n---\nText.\n", {"a": "1"}, "Text.\n", [("AMX114", 2, 4)]),
    ],
)
def test_faults_are_at_their_place_and_the_body_is_kept(text, front, body, found):
    plain, kept, _, said_there = said(text)
    assert (plain, kept, said_there) == (front, body, found)


LINE = st.text(alphabet="ab: -#[", max_size=6)


@given(st.lists(LINE, max_size=4), st.lists(LINE, max_size=4))
def test_the_body_begins_at_the_line_it_says(front, body):
    text = "\n".join(["---", *front, "---", *body])
    document, _ = split(PATH, text)
    assert "\n".join(text.split("\n")[document.body_line - 1 :]) == document.body
