"""Pinned provider CLIs from npm and PyPI, kept outside the repository with a Node of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

NODE = "24.21.0"


class InstallError(Exception):
    """A CLI could not be installed, or is not the version that was asked for."""


@dataclass(frozen=True, slots=True)
class Pin:
    """A package at one version, the command that it brings, and `companions` (`NAME@VERSION`) without which it fails.

    A `mute` one has no `--version`.
    """

    package: str
    version: str
    command: str
    companions: tuple[str, ...] = ()
    registry: Literal["npm", "pypi"] = "npm"
    mute: bool = False

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
    "aider": Pin("aider-chat", "0.86.2", "aider", registry="pypi"),
    "claude": Pin("@anthropic-ai/claude-code", "2.1.332", "claude"),
    "claude-acp": Pin("@agentclientprotocol/claude-agent-acp", "0.101.0", "claude-agent-acp", mute=True),
    "cline": Pin("cline", "3.0.65", "cline"),
    "codex": Pin("@openai/codex", "0.171.0", "codex"),
    "codex-acp": Pin("@agentclientprotocol/codex-acp", "2.6.0", "codex-acp", mute=True),
    "copilot": Pin("@github/copilot", "1.0.102", "copilot"),
    "gemini": Pin("@google/gemini-cli", "0.61.0", "gemini"),
    "grok": Pin("@xai-official/grok", "1.0.41", "grok"),
    "kilo": Pin("@kilocode/cli", "7.7.7", "kilo"),
    "kimi": Pin("@moonshot-ai/kimi-code", "2.1.0", "kimi"),
    "openclaw": Pin("openclaw", "2026.9.6", "openclaw"),
    "opencode": Pin("opencode-ai", "1.18.33", "opencode"),
    "pi": Pin("pi-acp", "0.0.34", "pi-acp", ("@earendil-works/pi-coding-agent@1.6.0",), mute=True),
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
            shutil.rmtree(target, ignore_errors=True)
            # The scripts of a virtual environment name its folder, so that it cannot move.
            folder = target if pin.registry == "pypi" else Path(place) / pin.folder
            _INSTALLERS[pin.registry](pin, folder, path)
            version = pin.version if pin.mute else _checked_version(pin, _executable(folder, pin), path)
            (folder / ".version").write_text(version, encoding="utf-8")
            if folder != target:
                folder.rename(target)
    return _executable(target, pin)


def _npm_install(pin: Pin, folder: Path, path: str) -> None:
    npm = shutil.which("npm", path=path)
    if npm is None:
        raise InstallError("npm is not on PATH; it comes with Node")
    folder.mkdir()
    asked = ["install", "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel=error", "--save-exact"]
    _run([npm, *asked, f"{pin.package}@{pin.version}", *pin.companions], folder, path)


def _pip_install(pin: Pin, folder: Path, path: str) -> None:
    _run([sys.executable, "-m", "venv", str(folder)], folder.parent, path)
    asked = ["install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    _run([str(python), "-m", "pip", *asked, f"{pin.package}=={pin.version}", *pin.companions], folder, path)


_INSTALLERS = {"npm": _npm_install, "pypi": _pip_install}


def _run(argv: list[str], folder: Path, path: str) -> None:
    done = subprocess.run(
        argv,
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    if done.returncode:
        raise InstallError(f"`{' '.join(argv)}` ended with {done.returncode}: {done.stderr[-2000:]}")


def _executable(folder: Path, pin: Pin) -> Path:
    if pin.registry == "pypi":
        return folder / ("Scripts" if sys.platform == "win32" else "bin") / pin.command
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
