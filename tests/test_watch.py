import contextlib
import shutil
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmux_compiler.report import BuildReport, DiffReport, FileStatus, summarise
from agentmux_compiler.tree import DiskTree
from agentmux_compiler.watch import Listener, Round, bursts, events, watch

QUIET_LISTENER = Listener(lambda _round: None, lambda _error: None)
PERIOD = 1 / 32


class FakeTime:
    """A clock that the ticks move on by 1/32 s each; a step may be an action that stands for an event."""

    def __init__(self):
        self.now = 0.0
        self.opened = []

    def __call__(self):
        return self.now

    def ticks(self, script):
        for step in script:
            self.now += PERIOD
            if callable(step):
                step()
            yield step not in (0, False)


def moments(script):
    clock = FakeTime()
    return [round(clock.now / PERIOD) for _ in bursts(clock.ticks(script), clock)]


def test_the_first_burst_says_that_the_watcher_is_up():
    assert moments([0, 0, 0]) == [1]


def test_a_burst_is_taken_at_its_trailing_edge():
    assert moments([0, 1, 1, 1, 0, 0, 0]) == [1, 6]


def test_two_bursts_are_two():
    assert moments([0, 1, 0, 0, 0, 1, 0, 0, 0]) == [1, 4, 8]


def test_an_event_in_the_first_tick_counts():
    assert moments([1, 0, 0, 0]) == [1, 3]


def test_a_burst_without_end_is_taken_every_two_seconds():
    assert moments([0] + [1] * 140) == [1, 66, 131]


class Project:
    """A build that reads `agents.d/` and `bundles/` and writes `CLAUDE.md`; it notes what it has read."""

    def __init__(self, root):
        self.root = root
        self.seen = []
        self.during = []
        root.mkdir(exist_ok=True)
        (root / "agents.d").mkdir(exist_ok=True)
        self.write("agents.d/a.yaml", "0")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(text.encode())

    def build(self):
        tree = DiskTree(self.root)
        tree.names("")
        texts = {
            f"{folder}/{name}": (tree.read(f"{folder}/{name}") or b"").decode()
            for folder in ("agents.d", "bundles")
            for name in tree.names(folder)
        }
        if self.during:
            self.during.pop(0)()
        tree.read("CLAUDE.md")
        trace = tree.trace
        self.write("CLAUDE.md", repr(texts))
        self.write(".agentmux/manifest.json", repr(texts))
        self.seen.append(texts)
        return Round(
            BuildReport((), (FileStatus("CLAUDE.md", "written", 1, "0"),), DiffReport("", (), summarise(()))), trace
        )

    def watch(self, script):
        clock = FakeTime()
        steps = iter(script)
        watch(self.root, self.build, QUIET_LISTENER, lambda _folders: clock.ticks(steps), clock)


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "project")


def test_it_builds_at_once(project):
    project.watch([0, 0])
    assert project.seen == [{"agents.d/a.yaml": "0"}]


def test_a_burst_of_edits_is_one_build_of_the_last(project):
    edits = [lambda n=n: project.write("agents.d/a.yaml", str(n)) for n in range(1, 5)]
    project.watch([0, 0, *edits, 0, 0, 0, 0])
    assert project.seen == [{"agents.d/a.yaml": "0"}, {"agents.d/a.yaml": "4"}]


def test_its_own_outputs_cause_no_build(project):
    project.watch([0, 0, 1, 0, 0, 1, 0, 0, 0])
    assert len(project.seen) == 1


def test_a_touched_file_causes_no_build(project):
    project.watch([0, 0, (project.root / "agents.d/a.yaml").touch, 0, 0, 0])
    assert len(project.seen) == 1


def test_an_edit_during_a_build_causes_one_more(project):
    project.during.append(lambda: project.write("agents.d/a.yaml", "late"))
    project.watch([0, 1, 0, 0, 0, 1, 0, 0, 0])
    assert project.seen == [{"agents.d/a.yaml": "0"}, {"agents.d/a.yaml": "late"}]


def test_a_folder_that_appears_later_is_watched(project):
    opened = []
    clock = FakeTime()
    script = iter([0, 0, lambda: project.write("bundles/b.md", "new"), 0, 0, 0, 0])

    def ticks(folders):
        opened.append(sorted(str(folder.relative_to(project.root)) for folder in folders))
        return clock.ticks(script)

    watch(project.root, project.build, QUIET_LISTENER, ticks, clock)
    assert project.seen[-1] == {"agents.d/a.yaml": "0", "bundles/b.md": "new"}
    assert opened[0] == [".", "agents.d"]
    assert opened[-1] == [".", "agents.d", "bundles"]


def test_a_folder_that_was_deleted_and_recreated_is_watched_anew(project):
    project.write("bundles/b.md", "old")
    opened = []
    clock = FakeTime()

    def recreate():
        (project.root / "bundles").rename(project.root / "gone")
        project.write("bundles/b.md", "old")

    script = iter([0, 0, 0, recreate, 0, 0, 0, 0])

    def ticks(folders):
        opened.append(len(list(folders)))
        return clock.ticks(script)

    watch(project.root, project.build, QUIET_LISTENER, ticks, clock)
    assert opened == [2, 3, 3]


def test_a_build_that_fails_is_tried_again_at_the_next_event(project):
    heard = []
    listener = Listener(lambda done: heard.append(len(done.trace.files)), lambda error: heard.append(error.strerror))

    def refuse():
        raise PermissionError(13, "Permission denied")

    clock = FakeTime()
    project.during += [refuse, refuse]
    steps = iter([0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0])
    watch(project.root, project.build, listener, lambda _folders: clock.ticks(steps), clock)
    assert heard == ["Permission denied", "Permission denied", 2]


STEPS = st.lists(st.sampled_from(["edit", "late edit", "touch output", "quiet"]), max_size=30)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_the_last_edit_is_never_lost(tmp_path_factory, steps):
    project = Project(tmp_path_factory.mktemp("project"))
    numbers = iter(range(1, 1000))

    def edit():
        project.write("agents.d/a.yaml", str(next(numbers)))

    def late():
        project.during.append(edit)

    actions = {"edit": edit, "late edit": late, "touch output": lambda: project.write("CLAUDE.md", "x"), "quiet": 0}
    # After each build that edited a source on its way, the system reports that edit.
    rest = [1, 0, 0, 0] * (len(steps) + 2)
    project.watch([0, 0, *(actions[step] for step in steps), 0, 0, 0, *rest])
    assert project.seen[-1] == {"agents.d/a.yaml": (project.root / "agents.d/a.yaml").read_text()}


class Live:
    """A watch of real files in a thread."""

    def __init__(self, project):
        self.project = project
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        watch(self.project.root, self.project.build, QUIET_LISTENER, lambda folders: events(folders, self.stop))

    def wait_for(self, texts):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if self.project.seen and self.project.seen[-1] == texts:
                return
            time.sleep(0.02)
        raise AssertionError(self.project.seen)

    def write(self, path, text):
        """Windows keeps the name of a watched folder for a moment after it was deleted."""
        for _ in range(100):
            with contextlib.suppress(PermissionError):
                return self.project.write(path, text)
            time.sleep(0.02)
        raise AssertionError(path)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join(20)
        assert not self.thread.is_alive()


def test_real_files(project):
    root = project.root
    with Live(project) as live:
        live.wait_for({"agents.d/a.yaml": "0"})
        project.write("agents.d/a.yaml", "1")
        live.wait_for({"agents.d/a.yaml": "1"})

        project.write("agents.d/.a.yaml.tmp", "2")
        (root / "agents.d/.a.yaml.tmp").replace(root / "agents.d/a.yaml")
        live.wait_for({"agents.d/a.yaml": "2"})

        (root / "agents.d/a.yaml").unlink()
        live.wait_for({})
        project.write("agents.d/a.yaml", "3")
        live.wait_for({"agents.d/a.yaml": "3"})

        project.write("bundles/b.md", "x")
        live.wait_for({"agents.d/a.yaml": "3", "bundles/b.md": "x"})
        shutil.rmtree(root / "bundles")
        live.write("bundles/b.md", "y")
        live.wait_for({"agents.d/a.yaml": "3", "bundles/b.md": "y"})
        project.write("bundles/b.md", "z")
        live.wait_for({"agents.d/a.yaml": "3", "bundles/b.md": "z"})

        builds = len(project.seen)
        time.sleep(0.5)
        assert len(project.seen) == builds
