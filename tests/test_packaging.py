"""What is shipped: the wheel, the sdist, and the lock that the set-up installs from."""

from __future__ import annotations

import re
import tarfile
import tomllib
import zipfile

import pytest
from hatchling import build
from packaging.requirements import Requirement

PACKAGES = ("agentmux", "agentmux_compiler", "agentmux_usage", "agentmux_launcher")
WHEEL_KINDS = (
    r"(agentmux|agentmux_compiler|agentmux_launcher|agentmux_usage)/([a-z_0-9]+/)*[a-z_0-9]+\.py",
    r"(agentmux|agentmux_compiler|agentmux_launcher|agentmux_usage)/py\.typed",
    r"agentmux_compiler/(providers|prefix|prefix/backends)/[a-z0-9.-]+\.yaml",
    r"agentmux_compiler/prefix/prices\.json",
    r"agentmux_launcher/failures/[a-z-]+\.json",
    r"agentmux_usage/page/[a-z.]+\.(css|html\.j2|js)",
    r"agentmux_compiler/rules/AMX\d{3}\.md",
    r"agentmux_compiler/_vendor/ctok/(LICENSE|VENDORED\.md|claude-[0-9.]+\.json)",
    r"agentmux_cli-[0-9.]+\.dist-info/(METADATA|WHEEL|RECORD|entry_points\.txt|licenses/.*LICENSE)",
)
SDIST_KINDS = (
    r"compiler/(agentmux|agentmux_compiler|agentmux_usage)/.*",
    r"launcher/agentmux_launcher/.*",
    r"pyproject\.toml|README\.md|CHANGELOG\.md|LICENSE|PKG-INFO|\.gitignore",
)


@pytest.fixture
def shipped(repository, tmp_path, monkeypatch):
    """Build one of both in this process, as a front end would, without a network."""

    def make(hook) -> str:
        monkeypatch.chdir(repository)
        return str(tmp_path / hook(str(tmp_path)))

    return make


@pytest.fixture
def metadata(repository):
    return tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))


def of_no_kind(names, kinds) -> list[str]:
    return [name for name in names if not any(re.fullmatch(kind, name) for kind in kinds)]


def test_wheel_holds_four_packages_and_their_data_and_nothing_else(shipped, repository):
    with zipfile.ZipFile(shipped(build.build_wheel)) as wheel:
        names = wheel.namelist()

    assert of_no_kind(names, WHEEL_KINDS) == []
    assert [name for name in names if name.endswith("py.typed")] == [f"{package}/py.typed" for package in PACKAGES]
    sources = repository / "compiler" / "agentmux_compiler"
    for folder, kind in (("providers", "*.yaml"), ("prefix/backends", "*.yaml"), ("rules", "AMX*.md")):
        there = sorted(f"agentmux_compiler/{folder}/{path.name}" for path in (sources / folder).glob(kind))
        assert there
        assert sorted(set(there) & set(names)) == there


def test_wheel_starts_the_command_and_names_its_licences(shipped):
    with zipfile.ZipFile(shipped(build.build_wheel)) as wheel:
        folder = next(name.partition("/")[0] for name in wheel.namelist() if ".dist-info/" in name)
        points = wheel.read(f"{folder}/entry_points.txt").decode()
        fields = wheel.read(f"{folder}/METADATA").decode().splitlines()

    assert points == (
        "[console_scripts]\nagentmux = agentmux.cli:main\n\n[pytest11]\nagentmux = agentmux_compiler.pytest_plugin\n"
    )
    assert [line for line in fields if line.startswith("License-")] == [
        "License-Expression: MIT",
        "License-File: LICENSE",
        "License-File: compiler/agentmux_compiler/_vendor/ctok/LICENSE",
    ]


def test_sdist_holds_what_a_wheel_is_made_from(shipped):
    with tarfile.open(shipped(build.build_sdist)) as sdist:
        names = [name.partition("/")[2] for name in sdist.getnames()]

    assert of_no_kind(names, SDIST_KINDS) == []
    assert {f"compiler/{name}/py.typed" for name in PACKAGES[:2]} <= set(names)


def test_two_wheels_of_one_checkout_are_the_same_bytes(repository, tmp_path, monkeypatch):
    monkeypatch.chdir(repository)
    wheels = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        wheels.append((tmp_path / name / build.build_wheel(str(tmp_path / name))).read_bytes())

    assert wheels[0] == wheels[1]


def locked(text: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9.-]+)==([^ ;]+)", text, flags=re.MULTILINE))


def test_lock_covers_every_requirement(repository, metadata):
    versions = locked((repository / "requirements.lock").read_text(encoding="utf-8"))
    wanted = [
        *map(Requirement, metadata["project"]["dependencies"]),
        *map(Requirement, metadata["dependency-groups"]["dev"]),
        *map(Requirement, metadata["build-system"]["requires"]),
    ]

    unmet = [
        str(requirement)
        for requirement in wanted
        if versions.get(re.sub(r"[._]+", "-", requirement.name)) not in requirement.specifier
    ]
    assert unmet == []


def test_lock_has_a_hash_for_everything_and_names_no_index(repository):
    text = (repository / "requirements.lock").read_text(encoding="utf-8")
    blocks = re.split(r"\n(?=[^ #])", text)[1:]

    assert len(blocks) == len(locked(text))
    assert [block for block in blocks if "--hash=sha256:" not in block] == []
    assert re.findall(r".*://.*|.*--(?:index|extra|find|trusted).*|.*/.*", text) == []
