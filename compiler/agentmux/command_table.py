"""The table of commands, in the order of their help."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from agentmux import options


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand: `usage` is its line, `details` what stands below its options."""

    summary: str
    usage: str
    declare: Callable[[argparse.ArgumentParser], None]
    details: str = ""


COMMANDS = {
    "init": Command(
        "start from nothing, or from the instruction files that are there",
        "[--write] [--provider P] [--header] [--skip FOLDER] [--format FORMAT]",
        options.init,
        "Shows which files it would write, and that a build of them gives back the files that are there.\n\n"
        "examples:\n"
        "  agentmux init                    look, and ask on a terminal\n"
        "  agentmux init --write\n"
        "  agentmux init --skip 'examples/*'\n",
    ),
    "build": Command(
        "compile; write what changed; say what it costs the prompt cache",
        "[AGENT...] [--check] [--accept] [--force] [--watch] [--provider P] [--format FORMAT] [--fail-on LEVEL]",
        options.build,
        "examples:\n"
        "  agentmux build                     compile every agent\n"
        "  agentmux build reviewer --accept   compile one and take its prefixes as the new baseline\n"
        "  agentmux build --check             in CI: are the committed outputs and snapshots current?\n",
    ),
    "watch": Command(
        "rebuild on every edit of a source (= build --watch)",
        "[AGENT...] [--force] [--provider P]",
        options.watch,
        "One line a rebuild; ends with Ctrl-C.\n",
    ),
    "diff": Command(
        "compare every prefix with a baseline; write nothing",
        "[AGENT... [--base BASE] [--provider P] | --wire A.json B.json] [--format FORMAT] [--fail-on LEVEL]",
        options.diff,
        "examples:\n"
        "  agentmux diff --fail-on break          exit with 1 if any prefix breaks\n"
        "  agentmux diff --fail-on break:2000     only if one loses 2,000 tokens or more\n"
        "  agentmux diff --base git:main          against another revision instead of snapshots/\n"
        "  agentmux diff --wire 0001.json 0002.json\n"
        "                                         two requests that a CLI has sent; works outside a project\n",
    ),
    "show": Command(
        "what one agent becomes on one provider: command line, environment, files, prompt",
        "AGENT [--provider P] [--prefix|--argv|--env|--files|--cost [--turns N]] [--format FORMAT] [WHAT-IF...]",
        options.show,
        "examples:\n"
        "  agentmux show reviewer --argv\n"
        "  agentmux show reviewer --provider codex --effort low --argv\n"
        "  agentmux show reviewer --prefix --format json\n",
    ),
    "prefix": Command(
        "who shares which prefix; what the edits of a range have cost",
        "[--history [RANGE]] [--provider P] [--format FORMAT]",
        options.prefix,
        "examples:\n"
        "  agentmux prefix                              the tree of prefixes that plans share\n"
        "  agentmux prefix --history                    the last 50 commits that touch the sources\n"
        "  agentmux prefix --history main~20..main      which of them cost most, and what would have cost less\n",
    ),
    "adopt": Command(
        "take a hand-written file in, or carry a hand edit of an output back to its sources",
        "PATH... [--partial]",
        options.adopt,
        "example:\n  agentmux adopt CLAUDE.md\n",
    ),
    "explain": Command(
        "what a diagnostic means, why it matters, how to fix it",
        "[CODE] [--format FORMAT]",
        options.explain,
        "examples:\n  agentmux explain AMX202\n  agentmux explain unknown-skill\n",
    ),
    "providers": Command(
        "the catalog: what each provider supports, what is installed here",
        "[--installed] [--format FORMAT]",
        options.providers,
    ),
    "install": Command(
        "put a provider's CLI, at its verified version, into the managed folder",
        "PROVIDER [--dry-run]",
        options.install,
        "It runs npm or pip, and is the only command that uses the network. The folder is ~/.agentmux, or what\n"
        "AGENTMUX_HOME names. The package's version is exact; for what it depends on, npm and pip ask the registry.\n\n"
        "example:\n  agentmux install codex --dry-run\n",
    ),
    "run": Command(
        "start an agent's CLI, show what it does, and leave nothing of it behind",
        "AGENT [PROMPT|-] [--provider P] [--model M] [--effort E] [--permission MODE] [--resume [ID]] [--fork]\n"
        "                    [--trust] [--prepare] [--timeout S] [--output FORMAT] [--dry-run]",
        options.run,
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
        options.ps,
    ),
    "stop": Command(
        "end a run, from another shell",
        "RUN...",
        options.stop,
        "It asks the CLI first, then insists. Only processes that are provably of that run are ever signalled.\n"
        "`latest` is the newest run of this project.\n\n"
        "examples:\n"
        "  agentmux stop latest\n"
        "  agentmux stop c52c8928\n",
    ),
    "tail": Command(
        "follow a run, or replay a recording: its answer and events, what it used, why it failed",
        "RUN|FILE [--provider P] [--stderr FILE] [--exit-code N] [--output FORMAT]",
        options.tail,
        "text puts the answer on standard output and all else on standard error; json is one event per line, raw the\n"
        "frames.\n\n"
        "examples:\n"
        "  agentmux tail latest\n"
        "  agentmux tail frames.jsonl --provider codex --exit-code 1 --output json\n",
    ),
    "usage": Command(
        "what sessions used, what it cost, what broke the cache; works in any folder",
        "[--by WHAT] [--since D] [--until D] [--zone Z] [--provider P] [--agent A] [--import PATH...]\n"
        "                      [--html FILE] [--parquet DIR] [--otlp URL] [--breaks] [--limit N]\n"
        "                      [--prefill-rate N] [--decode-rate N] [--format FORMAT]",
        options.usage,
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
        options.nothing,
        "example:\n  agentmux schema > agents.schema.json\n",
    ),
}
