from __future__ import annotations

import pytest

from agentmux_launcher.versions import Standing, between, every, numbers, said, satisfies, standing


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("2.1.332 (Claude Code)", "2.1.332"),
        ("codex-cli 0.142.0-alpha.3\n", "0.142.0-alpha.3"),
        ("v0.52.1", "0.52.1"),
        ("GitHub Copilot CLI 1.0.91.\nRun `copilot update`", "1.0.91"),
        ("openclaw 2026.9.8 (build 7)", "2026.9.8"),
        ("aider 0.86.2+local", "0.86.2+local"),
        ("no number", None),
        ("python3.12 is needed", None),
        ("", None),
    ],
)
def test_a_version_is_read_from_what_a_cli_says(text, version):
    assert said(text) == version


def test_every_version_of_a_text():
    assert every("warning: node v20.20.2 is old\n0.24.4\n") == ("20.20.2", "0.24.4")


def test_numbers_end_where_a_name_begins():
    assert numbers("0.142.0-alpha.3") == (0, 142, 0)
    assert numbers("v24.21.0") == (24, 21, 0)
    assert numbers("latest") == ()


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.61.0", Standing.VERIFIED),
        ("0.60.9", Standing.OLDER),
        ("0.9.99", Standing.OLDER),
        ("0.61.1", Standing.NEWER),
        ("0.100.0", Standing.NEWER),
        ("0.61.0-preview.1", Standing.OTHER),
        ("nightly", Standing.UNKNOWN),
        (None, Standing.UNKNOWN),
    ],
)
def test_a_version_stands_to_the_verified_one_by_its_numbers(version, expected):
    assert standing(version, "0.61.0") is expected


@pytest.mark.parametrize(
    ("version", "requirement", "holds"),
    [
        ("v20.20.2", ">=22", False),
        ("v22.0.0", ">=22", True),
        ("22.18.9", ">=22.19.0", False),
        ("24.21.0", ">= 22.19", True),
        ("20.19.5", "^20.19.0 || >=22.12.0", True),
        ("21.7.0", "^20.19.0 || >=22.12.0", False),
        ("3.12.4", ">=3.10,<3.13", True),
        ("3.13.0", ">=3.10,<3.13", False),
        ("3.13.0", "<=3.13", True),
        ("3.13.1", "<=3.13", False),
        ("1.2.9", "~1.2.3", True),
        ("1.3.0", "~1.2.3", False),
        ("22.1.0", "22", True),
        ("23.0.0", "22.x", False),
        ("23.0.0", "*", True),
        ("3.99.0", "==3.99", True),
    ],
)
def test_requirements_of_npm_and_pypi(version, requirement, holds):
    assert satisfies(version, requirement) is holds


def test_a_requirement_that_is_none_is_an_error():
    with pytest.raises(ValueError, match="`latest` is no clause"):
        satisfies("1.0", "latest")


@pytest.mark.parametrize(
    ("version", "since", "before", "expected"),
    [
        ("2.1.69", "2.1.69", "2.1.90", True),
        ("2.1.90", "2.1.69", "2.1.90", False),
        ("2.1.9", "2.1.69", "2.1.90", False),
        ("3.0", "2.1.69", None, True),
        ("0.1", "0", "0.2", True),
        ("nightly", "0", None, False),
    ],
)
def test_a_version_lies_between_two_others(version, since, before, expected):
    assert between(version, since, before) == expected
