"""Whose bytes stand at a path: ours as built, ours but edited, or somebody else's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from agentmux_compiler.tree import digest
from agentmux_compiler.writing.header import carries_header

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentmux_launcher.manifest import Manifest

NOTHING_KNOWN: frozenset[str] = frozenset()


class Standing(StrEnum):
    """What a file is to a build. `CURRENT` is byte for byte what would be written."""

    CURRENT = "current"
    OURS = "ours"
    EDITED = "edited"
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class Claims:
    """Digests of what earlier builds are known to have written, by path.

    `listed` are the paths a manifest names, and whether they are committed.
    """

    digests: Mapping[str, frozenset[str]]
    listed: Mapping[str, bool]

    def standing(self, path: str, data: bytes, wanted: bytes | None) -> Standing:
        """Judge the bytes at a path; `wanted` is what a build would write there, None: nothing.

        A file whose line ends alone were turned into CRLF, as git does on a checkout, is still ours.
        """
        if data == wanted:
            return Standing.CURRENT
        unix = data.replace(b"\r\n", b"\n")
        known = self.digests.get(path, NOTHING_KNOWN)
        if unix == wanted or digest(data) in known or digest(unix) in known:
            return Standing.OURS
        ours_once = path in self.listed or carries_header(data)
        return Standing.EDITED if ours_once else Standing.FOREIGN

    def committed(self, path: str) -> bool:
        """Whether a known path is committed: what only the baseline knows always is."""
        return self.listed.get(path, True)


def claims(manifest: Manifest | None, baseline_files: Mapping[str, bytes]) -> Claims:
    """What the manifest lists (a path may stand there twice) and what the baseline renders."""
    digests: dict[str, set[str]] = defaultdict(set)
    for file in manifest.files if manifest else ():
        digests[file.path].add(file.sha256)
    for path, data in baseline_files.items():
        digests[path].add(digest(data))
    listed = {file.path: file.committed for file in manifest.files} if manifest else {}
    return Claims({path: frozenset(known) for path, known in digests.items()}, listed)


def outside(manifest: Manifest | None, holds: Callable[[str, str], bool]) -> Callable[[str], bool]:
    """Say of a path whether a build narrowed to the plans that `holds(agent, provider)` must leave it alone.

    That is every path another plan owns too, and every path whose owner is not known.
    """
    owners = {file.path: file.owners for file in manifest.files} if manifest else {}

    def keep(path: str) -> bool:
        plans = [owner.partition("/") for owner in owners.get(path, ())]
        return not plans or not all(holds(agent, provider) for agent, _, provider in plans)

    return keep
