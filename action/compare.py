"""What a pull request costs the prompt cache: annotations on stdout, a summary in Markdown, an exit code.

    python compare.py [--base REV] [--fail-on LEVEL] [--project DIR]

Runs the `agentmux` of the Python that runs this file. Without `--base` it compares with the merge base of the pull
request (GITHUB_BASE_REF says into which branch), outside of one with the commit before. The sources of both sides are
compiled, so a baseline that was accepted in the same pull request changes nothing.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, FINDINGS, CANNOT_RUN = 0, 1, 2
SHORT = 12
# The path of an annotation; everything before it is escaped, so that it holds no colon of its own.
_ANNOTATED = re.compile(r"^(::(?:error|warning|notice) (?:[^:\n]*,)?file=)", re.MULTILINE)


class NoBaseError(Exception):
    """There is nothing to compare with; the message says what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, report, and give the exit code of `agentmux diff`."""
    given = _parser().parse_args(arguments)
    _utf8(sys.stdout)
    project = Path(given.project)
    try:
        base = given.base.removeprefix("git:") or found_base(project, os.environ.get("GITHUB_BASE_REF", ""))
        prefix = _git(project, "rev-parse", "--show-prefix")
    except NoBaseError as error:
        return _failed(str(error))
    compared = ["diff", "--project", str(project), "--base", f"git:{base}"]
    found = agentmux(*compared, "--format", "github", "--fail-on", given.fail_on)
    sys.stdout.write(placed(found.stdout, prefix))
    if found.returncode not in {DONE, FINDINGS}:
        return _failed(found.stderr, found.returncode)
    summarise(agentmux(*compared, "--format", "markdown", "--fail-on", "never").stdout, prefix)
    if found.returncode == FINDINGS:
        return _failed(f"`fail-on: {given.fail_on}` is reached; the summary of this job says by what", FINDINGS)
    return DONE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="What a pull request costs the prompt cache of its agents.")
    parser.add_argument("--base", default="", metavar="REV", help="what to compare with (default: the merge base)")
    parser.add_argument("--fail-on", default="break:20000", metavar="LEVEL", help="never|error|warning|break[:TOKENS]")
    parser.add_argument("--project", default=".", metavar="DIR", help="the folder that holds agents.d/")
    return parser


def found_base(folder: Path, branch: str) -> str:
    """The commit that this work began from.

    Raises:
        NoBaseError: there is none, or it is not in this clone and cannot be fetched.
    """
    if branch:
        return _merge_base(folder, branch)
    if _asked(folder, "rev-parse", "--verify", "--quiet", "HEAD^") is None and _shallow(folder):
        _asked(folder, "fetch", "--quiet", "--no-tags", "--deepen=1", "origin")
    parent = _asked(folder, "rev-parse", f"--short={SHORT}", "--verify", "--quiet", "HEAD^")
    if parent is None:
        raise NoBaseError("there is no commit to compare with: name one as `base`")
    return parent


def _merge_base(folder: Path, branch: str) -> str:
    """A checkout of one commit knows neither the branch nor the history: both are fetched where they are missing."""
    ref = f"refs/remotes/origin/{branch}"
    commit = _asked(folder, "merge-base", ref, "HEAD")
    if commit is None:
        whole = ["--unshallow"] if _shallow(folder) else []
        _git(folder, "fetch", "--quiet", "--no-tags", *whole, "origin", f"+refs/heads/{branch}:{ref}")
        commit = _asked(folder, "merge-base", ref, "HEAD")
    if commit is None:
        raise NoBaseError(f"this work has no commit in common with `{branch}`: name another one as `base`")
    return _git(folder, "rev-parse", f"--short={SHORT}", commit)


def _shallow(folder: Path) -> bool:
    return _asked(folder, "rev-parse", "--is-shallow-repository") == "true"


def _asked(folder: Path, *arguments: str) -> str | None:
    """What git says; None where it refuses."""
    try:
        return _git(folder, *arguments)
    except NoBaseError:
        return None


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, check=False, encoding="utf-8", errors="replace"
        )
    except FileNotFoundError:
        raise NoBaseError("git is not installed") from None
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"git ended with {done.returncode}"]
        raise NoBaseError(f"git cannot find the base: {said[-1]}")
    return done.stdout.strip()


def agentmux(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command, with the Python that runs this; `-P` keeps it from importing what the repository holds."""
    command = [sys.executable, "-P", "-m", "agentmux", *arguments]
    return subprocess.run(command, capture_output=True, check=False, encoding="utf-8", errors="replace")


def placed(annotations: str, prefix: str) -> str:
    """Paths of a project in a folder as paths of the repository, which is where annotations are looked up."""
    escaped = prefix.replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    return _ANNOTATED.sub(lambda match: match[0] + escaped, annotations)


def summarise(markdown: str, prefix: str) -> None:
    """Append to the summary of the job; outside of GitHub, print it."""
    where = f" of `{prefix.rstrip('/')}`" if prefix else ""
    text = f"### Prompt prefixes{where}\n\n{markdown}\n"
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        sys.stdout.write(text)
        return
    with Path(path).open("a", encoding="utf-8", newline="\n") as summary:
        summary.write(text)


def _failed(message: str, code: int = CANNOT_RUN) -> int:
    escaped = message.strip().replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    sys.stdout.write(f"::error title=agentmux::{escaped}\n")
    return code


def _utf8(stream: object) -> None:
    """The same bytes on every runner."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", newline="\n")


if __name__ == "__main__":
    sys.exit(main())
