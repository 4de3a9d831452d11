"""Two recorded model requests compared as prompts: read, put in rendered order, paired, reported like a plan."""

from agentmux_compiler.wire.diff import diff_requests, texts
from agentmux_compiler.wire.recorded import Recorded, read_pair

__all__ = ["Recorded", "diff_requests", "read_pair", "texts"]
