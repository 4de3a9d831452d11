"""The stages in order: where a reader starts.

    load -> resolve -> assemble -> lower -> prefix diff -> (emit, accept) -> report

Each stage takes values and returns values plus diagnostics; only `emit` and `accept` touch the disk.
"""

from __future__ import annotations
