"""The table of commands: what each takes, and what its help says."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from agentmux import __version__
from agentmux.errors import CannotRun
from agentmux_compiler.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMATS = ("full", "concise", "json", "github", "sarif", "markdown")
PERMISSIONS = ("plan", "ask", "edit", "auto", "bypass")
OUTPUTS = ("text", "json", "raw")
COLORS = ("auto", "always", "never")
GROUPINGS = ("session", "turn", "agent", "provider", "model", "day")


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
        raise CannotRun(message, notes=[f"`{self.prog} --help` says what it takes"])


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


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand: `usage` is its line, `details` what stands below its options."""

    summary: str
    usage: str
    declare: Callable[[argparse.ArgumentParser], None]
    details: str = ""


def format_option(parser: argparse.ArgumentParser, *formats: str) -> None:
    words = "|".join(formats)
    kind = one_of("--format", *formats)
    parser.add_argument(
        "--format", metavar="FORMAT", type=kind, default=formats[0], help=f"{words} (default: {formats[0]})"
    )


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


def _scope(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agents", metavar="AGENT", nargs="*", help="only these agents")
    parser.add_argument("--provider", metavar="P", action="append", default=[], help="only this provider; repeatable")


def _findings(parser: argparse.ArgumentParser) -> None:
    format_option(parser, *FORMATS)
    text = "exit with 1 on never|error|warning|break[:TOKENS] (default: error)"
    parser.add_argument("--fail-on", metavar="LEVEL", default="error", help=text)


def _build(parser: argparse.ArgumentParser) -> None:
    _scope(parser)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if a build would change something"
    )
    parser.add_argument("--accept", action="store_true", help="also move the baseline: write snapshots/")
    parser.add_argument("--force", action="store_true", help="overwrite outputs that were edited by hand")
    parser.add_argument("--watch", action="store_true", help="rebuild on every edit of a source")
    _findings(parser)


def _watch(parser: argparse.ArgumentParser) -> None:
    _scope(parser)
    parser.add_argument("--force", action="store_true", help="overwrite outputs that were edited by hand")


def _diff(parser: argparse.ArgumentParser) -> None:
    _scope(parser)
    text = "snapshots, git:REV, or a folder that holds a project (default: snapshots)"
    parser.add_argument("--base", metavar="BASE", default="snapshots", help=text)
    text = "compare two recorded model requests instead, in the order the backend sees them"
    parser.add_argument("--wire", metavar=("A.json", "B.json"), nargs=2, help=text)
    _findings(parser)


def _show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", metavar="AGENT")
    parser.add_argument("--provider", metavar="P", help="which provider (default: the agent's first)")
    part = parser.add_mutually_exclusive_group()
    for name, text in (
        ("prefix", "the segments of its prompt, in the order the backend sees them"),
        ("argv", "only the command line"),
        ("env", "only the environment: values set, names passed and removed"),
        ("files", "only the files a build writes for it"),
        ("cost", "what each text of its prompt costs in every session, changed or not"),
    ):
        part.add_argument(f"--{name}", action="store_const", const=name, dest="part", help=text)
    parser.add_argument("--turns", metavar="N", type=_turns, default=20, help="turns of a session, for --cost (20)")
    format_option(parser, "full", "json")
    what_if = parser.add_argument_group("what the command line would be with")
    what_if.add_argument("--model", metavar="M")
    what_if.add_argument("--effort", metavar="E")
    what_if.add_argument(
        "--permission", metavar="MODE", type=one_of("--permission", *PERMISSIONS), help="|".join(PERMISSIONS)
    )
    what_if.add_argument("--resume", metavar="ID")
    what_if.add_argument("--prompt", metavar="TEXT")


def _turns(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise CannotRun(f"`--turns` takes a number of turns, not `{text}`")
    return int(text)


def _prefix(parser: argparse.ArgumentParser) -> None:
    text = "what edits have cost: of a range, or of the last 50 commits (up to a revision) that touch the sources"
    parser.add_argument("--history", metavar="RANGE", nargs="?", const="", help=text)
    parser.add_argument("--provider", metavar="P", action="append", default=[], help="only this provider; repeatable")
    format_option(parser, "full", "json")


def _explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "code", metavar="CODE", nargs="?", help="a code (AMX202) or a name (unknown-skill); none: the table"
    )
    format_option(parser, "full", "json")


def _providers(parser: argparse.ArgumentParser) -> None:
    text = "in JSON too, say under `installed` what this machine has"
    parser.add_argument("--installed", action="store_true", help=text)
    format_option(parser, "full", "json")


def _init(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--write", action="store_true", help="write the files; without it they are only shown")
    text = "only for this provider; repeatable (default: whoever reads the files that are there)"
    parser.add_argument("--provider", metavar="P", action="append", default=[], help=text)
    text = "mark outputs by a first line, so that nobody edits them by mistake; their bytes change by that line"
    parser.add_argument("--header", action="store_true", help=text)
    text = "pass over these folders (a glob); repeatable"
    parser.add_argument("--skip", metavar="FOLDER", action="append", default=[], help=text)
    format_option(parser, "full", "json")


def _install(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("provider", metavar="PROVIDER")
    parser.add_argument("--dry-run", action="store_true", help="print the commands and run none of them")


def _adopt(parser: argparse.ArgumentParser) -> None:
    text = "a hand-written file in the way, an output edited by hand, or a folder with a SKILL.md"
    parser.add_argument("paths", metavar="PATH", nargs="+", help=text)
    text = "place what can be placed, and report the rest"
    parser.add_argument("--partial", action="store_true", help=text)


def _run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", metavar="AGENT")
    parser.add_argument("prompt", metavar="PROMPT", nargs="?", help="the turn; `-`: from standard input; none: a chat")
    parser.add_argument("--provider", metavar="P", help="which provider (default: the agent's first)")
    parser.add_argument("--model", metavar="M", help="another model than the spec's")
    parser.add_argument("--effort", metavar="E", help="another effort")
    kind = one_of("--permission", *PERMISSIONS)
    parser.add_argument("--permission", metavar="MODE", type=kind, help="|".join(PERMISSIONS))
    text = "go on with a session, the agent's last one if no id is given"
    parser.add_argument("--resume", metavar="ID", nargs="?", const="", help=text)
    parser.add_argument("--fork", action="store_true", help="go on with a copy of it")
    parser.add_argument("--trust", action="store_true", help="let the CLI trust the folder it runs in")
    parser.add_argument("--prepare", action="store_true", help="let what the CLI must find be added to its settings")
    parser.add_argument(
        "--dry-run", action="store_true", help="print command line, environment and files; start nothing"
    )
    parser.add_argument("--timeout", metavar="S", type=_seconds, help="stop after so many seconds, and exit with 124")
    output_option(parser)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e9:  # noqa: PLR2004  thirty years
        raise CannotRun(f"`--timeout` takes a number of seconds, not `{text}`")
    return seconds


def _ps(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="runs that have ended too")
    format_option(parser, "full", "json")


def _stop(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", metavar="RUN", nargs="+", help="its id, or the beginning of it")


def output_option(parser: argparse.ArgumentParser) -> None:
    kind = one_of("--output", *OUTPUTS)
    text = f"{'|'.join(OUTPUTS)} (default: {OUTPUTS[0]})"
    parser.add_argument("--output", metavar="FORMAT", type=kind, default=OUTPUTS[0], help=text)


def _tail(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="RUN|FILE", help="a run's id or the beginning of it, or what a CLI wrote on its standard output"
    )
    parser.add_argument("--provider", metavar="P", help="whose CLI it was; for a FILE")
    parser.add_argument("--stderr", metavar="FILE", help="what it wrote on standard error")
    text = "what it ended with; a signal is negative (default: not known)"
    parser.add_argument("--exit-code", metavar="N", type=int, help=text)
    output_option(parser)


def _usage(parser: argparse.ArgumentParser) -> None:
    by = one_of("--by", *GROUPINGS)
    text = f"{'|'.join(GROUPINGS)} (default: {GROUPINGS[0]})"
    parser.add_argument("--by", metavar="WHAT", type=by, default=GROUPINGS[0], help=text)
    text = "from then on: 2026-11-30, 2026-11, 2026-11-30T18:00, today, yesterday, 7d, 3h"
    parser.add_argument("--since", metavar="D", help=text)
    parser.add_argument("--until", metavar="D", help="up to then; a day or a month is still part of it")
    text = "time zone of days and times: an IANA name, UTC or local (default: local; UTC in JSON and CSV)"
    parser.add_argument("--zone", metavar="Z", help=text)
    parser.add_argument("--provider", metavar="P", action="append", default=[], help="only this provider; repeatable")
    parser.add_argument("--agent", metavar="A", action="append", default=[], help="only this agent; repeatable")
    text = "read these files or folders of transcripts, and nothing else"
    parser.add_argument("--import", metavar="PATH", nargs="+", action="extend", default=[], dest="imported", help=text)
    parser.add_argument("--html", metavar="FILE", help="write one page with pictures instead; it needs no network")
    parser.add_argument("--parquet", metavar="DIR", help="write Parquet files instead (needs DuckDB)")
    text = "send spans and a histogram by OTLP over HTTP instead (needs the OpenTelemetry SDK)"
    parser.add_argument("--otlp", metavar="URL", help=text)
    parser.add_argument("--breaks", action="store_true", help="list every broken cache: lost tokens, why, and where")
    parser.add_argument("--limit", metavar="N", type=_rows, help="so many rows; 0: all (default: 30 in a table)")
    rate = _rate("--prefill-rate")
    text = "tokens a second that a server reads (default: the project's, else 6200)"
    parser.add_argument("--prefill-rate", metavar="N", type=rate, help=text)
    rate = _rate("--decode-rate")
    parser.add_argument("--decode-rate", metavar="N", type=rate, help="tokens a second that it writes (default: 68)")
    format_option(parser, "table", "json", "csv")


def _rows(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise CannotRun(f"`--limit` takes a number of rows, not `{text}`")
    return int(text)


def _rate(option: str) -> Callable[[str], float]:
    def check(text: str) -> float:
        try:
            rate = float(text)
        except ValueError:
            rate = 0.0
        if not 0 < rate < 1e12:  # noqa: PLR2004  more than anything reads
            raise CannotRun(f"`{option}` takes tokens a second, not `{text}`")
        return rate

    return check


def _nothing(_parser: argparse.ArgumentParser) -> None:
    """No options of its own."""


COMMANDS = {
    "init": Command(
        "start from nothing, or from the instruction files that are there",
        "[--write] [--provider P] [--header] [--skip FOLDER] [--format FORMAT]",
        _init,
        "Shows which files it would write, and that a build of them gives back the files that are there.\n\n"
        "examples:\n"
        "  agentmux init                    look, and ask on a terminal\n"
        "  agentmux init --write\n"
        "  agentmux init --skip 'examples/*'\n",
    ),
    "build": Command(
        "compile; write what changed; say what it costs the prompt cache",
        "[AGENT...] [--check] [--accept] [--watch] [--provider P] [--format FORMAT] [--fail-on LEVEL]",
        _build,
        "examples:\n"
        "  agentmux build                     compile every agent\n"
        "  agentmux build reviewer --accept   compile one and take its prefixes as the new baseline\n"
        "  agentmux build --check             in CI: are the committed outputs and snapshots current?\n",
    ),
    "watch": Command(
        "rebuild on every edit of a source (= build --watch)",
        "[AGENT...] [--provider P]",
        _watch,
        "One line a rebuild; ends with Ctrl-C.\n",
    ),
    "diff": Command(
        "compare every prefix with a baseline; write nothing",
        "[AGENT... [--base BASE] [--provider P] | --wire A.json B.json] [--format FORMAT] [--fail-on LEVEL]",
        _diff,
        "examples:\n"
        "  agentmux diff --fail-on break          exit with 1 if any prefix breaks\n"
        "  agentmux diff --fail-on break:2000     only if one loses 2,000 tokens or more\n"
        "  agentmux diff --base git:main          against another revision instead of snapshots/\n"
        "  agentmux diff --wire 0001.json 0002.json\n"
        "                                         two requests that a CLI has sent; works outside a project\n",
    ),
    "show": Command(
        "what one agent becomes on one provider: command line, environment, files, prompt",
        "AGENT [--provider P] [--prefix|--argv|--env|--files] [--format FORMAT] [WHAT-IF...]",
        _show,
        "examples:\n"
        "  agentmux show reviewer --argv\n"
        "  agentmux show reviewer --provider codex --effort low --argv\n"
        "  agentmux show reviewer --prefix --format json\n",
    ),
    "prefix": Command(
        "who shares which prefix; what the edits of a range have cost",
        "[--history [RANGE]] [--provider P] [--format FORMAT]",
        _prefix,
        "examples:\n"
        "  agentmux prefix                              the tree of prefixes that plans share\n"
        "  agentmux prefix --history                    the last 50 commits that touch the sources\n"
        "  agentmux prefix --history main~20..main      which of them cost most, and what would have cost less\n",
    ),
    "adopt": Command(
        "take a hand-written file in, or carry a hand edit of an output back to its sources",
        "PATH... [--partial]",
        _adopt,
        "example:\n  agentmux adopt CLAUDE.md\n",
    ),
    "explain": Command(
        "what a diagnostic means, why it matters, how to fix it",
        "[CODE] [--format FORMAT]",
        _explain,
        "examples:\n  agentmux explain AMX202\n  agentmux explain unknown-skill\n",
    ),
    "providers": Command(
        "the catalog: what each provider supports, what is installed here",
        "[--installed] [--format FORMAT]",
        _providers,
    ),
    "install": Command(
        "put a provider's CLI, at its verified version, into the managed folder",
        "PROVIDER [--dry-run]",
        _install,
        "It runs npm or pip, and is the only command that uses the network. The folder is ~/.agentmux, or what\n"
        "AGENTMUX_HOME names. The package's version is exact; for what it depends on, npm and pip ask the registry.\n\n"
        "example:\n  agentmux install codex --dry-run\n",
    ),
    "run": Command(
        "start an agent's CLI, show what it does, and leave nothing of it behind",
        "AGENT [PROMPT|-] [--provider P] [--model M] [--effort E] [--permission MODE] [--resume [ID]] [--fork]\n"
        "                    [--trust] [--timeout S] [--output FORMAT] [--dry-run]",
        _run,
        "Compiles first if sources changed. Ctrl-C asks the CLI to stop, a second one kills it.\n\n"
        "exit codes besides those of every command:\n"
        "  0    the turn ended well            124  the time ran out\n"
        "  1    it failed, and says how        125  nothing was started\n"
        "  5    a permission was denied        126  the CLI cannot be executed\n"
        "                                      127  the CLI is not there\n"
        "                                      128+N  it died of signal N\n\n"
        "examples:\n"
        '  agentmux run reviewer "Review the last commit"\n'
        "  git diff | agentmux run reviewer -\n"
        '  agentmux run reviewer --resume "And the tests?"\n'
        '  agentmux run reviewer --provider codex --output json "Hello"\n',
    ),
    "ps": Command(
        "what runs, of every project",
        "[--all] [--format FORMAT]",
        _ps,
    ),
    "stop": Command(
        "end a run, from another shell",
        "RUN...",
        _stop,
        "It asks the CLI first, then insists. Only processes that are provably of that run are ever signalled.\n",
    ),
    "tail": Command(
        "follow a run, or replay a recording: its answer and events, what it used, why it failed",
        "RUN|FILE [--provider P] [--stderr FILE] [--exit-code N] [--output FORMAT]",
        _tail,
        "text puts the answer on standard output and all else on standard error; json is one event per line, raw the\n"
        "frames.\n\n"
        "examples:\n"
        "  agentmux tail 20261130-1\n"
        "  agentmux tail frames.jsonl --provider codex --exit-code 1 --output json\n",
    ),
    "usage": Command(
        "what sessions used, what it cost, what broke the cache; works in any folder",
        "[--by WHAT] [--since D] [--until D] [--zone Z] [--provider P] [--agent A] [--import PATH...]\n"
        "                      [--html FILE] [--parquet DIR] [--otlp URL] [--breaks] [--limit N]\n"
        "                      [--prefill-rate N] [--decode-rate N] [--format FORMAT]",
        _usage,
        "Reads the ledger of agentmux and the transcripts that CLIs leave in their own folders, changes nothing there\n"
        "and asks nobody. RATIO is PREFILL, the context read on every turn, by SIZE, what the session holds.\n\n"
        "examples:\n"
        "  agentmux usage\n"
        "  agentmux usage --by day --since 7d\n"
        "  agentmux usage --by agent --format csv > usage.csv\n"
        "  agentmux usage --breaks --since today\n",
    ),
    "schema": Command(
        "JSON Schema of the spec files, for editors",
        "",
        _nothing,
        "example:\n  agentmux schema > agents.schema.json\n",
    ),
}
