"""What each command takes, and what its help says of that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.errors import CannotRun
from agentmux.parsing import FORMATS, format_option, one_of, output_option

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

PERMISSIONS = ("plan", "ask", "edit", "auto", "bypass")
GROUPINGS = ("session", "turn", "agent", "provider", "model", "day")


def scope(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agents", metavar="AGENT", nargs="*", help="only these agents")
    parser.add_argument("--provider", metavar="P", action="append", default=[], help="only this provider; repeatable")


def findings(parser: argparse.ArgumentParser) -> None:
    format_option(parser, *FORMATS)
    text = "exit with 1 on never|error|warning|break[:TOKENS] (default: error)"
    parser.add_argument("--fail-on", metavar="LEVEL", default="error", help=text)


def build(parser: argparse.ArgumentParser) -> None:
    scope(parser)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if a build would change something"
    )
    parser.add_argument("--accept", action="store_true", help="also move the baseline: write snapshots/")
    parser.add_argument("--force", action="store_true", help="overwrite outputs that were edited by hand")
    parser.add_argument("--watch", action="store_true", help="rebuild on every edit of a source")
    findings(parser)


def watch(parser: argparse.ArgumentParser) -> None:
    scope(parser)
    parser.add_argument("--force", action="store_true", help="overwrite outputs that were edited by hand")


def diff(parser: argparse.ArgumentParser) -> None:
    scope(parser)
    text = "snapshots, git:REV, or a folder that holds a project (default: snapshots)"
    parser.add_argument("--base", metavar="BASE", default="snapshots", help=text)
    text = "compare two recorded model requests instead, in the order the backend sees them"
    parser.add_argument("--wire", metavar=("A.json", "B.json"), nargs=2, help=text)
    findings(parser)


def show(parser: argparse.ArgumentParser) -> None:
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


def prefix(parser: argparse.ArgumentParser) -> None:
    text = "what edits have cost: of a range, or of the last 50 commits (up to a revision) that touch the sources"
    parser.add_argument("--history", metavar="RANGE", nargs="?", const="", help=text)
    parser.add_argument("--provider", metavar="P", action="append", default=[], help="only this provider; repeatable")
    format_option(parser, "full", "json")


def explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "code", metavar="CODE", nargs="?", help="a code (AMX202) or a name (unknown-skill); none: the table"
    )
    format_option(parser, "full", "json")


def providers(parser: argparse.ArgumentParser) -> None:
    text = "in JSON too, say under `installed` what this machine has"
    parser.add_argument("--installed", action="store_true", help=text)
    format_option(parser, "full", "json")


def init(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--write", action="store_true", help="write the files; without it they are only shown")
    text = "only for this provider; repeatable (default: whoever reads the files that are there)"
    parser.add_argument("--provider", metavar="P", action="append", default=[], help=text)
    text = "mark outputs by a first line, so that nobody edits them by mistake; their bytes change by that line"
    parser.add_argument("--header", action="store_true", help=text)
    text = "pass over these folders (a glob); repeatable"
    parser.add_argument("--skip", metavar="FOLDER", action="append", default=[], help=text)
    format_option(parser, "full", "json")


def install(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("provider", metavar="PROVIDER")
    parser.add_argument("--dry-run", action="store_true", help="print the commands and run none of them")


def adopt(parser: argparse.ArgumentParser) -> None:
    text = "a hand-written file in the way, an output edited by hand, or a folder with a SKILL.md"
    parser.add_argument("paths", metavar="PATH", nargs="+", help=text)
    text = "place what can be placed, and report the rest"
    parser.add_argument("--partial", action="store_true", help=text)


def run(parser: argparse.ArgumentParser) -> None:
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


def ps(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="runs that have ended too")
    format_option(parser, "full", "json")


def stop(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", metavar="RUN", nargs="*", help="its id, a part of it, or `latest`")


def tail(parser: argparse.ArgumentParser) -> None:
    text = "a run's id, a part of it, or `latest`; or the file of what a CLI wrote on its standard output"
    parser.add_argument("file", metavar="RUN|FILE", nargs="?", help=text)
    parser.add_argument("--provider", metavar="P", help="whose CLI it was; for a FILE")
    parser.add_argument("--stderr", metavar="FILE", help="what it wrote on standard error")
    text = "what it ended with; a signal is negative (default: not known)"
    parser.add_argument("--exit-code", metavar="N", type=int, help=text)
    output_option(parser)


def usage(parser: argparse.ArgumentParser) -> None:
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
        if not 1e-3 <= rate < 1e12:  # noqa: PLR2004  less and more than anything reads
            raise CannotRun(f"`{option}` takes tokens a second, not `{text}`")
        return rate

    return check


def nothing(_parser: argparse.ArgumentParser) -> None:
    """No options of its own."""
