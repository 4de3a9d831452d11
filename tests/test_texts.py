"""Text of specs with the lines it came from."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_compiler.segment import Text
from agentmux_compiler.sources.yaml_source import parse
from agentmux_compiler.text.texts import Library, Prose, inline, normalised
from agentmux_compiler.tree import DiskTree, MemoryTree

PATH = "agents.d/a.yaml"
RELATIVE = "write a path relative to the project, with `/`"


def soul(text: str, **files: bytes):
    data = text.encode()
    node, found = parse(PATH, data)
    assert found == []
    tree = MemoryTree({PATH: data, **{name.replace("__", "/"): each for name, each in files.items()}})
    return Library(tree).prose(node.get("soul"))


@pytest.mark.parametrize("text", ["", "\n", "  \n\t\n", "\u3000"])
def test_white_space_is_no_text(text):
    assert normalised("a.md", text, 1) is None


@pytest.mark.parametrize(
    ("text", "wanted", "lines"),
    [
        ("a", "a\n", (3,)),
        ("a\n\n\n", "a\n", (3,)),
        ("\n\na\nb\n", "\n\na\nb\n", (3, 4, 5, 6)),
        ("a\n  \n", "a\n  \n", (3, 4)),
    ],
)
def test_one_final_newline_and_a_line_for_each_line(text, wanted, lines):
    assert normalised("a.md", text, 3) == Text(wanted, "a.md", lines)


@pytest.mark.parametrize(
    ("text", "wanted", "lines"),
    [
        ("soul: |\n  a\n\n  b\n", "a\n\nb\n", (2, 3, 4)),
        ("x: 1\nsoul: |-\n  a\n  b\n\n\n", "a\nb\n", (3, 4)),
        ("soul: |+\n  a\n\n\n\ny: 1\n", "a\n", (2,)),
        ("soul: |2\n\n\n    a\n   b\n", "\n\n  a\n b\n", (2, 3, 4, 5)),
        ("soul: |  # why\n  a\n", "a\n", (2,)),
        ("soul: &s\n  # c\n  |\n  a\n  b\n", "a\nb\n", (4, 5)),
        ("soul: >\n  a\n  b\n\n  c\n", "a b\nc\n", (1, 1)),
        ("soul: 'a\n\n  b'\n", "a\nb\n", (1, 1)),
        ('x: 1\nsoul: "a\\nb"\n', "a\nb\n", (2, 2)),
        ("soul:\n  plain\n  words\n", "plain words\n", (2,)),
    ],
)
def test_inline_text(text, wanted, lines):
    assert soul(text) == (Prose(Text(wanted, PATH, lines)), [])


def test_text_in_a_file():
    assert soul("soul: {file: ./souls/a.md}\n", souls__a_md=b"") [0] == Prose()  # fmt: skip
    tree = {"souls/a.md": b"one\r\ntwo", "souls/b.md.j2": b"{{ AGENT }}\n"}
    node, _ = parse(PATH, b"soul: {file: ./souls/a.md}\nstartup: {file: souls/b.md.j2}\n")
    library = Library(MemoryTree(tree))
    prose, found = library.prose(node.get("soul"))
    assert prose == Prose(Text("one\ntwo\n", "souls/a.md", (1, 2)))
    assert [(item.code, item.span.path) for item in found] == [("AMX113", "souls/a.md")]
    assert library.prose(node.get("startup")) == (
        Prose(Text("{{ AGENT }}\n", "souls/b.md.j2", (1,)), template=True),
        [],
    )


@pytest.mark.parametrize(
    ("named", "code", "message", "remedy", "notes"),
    [
        ("souls/b.md", "AMX206", "there is no file `souls/b.md`", "did you mean `souls/a.md`?", ()),
        ("zzz/b.md", "AMX206", "there is no file `zzz/b.md`", None, ()),
        ("near.md", "AMX206", "there is no file `near.md`", None, ("paths are relative to the project",)),
        ("../a.md", "AMX208", "`file` `../a.md` leaves the project", RELATIVE, ()),
        ("/etc/passwd", "AMX208", "`file` `/etc/passwd` leaves the project", RELATIVE, ()),
    ],
)  # fmt: skip
def test_files_that_are_not_there(named, code, message, remedy, notes):
    node, _ = parse(PATH, f"soul: {{file: {named}}}\n".encode())
    prose, found = Library(MemoryTree({"souls/a.md": b"a", "agents.d/near.md": b"a"})).prose(node.get("soul"))
    assert prose == Prose()
    assert [(item.code, item.span.line, item.span.column, item.message, item.help, item.notes) for item in found] == [
        (code, 1, 14, message, remedy, notes)
    ]


LINE = st.text(alphabet="ab #:-'|é漢", max_size=8).map(str.strip)


SHAPE = st.tuples(st.integers(0, 3), st.sampled_from(["", "-", "+"]), st.integers(1, 9), st.integers(0, 3))


@given(st.lists(LINE, min_size=1, max_size=6), SHAPE, st.booleans())
def test_every_line_of_a_literal_block_is_found_in_the_file(lines, shape, explicit):
    before, chomping, indent, after = shape
    if not explicit and (not lines[0] or lines[0].startswith("#")):
        lines = ["x", *lines]
    header = f"soul: |{indent if explicit else ''}{chomping}"
    file = [f"k{index}: 1" for index in range(before)] + [header]
    file += [" " * indent + line if line else "" for line in lines] + [""] * after + ["end: 1"]
    node, found = parse(PATH, "\n".join(file).encode())
    assert found == []
    text = inline(node.get("soul"))
    if text is None:
        assert not "".join(lines).strip()
    else:
        shown = text.text.split("\n")[:-1]
        assert shown == [file[line - 1][indent:] for line in text.lines]
        assert text.lines[0] == before + 2


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
@pytest.mark.parametrize("target", ["../outside.md", "nowhere.md"])
def test_a_link_that_leads_out_is_said_to(tmp_path, target):
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "outside.md").write_bytes(b"secret")
    (root / "evil.md").symlink_to(target)
    node, _ = parse(PATH, b"soul: {file: evil.md}\n")
    prose, found = Library(DiskTree(root)).prose(node.get("soul"))
    assert prose == Prose()
    assert [(item.code, item.message, item.help) for item in found] == [
        (
            "AMX206",
            "`evil.md` is a link that leads outside the project, or nowhere",
            "put the file itself into the project",
        )
    ]
