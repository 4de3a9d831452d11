"""The YAML reader: values, places, and every fault of a document."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_compiler.diagnostics import Span
from agentmux_compiler.sources.yaml_nodes import Entry, Mapping, Scalar, Sequence, locate, without
from agentmux_compiler.sources.yaml_source import MAX_NODES, parse

PATH = "agents.d/a.yaml"


def said(data: str | bytes):
    node, found = parse(PATH, data.encode() if isinstance(data, str) else data)
    plain = None if node is None else node.plain()
    return plain, [(item.code, item.span.line, item.span.column, item.message) for item in found]


def span(line: int, column: int, end_line: int, end_column: int) -> Span:
    return Span(PATH, line, column, end_line, end_column)


def test_nodes_keep_place_text_and_style():
    node, found = parse(PATH, b"a: 'x'\nlist:\n  - 1\n  - |\n    t\n")
    assert found == []
    assert node == Mapping(
        (
            Entry(Scalar("a", "a", "", span(1, 1, 1, 2)), Scalar("x", "x", "'", span(1, 4, 1, 7))),
            Entry(
                Scalar("list", "list", "", span(2, 1, 2, 5)),
                Sequence(
                    (Scalar(1, "1", "", span(3, 5, 3, 6)), Scalar("t\n", "t\n", "|", span(4, 5, 4, 6))),
                    span(3, 3, 4, 6),
                ),
            ),
        ),
        span(1, 1, 4, 6),
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("FALSE", False),
        ("yes", "yes"),
        ("12", 12),
        ("-007", -7),
        ("0o14", 12),
        ("0x1f", 31),
        ("014", 14),
        ("1_000", "1_000"),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("-.inf", -math.inf),
        ("2026-01-01", "2026-01-01"),
        ("12:30:45", "12:30:45"),
        ("!!str 12", "12"),
        ("=", "="),
        ("...x", "...x"),
        ('"12"', "12"),
        ("9" * 4500, float("inf")),
    ],
)
def test_scalars_follow_the_core_schema(text, value):
    assert said(f"a: {text}\n") == ({"a": value}, [])


def test_a_version_directive_changes_no_value():
    assert said("%YAML 1.1\n---\na: yes\nb: 010\n") == ({"a": "yes", "b": 10}, [])


def test_keys_are_their_text():
    assert said("1: a\ntrue: b\n1.10: c\n~: d\n") == ({"1": "a", "true": "b", "1.10": "c", "~": "d"}, [])


def test_columns_count_characters_not_bytes():
    assert said("é𝒳: {ü: 1, ü: 2}\n") == ({"é𝒳": {"ü": 1}}, [("AMX104", 1, 12, "key `ü` stands twice")])


def test_every_duplicate_key_is_reported_with_the_first():
    node, found = parse(PATH, b"a: 1\nb: {c: 1, c: 2}\n'a': 2\n\"a\": 3\n")
    assert node.plain() == {"a": 1, "b": {"c": 1}}
    assert [(item.span, item.message, item.help, item.notes) for item in found] == [
        (
            span(2, 11, 2, 12),
            "key `c` stands twice",
            "keep one of them",
            ("the first stands at line 2, column 5",),
        ),
        (span(3, 1, 3, 4), "key `a` stands twice", "keep one of them", ("the first stands at line 1, column 1",)),
        (span(4, 1, 4, 4), "key `a` stands twice", "keep one of them", ("the first stands at line 1, column 1",)),
    ]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a:\n\tb: 1\n", 2, 1),
        ("a:\n  b: 1\n  \tc: 1\n", 3, 3),
        ("a: |\n\tx\n", 2, 1),
        ("\t\n", 1, 1),
        ("a:\n  - x\n\t- y\n", 3, 1),
    ],
)
def test_tabs_that_indent(text, line, column):
    assert said(text) == (None, [("AMX105", line, column, "a tab where YAML takes spaces")])


def test_tabs_in_text_are_text():
    assert said("a: |\n  x\ty\nb: 'p\tq'\n") == ({"a": "x\ty\n", "b": "p\tq"}, [])


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("a: b: c\n", 1, 5, "a `:` where no key can stand"),
        ("a: - b\n", 1, 4, "a list cannot begin here"),
        ("a: @x\n", 1, 4, "a value cannot begin with `@`"),
        ("a: `x`\n", 1, 4, "a value cannot begin with a backtick"),
        ("a: *x\n", 1, 4, "alias `*x` has no anchor before it"),
        ("a: & b\n", 1, 4, "an anchor or alias without a name"),
        ("a: !x!y z\n", 1, 4, "a tag that cannot be read"),
        ("%YAML x\n---\na: 1\n", 1, 7, "a `%` at the beginning of a line is a directive, and this is none"),
        ("a: 1\n---\nb: 2\n", 2, 1, "a second document begins here"),
        ('a: "\\q"\n', 1, 6, "`\\q` is no escape"),
        ('a: "\\x4"\n', 1, 7, "an escape takes 2 hexadecimal digits here"),
        ('a: 1\nb: "\\UFFFFFFFF"\n', 2, 5, "an escape that names no character"),
        ('a: "x\n', 1, 4, "a quote that is never closed"),
        ("a: [1, 2\nb: 3\n", 1, 4, "an opening bracket that no `]` closes"),
        ("a: {b: 1\n", 1, 4, "an opening bracket that no `}` closes"),
        ("- a\nb: 1\n", 2, 1, "this does not fit the lines above"),
        ("a: |0\n  x\n", 1, 5, "a block scalar's indentation is 1 to 9"),
        ("a: |x\n  x\n", 1, 5, "text cannot stand behind `|` or `>`"),
        ("[" * 65 + "]" * 65, 1, 65, "values are nested too deep"),
        ("%YAML 3.0\n---\na: 1\n", 1, 1, "found incompatible YAML document (version 1.* is required)"),
    ],
)
def test_malformed_yaml_has_our_words_and_a_place(text, line, column, message):
    assert said(text) == (None, [("AMX101", line, column, message)])


@pytest.mark.parametrize(
    ("text", "plain", "line", "column", "message"),
    [
        ("a: !secret x\n", {"a": "x"}, 1, 4, "tag `!secret` is not allowed"),
        ("a: !!binary x\n", {"a": "x"}, 1, 4, "tag `!!binary` is not allowed"),
        ("a: !!python/none\n", {"a": ""}, 1, 4, "tag `!!python/none` is not allowed"),
        ("a: !!set {x}\n", {"a": {"x": None}}, 1, 4, "tag `!!set` is not allowed"),
        ("? [a]\n: 1\nb: 2\n", {"b": 2}, 1, 3, "a key is a list or a mapping, not text"),
        ('a: "x\\0y"\n', {"a": "x�y"}, 1, 4, "an escape makes `U+0000`, which text cannot hold"),
        ('a: "\\ud83d"\n', {"a": "�"}, 1, 4, "an escape makes `U+D83D`, which text cannot hold"),
        ("<<: x\na: 1\n", {"a": 1}, 1, 5, "`<<` takes a mapping or a list of mappings"),
    ],
)
def test_refused_values_leave_the_rest_readable(text, plain, line, column, message):
    assert said(text) == (plain, [("AMX101", line, column, message)])


def test_anchors_aliases_and_merge_keys():
    text = "x: &x {a: 1, b: 2}\ny: &y {b: 3, c: 4}\nz: {<<: [*x, *y], c: 5, d: 6}\nlist: [*x]\n"
    assert said(text) == (
        {
            "x": {"a": 1, "b": 2},
            "y": {"b": 3, "c": 4},
            "z": {"a": 1, "b": 2, "c": 5, "d": 6},
            "list": [{"a": 1, "b": 2}],
        },
        [],
    )


def test_a_reused_anchor_is_lawful():
    assert said("a: &x 1\nb: &x 2\nc: *x\n") == ({"a": 1, "b": 2, "c": 2}, [])


def test_an_anchor_that_holds_itself():
    assert said("a: &a [*a]\n") == (None, [("AMX101", 1, 4, "anchor `&a` holds itself")])


def test_aliases_cannot_blow_a_document_up():
    text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)
    )
    message = f"the document holds more than {MAX_NODES:,} values once its aliases are written out"
    assert said(text) == (None, [("AMX101", 5, 9, message)])


@pytest.mark.parametrize("header", ["&x |", "!!str |", "&x\n  |", "!!str # why\n  # more\n  |"])
def test_a_block_scalar_stands_where_its_header_does(header):
    node, found = parse(PATH, f"a: {header}\n  text\n".encode())
    assert found == []
    value = node.get("a")
    assert (value.text, value.style, value.span.line) == ("text\n", "|", header.count("\n") + 1)


@pytest.mark.parametrize(
    ("data", "line", "column", "notes"),
    [
        (b"a: 1\nb: \xc3\xa9\xff\n", 2, 5, ()),
        (b"\xef\xbb\xbfa: \xe9\n", 1, 4, ()),
        ("a: 1\n".encode("utf-16"), 1, 1, ("the file looks like UTF-16",)),
        (b"a: \xed\xa0\x80\n", 1, 4, ()),
    ],
)
def test_not_utf8_names_the_first_bad_byte(data, line, column, notes):
    node, found = parse(PATH, data)
    assert node is None
    assert [(item.code, item.span.line, item.span.column, item.notes) for item in found] == [
        ("AMX106", line, column, notes)
    ]


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n", "--- # c\n"])
def test_empty_documents(text):
    assert said(text) == (None, [("AMX107", 1, 1, "the file has no content")])


def test_a_byte_order_mark_and_crlf_are_said_and_read_over():
    assert said(b"\xef\xbb\xbfa: |\r\n  x\r\n  y\r\nb: [\r\n") == (
        None,
        [
            ("AMX109", 1, 1, "the file begins with a byte order mark, which is dropped"),
            ("AMX113", 1, 5, "lines end with CRLF, which is read as LF"),
            ("AMX101", 5, 1, "the file ends inside of brackets"),
        ],
    )
    assert said(b"a: |\r\n  x\r\n  y\r\n")[0] == {"a": "x\ny\n"}


def test_invisible_characters_anywhere_in_the_file():
    assert said("a: 1 # \u202e\nb: x\u2028y\nc: '\x07\x1b[0m'\n") == (
        {"a": 1, "b": "x y", "c": "  [0m"},
        [
            ("AMX305", 1, 8, "invisible character `U+202E` (right-to-left override)"),
            ("AMX305", 2, 5, "invisible character `U+2028` (line separator)"),
            ("AMX305", 3, 5, "invisible characters `U+0007` (control character), `U+001B` (control character)"),
        ],
    )


def test_locate_goes_as_far_as_the_document():
    node, _ = parse(PATH, b"a:\n  b: [x, {c: 1}]\n")
    whole = locate(node, ("a", "b", 1, "c"))
    assert (whole.key, whole.node.plain(), whole.whole) == (span(2, 11, 2, 12), 1, True)
    part = locate(node, ("a", "b", 5, "c"))
    assert (part.key, part.node.plain(), part.loc, part.whole) == (
        span(2, 3, 2, 4),
        ["x", {"c": 1}],
        ("a", "b"),
        False,
    )


def test_without_leaves_out_what_is_named():
    node, _ = parse(PATH, b"a: {b: 1, c: 2}\nd: [x, y, z]\n")
    assert without(node, [("a", "c"), ("d", 0), ("d", 2), ("e",)]).plain() == {"a": {"b": 1}, "d": ["y"]}


YAML_LIKE = st.text(alphabet=st.sampled_from(list("ab:-?[]{}&*!|>'\"%@`#,.<~ \n\t\\x0\r\u2028\ufeffé")), max_size=40)


@given(YAML_LIKE | st.text(max_size=30))
def test_no_text_makes_the_reader_raise(text):
    node, found = parse(PATH, text.encode("utf-8", "surrogatepass"))
    if node is None:
        assert len([item for item in found if item.severity == "error"]) >= 1
    else:
        node.plain()
    for item in found:
        assert item.span.line >= 1
        assert (item.span.end_line, item.span.end_column) >= (item.span.line, item.span.column)


@given(st.binary(max_size=60))
def test_no_bytes_make_the_reader_raise(data):
    node, found = parse(PATH, data)
    assert node is not None or found


@given(st.recursive(st.text() | st.integers() | st.booleans() | st.none(), lambda inner: st.lists(inner, max_size=3)))
def test_json_is_read_as_it_is_meant(value):
    text = json.dumps({"a": value}, ensure_ascii=False)
    node, found = parse(PATH, text.encode("utf-8", "surrogatepass"))
    if not found:
        assert node.plain() == {"a": value}


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ('soul: "a\\u202Eb"\n', 7),
        ('display: "R\\u202e"\n', 10),
        ('env: {A: "\\e[31m"}\n', 10),
        ('"a\\u200b": 1\n', 1),
        ('flags: [x, "\\U000E0041"]\n', 12),
    ],
)
def test_invisible_characters_behind_escapes_are_found(text, column):
    _, found = parse("a.yaml", text.encode())

    assert [(item.code, item.span.line, item.span.column) for item in found] == [("AMX305", 1, column)]


def test_escapes_of_what_can_be_seen_are_no_fault():
    assert parse("a.yaml", b"a: \"\\u00e9\\n\\t\\u2019\"\nb: '\\u202e'\n")[1] == []
