from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from agentmux_usage.page import page
from agentmux_usage.response import Session

HOSTILE = "</script><script>alert(1)</script><img src=x onerror='alert(2)'>\"'&{{ 7 * 7 }}"
APART = {"dt", "dd", "th", "td", "li", "p", "span", "ul"}
VOID = {"meta", "input", "br", "img", "link"}


class Outline(HTMLParser):
    """What elements a page has, with their attributes and the text within each kind."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.within: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.text += " " * (tag in APART)
        if tag not in VOID:
            self.within.append(tag)

    def handle_endtag(self, tag):
        while self.within and self.within.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"style", "script"} & set(self.within):
            self.text += data

    def of(self, tag) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def read(html) -> Outline:
    outline = Outline()
    outline.feed(html)
    return outline


def plain(outline) -> str:
    return " ".join(outline.text.split())


@pytest.fixture
def broken_page(broken_session, report):
    session, breaks = broken_session
    return page(report([session], breaks), [session], price=lambda _: 0.25)


def test_totals_breaks_and_sources_are_said_in_words(broken_page):
    text = plain(read(broken_page))

    assert "1 session, 2026-06-01 12:00 to 2026-06-01 12:11, times in UTC" in text
    assert "Cost $1.50 list prices of 2026-05-30" in text
    assert "Served by the cache 79.4% 62.0k of 78.1k input tokens" in text
    assert "Lost in breaks 4.50k 2 breaks, $0.02" in text
    assert "12 calls in 3 turns" in text
    assert "instructions 4,000 tokens lost, $0.02 call 5, turn 2, 2026-06-01 12:04" in text
    assert "line 7 was <edited> between two builds" in text
    assert "expected 4,000, read 0, predicted to lose 3,900; caused by bundles/style.md:7" in text
    assert (
        "differ from what the backend counted by 2.5% of the tokens lost; on balance they foretell 2.5% too little"
        in text
    )
    assert "a <torn> line" in text
    assert "the <ledger>" in text
    assert "Only responses from 2026-05-31 12:00." in text


def test_all_that_is_drawn_stands_in_tables_too(broken_page):
    text = plain(read(broken_page))

    assert "reviewer All 2026-06-01 $3.00 $3.00" in text
    assert "1 1 12:00:00 0 1,000 10 20 2 1 12:01:00 1,000 1,000 10 20" in text


def test_a_page_allows_its_own_style_and_script_and_nothing_else(broken_page):
    (style,) = re.findall(r"<style>(.*?)</style>", broken_page, re.DOTALL)
    (script,) = re.findall(r"<script>(.*?)</script>", broken_page, re.DOTALL)
    policy = next(meta["content"] for meta in read(broken_page).of("meta") if "http-equiv" in meta)

    def digest(text):
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest(style)}'; script-src 'sha256-{digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", broken_page)
    assert not re.findall(
        r"\b(?:src|srcset|action|style|on[a-z]+)=", re.sub(r"<(style|script)>.*?</\1>", "", broken_page)
    )
    assert {link["href"][0] for link in read(broken_page).of("a")} == {"#"}


def test_nothing_that_others_wrote_becomes_markup(response, found, report):
    session = Session(
        "claude",
        HOSTILE,
        (response(session=HOSTILE, agent=HOSTILE, model=HOSTILE), response(60, session=HOSTILE, agent=HOSTILE)),
    )
    lost = found(60, session=HOSTILE, call=2, evidence=HOSTILE, predicted=5)
    made = replace(report([session], [lost]), sources=(HOSTILE,), notes=(HOSTILE,), price_as_of=HOSTILE, zone="UTC")

    outline = read(page(made, [session], price=lambda _: 1.0, groups=[replace(made, by=HOSTILE, rows=made.rows * 2)]))

    assert len(outline.of("script")) == 1
    assert outline.of("img") == []
    assert outline.text.count(HOSTILE) == 20
    assert all(not name.startswith("on") for _, attributes in outline.elements for name in attributes)


def test_names_in_evidence_are_code(response, found, report):
    session = Session("claude", "one", (response(session="one"), response(60, session="one")))
    lost = found(60, session="one", call=2, evidence="`a<b>` was edited, see `c.md`")

    made = page(report([session], [lost]), [session], price=lambda _: 1.0)

    assert "<p><code>a&lt;b&gt;</code> was edited, see <code>c.md</code></p>" in made


def test_every_reference_within_the_page_leads_somewhere_and_no_name_is_given_twice(broken_page):
    outline = read(broken_page)
    names = [attributes["id"] for _, attributes in outline.elements if "id" in attributes]
    wanted = {link["href"][1:] for link in outline.of("a")}
    wanted |= {attributes["aria-labelledby"] for _, attributes in outline.elements if "aria-labelledby" in attributes}

    assert sorted(names) == sorted(set(names))
    assert wanted <= set(names)


def test_the_same_input_gives_the_same_bytes(broken_session, report):
    session, breaks = broken_session
    one, two = (page(report([session], breaks), [session]) for _ in range(2))

    assert one == two


def test_nothing_says_so(report):
    text = plain(read(page(report([]), [])))

    assert "No response of a model was found." in text
    assert "Cost" not in text


def test_a_session_without_breaks_says_so(response, report):
    session = Session("claude", "one", (response(), response(60)))

    text = plain(read(page(report([session]), [session])))

    assert "Nothing: every call read what the calls before it had stored." in text
    assert "Predicted against observed" not in text


def test_what_is_only_a_bound_is_marked(broken_session, report):
    session, breaks = broken_session
    made = report([session], breaks)
    made = replace(made, total=replace(made.total, partial=("output",)))

    assert "Output \N{GREATER-THAN OR EQUAL TO} 240" in plain(read(page(made, [session])))


def test_groups_of_two_rows_or_more_have_tables_of_their_own(broken_session, report):
    session, breaks = broken_session
    made = report([session], breaks)
    (row,) = made.rows
    by_agent = replace(made, by="agent", rows=(replace(row, key="reviewer"), replace(row, key="tester", breaks=())))
    by_model = replace(made, by="model")

    text = plain(read(page(made, [session], groups=[by_model, by_agent])))

    assert (
        "By agent Agent Calls Input of all calls Read Output Breaks Cost "
        "reviewer 12 78.1k 79.4% 240 2 $1.50 tester 12 78.1k 79.4% 240 0 $1.50"
    ) in text
    assert "By model" not in text


def test_the_session_that_lost_most_is_open_at_first(broken_session, response, report):
    session, breaks = broken_session
    newer = Session("claude", "newer", (response(9000, session="newer"),))

    outline = read(page(report([session, newer], breaks), [session, newer]))

    assert [one["id"] for one in outline.of("section") if one.get("class") == "session first"] == ["s2"]
    assert [one["id"] for one in outline.of("section") if one.get("class") == "session"] == ["s1"]


def test_five_thousand_responses_stay_light(response, report):
    sessions = [
        Session(
            "claude",
            f"{index:032}",
            tuple(response(900 * index + at, session=f"{index:032}", read=at) for at in range(17)),
        )
        for index in range(300)
    ]

    assert len(page(report(sessions), sessions).encode()) < 3_000_000
