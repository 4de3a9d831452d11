"""An entry goes into a file of the user's own, and nothing else of it changes."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_compiler.writing.json_text import without_comments
from agentmux_compiler.writing.user_entry import NotAddableError, added, holds

FOLDERS = '{"trusted_folders": ["/p"]}'
TABLE = '[projects."/p"]\ntrust_level = "trusted"\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", '{"trusted_folders": ["/p"]}\n'),
        ("{}", '{\n  "trusted_folders": [\n    "/p"\n  ]\n}'),
        (
            '// Managed.\n{\n  "first": "x"\n}\n',
            '// Managed.\n{\n  "first": "x",\n  "trusted_folders": [\n    "/p"\n  ]\n}\n',
        ),
        ('{"trusted_folders": [ ]}', '{"trusted_folders": ["/p" ]}'),
        ('{"trusted_folders": ["/a", "/b"], "x": 1}', '{"trusted_folders": ["/a", "/b", "/p"], "x": 1}'),
        (
            '{\n\t"trusted_folders": [\n\t\t"/a" // mine\n\t]\n}',
            '{\n\t"trusted_folders": [\n\t\t"/a",\n\t\t"/p" // mine\n\t]\n}',
        ),
        ('{"u": "http://x", "trusted_folders": ["/p"]}', '{"u": "http://x", "trusted_folders": ["/p"]}'),
        ('{\r\n "a": 1\r\n}', '{\r\n "a": 1,\r\n "trusted_folders": [\r\n  "/p"\r\n ]\r\n}'),
    ],
)
def test_a_folder_joins_a_list(text, expected):
    assert added("config.json", text, FOLDERS) == expected
    assert holds("config.json", expected, FOLDERS)
    assert added("config.json", expected, FOLDERS) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", TABLE),
        ('# mine\nmodel = "m"', '# mine\nmodel = "m"\n\n' + TABLE),
        (
            'model = "m"\n\n[projects."/a"]\ntrust_level = "untrusted"\n',
            'model = "m"\n\n[projects."/a"]\ntrust_level = "untrusted"\n\n' + TABLE,
        ),
        ("a = 1\r\n", "a = 1\r\n\r\n" + TABLE.replace("\n", "\r\n")),
        (TABLE, TABLE),
    ],
)
def test_a_table_stands_at_the_end(text, expected):
    assert added("config.toml", text, TABLE) == expected


@pytest.mark.parametrize(
    ("name", "text", "entry", "why"),
    [
        ("t.json", '{"/p": false}', '{"/p": true}', "it has something else at `/p`"),
        ("t.json", '{"a": 1}', '{"a": {"b": 1}}', "it has something else at `a.b`"),
        ("t.json", '{"trusted_folders": "/a"}', FOLDERS, "it has something else at `trusted_folders`"),
        ("t.json", "[]", FOLDERS, "it is not an object"),
        ("t.json", "// nothing", FOLDERS, "it cannot be read: Expecting value: line 1 column 11 (char 10)"),
        ("t.json", "[" * 100_000, FOLDERS, "it is nested too deeply"),
        ("t.toml", "x", TABLE, "it cannot be read: Expected '=' after a key in a key/value pair (at end of document)"),
        (
            "t.toml",
            'projects = {"/a" = {trust_level = "trusted"}}\n',
            TABLE,
            "the way it is written leaves no place for another entry",
        ),
        ("t.toml", '[projects."/p"]\nx = 1\n', TABLE, "the way it is written leaves no place for another entry"),
        (
            "t.toml",
            '[projects."/p"]\ntrust_level = "untrusted"\n',
            TABLE,
            "it has something else at `projects./p.trust_level`",
        ),
    ],
)
def test_what_the_user_said_otherwise_stays(name, text, entry, why):
    with pytest.raises(NotAddableError) as error:
        added(name, text, entry)
    assert str(error.value) == why


def test_a_time_says_nothing():
    assert holds("wd_p", '{"root": "/p", "at": 5}', '{"root": "/p", "at": 9}')
    assert added("wd_p", '{"root": "/p", "at": 5}', '{"root": "/p", "at": 9}') == '{"root": "/p", "at": 5}'


def test_comments_are_blanks_and_texts_are_none():
    text = '{"a": "// no", /* y\n\\" */ "b": "\\"/* no */"} // ü'

    blank = without_comments(text)

    assert blank == '{"a": "// no",     \n      "b": "\\"/* no */"}     '
    assert len(blank) == len(text)


_values = st.recursive(
    st.none() | st.booleans() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=3), _values, max_size=4), st.sampled_from([None, 0, 1, 3, "\t"]))
def test_all_else_is_as_it_was(have, indent):
    text = json.dumps(have, indent=indent, ensure_ascii=False)
    entry = json.dumps({"//": ["/p"], "deep": {"er": True}})
    try:
        made = json.loads(added("t.json", text, entry))
    except NotAddableError:
        assert "//" in have or "deep" in have
        return
    assert {**made, "//": None, "deep": None} == {**have, "//": None, "deep": None}
    assert ("/p" in made["//"], made["deep"]["er"]) == (True, True)
    assert tomllib.loads(added("t.toml", "", 'x = ["/p"]')) == {"x": ["/p"]}
