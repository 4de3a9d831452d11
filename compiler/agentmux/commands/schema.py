"""`agentmux schema`: JSON Schema of the spec files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agentmux.errors import DONE
from agentmux_compiler.spec import json_schema

if TYPE_CHECKING:
    import argparse

    from agentmux.streams import Streams


def run(_arguments: argparse.Namespace, streams: Streams) -> int:
    streams.out.write(json.dumps(json_schema(), indent=2, sort_keys=True) + "\n")
    return DONE
