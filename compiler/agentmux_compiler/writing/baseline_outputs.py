"""Committed outputs as the accepted baseline renders them, for a fresh clone that has no manifest."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from agentmux_compiler.writing.header import HEADER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentmux_compiler.lowered import PlanPrefix
    from agentmux_compiler.snapshots.baseline import Baseline


HEADER_SEGMENT = "header.md"


def known_outputs(baseline: Baseline) -> dict[str, bytes]:
    """Every output that a baseline accounts for: those it holds whole, and those its segments make up."""
    return {**baseline_outputs(baseline.plans.values()), **baseline.files}


def baseline_outputs(plans: Iterable[PlanPrefix]) -> dict[str, bytes]:
    """Bytes of every instruction file that the plans' segments stand in, by path: the header, then each text.

    The header is a segment only of those whose CLI passes it on, and stands in the file for everybody.
    Where two plans differ on one path, as after accepting one of them alone, the first counts.
    """
    found: dict[str, bytes] = {}
    for plan in plans:
        for path, texts in _texts(plan).items():
            found.setdefault(path, "\n".join((f"{HEADER}\n", *texts)).encode())
    return found


def _texts(plan: PlanPrefix) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = defaultdict(list)
    for segment in plan.segments:
        if segment.file and segment.text is not None and segment.name != HEADER_SEGMENT:
            texts[segment.file].append(segment.text)
    return texts
