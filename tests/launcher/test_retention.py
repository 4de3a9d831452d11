"""Folders of runs go when nobody keeps them: whose they are, in which order, and what is never touched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

from agentmux_launcher import processes
from agentmux_launcher.codec import to_json
from agentmux_launcher.processes import Known
from agentmux_launcher.retention import DAY, Keep, prune
from agentmux_launcher.run_folder import FRAMES, LAUNCHER, PLAN, RunFolder, new_id

NOW = 1_796_000_000.0
GONE = Known(1, "never")
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")


class Runs:
    """The runs of a project, made at any time."""

    def __init__(self, project):
        self.project = project
        self.folder = project / ".agentmux" / "runs"

    def name(self, days, number=0):
        return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(NOW - days * DAY))}-{number:08x}"

    def made(self, days, launcher=GONE, number=0, files=(FRAMES, PLAN)):
        """A run that ended so many days ago."""
        folder = self.folder / self.name(days, number)
        folder.mkdir(parents=True)
        for name in files:
            (folder / name).write_text("x", encoding="utf-8")
        if launcher:
            (folder / LAUNCHER).write_text(json.dumps(to_json(launcher)), encoding="utf-8")
        for path in folder.iterdir():
            os.utime(path, (NOW - days * DAY,) * 2)
        return folder

    @property
    def names(self):
        return sorted(path.name for path in self.folder.iterdir())


@pytest.fixture
def runs(tmp_path):
    return Runs(tmp_path)


def test_old_runs_go_and_the_latest_stay_however_old(runs):
    folders = [runs.made(days) for days in (90, 60, 40, 31, 29, 1)]

    gone = prune(runs.project, Keep(days=30, runs=3), NOW)

    assert gone == [folder.name for folder in folders[:3]]
    assert runs.names == [folder.name for folder in folders[3:]]
    assert prune(runs.project, Keep(days=30, runs=0), NOW) == [folders[3].name]
    assert prune(runs.project, Keep(days=30, runs=0), NOW) == []


def test_a_run_that_was_written_to_lately_stays(runs):
    folder = runs.made(90)
    os.utime(folder / FRAMES, (NOW - DAY,) * 2)

    assert prune(runs.project, Keep(30, 0), NOW) == []
    assert prune(runs.project, Keep(30, 0), NOW + 30 * DAY) == [folder.name]


def test_a_run_whose_launcher_runs_stays_and_one_that_has_its_number_only_goes(runs):
    runs.made(90, processes.me(), 1)
    other = runs.made(90, Known(os.getpid(), "before"), 2)
    unreadable = runs.made(90, None, 3)
    (unreadable / LAUNCHER).write_text("{", encoding="utf-8")
    os.utime(unreadable / LAUNCHER, (0, 0))

    assert prune(runs.project, Keep(30, 0), NOW) == [other.name]


def test_a_folder_of_a_run_names_its_launcher(runs):
    kept = RunFolder(runs.folder / new_id())
    told = json.loads((kept.folder / LAUNCHER).read_bytes())
    kept.close()

    assert told == to_json(processes.me())
    assert prune(runs.project, Keep(1, 0), time.time() + 2 * DAY) == []


def test_what_is_not_ours_stays(runs):
    strange = runs.made(90, None, 1, files=("notes.txt",))
    (runs.folder / "mine").mkdir()
    (runs.folder / ".gitignore").write_text("*\n", encoding="utf-8")
    no_time = runs.folder / "99999999-999999-00000000"
    no_time.mkdir()
    with_more = runs.made(90, GONE, 2)
    (with_more / "notes.txt").write_text("mine", encoding="utf-8")
    os.utime(with_more / "notes.txt", (0, 0))

    assert prune(runs.project, Keep(30, 0), NOW) == []

    assert runs.names == sorted([".gitignore", "mine", no_time.name, strange.name, with_more.name])
    assert [path.name for path in with_more.iterdir()] == ["notes.txt"]
    assert [path.name for path in strange.iterdir()] == ["notes.txt"]


def test_a_folder_that_was_half_removed_goes(runs):
    rest = runs.made(90, None, 1, files=(PLAN,))
    empty = runs.made(90, None, 2, files=())
    new = runs.made(1, None, 3, files=())

    assert prune(runs.project, Keep(30, 0), NOW) == [rest.name, empty.name]
    assert runs.names == [new.name]


@POSIX
def test_no_link_is_followed(runs, tmp_path):
    target = Runs(tmp_path / "elsewhere").made(90)
    runs.folder.mkdir(parents=True)
    (runs.folder / runs.name(80)).symlink_to(target)
    inside = runs.made(90, GONE, 1, files=(PLAN,))
    (inside / FRAMES).symlink_to(target / FRAMES)
    os.utime(inside / FRAMES, (0, 0), follow_symlinks=False)

    assert prune(runs.project, Keep(30, 0), NOW) == [inside.name]
    assert sorted(path.name for path in target.iterdir()) == sorted([FRAMES, PLAN, LAUNCHER])

    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / ".agentmux").symlink_to(tmp_path / "elsewhere" / ".agentmux")
    assert prune(linked, Keep(30, 0), NOW) == []


@POSIX
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("mode", [0o000, 0o500])
def test_a_folder_that_cannot_be_read_or_changed_stays(runs, mode):
    closed, other = runs.made(90, GONE, 1), runs.made(80, GONE, 2)
    closed.chmod(mode)

    gone = prune(runs.project, Keep(30, 0), NOW)
    closed.chmod(0o700)

    assert gone == [other.name]
    assert sorted(path.name for path in closed.iterdir()) == sorted([FRAMES, PLAN, LAUNCHER])


def test_a_folder_that_another_user_closed_is_passed_over(runs, monkeypatch):
    closed, other = runs.made(90, GONE, 1), runs.made(80, GONE, 2)
    listed = os.listdir

    def refused(path):
        if path == closed:
            raise PermissionError(path)
        return listed(path)

    monkeypatch.setattr(os, "listdir", refused)

    assert prune(runs.project, Keep(30, 0), NOW) == [other.name]


def test_where_there_are_no_runs_nothing_happens(tmp_path):
    assert prune(tmp_path, Keep(30, 0), NOW) == []
    assert list(tmp_path.iterdir()) == []


def test_a_pruning_that_takes_too_long_leaves_the_rest_to_the_next(runs):
    folders = [runs.made(90, GONE, number) for number in range(3)]

    assert prune(runs.project, Keep(30, 0), NOW, patience=-1) == []
    assert prune(runs.project, Keep(30, 0), NOW) == [folder.name for folder in folders]


def test_two_that_prune_at_once_do_not_hinder_each_other(runs, repository):
    old = [runs.made(90, GONE, number) for number in range(300)]
    new = [runs.made(1, GONE, 1000 + number) for number in range(20)]
    code = (
        "import sys; from pathlib import Path; from agentmux_launcher.retention import Keep, prune;"
        f"print(len(prune(Path(sys.argv[1]), Keep(30, 10), {NOW}, 60)))"
    )
    command = [sys.executable, "-c", code, str(runs.project)]
    env = {**os.environ, "PYTHONPATH": str(repository / "launcher")}
    both = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    said = [child.communicate(timeout=60) for child in both]

    assert [(child.returncode, err) for child, (_, err) in zip(both, said, strict=True)] == [(0, b"")] * 2
    assert sum(int(out) for out, _ in said) >= len(old)
    assert runs.names == sorted(folder.name for folder in new)
