"""What the folder of a run holds while its CLI writes."""

from __future__ import annotations

import pytest

from agentmux_launcher.frames import LONGEST_LINE
from agentmux_launcher.reading import Ended
from agentmux_launcher.run_folder import FRAMES, RunFolder, parts
from agentmux_launcher.usage import FRESH


@pytest.fixture
def folder(tmp_path):
    made = RunFolder(tmp_path / "run")
    yield made
    made.close()


def test_a_line_is_written_once_it_is_whole_so_that_what_is_sent_stands_between_two(folder):
    folder.output(b'{"a":')
    folder.sent({"b": 1})
    folder.output(b'1}\n{"c"')

    assert (folder.folder / FRAMES).read_bytes() == b'{"dir":"in","frame":{"b":1}}\n{"a":1}\n'


def test_a_line_that_is_too_long_for_a_frame_is_not_held(folder):
    piece = b"x" * (1 << 20)
    for _ in range(LONGEST_LINE // len(piece) + 1):
        folder.output(piece)
    held = LONGEST_LINE + len(piece) - (folder.folder / FRAMES).stat().st_size
    folder.output(b"y")
    folder.output(b"z\n{}\n{")
    folder.close()

    data = (folder.folder / FRAMES).read_bytes()
    assert held == 0
    assert data[LONGEST_LINE + len(piece) :] == b"yz\n{}\n{\n"


def test_a_process_begins_on_a_line_of_its_own_behind_a_line_that_was_too_long(folder):
    folder.begin(FRESH, lasting=False)
    folder.output(b"x" * (LONGEST_LINE + 1))
    folder.end(Ended(0))
    folder.begin(FRESH, lasting=False)
    folder.output(b"{}\n")

    assert [len(part.frames) for part in parts(folder.folder)] == [LONGEST_LINE + 2, 3]
