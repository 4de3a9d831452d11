"""The baseline: each rendered segment once, one short list per plan, and the outputs that carry no header."""

from __future__ import annotations

from agentmux_compiler.snapshots.baseline import Baseline, read
from agentmux_compiler.snapshots.content import snapshot_files
from agentmux_compiler.snapshots.narrow import narrowed

__all__ = ["Baseline", "narrowed", "read", "snapshot_files"]
