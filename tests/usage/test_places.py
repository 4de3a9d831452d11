"""Transcripts are found where the catalog says, and at paths that are named by what they begin with."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from agentmux_compiler.providers import NAMES, groups_of, load_provider
from agentmux_usage.gather import gather
from agentmux_usage.places import FACTS, format_of, named_sources, own_sources
from agentmux_usage.sources import files_of

RECORDED = Path(__file__).parent / "fixtures" / "transcripts"


@pytest.fixture
def home(tmp_path):
    """The home of somebody who uses all four CLIs."""
    for name, folder in (("claude", ".claude"), ("codex", ".codex"), ("qwen", ".qwen"), ("gemini", ".")):
        shutil.copytree(RECORDED / name, tmp_path / folder, dirs_exist_ok=True)
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "other.jsonl").write_bytes(b'{"a":1}\n')
    return tmp_path


def places(sources):
    return [(each.provider, each.reader, each.root) for each in sources]


def found(sources):
    return sorted({path.relative_to(path.anchor).parts[-1] for source in sources for path in files_of(source)})


def test_folders_are_below_the_home_or_where_a_variable_leads(home, tmp_path):
    elsewhere = RECORDED / "codex"

    assert places(own_sources({"HOME": str(home), "CODEX_HOME": str(elsewhere)})) == [
        ("claude", "claude", home / ".claude"),
        ("codex", "codex", elsewhere),
        ("gemini", "gemini", home),
        ("gemini", "gemini-json", home),
        ("qwen", "qwen", home / ".qwen"),
    ]
    assert own_sources({"HOME": str(tmp_path / "nobody")}) == ()


def test_only_files_of_the_catalogs_patterns_are_read(home):
    (home / ".claude" / "projects" / "notes.txt").write_bytes(b"x")
    (home / ".claude" / "history.jsonl").write_bytes(b"x\n")

    names = found(own_sources({"HOME": str(home)}))

    assert names == sorted(path.name for path in RECORDED.rglob("*.jsonl"))


def test_the_catalogs_facts_are_kept_and_made_again_when_they_are_not_its_own(home, tmp_path):
    kept = tmp_path / "kept"
    fresh = own_sources({"HOME": str(home)}, kept)

    assert own_sources({"HOME": str(home)}, kept) == fresh
    for broken in (b"{", b"[]", b'{"of": "another", "facts": []}'):
        (kept / FACTS).write_bytes(broken)
        assert own_sources({"HOME": str(home)}, kept) == fresh


@pytest.mark.parametrize("facts", [3, [], [[1, 2]], [7]])
def test_facts_that_somebody_changed_are_made_again(home, tmp_path, facts):
    kept = tmp_path / "kept"
    fresh = own_sources({"HOME": str(home)}, kept)
    told = json.loads((kept / FACTS).read_bytes())
    (kept / FACTS).write_text(json.dumps({**told, "facts": facts}), encoding="utf-8")

    assert own_sources({"HOME": str(home)}, kept) == fresh


@pytest.mark.parametrize("name", NAMES)
def test_facts_that_are_read_quickly_are_those_of_the_catalog(name):
    provider = load_provider(name)
    groups = groups_of(name, ("variables", "transcripts"))

    assert groups.keys() == {"variables"} | ({"transcripts"} if provider.transcripts != "unknown" else set())
    for group, value in groups.items():
        checked = getattr(provider, group)
        assert type(checked).model_validate(value) == checked


def test_named_paths_are_known_by_what_they_hold(home):
    sources, strange = named_sources([home])

    assert sorted(each.reader for each in sources) == ["claude"] * 3 + ["codex"] * 2 + ["gemini", "qwen"]
    assert [path.name for path in strange] == ["other.jsonl"]
    assert {each.asked for each in sources} == {home}


def test_a_file_that_is_named_is_read_or_said_to_be_strange(home):
    transcript = next((home / ".codex").rglob("*.jsonl"))
    other = home / "photos" / "list.json"
    other.write_bytes(b"[]")

    sources, strange = named_sources([transcript, other, home / "photos" / "nothing.jsonl"])

    assert (places(sources), strange) == ([("codex", "codex", transcript)], (other,))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.jsonl", b'{"type":"session_meta","payload":{}}', "codex"),
        ("a.jsonl", b'{"text":"it says \\"session_meta\\"","sessionId":"s","type":"user"}', "claude"),
        ("a.jsonl", b"", ""),
        ("a.jsonl", b"{}", None),
        ("a.json", b'{"sessionId": "s", "projectHash": "h"}', "gemini-json"),
        ("a.json", b'{"sessionId":"s","type":"user"}', None),
        ("frames.jsonl", b"{}", ""),
    ],
)
def test_a_format_is_known_by_words_that_only_it_has(tmp_path, name, content, expected):
    (tmp_path / name).write_bytes(content)

    assert format_of(tmp_path / name) == expected


def test_a_link_to_a_folder_is_not_followed(home):
    (home / ".claude" / "projects" / "again").symlink_to(home / ".claude" / "projects", target_is_directory=True)

    assert len(list(files_of(own_sources({"HOME": str(home)})[0]))) == 3


def test_a_link_that_leads_to_itself_is_a_file_that_cannot_be_read(home):
    loop = home / ".claude" / "projects" / "loop.jsonl"
    loop.symlink_to(loop)
    sources = [source for source in own_sources({"HOME": str(home)}) if source.provider == "claude"]

    notes = []
    assert len(list(gather(sources, None, notes))) == 2
    assert notes == [f"1 file or folder could not be read: `{loop}`"]


def test_a_folder_that_cannot_be_listed_is_said(home):
    locked = home / ".codex" / "sessions" / "2026"
    locked.chmod(0)
    if os.access(locked, os.R_OK):
        pytest.skip("needs a user who may not read all")
    try:
        notes = []
        assert list(gather([own_sources({"HOME": str(home)})[1]], None, notes)) == []
        assert notes == [f"1 file or folder could not be read: `{locked}`"]
        assert named_sources([home / ".codex"]) == ((), (locked,))
    finally:
        locked.chmod(0o755)
