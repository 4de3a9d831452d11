"""A file that somebody named is there whole, or as it was."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from agentmux.whole_file import put


def limited(size):
    """No file may be larger from now on, as on a disk that is full; a function that ends this."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_without_room_leaves_what_was_there_and_nothing_else(tmp_path):
    path = tmp_path / "page.html"
    put(path, b"the page of yesterday")
    end = limited(100)
    try:
        with pytest.raises(OSError, match="File too large"):
            put(path, b"x" * 1_000)
    finally:
        end()

    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]
    assert path.read_bytes() == b"the page of yesterday"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_a_file_keeps_its_mode_and_a_link_leads_where_it_led(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "real").chmod(0o600)
    (tmp_path / "link").symlink_to("real")

    put(tmp_path / "link", b"new")

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o600


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_what_is_no_file_is_written_to():
    put(Path("/dev/null"), b"x")

    assert Path("/dev/null").is_char_device()
