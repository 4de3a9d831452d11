"""The baseline: each rendered segment once, one short list per plan, and the outputs that carry no header."""

from __future__ import annotations

from agentmux_compiler.snapshots.baseline import Baseline, read
from agentmux_compiler.snapshots.content import snapshot_files
from agentmux_compiler.snapshots.narrow import narrowed, shared_edits
from agentmux_compiler.snapshots.relay import relaid

__all__ = ["Baseline", "narrowed", "read", "relaid", "shared_edits", "snapshot_files"]
