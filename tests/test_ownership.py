from __future__ import annotations

import pytest

from agentmux_compiler.tree import digest
from agentmux_compiler.writing.header import HEADER, carries_header
from agentmux_compiler.writing.ownership import Standing, claims, outside
from agentmux_launcher.manifest import Manifest, WrittenFile

OLD = f"{HEADER}\n\nold\n".encode()
NEW = f"{HEADER}\n\nnew\n".encode()


def listing(*files: tuple[str, bytes], owners: tuple[str, ...] = ()) -> Manifest:
    return Manifest("1", tuple(WrittenFile(path, digest(data), len(data), True, (), owners) for path, data in files))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (OLD, True),
        (HEADER.encode(), True),
        (b"\xef\xbb\xbf" + OLD, True),
        (OLD.replace(b"\n", b"\r\n"), True),
        (b"# Mine\n\n" + OLD, False),
        (f"{HEADER} and more\n".encode(), False),
        (b"", False),
    ],
)
def test_only_a_first_line_that_is_the_header_counts(data, expected):
    assert carries_header(data) is expected


@pytest.mark.parametrize(
    ("data", "manifest", "baseline", "expected"),
    [
        (NEW, None, {}, Standing.CURRENT),
        (OLD, listing(("A.md", OLD)), {}, Standing.OURS),
        (OLD, None, {"A.md": OLD}, Standing.OURS),
        (OLD, listing(("A.md", b"other")), {"A.md": OLD}, Standing.OURS),
        (OLD, listing(("A.md", b"other"), ("A.md", OLD)), {}, Standing.OURS),
        (OLD, None, {}, Standing.EDITED),
        (OLD, listing(("B.md", OLD)), {"B.md": OLD}, Standing.EDITED),
        (b"no header", listing(("A.md", OLD)), {}, Standing.EDITED),
        (b"no header", None, {"A.md": OLD}, Standing.FOREIGN),
        (b"no header", None, {}, Standing.FOREIGN),
        (b"", None, {}, Standing.FOREIGN),
    ],
)
def test_bytes_are_judged_by_manifest_baseline_and_header(data, manifest, baseline, expected):
    assert claims(manifest, baseline).standing("A.md", data, NEW) is expected


def test_line_ends_that_git_rewrote_make_no_edit():
    known = claims(None, {"A.md": OLD})
    assert known.standing("A.md", NEW.replace(b"\n", b"\r\n"), NEW) is Standing.OURS
    assert known.standing("A.md", OLD.replace(b"\n", b"\r\n"), NEW) is Standing.OURS


def test_a_narrowed_build_leaves_paths_of_other_plans_alone():
    manifest = Manifest(
        "1",
        (
            WrittenFile("mine", "", 0, True, (), ("reviewer/claude",)),
            WrittenFile("theirs", "", 0, True, (), ("tester/claude",)),
            WrittenFile("shared", "", 0, True, (), ("reviewer/claude", "tester/claude")),
        ),
    )
    keep = outside(manifest, lambda agent, _provider: agent == "reviewer")
    assert {path: keep(path) for path in ("mine", "theirs", "shared", "unknown")} == {
        "mine": False,
        "theirs": True,
        "shared": True,
        "unknown": True,
    }
