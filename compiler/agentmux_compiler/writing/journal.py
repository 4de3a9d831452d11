"""What an interrupted build was about to write, so that the next one knows these bytes for its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import Span
from agentmux_launcher.manifest import MANIFEST_PATH, Manifest, ManifestError, WrittenFile, dumps, loads

if TYPE_CHECKING:
    from pathlib import Path

    from agentmux_compiler.diagnostics import Diagnostic

PENDING_PATH = ".agentmux/pending.json"


def known(root: Path) -> tuple[Manifest | None, list[Diagnostic]]:
    """The last manifest together with what an interrupted build may have written since; None: nothing was built yet."""
    manifest, found = _read(root, MANIFEST_PATH)
    pending, more = _read(root, PENDING_PATH)
    if manifest and pending:
        folders = tuple(sorted({*manifest.folders, *pending.folders}))
        manifest = replace(manifest, files=(*manifest.files, *pending.files), folders=folders)
    return manifest or pending, [*found, *more]


def announcement(root: Path, files: tuple[WrittenFile, ...], folders: tuple[str, ...]) -> bytes:
    """Text of the journal: what is about to be written, and what an earlier journal that still stands says."""
    pending, _ = _read(root, PENDING_PATH)
    earlier = pending or Manifest("")
    entries = {(file.path, file.sha256): replace(file, lines=()) for file in (*earlier.files, *files)}
    return dumps(
        Manifest("", tuple(entries.values()), (), folders=tuple(sorted({*earlier.folders, *folders})))
    ).encode()


def _read(root: Path, path: str) -> tuple[Manifest | None, list[Diagnostic]]:
    try:
        return loads((root / path).read_bytes().decode()), []
    except FileNotFoundError:
        return None, []
    except (ManifestError, ValueError, OSError) as error:
        return None, [_unreadable(path, error)]


def _unreadable(path: str, error: Exception) -> Diagnostic:
    return rules.UNREADABLE_MANIFEST.at(
        Span(path),
        f"`{path}` cannot be read",
        help=f"delete `{path}` and build again; outputs that are as a build would write them are recognised without it",
        notes=(str(error).lower(),),
    )
