from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_compiler.writing.json_text import remove_value, set_value
from agentmux_compiler.writing.merge import Merged, NotMergeableError, keys_of, merge

OURS = b'{\n  "mcpServers": {\n    "issues": {\n      "command": "issues-mcp"\n    }\n  }\n}\n'
ISSUES = "/mcpServers/issues"

keys = st.text(max_size=4)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(keys, values, max_size=4)
indents = st.sampled_from([None, 2, 4, "\t"])


def known(content: bytes) -> dict[str, frozenset[str]]:
    return {pointer: frozenset({digest}) for pointer, digest in keys_of(content).items()}


def test_a_value_is_added_and_nothing_else_moves():
    current = b'{\n    "theme": "dark",\n    "list": [1,  2],\n    "mcpServers": {}\n}\n'
    assert merge(current, OURS, {}, ()) == Merged(
        b'{\n    "theme": "dark",\n    "list": [1,  2],\n    "mcpServers": {\n        "issues": {\n'
        b'            "command": "issues-mcp"\n        }\n    }\n}\n'
    )


def test_crlf_stays_crlf():
    assert merge(b'{\r\n  "a": 1\r\n}\r\n', b'{"b": {"c": 2}}', {}, ()).content == (
        b'{\r\n  "a": 1,\r\n  "b": {\r\n    "c": 2\r\n  }\r\n}\r\n'
    )


def test_a_one_line_object_stays_on_its_line():
    assert merge(b'{"a": {"x": 1}}', b'{"a": {"y": 2}}', {}, ()).content == b'{"a": {"x": 1, "y": 2}}'


def test_merging_again_changes_nothing():
    once = merge(b'{"theme": "dark"}\n', OURS, {}, ()).content
    assert merge(once, OURS, known(OURS), known(OURS)) == Merged(once)


def test_our_old_value_is_replaced():
    old = OURS.replace(b"issues-mcp", b"old-mcp")
    assert merge(old, OURS, known(old), ()) == Merged(OURS)


def test_a_value_of_ours_that_was_edited_stays():
    edited = OURS.replace(b"issues-mcp", b"my-mcp")
    assert merge(edited, OURS, known(OURS), known(OURS)) == Merged(edited, edited=(ISSUES,))
    assert merge(edited, OURS, known(OURS), known(OURS), force=True) == Merged(OURS)


def test_a_foreign_value_stays_even_by_force():
    foreign = OURS.replace(b"issues-mcp", b"my-mcp")
    assert merge(foreign, OURS, {}, (), force=True) == Merged(foreign, foreign=(ISSUES,))
    assert merge(b'{"mcpServers": []}', OURS, {}, ()) == Merged(b'{"mcpServers": []}', foreign=(ISSUES,))


def test_what_is_not_wanted_any_more_goes_with_the_objects_it_empties():
    current = (
        b'{\n  "theme": "dark",\n  "mcpServers": {\n    "issues": {\n      "command": "issues-mcp"\n    }\n  }\n}\n'
    )
    assert merge(current, b"{}", known(OURS), ()) == Merged(b'{\n  "theme": "dark"\n}\n')
    assert merge(OURS, b"{}", known(OURS), ()) == Merged(b"")


@pytest.mark.parametrize("content", [b"{// c\n}", b"[1]", b"\xff", b'{"a": 1,}'])
def test_what_is_no_plain_object_cannot_be_merged_into(content):
    with pytest.raises(NotMergeableError):
        merge(content, OURS, {}, ())


@given(objects, st.lists(keys, min_size=1, max_size=3), values, indents)
def test_setting_a_value_is_setting_it_in_the_parsed_object(have, place, value, indent):
    text = json.dumps(have, indent=indent)
    expected = json.loads(text)
    inner = expected
    for key in place[:-1]:
        if not isinstance(inner.get(key), dict):
            inner[key] = {}
        inner = inner[key]
    inner[place[-1]] = value
    assert json.loads(set_value(text, place, value)) == expected


@given(objects, keys, keys, indents)
def test_removing_what_was_added_gives_the_text_back(have, first, second, indent):
    text = json.dumps(have, indent=indent)
    if first in have:
        return
    added = set_value(text, [first, second], 1)
    assert json.loads(remove_value(added, [first, second])) == have


def test_a_file_that_is_nested_too_deeply_is_not_merged():
    deep = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    with pytest.raises(NotMergeableError, match="nested too deeply"):
        merge(deep, b'{"b": 1}', {}, ())
