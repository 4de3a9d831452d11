import os
import queue
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOTS = os.pathsep.join(str(Path(__file__).parents[2] / name) for name in ("compiler", "launcher"))
SPEC = "providers:\n  claude: {}\n  codex: {}\nbundles: [style]\n"
NO_BREAK = r"rebuilt 0 files, no prefix break  \d+\.\d\d s"


class Watched:
    """`agentmux watch` as a process of its own, in a project with an accepted baseline."""

    def __init__(self, root):
        self.root = root
        self.write("agents.d/reviewer.yaml", SPEC)
        self.write("bundles/style.md", "Be brief.\n")
        self.environment = {**os.environ, "PYTHONPATH": ROOTS, "NO_COLOR": "1"}
        self.command("build", "--accept")
        self.lines = queue.Queue()
        new_group = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "agentmux", "watch"],
            cwd=root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            creationflags=new_group,
        )
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.decode().rstrip("\n"))

    def command(self, *arguments):
        subprocess.run(
            [sys.executable, "-m", "agentmux", *arguments],
            cwd=self.root,
            env=self.environment,
            check=True,
            capture_output=True,
        )

    def write(self, path, text):
        """As editors do: a temporary file beside it, renamed into its place."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.tmp")
        temporary.write_bytes(text.encode())
        temporary.replace(target)

    def says(self, pattern):
        line = self.lines.get(timeout=30)
        assert re.fullmatch(pattern, line), line

    def is_silent(self):
        with pytest.raises(queue.Empty):
            self.lines.get(timeout=0.7)

    def end(self, number):
        self.process.send_signal(number)
        code = self.process.wait(30)
        self.reader.join(30)
        return code, self.process.stderr.read().decode()


@pytest.fixture
def watched(tmp_path):
    made = Watched(tmp_path)
    yield made
    if made.process.poll() is None:
        made.process.kill()
    made.process.wait(30)
    made.reader.join(30)
    made.process.stdout.close()
    made.process.stderr.close()


def test_one_line_a_rebuild(watched):
    watched.says(NO_BREAK)
    watched.write("bundles/style.md", "Be very brief.\n")
    watched.says(r"rebuilt 2 files, 2 prefix breaks \(-[\d,]+ tokens\)  \d+\.\d\d s")
    watched.is_silent()

    watched.write("agents.d/reviewer.yaml", SPEC.replace("[style]", "[style"))
    watched.says(r"error\[AMX101\] agents\.d/reviewer\.yaml:\d+:\d+: .*; nothing was written  \d+\.\d\d s")
    watched.write("agents.d/reviewer.yaml", SPEC)
    watched.says(r"rebuilt 0 files, 2 prefix breaks \(-[\d,]+ tokens\)  \d+\.\d\d s")

    watched.write("bundles/style.md", "Be brief.\n")
    watched.says(r"rebuilt 2 files, no prefix break  \d+\.\d\d s")

    (watched.root / "agents.d/reviewer.yaml").unlink()
    watched.says(r"rebuilt 2 files, no prefix break.*  \d+\.\d\d s")
    watched.write("agents.d/reviewer.yaml", SPEC)
    watched.says(r"rebuilt 2 files, no prefix break  \d+\.\d\d s")

    watched.write("skills/help/SKILL.md", "---\nname: help\ndescription: Helps.\n---\nHelp.\n")
    watched.says(r"rebuilt 0 files, no prefix break, 1 warning  \d+\.\d\d s")
    watched.is_silent()


@pytest.mark.skipif(os.name == "nt", reason="there a signal of that name ends the process without asking it")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_it_ends_cleanly(watched, number, code):
    watched.says(NO_BREAK)
    assert watched.end(number) == (code, "watching the sources; Ctrl-C ends it\n")
