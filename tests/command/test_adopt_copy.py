"""Edits of outputs that are copies of whole files, and edits that no line shows."""

import pytest

from agentmux.cli import main

SKILL = "---\nname: notes\ndescription: Takes notes.\n---\nWrite it down.\n"
COPY = ".claude/skills/notes"


@pytest.fixture
def root(write_project, monkeypatch):
    root = write_project(
        {
            "agents.d/main.yaml": "providers: {claude: {}}\ndelivery: file\nskills: [notes]\ninstructions: Be kind.\n",
            "skills/notes/SKILL.md": SKILL,
            "skills/notes/data.bin": b"\xff\x00",
        }
    )
    monkeypatch.chdir(root)
    return root


@pytest.mark.parametrize(("name", "edited"), [("SKILL.md", SKILL.encode() + b"Soon.\n"), ("data.bin", b"\xfe\x01\n\n")])
def test_an_edited_copy_becomes_its_source_byte_for_byte(root, name, edited):
    assert main(["build"]) == 0
    (root / COPY / name).write_bytes(edited)
    assert main(["build"]) == 1
    assert main(["adopt", f"{COPY}/{name}"]) == 0
    assert (root / "skills/notes" / name).read_bytes() == edited
    assert main(["build"]) == 0
    assert (root / COPY / name).read_bytes() == edited


def test_a_foreign_skill_in_the_way_is_to_be_moved(root, capsys):
    (root / COPY).mkdir(parents=True)
    (root / COPY / "SKILL.md").write_bytes(b"Mine.\n")
    assert main(["build"]) == 1
    out = capsys.readouterr().out
    assert "move the file away; what is to stay of it goes into the source of this output" in out
    assert "agentmux adopt" not in out


@pytest.mark.parametrize("edit", [lambda data: b"\xef\xbb\xbf" + data, lambda data: data + b"\n", bytes.rstrip])
def test_an_edit_of_no_line_is_dropped_by_the_command_that_is_named(root, capsys, edit):
    assert main(["build"]) == 0
    path = root / "CLAUDE.md"
    built = path.read_bytes()
    path.write_bytes(edit(built))
    assert main(["adopt", "CLAUDE.md"]) == 1
    assert "= help: run `agentmux build --force` to write it anew" in capsys.readouterr().out
    assert main(["build", "--force"]) == 0
    assert path.read_bytes() == built
