"""Pinned provider CLIs from the npm registry, kept outside the repository with a Node of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

NODE = "24.21.0"


class InstallError(Exception):
    """A CLI could not be installed, or is not the version that was asked for."""


@dataclass(frozen=True, slots=True)
class Pin:
    """A package of the npm registry at one version, and the command that it brings."""

    package: str
    version: str
    command: str

    @property
    def folder(self) -> str:
        return f"{self.package.replace('/', '+')}@{self.version}"


@dataclass(frozen=True, slots=True)
class Installed:
    """An executable, and the folder of the Node that runs it (to stand first on PATH)."""

    executable: Path
    node_folder: Path

    @property
    def path(self) -> str:
        return os.pathsep.join([str(self.node_folder), str(self.executable.parent), os.defpath])


# Verified together with the facts of the catalog, 2026-11-30.
PINS = {
    "claude": Pin("@anthropic-ai/claude-code", "2.1.332", "claude"),
    "codex": Pin("@openai/codex", "0.171.0", "codex"),
    "gemini": Pin("@google/gemini-cli", "0.61.0", "gemini"),
    "kimi": Pin("@moonshot-ai/kimi-code", "2.1.0", "kimi"),
    "opencode": Pin("opencode-ai", "1.18.33", "opencode"),
    "qwen": Pin("@qwen-code/qwen-code", "0.24.4", "qwen"),
}


def cache_folder() -> Path:
    """`AGENTMUX_REAL_CACHE`, else a folder in the user's cache folder."""
    if named := os.environ.get("AGENTMUX_REAL_CACHE"):
        return Path(named)
    if sys.platform == "win32":
        return Path(os.environ["LOCALAPPDATA"]) / "agentmux" / "real"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "agentmux" / "real"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentmux" / "real"


def install(provider: str, cache: Path) -> Installed:
    """The pinned CLI of a provider, installed into `cache` unless it is there.

    Raises:
        InstallError: npm is missing or failed, or another version came.
    """
    node = _package(Pin("node", NODE, "node"), cache, os.environ.get("PATH", os.defpath))
    pin = PINS[provider]
    folder = node.resolve().parent
    # npm picks, without a word, the last release whose `engines` fit the Node that npm itself runs on.
    executable = _package(pin, cache, os.pathsep.join([str(folder), os.environ.get("PATH", os.defpath)]))
    return Installed(executable, folder)


def _package(pin: Pin, cache: Path, path: str) -> Path:
    target = cache / pin.folder
    if not (target / ".version").is_file():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"{pin.command}-", dir=cache) as place:
            _npm_install(pin, Path(place) / pin.folder, path)
            (Path(place) / pin.folder / ".version").write_text(
                _checked_version(pin, _executable(Path(place) / pin.folder, pin), path), encoding="utf-8"
            )
            shutil.rmtree(target, ignore_errors=True)
            (Path(place) / pin.folder).rename(target)
    return _executable(target, pin)


def _npm_install(pin: Pin, folder: Path, path: str) -> None:
    npm = shutil.which("npm", path=path)
    if npm is None:
        raise InstallError("npm is not on PATH; it comes with Node")
    folder.mkdir()
    asked = ["install", "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel=error", "--save-exact"]
    done = subprocess.run(
        [npm, *asked, f"{pin.package}@{pin.version}"],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    if done.returncode:
        raise InstallError(f"npm could not install {pin.package}@{pin.version}: {done.stderr[-2000:]}")


def _executable(folder: Path, pin: Pin) -> Path:
    return folder / "node_modules" / ".bin" / (f"{pin.command}.cmd" if sys.platform == "win32" else pin.command)


def _checked_version(pin: Pin, executable: Path, path: str) -> str:
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [executable, "--version"],
            cwd=home,
            env={"PATH": path, "HOME": home, "TERM": "dumb"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    if done.returncode or pin.version not in done.stdout:
        raise InstallError(f"{pin.package} says {(done.stdout + done.stderr)[-500:]!r}, not {pin.version}")
    return done.stdout
