"""Committed outputs as the accepted baseline renders them, for a fresh clone that has no manifest."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from agentmux_compiler.header import HEADER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentmux_compiler.lowered import PlanPrefix


def baseline_outputs(plans: Iterable[PlanPrefix]) -> dict[str, bytes]:
    """Bytes of every instruction file that the plans' segments stand in, by path: the header, then each text.

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
        if segment.file and segment.text is not None:
            texts[segment.file].append(segment.text)
    return texts
