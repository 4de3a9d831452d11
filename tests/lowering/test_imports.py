"""Files that instruction files import, as Claude Code 2.1.332 was seen to take them up."""

from __future__ import annotations

import pytest

from agentmux_compiler.lowering.imports import targets
from agentmux_compiler.pipeline import BuildOptions, DiffOptions, build, compile_project, diff
from agentmux_compiler.tree import MemoryTree

SPEC = "providers: {claude: {}}\ndelivery: file\nbundles: [a]\n"
BUNDLE = """See @docs/a.md, and @docs/b.md.

- item @docs/l.md
- twice @docs/a.md

`@docs/inline.md` and

```
@docs/fenced.md
```

@docs/missing.md @./docs/dot.md @~/home.md mail x@docs/mail.md (@docs/paren.md) "@docs/quote.md" @docs/deep
@docs/pic.png @docs/noext @docs/frag.md#part **@docs/bold.md** @docs/my\\ file.md
<!-- @docs/comment.md -->
"""
NAMES = "b l inline fenced dot mail paren quote frag bold comment"
FILES = {
    "agents.d/main.yaml": SPEC,
    "bundles/a.md": BUNDLE,
    **{f"docs/{name}.md": f"FILE-{name}\n" for name in NAMES.split()},
    "docs/a.md": "FILE-a see @c.md and @../CLAUDE.md @deep/d.md\n<!-- c -->\nend a\n",
    "docs/c.md": "FILE-c\n",
    "docs/deep/d.md": "FILE-d @../b.md @e.md\n",
    "docs/deep/e.md": "FILE-e @f.md\n",
    "docs/deep/f.md": "FILE-f @g.md\n",
    "docs/deep/g.md": "FILE-g\n",
    "docs/noext": "FILE-noext\n",
    "docs/pic.png": "FILE-png\n",
    "docs/my file.md": "FILE-space\n",
}
TAKEN = "l a c deep/d b deep/e deep/f dot noext frag bold my+file"


def native(files, provider="claude"):
    made = compile_project(MemoryTree({path: text.encode() for path, text in files.items()}))
    plan = next(each.prefix for each in made.plans if each.prefix.provider == provider)
    return [item.name.removeprefix("native/") for item in plan.segments if item.name.startswith("native/")]


def test_imports_follow_the_file_that_names_them():
    taken = [name.replace("+", " ") for name in TAKEN.split()]
    found = native(FILES)
    assert [path.removeprefix("docs/").removesuffix("+claude~read").removesuffix(".md") for path in found] == taken
    assert "docs/a.md+claude~read" in found


def test_what_lies_outside_the_working_directory_is_left_out():
    files = {
        "agents.d/main.yaml": SPEC + "workdir: app\n",
        "bundles/a.md": "Begin @AGENTS.md @../docs/up.md\n",
        "CLAUDE.md": "Root @docs/r.md @app/x/in.md\n",
        "docs/r.md": "r\n",
        "docs/up.md": "up\n",
        "app/x/in.md": "in\n",
        "app/AGENTS.md": "agents @x/from.md\n",
        "app/x/from.md": "from\n",
    }
    assert native(files) == ["CLAUDE.md", "app/x/in.md", "app/AGENTS.md", "app/x/from.md"]


@pytest.mark.parametrize("name", ["notes.local.md", "gone.md", "bad.md"])
def test_what_no_snapshot_may_hold_or_no_text_is_left_out(name):
    tree = MemoryTree(
        {"agents.d/main.yaml": SPEC.encode(), "bundles/a.md": f"See @{name}\n".encode(), "bad.md": b"\xff\n"}
        | ({"notes.local.md": b"mine\n"} if name.endswith(".local.md") else {})
    )
    (plan,) = compile_project(tree).plans
    assert [item.name for item in plan.prefix.segments if item.name.startswith("native/")] == []


def test_a_name_with_a_strange_character_is_no_crash():
    assert native(FILES | {"bundles/a.md": "See @a\x00b @" + "x" * 5_000 + " @.. @. @/ @docs/l.md\n"}) == ["docs/l.md"]


def test_names_know_their_lines():
    assert list(targets("one\ntwo @a.md\n\n- x\n- @b.md and\n  @c.md\n")) == [("a.md", 1), ("b.md", 4), ("c.md", 5)]


def test_an_edit_of_an_imported_file_breaks_the_prefix_there(write_project):
    root = write_project({"agents.d/main.yaml": SPEC, "bundles/a.md": "See @docs/l.md\n", "docs/l.md": "old\n"})
    build(root, BuildOptions(accept=True))
    (root / "docs/l.md").write_bytes(b"new\n")
    (plan,) = diff(root, DiffOptions()).plans
    assert [(change.path, change.line, change.reason) for change in plan.changes] == [("docs/l.md", 1, "edited")]
    assert build(root, BuildOptions(check=True)).diagnostics[-1].code == "AMX605"


def test_an_import_that_a_cli_puts_in_place_is_said():
    files = {
        "agents.d/main.yaml": "providers: {gemini: {}}\ndelivery: file\nbundles: [a]\n",
        "bundles/a.md": "Be brief.\n\nSee @docs/l.md and `@docs/m.md`, ask @somebody.\n",
        "docs/l.md": "l\n",
        "docs/m.md": "m\n",
    }
    made = compile_project(MemoryTree({path: text.encode() for path, text in files.items()}))
    found = [(each.span.path, each.span.line, each.message) for each in made.diagnostics if each.code == "AMX420"]
    said = "`gemini` puts the text of `docs/l.md` here, and no report will see it change"
    assert found == [("bundles/a.md", 3, said)]
