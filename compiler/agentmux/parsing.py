"""The parser of the command line: argparse in words of our own, and options that several commands take."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NoReturn

from agentmux import __version__
from agentmux.errors import CannotRun
from agentmux_compiler.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FORMATS = ("full", "concise", "json", "github", "sarif", "markdown")
OUTPUTS = ("text", "json", "raw")
COLORS = ("auto", "always", "never")


_BEHIND = "a prompt that begins with `-` stands behind `--`"


class Said(Exception):  # noqa: N818  `--help` and `--version` end the parse by saying something
    """Text that answers the command line by itself."""


class Parser(argparse.ArgumentParser):
    """argparse, with messages of our own shape and no exits."""

    def __init__(self, command: str, **options: Any) -> None:
        super().__init__(
            prog=f"agentmux {command}".rstrip(),
            add_help=False,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **options,
        )
        # From Python 3.14 on argparse paints by itself; colour is decided in `streams`.
        self.color = False

    def error(self, message: str) -> NoReturn:
        takes_prompt = any(action.dest == "prompt" and not action.option_strings for action in self._actions)
        remedy = _BEHIND if takes_prompt and message.startswith("unrecognized arguments: -") else None
        raise CannotRun(message, remedy=remedy, notes=[f"`{self.prog} --help` says what it takes"])


class Say(argparse.Action):
    """An option that answers with a text: `const`, or the parser's help."""

    def __init__(self, option_strings: Sequence[str], dest: str, const: str | None = None, **more: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, const=const, default=argparse.SUPPRESS, **more)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        raise Said(self.const or parser.format_help())


def one_of(option: str, *values: str) -> Callable[[str], str]:
    """An argument type that takes these words and suggests one for a misspelt word."""

    def check(text: str) -> str:
        if text in values:
            return text
        words = f"{', '.join(values[:-1])} or {values[-1]}"
        raise CannotRun(f"`{option}` takes {words}, not `{text}`", remedy=did_you_mean(text, values))

    return check


def format_option(parser: argparse.ArgumentParser, *formats: str) -> None:
    words = "|".join(formats)
    kind = one_of("--format", *formats)
    parser.add_argument(
        "--format", metavar="FORMAT", type=kind, default=formats[0], help=f"{words} (default: {formats[0]})"
    )


def output_option(parser: argparse.ArgumentParser) -> None:
    kind = one_of("--output", *OUTPUTS)
    text = f"{'|'.join(OUTPUTS)} (default: {OUTPUTS[0]})"
    parser.add_argument("--output", metavar="FORMAT", type=kind, default=OUTPUTS[0], help=text)


def common(parser: argparse.ArgumentParser) -> None:
    """What every command takes."""
    group = parser.add_argument_group("options of every command")
    group.add_argument(
        "--project", metavar="DIR", help="the project (default: the nearest folder above with agents.d/)"
    )
    color = one_of("--color", *COLORS)
    group.add_argument("--color", metavar="WHEN", type=color, default="auto", help="auto|always|never (default: auto)")
    group.add_argument("--version", action=Say, const=f"agentmux {__version__}\n", help="print the version")
    group.add_argument("-h", "--help", action=Say, help="print this help")
