"""What the baseline's folder holds after a build: a pure function of its plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.snapshots.plan_file import dumps
from agentmux_compiler.tree import byte_order
from agentmux_compiler.writing.baseline_outputs import baseline_outputs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentmux_compiler.lowered import Lowered, OutputFile, PlanPrefix

SEGMENTS, PLANS, FILES = "segments", "plans", "files"


def snapshot_files(plans: Sequence[Lowered]) -> Mapping[str, bytes]:
    """Every file of the baseline, by path below its folder, in byte order.

    Raises:
        ValueError: two plans hold different text under one segment name.
    """
    rendered = baseline_outputs(plan.prefix for plan in plans)
    found: dict[str, bytes] = {}
    for plan in plans:
        found |= {f"{FILES}/{file.path}": file.content for file in plan.files if _kept_whole(file, rendered)}
    found |= prefix_files([plan.prefix for plan in plans])
    return {path: found[path] for path in sorted(found, key=byte_order)}


def prefix_files(plans: Sequence[PlanPrefix]) -> Mapping[str, bytes]:
    """The files that hold the prefixes alone."""
    found = {f"{SEGMENTS}/{name}": text.encode() for name, text in segment_texts(plans).items()}
    return found | {plan_path(plan.agent, plan.provider): dumps(plan).encode() for plan in plans}


def segment_texts(plans: Sequence[PlanPrefix]) -> Mapping[str, str]:
    texts: dict[str, str] = {}
    for plan in plans:
        for segment in plan.segments:
            text = segment.text
            if text is not None and texts.setdefault(segment.name, text) != text:
                raise ValueError(f"segment `{segment.name}` has another text in `{plan.key}` than elsewhere")
    return texts


def plan_path(agent: str, provider: str) -> str:
    return f"{PLANS}/{agent}/{provider}.toml"


def _kept_whole(file: OutputFile, rendered: Mapping[str, bytes]) -> bool:
    """Whether an output's segments alone cannot tell, in a fresh clone, that its bytes are ours."""
    return file.committed and rendered.get(file.path) != file.content
