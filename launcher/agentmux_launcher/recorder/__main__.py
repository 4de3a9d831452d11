"""The recorder by hand: `python -m agentmux_launcher.recorder --out DIR --script FILE.json`."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING

from agentmux_launcher.recorder.cache import BlockCache, BreakpointCache, CachePlayer, NoCache
from agentmux_launcher.recorder.failures import FAILURES
from agentmux_launcher.recorder.script import Script, ScriptError, loads
from agentmux_launcher.recorder.server import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentmux_launcher.recorder.exchange import Exchange


POLL = 0.1  # seconds between looks

SAMPLE = """\
{
  "turns": [
    {"answer": {"tool_calls": [{"name": "Bash", "arguments": {"command": "ls"}}]}},
    {"answer": {"text": "done", "usage": {"input_tokens": 12, "cache_read_tokens": 2048, "output_tokens": 3}}},
    {"answer": {"failure": {"kind": "rate_limited", "retry_after": 1}}, "match": {"body": "again"}, "times": 2}
  ],
  "default": {"text": "ok", "thinking": "hm", "delay": 0.5}
}
"""
_ABOUT_SCRIPTS = f"""\
a script, all of it optional:
{indent(SAMPLE, "  ")}
A request takes the first turn that is not used up and whose match holds: parts of its path and body, and its model.
A turn answers once, or so many `times`, without end with null; what no turn answers gets the default.
kinds of failure: {", ".join(FAILURES)}
All fields: `Answer` in agentmux_launcher/recorder/answers.py, `Script` in script.py beside it.
"""

_CACHES: dict[str, Callable[[], CachePlayer]] = {
    "none": NoCache,
    "blocks": BlockCache,
    "breakpoints": BreakpointCache,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until interrupted: the endpoint's address on stdout, a line per request on stderr."""
    given = _parser().parse_args(argv)
    try:
        script = loads(given.script.read_text(encoding="utf-8")) if given.script else Script()
    except (OSError, UnicodeDecodeError, ScriptError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    # A list, since an event's own lock may be held by the very wait that a signal interrupts.
    stops: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda signum, _: stops.append(signum))
    with Recorder(script, folder=given.out, port=given.port, cache=_CACHES[given.cache]()) as recorder:
        sys.stdout.write(f"{recorder.url}\n")
        sys.stdout.flush()
        _follow(recorder, stops)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m agentmux_launcher.recorder",
        description="A model endpoint on 127.0.0.1 that keeps every request and answers from a script.",
        epilog=_ABOUT_SCRIPTS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", type=int, default=0, help="port to listen on (default: any free one)")
    parser.add_argument("--out", type=Path, help="folder that gets one NNNN.json per request")
    parser.add_argument("--script", type=Path, metavar="FILE", help="answers as JSON, see below (default: all `ok`)")
    parser.add_argument("--cache", choices=_CACHES, default="none", help="the cache to play (default: none)")
    return parser


def _follow(recorder: Recorder, stops: Sequence[int]) -> None:
    shown = 0
    while not stops:
        time.sleep(POLL)
        exchanges = recorder.exchanges
        for exchange in exchanges[shown:]:
            sys.stderr.write(_line(exchange))
        shown = len(exchanges)


def _line(exchange: Exchange) -> str:
    path = exchange.path.partition("?")[0]
    size = len(exchange.raw)
    return f"{exchange.number:04} {exchange.method} {path} {exchange.kind} {size} bytes -> {exchange.status}\n"


if __name__ == "__main__":
    sys.exit(main())
