from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmux_compiler.diagnostics import Span
from agentmux_compiler.emit import check, launch_plans, manifest_of, plan_writes
from agentmux_compiler.lowered import OutputFile
from agentmux_compiler.report import FileStatus
from agentmux_compiler.tree import DiskTree, digest
from agentmux_compiler.writing import disk
from agentmux_compiler.writing.accept import accept, check_snapshots
from agentmux_compiler.writing.header import HEADER
from agentmux_compiler.writing.journal import known
from agentmux_compiler.writing.ownership import outside
from agentmux_compiler.writing.write_plan import statuses
from agentmux_compiler.writing.writes import Applied, apply
from agentmux_launcher.manifest import Environment, LaunchPlan, LineRun, Manifest

AT = Span("agents.d/main.yaml", 3, 3)


def text(body: str) -> bytes:
    return f"{HEADER}\n\n{body}\n".encode()


def committed(path: str, body: str, owner: str = "main/claude") -> OutputFile:
    return OutputFile(path, text(body), True, AT, (owner,))


def generated(path: str, content: bytes, owner: str = "main/claude") -> OutputFile:
    return OutputFile(f".agentmux/{path}", content, False, AT, (owner,))


CLAUDE = committed("CLAUDE.md", "one")
GEMINI = committed("GEMINI.md", "one", "main/gemini")
SKILL = OutputFile(".claude/skills/notes/SKILL.md", b"---\nname: notes\n---\n", True, AT, ("main/claude",))
SERVERS = generated("agents/main/claude/mcp.json", b"{}\n")
OUTPUTS = [CLAUDE, GEMINI, SKILL, SERVERS]


def build(root: Path, outputs: list[OutputFile], baseline: dict[str, bytes] | None = None, **options):
    manifest, unreadable = known(root)
    plan, found = plan_writes(outputs, manifest, baseline or {}, DiskTree(root), **options)
    done = apply(root, plan, manifest_of(plan.outputs, (), "1", carried=plan.carried, folders=plan.folders))
    return Applied(done.files, (*unreadable, *found, *done.diagnostics))


def looked_at(root: Path, outputs: list[OutputFile], baseline: dict[str, bytes] | None = None):
    plan, _ = plan_writes(outputs, known(root)[0], baseline or {}, DiskTree(root))
    return check(plan, DiskTree(root))


def on_disk(root: Path) -> dict[str, bytes]:
    """Every file but the lock and what git is told to ignore."""
    files = (path for path in root.rglob("*") if path.is_file() and path.name not in {"lock", ".gitignore"})
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def outputs_on_disk(root: Path) -> dict[str, bytes]:
    return {path: data for path, data in on_disk(root).items() if path != ".agentmux/manifest.json"}


def times(root: Path) -> dict[str, int]:
    return {path.relative_to(root).as_posix(): path.lstat().st_mtime_ns for path in root.rglob("*")}


def wanted(outputs: list[OutputFile]) -> dict[str, bytes]:
    return {output.path: output.content for output in outputs}


def found(result) -> list[tuple[str, str]]:
    diagnostics = result.diagnostics if isinstance(result, Applied) else result
    return [(item.code, item.message) for item in diagnostics]


def by_status(result: Applied) -> dict[str, str]:
    return {file.path: file.status for file in result.files}


def clone(root: Path, to: Path, baseline: dict[str, bytes]) -> Path:
    """What git brings: committed files, no `.agentmux/`."""
    to.mkdir()
    for path, data in on_disk(root).items():
        if not path.startswith(".agentmux/"):
            disk.write_file(to, path, data)
    assert baseline.items() <= on_disk(to).items()
    return to


def test_a_first_build_writes_everything_and_a_manifest(tmp_path):
    result = build(tmp_path, OUTPUTS)
    assert found(result) == []
    assert outputs_on_disk(tmp_path) == wanted(OUTPUTS)
    assert by_status(result) == dict.fromkeys(sorted(wanted(OUTPUTS)), "written")
    assert result.files[0] == FileStatus(".agentmux/agents/main/claude/mcp.json", "written", 3, digest(b"{}\n"))
    assert (tmp_path / ".agentmux/.gitignore").read_bytes() == b"*\n"
    manifest, unreadable = known(tmp_path)
    assert unreadable == []
    assert {file.path: file.sha256 for file in manifest.files} == {
        path: digest(data) for path, data in wanted(OUTPUTS).items()
    }


def test_a_second_build_touches_nothing(tmp_path):
    build(tmp_path, OUTPUTS)
    before = times(tmp_path)
    result = build(tmp_path, OUTPUTS)
    assert set(by_status(result).values()) == {"unchanged"}
    assert times(tmp_path) == before


def test_a_dry_plan_says_what_would_be():
    plan, _ = plan_writes([CLAUDE], None, {}, DiskTree(Path("nowhere")))
    assert statuses(plan, dry=True) == (
        FileStatus("CLAUDE.md", "would-write", len(CLAUDE.content), digest(CLAUDE.content)),
    )


def test_an_edit_of_a_source_rewrites_its_output_alone(tmp_path):
    build(tmp_path, OUTPUTS)
    result = build(tmp_path, [committed("CLAUDE.md", "two"), *OUTPUTS[1:]])
    assert [path for path, status in by_status(result).items() if status == "written"] == ["CLAUDE.md"]
    assert (tmp_path / "CLAUDE.md").read_bytes() == text("two")


def test_a_deleted_output_comes_back(tmp_path):
    build(tmp_path, OUTPUTS)
    (tmp_path / "CLAUDE.md").unlink()
    assert build(tmp_path, OUTPUTS).diagnostics == ()
    assert outputs_on_disk(tmp_path) == wanted(OUTPUTS)


def test_what_no_source_wants_any_more_goes_with_the_folders_made_for_it(tmp_path):
    build(tmp_path, OUTPUTS)
    result = build(tmp_path, [GEMINI])
    assert by_status(result) == {
        ".agentmux/agents/main/claude/mcp.json": "removed",
        ".claude/skills/notes/SKILL.md": "removed",
        "CLAUDE.md": "removed",
        "GEMINI.md": "unchanged",
    }
    assert outputs_on_disk(tmp_path) == wanted([GEMINI])
    assert sorted(path.name for path in tmp_path.iterdir()) == [".agentmux", "GEMINI.md"]
    before = times(tmp_path)
    build(tmp_path, [GEMINI])
    assert times(tmp_path) == before


def test_a_folder_that_was_there_before_stays(tmp_path):
    (tmp_path / ".claude").mkdir()
    build(tmp_path, OUTPUTS)
    build(tmp_path, [])
    assert sorted(path.name for path in tmp_path.iterdir()) == [".agentmux", ".claude"]
    assert list((tmp_path / ".claude").iterdir()) == []


def test_a_folder_with_a_file_of_others_stays(tmp_path):
    build(tmp_path, OUTPUTS)
    (tmp_path / ".claude/skills/notes/mine.md").write_bytes(b"mine")
    build(tmp_path, [])
    assert outputs_on_disk(tmp_path) == {".claude/skills/notes/mine.md": b"mine"}


@pytest.mark.parametrize("force", [False, True])
def test_a_foreign_file_survives_byte_for_byte(tmp_path, force):
    (tmp_path / "CLAUDE.md").write_bytes(b"# Mine\r\n\xff")
    wanted_there = replace(CLAUDE, lines=(LineRun(3, 1, "style.md", "bundles/style.md", 1),))
    result = build(tmp_path, [wanted_there, GEMINI], force=force)
    (item,) = result.diagnostics
    assert (item.code, item.span, item.message, item.help, item.notes) == (
        "AMX601",
        AT,
        "`CLAUDE.md` was not written by agentmux and stands where an output should go",
        "run `agentmux adopt CLAUDE.md` to make its text a source, or move the file away",
        ("wanted by `main/claude`",),
    )
    assert outputs_on_disk(tmp_path) == {"CLAUDE.md": b"# Mine\r\n\xff", "GEMINI.md": GEMINI.content}
    assert [file.path for file in known(tmp_path)[0].files] == ["GEMINI.md"]


def test_an_edited_output_stays_until_force(tmp_path):
    build(tmp_path, [CLAUDE])
    (tmp_path / "CLAUDE.md").write_bytes(text("one") + b"mine\n")
    for outputs in ([CLAUDE], [committed("CLAUDE.md", "two")]):
        result = build(tmp_path, outputs)
        assert [item.code for item in result.diagnostics] == ["AMX602"]
        assert (tmp_path / "CLAUDE.md").read_bytes() == text("one") + b"mine\n"
    assert result.diagnostics[0].span == Span("CLAUDE.md", 3)
    assert build(tmp_path, [CLAUDE], force=True).diagnostics == ()
    assert (tmp_path / "CLAUDE.md").read_bytes() == text("one")


def test_a_merge_conflict_in_an_output_says_how_it_is_written_anew(tmp_path):
    build(tmp_path, [CLAUDE])
    (tmp_path / "CLAUDE.md").write_bytes(text("<<<<<<< ours\none\n=======\ntwo\n>>>>>>> theirs"))
    (item,) = build(tmp_path, [CLAUDE]).diagnostics
    assert (item.code, item.message) == ("AMX602", "`CLAUDE.md` holds a merge conflict")
    assert item.help == "resolve the conflict in the sources, then run `agentmux build --force` to write it anew"


def launch(agent: str, model: str) -> LaunchPlan:
    return LaunchPlan(
        agent=agent,
        provider="claude",
        display=agent,
        executable="claude",
        controller="persistent",
        model=model,
        effort=None,
        permission="ask",
        delivery="file",
        cwd=".",
        argv=(),
        env=Environment(),
        files=(),
        startup=None,
        prompt_delivery="stdin",
        frames="claude",
        session_id_field=None,
        cli_version="2",
        stdio={},
    )


def test_a_narrowed_build_keeps_the_launch_plans_of_others_as_they_were_built():
    old = Manifest("1", (), (launch("a", "old"), launch("b", "old"), launch("gone", "old")))
    new = [launch("a", "new"), launch("b", "new"), launch("c", "new")]
    assert launch_plans(new, old, lambda agent, _provider: agent == "a") == (launch("a", "new"), launch("b", "old"))
    assert launch_plans(new, None, lambda _agent, _provider: True) == tuple(new)


def test_an_edited_output_that_nothing_wants_stays_until_force(tmp_path):
    build(tmp_path, OUTPUTS)
    (tmp_path / "GEMINI.md").write_bytes(b"mine\n")
    for _ in range(2):
        result = build(tmp_path, [CLAUDE])
        assert found(result) == [("AMX602", "`GEMINI.md` is not built any more, but was edited since it was")]
        assert (tmp_path / "GEMINI.md").read_bytes() == b"mine\n"
    assert build(tmp_path, [CLAUDE], force=True).diagnostics == ()
    assert not (tmp_path / "GEMINI.md").exists()


def test_a_narrowed_build_removes_and_forgets_nothing_of_others(tmp_path):
    build(tmp_path, OUTPUTS)
    keep = outside(known(tmp_path)[0], lambda _agent, provider: provider == "gemini")
    result = build(tmp_path, [committed("GEMINI.md", "two", "main/gemini")], keep=keep)
    assert by_status(result) == {"GEMINI.md": "written"}
    assert set(outputs_on_disk(tmp_path)) == set(wanted(OUTPUTS))
    assert sorted(file.path for file in known(tmp_path)[0].files) == sorted(wanted(OUTPUTS))
    assert by_status(build(tmp_path, [])) == dict.fromkeys(sorted(wanted(OUTPUTS)), "removed")


def test_accept_commit_clone_check_is_clean(tmp_path):
    baseline = wanted([CLAUDE, GEMINI, SKILL])
    (tmp_path / "a").mkdir()
    build(tmp_path / "a", OUTPUTS)
    copy = clone(tmp_path / "a", tmp_path / "b", baseline)
    assert looked_at(copy, OUTPUTS, baseline) == []
    assert build(copy, OUTPUTS, baseline).diagnostics == ()


def test_a_fresh_clone_builds_an_edited_source_without_a_question(tmp_path):
    baseline = wanted([CLAUDE, GEMINI, SKILL])
    (tmp_path / "a").mkdir()
    build(tmp_path / "a", OUTPUTS)
    copy = clone(tmp_path / "a", tmp_path / "b", baseline)
    edited = [committed("CLAUDE.md", "two"), GEMINI, replace(SKILL, content=b"---\nname: other\n---\n"), SERVERS]
    assert build(copy, edited, baseline).diagnostics == ()
    assert outputs_on_disk(copy) == wanted(edited)


def test_a_fresh_clone_drops_a_provider_with_its_files_and_folders(tmp_path):
    baseline = wanted([CLAUDE, GEMINI, SKILL])
    (tmp_path / "a").mkdir()
    build(tmp_path / "a", OUTPUTS)
    copy = clone(tmp_path / "a", tmp_path / "b", baseline)
    assert build(copy, [GEMINI], baseline).diagnostics == ()
    assert outputs_on_disk(copy) == wanted([GEMINI])
    assert not (copy / ".claude").exists()


def test_a_fresh_clone_keeps_a_file_that_only_has_the_name_of_one_the_baseline_knows(tmp_path):
    (tmp_path / "GEMINI.md").write_bytes(b"# Mine\n")
    assert build(tmp_path, [CLAUDE], {"GEMINI.md": GEMINI.content}).diagnostics == ()
    assert (tmp_path / "GEMINI.md").read_bytes() == b"# Mine\n"


def test_another_branch_is_recognised_by_its_baseline(tmp_path):
    build(tmp_path, [CLAUDE])
    (tmp_path / "CLAUDE.md").write_bytes(text("branch"))
    result = build(tmp_path, [committed("CLAUDE.md", "edited on it")], {"CLAUDE.md": text("branch")})
    assert result.diagnostics == ()
    assert (tmp_path / "CLAUDE.md").read_bytes() == text("edited on it")


def test_line_ends_that_a_checkout_rewrote_are_put_right_and_make_check_red(tmp_path):
    (tmp_path / "CLAUDE.md").write_bytes(CLAUDE.content.replace(b"\n", b"\r\n"))
    assert found(looked_at(tmp_path, [CLAUDE])) == [("AMX604", "`CLAUDE.md` has CRLF line ends, and a build writes LF")]
    assert build(tmp_path, [CLAUDE]).diagnostics == ()
    assert (tmp_path / "CLAUDE.md").read_bytes() == CLAUDE.content


def test_check_reports_what_is_missing_stale_or_left_over(tmp_path):
    build(tmp_path, [CLAUDE, GEMINI, SKILL])
    (tmp_path / ".claude/skills/notes/SKILL.md").unlink()
    items = looked_at(tmp_path, [committed("CLAUDE.md", "two"), SKILL])
    assert [(item.code, item.span, item.message) for item in items] == [
        ("AMX604", Span(".claude/skills/notes/SKILL.md"), "`.claude/skills/notes/SKILL.md` is missing"),
        ("AMX604", Span("CLAUDE.md", 3), "`CLAUDE.md` is not what a build would write"),
        ("AMX604", Span("GEMINI.md"), "`GEMINI.md` is not built any more"),
    ]
    assert {item.help for item in items} == {"run `agentmux build` and commit the result"}


def test_check_does_not_look_at_what_is_generated(tmp_path):
    build(tmp_path, OUTPUTS)
    (tmp_path / SERVERS.path).write_bytes(b"edited")
    assert looked_at(tmp_path, [*OUTPUTS[:3], replace(SERVERS, content=b"other")]) == []


@pytest.mark.parametrize("target", ["CLAUDE.md", "nowhere.md"])
def test_nothing_is_written_through_a_link(tmp_path, target):
    (tmp_path / "CLAUDE.md").write_bytes(CLAUDE.content)
    (tmp_path / "GEMINI.md").symlink_to(target)
    result = build(tmp_path, [CLAUDE, GEMINI], force=True)
    assert [(item.code, item.span, item.message) for item in result.diagnostics] == [
        ("AMX606", AT, "`GEMINI.md` is a symlink, and nothing is written through one")
    ]
    assert (tmp_path / "GEMINI.md").is_symlink()
    assert (tmp_path / "CLAUDE.md").read_bytes() == CLAUDE.content


def test_nothing_is_written_through_a_linked_folder(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".claude").symlink_to("elsewhere", target_is_directory=True)
    result = build(tmp_path, [SKILL])
    assert found(result) == [
        ("AMX606", f"`.claude`, on the way to `{SKILL.path}`, is a symlink, and nothing is written through one")
    ]
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_nothing_is_removed_through_a_link(tmp_path):
    build(tmp_path, [SKILL])
    (tmp_path / ".claude").rename(tmp_path / "elsewhere")
    (tmp_path / ".claude").symlink_to("elsewhere", target_is_directory=True)
    assert build(tmp_path, []).diagnostics == ()
    assert (tmp_path / "elsewhere/skills/notes/SKILL.md").read_bytes() == SKILL.content


def test_a_linked_folder_of_our_own_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".agentmux").symlink_to("elsewhere", target_is_directory=True)
    assert [item.code for item in build(tmp_path, [CLAUDE]).diagnostics] == ["AMX606"]
    assert outputs_on_disk(tmp_path) == {}


def test_a_folder_or_a_file_in_the_way_is_named(tmp_path):
    (tmp_path / "CLAUDE.md").mkdir()
    (tmp_path / ".claude").write_bytes(b"")
    assert found(build(tmp_path, [CLAUDE, SKILL])) == [
        ("AMX607", "`.claude/skills/notes/SKILL.md` cannot be written: `.claude` is a file"),
        ("AMX607", "`CLAUDE.md` cannot be written: `CLAUDE.md` is a folder"),
    ]


@pytest.mark.parametrize(
    "path", ["../CLAUDE.md", "/etc/CLAUDE.md", "a/../../CLAUDE.md", ".git/CLAUDE.md", ".GIT/hooks/x"]
)
def test_no_output_leaves_the_project(tmp_path, path):
    root = tmp_path / "project"
    root.mkdir()
    assert found(build(root, [committed(path, "one")])) == [
        ("AMX607", f"`{path}` is no place for an output: it leaves the project, or is git's own")
    ]
    assert set(on_disk(tmp_path)) == {"project/.agentmux/manifest.json"}


def test_what_the_system_refuses_is_said_and_the_rest_is_written(tmp_path, monkeypatch):
    real = os.replace

    def refuse(source, target):
        if Path(target).name == "CLAUDE.md":
            raise PermissionError(13, "Permission denied")
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(disk.os, "replace", refuse)
        result = build(tmp_path, [CLAUDE, GEMINI])
    assert found(result) == [("AMX607", "`CLAUDE.md` cannot be written: permission denied")]
    assert by_status(result) == {"GEMINI.md": "written"}
    assert build(tmp_path, [CLAUDE, committed("GEMINI.md", "two")]).diagnostics == ()
    assert outputs_on_disk(tmp_path) == {"CLAUDE.md": text("one"), "GEMINI.md": text("two")}


@pytest.mark.skipif(os.name == "nt", reason="modes are a POSIX affair")
def test_a_rewritten_file_keeps_its_mode(tmp_path):
    build(tmp_path, [CLAUDE])
    (tmp_path / "CLAUDE.md").chmod(0o640)
    build(tmp_path, [committed("CLAUDE.md", "two")])
    assert stat.S_IMODE((tmp_path / "CLAUDE.md").stat().st_mode) == 0o640


def test_what_changed_after_the_plan_was_made_stays(tmp_path):
    build(tmp_path, [CLAUDE, GEMINI])
    manifest, _ = known(tmp_path)
    plan, _ = plan_writes([committed("CLAUDE.md", "two")], manifest, {}, DiskTree(tmp_path))
    for name in ("CLAUDE.md", "GEMINI.md"):
        (tmp_path / name).write_bytes(b"saved in between")
    done = apply(tmp_path, plan, manifest_of(plan.outputs, (), "1"))
    assert found(done) == [
        ("AMX607", "`CLAUDE.md` cannot be written: it changed while the build ran"),
        ("AMX607", "`GEMINI.md` cannot be written: it changed while the build ran"),
    ]
    assert done.files == ()
    assert (tmp_path / "CLAUDE.md").read_bytes() == b"saved in between"
    assert [item.code for item in build(tmp_path, [CLAUDE, GEMINI]).diagnostics] == ["AMX602", "AMX602"]


def test_an_unreadable_manifest_is_reported(tmp_path):
    build(tmp_path, [CLAUDE])
    (tmp_path / ".agentmux/manifest.json").write_bytes(b'{"format_version": 99}')
    manifest, (item,) = known(tmp_path)
    assert manifest is None
    assert (item.code, item.span) == ("AMX603", Span(".agentmux/manifest.json"))
    assert item.notes == ("manifest has format version 99, not 1",)


class Crashed(BaseException):
    """As if the process had been killed."""


def crash_at(monkeypatch, count: int, *, leave_temporary: bool) -> None:
    """Die at the `count`-th rename, with or without the chance to clean up."""
    calls = iter(range(count))
    real = os.replace

    def rename(source, target):
        if next(calls, None) is None:
            if leave_temporary:
                monkeypatch.setattr(Path, "unlink", lambda *_args, **_options: None)
            raise Crashed
        real(source, target)

    monkeypatch.setattr(disk.os, "replace", rename)


@pytest.mark.parametrize("leave_temporary", [False, True])
@pytest.mark.parametrize("count", range(7))
def test_the_next_build_repairs_what_a_crash_left(tmp_path, monkeypatch, count, leave_temporary):
    old = [CLAUDE, GEMINI, SKILL]
    middle = [committed("CLAUDE.md", "two"), SERVERS, replace(SKILL, content=b"two"), committed("sub/X.md", "new")]
    newest = [committed("CLAUDE.md", "three"), replace(SERVERS, content=b"three"), replace(SKILL, content=b"three")]
    build(tmp_path, old)
    with monkeypatch.context() as patch, suppress(Crashed):
        crash_at(patch, count, leave_temporary=leave_temporary)
        build(tmp_path, middle)
    complete = {wanted(old).get(path) for path in wanted(old)} | set(wanted(middle).values())
    seen = {data for path, data in outputs_on_disk(tmp_path).items() if not path.endswith(("-tmp", "pending.json"))}
    assert seen <= complete
    result = build(tmp_path, newest)
    assert result.diagnostics == ()
    assert outputs_on_disk(tmp_path) == wanted(newest)
    assert not (tmp_path / "sub").exists()


def test_two_crashes_in_a_row_are_repaired_too(tmp_path, monkeypatch):
    for count, body in ((3, "two"), (2, "three")):
        with monkeypatch.context() as patch:
            crash_at(patch, count, leave_temporary=True)
            with pytest.raises(Crashed):
                build(tmp_path, [committed("CLAUDE.md", body), committed("GEMINI.md", body)])
        assert (tmp_path / "CLAUDE.md").read_bytes() == text(body)
    assert build(tmp_path, [committed("CLAUDE.md", "four"), committed("GEMINI.md", "four")]).diagnostics == ()
    assert outputs_on_disk(tmp_path) == {"CLAUDE.md": text("four"), "GEMINI.md": text("four")}


SETTINGS = OutputFile(
    ".gemini/settings.json",
    b'{"mcpServers": {"issues": {"command": "issues-mcp"}}}\n',
    True,
    AT,
    ("main/gemini",),
    (),
    True,
)
HAND_WRITTEN = b'{\n  "theme": "dark"\n}\n'
TOGETHER = b'{\n  "theme": "dark",\n  "mcpServers": {\n    "issues": {\n      "command": "issues-mcp"\n    }\n  }\n}\n'


def test_values_go_into_a_settings_file_and_out_of_it_again(tmp_path):
    disk.write_file(tmp_path, SETTINGS.path, HAND_WRITTEN)
    assert build(tmp_path, [SETTINGS]).diagnostics == ()
    assert (tmp_path / SETTINGS.path).read_bytes() == TOGETHER
    before = times(tmp_path)
    assert by_status(build(tmp_path, [SETTINGS])) == {SETTINGS.path: "unchanged"}
    assert times(tmp_path) == before
    (tmp_path / SETTINGS.path).write_bytes(TOGETHER.replace(b"dark", b"light"))
    assert looked_at(tmp_path, [SETTINGS]) == []
    assert by_status(build(tmp_path, [])) == {SETTINGS.path: "written"}
    assert (tmp_path / SETTINGS.path).read_bytes() == HAND_WRITTEN.replace(b"dark", b"light")
    assert known(tmp_path)[0].files == ()


def test_a_settings_file_of_ours_alone_is_removed_whole(tmp_path):
    build(tmp_path, [SETTINGS])
    assert (tmp_path / SETTINGS.path).read_bytes() == SETTINGS.content
    assert by_status(build(tmp_path, [])) == {SETTINGS.path: "removed"}
    assert not (tmp_path / ".gemini").exists()


def test_a_fresh_clone_knows_its_values_in_a_settings_file_by_the_baseline(tmp_path):
    baseline = {SETTINGS.path: SETTINGS.content}
    disk.write_file(tmp_path, SETTINGS.path, TOGETHER)
    assert looked_at(tmp_path, [SETTINGS], baseline) == []
    changed = replace(SETTINGS, content=SETTINGS.content.replace(b"issues-mcp", b"other"))
    assert build(tmp_path, [changed], baseline).diagnostics == ()
    assert (tmp_path / SETTINGS.path).read_bytes() == TOGETHER.replace(b"issues-mcp", b"other")


def test_a_fresh_clone_takes_its_values_out_of_a_settings_file(tmp_path):
    disk.write_file(tmp_path, SETTINGS.path, TOGETHER)
    assert build(tmp_path, [], {SETTINGS.path: SETTINGS.content}).diagnostics == ()
    assert (tmp_path / SETTINGS.path).read_bytes() == HAND_WRITTEN


def test_a_foreign_or_edited_value_in_a_settings_file_stays(tmp_path):
    mine = TOGETHER.replace(b"issues-mcp", b"mine")
    disk.write_file(tmp_path, SETTINGS.path, mine)
    assert [item.code for item in build(tmp_path, [SETTINGS]).diagnostics] == ["AMX601"]
    assert (tmp_path / SETTINGS.path).read_bytes() == mine
    disk.write_file(tmp_path, SETTINGS.path, HAND_WRITTEN)
    build(tmp_path, [SETTINGS])
    disk.write_file(tmp_path, SETTINGS.path, mine)
    for outputs in ([SETTINGS], []):
        assert found(build(tmp_path, outputs)) == [
            ("AMX602", "`/mcpServers/issues` in `.gemini/settings.json` was edited since it was built")
        ]
        assert (tmp_path / SETTINGS.path).read_bytes() == mine


def test_a_settings_file_with_comments_stays(tmp_path):
    disk.write_file(tmp_path, SETTINGS.path, b"{ // mine\n}\n")
    assert [item.code for item in build(tmp_path, [SETTINGS]).diagnostics] == ["AMX601"]
    assert (tmp_path / SETTINGS.path).read_bytes() == b"{ // mine\n}\n"


names = st.sampled_from(
    ["CLAUDE.md", "GEMINI.md", "web/AGENTS.md", ".claude/skills/a/SKILL.md", ".agentmux/agents/a/x.md"]
)
bodies = st.sampled_from(["one", "two", "three"])
projects = st.dictionaries(names, bodies)


def as_outputs(project: dict[str, str]) -> list[OutputFile]:
    return [
        replace(committed(path, body), committed=not path.startswith(".agentmux")) for path, body in project.items()
    ]


@settings(deadline=None, max_examples=60)
@given(st.lists(projects, min_size=1, max_size=4))
def test_whatever_was_built_before_a_build_leaves_what_is_wanted_and_the_next_nothing_to_do(tmp_path_factory, history):
    root = tmp_path_factory.mktemp("project")
    for project in history:
        assert build(root, as_outputs(project)).diagnostics == ()
        assert outputs_on_disk(root) == wanted(as_outputs(project))
    before = times(root)
    assert set(by_status(build(root, as_outputs(history[-1]))).values()) <= {"unchanged"}
    assert times(root) == before


@settings(deadline=None, max_examples=60)
@given(projects.filter(bool), st.data())
def test_check_is_red_exactly_when_a_committed_byte_differs(tmp_path_factory, project, data):
    root = tmp_path_factory.mktemp("project")
    outputs = as_outputs(project)
    build(root, outputs)
    path = data.draw(st.sampled_from(sorted(project)))
    before = (root / path).read_bytes()
    at = data.draw(st.integers(0, len(before) - 1))
    after = before[:at] + data.draw(st.binary(max_size=2)) + before[at + data.draw(st.integers(0, 1)) :]
    (root / path).write_bytes(after)
    red = {item.span.path if item.span else "" for item in looked_at(root, outputs)}
    assert red == ({path} if after != before and not path.startswith(".agentmux") else set())


PLAN_FILE = b"""\
cli_version = "2"
permission = "ask"
delivery = "file"
cwd = "."
argv = []
env = []
segments = [
  "instructions bundles/style.md -> CLAUDE.md",
]
"""
BASELINE = {
    "plans/main/claude.toml": PLAN_FILE,
    "segments/bundles/style.md": b"Be brief.\n",
    "files/.gemini/settings.json": b"{}\n",
}


def test_accepting_makes_the_baseline_exactly_what_is_given(tmp_path):
    assert accept(tmp_path, "snapshots", BASELINE) == Applied(())
    assert check_snapshots("snapshots", BASELINE, DiskTree(tmp_path)) == []
    (tmp_path / "snapshots/README.md").write_bytes(b"about\n")
    less = {name: data for name, data in BASELINE.items() if not name.startswith("segments")}
    removed = FileStatus("snapshots/segments/bundles/style.md", "removed", 0, None)
    assert accept(tmp_path, "snapshots", less) == Applied((removed,))
    assert {path for path in on_disk(tmp_path) if path.startswith("snapshots")} == {
        "snapshots/README.md",
        *(f"snapshots/{name}" for name in less),
    }
    assert not (tmp_path / "snapshots/segments/bundles").exists()


def test_accepting_again_touches_nothing(tmp_path):
    accept(tmp_path, "snapshots", BASELINE)
    before = times(tmp_path)
    accept(tmp_path, "snapshots", BASELINE)
    assert times(tmp_path) == before


def test_a_stale_missing_or_left_over_snapshot_is_reported(tmp_path):
    accept(tmp_path, "snapshots", BASELINE)
    (tmp_path / "snapshots/segments/bundles/style.md").write_bytes(b"Be brief.\r\n")
    (tmp_path / "snapshots/files/.gemini/settings.json").unlink()
    (tmp_path / "snapshots/plans/main/codex.toml").write_bytes(PLAN_FILE)
    items = check_snapshots("snapshots", BASELINE, DiskTree(tmp_path))
    assert [(item.code, item.message) for item in items] == [
        ("AMX605", "`snapshots/files/.gemini/settings.json` is missing"),
        ("AMX605", "`snapshots/segments/bundles/style.md` is not what the sources give"),
        ("AMX605", "`snapshots/plans/main/codex.toml` belongs to no plan any more"),
    ]


def test_a_folder_of_somebody_else_is_not_taken_for_a_baseline(tmp_path):
    disk.write_file(tmp_path, "snapshots/files/mine.txt", b"mine")
    assert found(accept(tmp_path, "snapshots", BASELINE).diagnostics) == [
        ("AMX601", "`snapshots/files/mine.txt` was not written by agentmux and stands where snapshots should go")
    ]
    assert on_disk(tmp_path) == {"snapshots/files/mine.txt": b"mine"}


@pytest.mark.parametrize("path", ["plans/roadmap.md", "plans/q3/goals.toml", "segments/market.md"])
@pytest.mark.parametrize("accepted", [False, True])
def test_accepting_touches_nothing_where_a_file_is_not_of_a_baseline(tmp_path, path, accepted):
    if accepted:
        accept(tmp_path, "docs", BASELINE)
    disk.write_file(tmp_path, f"docs/{path}", b"# Mine\n")
    before = on_disk(tmp_path)
    assert found(accept(tmp_path, "docs", {**BASELINE, "segments/new.md": b"new\n"}).diagnostics) == [
        ("AMX601", f"`docs/{path}` was not written by agentmux and stands where snapshots should go")
    ]
    assert on_disk(tmp_path) == before


def test_a_plan_with_conflict_markers_is_still_of_a_baseline(tmp_path):
    accept(tmp_path, "snapshots", BASELINE)
    disk.write_file(tmp_path, "snapshots/plans/main/claude.toml", b"<<<<<<< a\n" + PLAN_FILE)
    assert accept(tmp_path, "snapshots", {}).diagnostics == ()
    assert {path for path in on_disk(tmp_path) if path.startswith("snapshots")} == set()


def test_the_lock_is_not_opened_through_a_link(tmp_path):
    (tmp_path / ".agentmux").mkdir()
    (tmp_path / ".agentmux/lock").symlink_to(tmp_path / "elsewhere")
    assert found(build(tmp_path, OUTPUTS).diagnostics)[0][0] == "AMX607"
    assert not (tmp_path / "elsewhere").exists()
    assert outputs_on_disk(tmp_path) == {}
