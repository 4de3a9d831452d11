"""Where a CLI notes whom it trusts, and what it is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentmux_launcher.manifest import UserEntry
from agentmux_launcher.user_entry import Entry, entry_for, slug

LIST = UserEntry("config.json", '{"trusted_folders": ["{cwd}"]}', "~/.copilot", "COPILOT_HOME")
FOLDERS = UserEntry("trust/wd_{slug}_{digest}", '{"root": "{cwd}", "at": {now}000}', "~/.kimi-code", "KIMI_CODE_HOME")


def test_an_entry_lies_below_the_home_of_the_user_or_the_folder_that_they_named():
    text = '{"trusted_folders": ["/p"]}'

    assert entry_for(LIST, "/p", {"HOME": "/h"}, 7) == Entry(Path("/h"), ".copilot/config.json", text)
    moved = entry_for(LIST, "/p", {"HOME": "/h", "COPILOT_HOME": "/m"}, 7)
    assert (moved, moved.file) == (Entry(Path("/m"), "config.json", text), Path("/m/config.json"))


def test_an_entry_names_the_folder_however_it_is_spelled():
    made = entry_for(FOLDERS, '/a/My "Pro ject"', {"HOME": "/h"}, 7)

    assert made.path == ".kimi-code/trust/wd_my-pro-ject_c1e3c648bdcd"
    assert json.loads(made.text) == {"root": '/a/My "Pro ject"', "at": 7000}
    assert entry_for(LIST, "/a/{now}", {"HOME": "/h"}, 7).text == '{"trusted_folders": ["/a/{now}"]}'


def test_a_folder_that_does_not_move_is_looked_for_at_home():
    entry = entry_for(UserEntry(".t.json", "{}"), "/p", {"HOME": "/h"}, 7)

    assert entry == Entry(Path("/h"), ".t.json", "{}")


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("/a/Web Shop", "web-shop"),
        ("/a/x.y_z-1/", "x.y_z-1"),
        ("/a/--ü--", "workspace"),
        ("/", "workspace"),
        ("C:\\a\\B", "b"),
        (f"/{'a' * 39} {'b' * 9}", "a" * 39),
        ("/a/..", "workspace"),
    ],
)
def test_the_slug_of_a_folder_is_kimi_codes_own(folder, expected):
    assert slug(folder) == expected
