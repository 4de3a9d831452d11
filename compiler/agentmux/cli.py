"""The command line: which command, with which arguments; everything heavy is imported by the command itself."""

from __future__ import annotations

import sys
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from agentmux.command_table import COMMANDS
from agentmux.errors import CANNOT_RUN, DONE, CannotRun, guarded
from agentmux.parsing import COLORS, Parser, Said, common
from agentmux.streams import Streams, standard
from agentmux_compiler.suggest import did_you_mean

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

WITH_VALUE = ("--project", "--color")
EXIT_CODES = (
    "exit codes:\n"
    "  0    done; there may be warnings\n"
    "  1    findings: errors, drift under --check, --fail-on reached\n"
    "  2    cannot run: wrong usage, no project, unreadable file\n"
    "  3    a bug of agentmux; one line and a report file to paste\n"
    "  130  interrupted\n"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    streams = standard(color_asked(given))
    return guarded(lambda: _run(given, streams), streams.err, given)


def _run(given: Sequence[str], streams: Streams) -> int:
    before, command, after = split(given)
    try:
        if command is None:
            return _no_command(before, streams)
        arguments = command_parser(command).parse_intermixed_args([*before, *after])
    except Said as said:
        streams.out.write(str(said))
        return DONE
    name = "watch" if getattr(arguments, "watch", False) else command
    run = cast("Callable[[argparse.Namespace, Streams], int]", import_module(f"agentmux.commands.{name}").run)
    return run(arguments, streams)


def color_asked(given: Sequence[str]) -> str:
    """What `--color` says, read ahead of everything else, so that a refusal has the right colour too."""
    words = [word for argument in given for word in argument.split("=", 1)] if "--" not in given else []
    asked = [after for option, after in pairwise(words) if option == "--color" and after in COLORS]
    return asked[-1] if asked else "auto"


def split(given: Sequence[str]) -> tuple[list[str], str | None, list[str]]:
    """What stands before the command, the command, what follows it."""
    index = 0
    while index < len(given) and given[index].startswith("-"):
        index += 2 if given[index] in WITH_VALUE else 1
    command = given[index] if index < len(given) else None
    return list(given[:index]), command, list(given[index + 1 :])


def command_parser(command: str) -> Parser:
    """The parser of one command.

    Raises:
        CannotRun: no command of that name.
    """
    if command not in COMMANDS:
        remedy = did_you_mean(command, COMMANDS)
        raise CannotRun(f"no command `{command}`", remedy=remedy, notes=["`agentmux --help` lists them"])
    known = COMMANDS[command]
    usage = f"agentmux {command} {known.usage}".rstrip()
    parser = Parser(command, usage=usage, description=known.summary, epilog=known.details or None)
    known.declare(parser)
    common(parser)
    return parser


def _no_command(before: Sequence[str], streams: Streams) -> int:
    parser = Parser(
        "",
        usage="agentmux COMMAND [ARGUMENTS]",
        description=(
            "Compile agent instructions for every provider CLI, and see what a change costs the prompt cache.\n\n"
            "commands:\n" + "".join(f"  {name:<10} {command.summary}\n" for name, command in COMMANDS.items())
        ),
        epilog=f"{EXIT_CODES}\n`agentmux COMMAND --help` says what a command takes.\n",
    )
    common(parser)
    parser.parse_args(before)
    streams.err.write(parser.format_help())
    return CANNOT_RUN
