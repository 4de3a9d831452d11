"""`agentmux usage` over a ledger: tables, JSON, CSV, a page; what is refused; what is said where there is nothing."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import sqlite3
import subprocess
import sys
import time
import zoneinfo
from dataclasses import replace

import pytest

from agentmux.cli import main
from agentmux_launcher.ledger import Ledger, Run, Turn, UsageRow
from agentmux_usage import zone as zones
from agentmux_usage.index import Index

if not zones.have_data():
    pytest.skip("this machine has no time zone data", allow_module_level=True)

BEGAN = 1_796_000_000.0  # 2026-11-30 00:53:20 UTC
RUNS = (
    ("r1", "reviewer", "claude", "claude-opus-5", "s1-4c1f9d20"),
    ("r2", "reviewer", "claude", "claude-opus-5", "s1-4c1f9d20"),
    ("r3", "tester", "codex", "gpt-5.5", "s2-77aa10ff"),
)
CALLS = {
    "r1": [("m1", (10, 0, 40_000, 0, 400), 0.0), ("m2", (15, 40_000, 2_000, 0, 600), 30.0)],
    "r2": [("m3", (15, 3_000, 41_000, 0, 500), 86_400.0)],
}


@pytest.fixture
def home(tmp_path):
    """A ledger with three runs: two of one session, of which the second found a cold cache, and one of whole turns."""
    folder = tmp_path / "home" / ".agentmux"
    with Ledger(folder / "ledger.sqlite3") as ledger:
        for number, (run_id, agent, provider, model, session) in enumerate(RUNS):
            ledger.begin(run(run_id, agent, provider, model, BEGAN + 86_400.0 * number))
            ledger.turn(*turn(run_id, model, session, BEGAN + 86_400.0 * number))
    return tmp_path / "home"


def run(run_id, agent, provider, model, started):
    known = {"effort": "high", "permission": "ask", "cli_version": "1", "plan": None, "prefix": None}
    owner = {"project": "/p", "folder": "/p/run", "controller": "subprocess", "pid": 1, "pid_started": "never"}
    times = {"started": started, "ended": started + 60}
    return Run(run_id=run_id, agent=agent, provider=provider, model=model, **times, **owner, **known)


def turn(run_id, model, session, began):
    made = Turn(run_id, 1, session, model, began, began + 60, "end_turn", 0)
    if run_id not in CALLS:
        figures = {"input_tokens": 900, "cache_read_tokens": 5_000, "cache_write_tokens": 0, "output_tokens": 77}
        return Turn(run_id, 1, session, model, began, began + 60, "end_turn", 0, **figures), []
    rows = [
        UsageRow(run_id, 1, number, "call", *tokens, model=model, message_id=message, time=BEGAN + seconds)
        for number, (message, tokens, seconds) in enumerate(CALLS[run_id])
    ]
    return made, rows


@pytest.fixture
def usage(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("AGENTMUX_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "QWEN_HOME", "USERPROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TZ", "Europe/Berlin")
    monkeypatch.setenv("NO_COLOR", "1")
    (tmp_path / "home").mkdir(exist_ok=True)

    def call(*arguments):
        code = main(["usage", *map(str, arguments)])
        return (code, *capsys.readouterr())

    return call


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("by", ["session", "turn", "agent", "provider", "model", "day"])
def test_a_table_for_each_grouping(usage, snapshot, by):
    code, out, err = usage("--by", by)

    assert (code, err) == (0, "")
    assert out == snapshot


@pytest.mark.usefixtures("home")
def test_the_broken_caches(usage, snapshot):
    code, out, err = usage("--breaks", "--since", "2026-12-01")

    assert (code, err) == (0, "")
    assert out == snapshot


@pytest.mark.usefixtures("home")
def test_json_is_in_utc_and_the_same_wherever_it_is_asked_for(usage, snapshot):
    code, out, err = usage("--by", "day", "--format", "json")

    assert (code, err) == (0, "")
    assert out == snapshot
    assert json.dumps(json.loads(out), sort_keys=True, ensure_ascii=False, indent=1) + "\n" == out


@pytest.mark.usefixtures("home")
def test_csv_has_a_line_for_each_row(usage):
    _, out, _ = usage("--format", "csv", "--by", "agent")

    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["key"], row["turns"], row["cumulative_prefill"]) for row in rows] == [
        ("reviewer", "3", "126040"),
        ("tester", "1", "5900"),
    ]


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("words", "days"),
    [
        ((), ["2026-12-02", "2026-12-01", "2026-11-30"]),
        (("--since", "2026-12-01"), ["2026-12-02", "2026-12-01"]),
        (("--until", "2026-11-30"), ["2026-11-30"]),
        (("--since", "2026-12", "--until", "2026-12-01T12:00"), ["2026-12-01"]),
        (("--zone", "America/New_York"), ["2026-12-01", "2026-11-30", "2026-11-29"]),
        (("--provider", "codex-cli"), ["2026-12-02"]),
        (("--agent", "reviewer"), ["2026-12-01", "2026-11-30"]),
        (("--agent", "reviewer", "--agent", "tester", "--limit", "1"), ["2026-12-02"]),
    ],
)
def test_a_range_a_zone_and_names_select(usage, words, days):
    _, out, _ = usage("--format", "csv", "--by", "day", *words)

    assert [row["key"] for row in csv.DictReader(io.StringIO(out))] == days


@pytest.mark.usefixtures("home")
def test_range_and_zone_are_stated(usage):
    said = [usage(*words)[1] for words in ((), ("--since", "2026-11-30", "--zone", "UTC"), ("--until", "2026-11-30"))]

    assert [next(line for line in out.splitlines() if "session" in line and ";" in line) for out in said] == [
        "all time, Europe/Berlin; 2 sessions",
        "from 2026-11-30 00:00 to now, UTC; 2 sessions",
        "from the beginning to 2026-12-01 00:00, Europe/Berlin; 1 session",
    ]


@pytest.mark.usefixtures("home")
def test_a_table_is_cut_at_its_limit_and_says_so(usage):
    _, out, _ = usage("--by", "turn", "--limit", "1")

    assert "2 more rows: `--limit 0` shows all\n" in out
    assert usage("--by", "turn", "--limit", "0")[1].count("#") == 4


@pytest.mark.usefixtures("home")
def test_rates_are_what_is_given_else_the_projects(usage, tmp_path):
    (tmp_path / "agents.d").mkdir()
    (tmp_path / "agents.d" / "_project.yaml").write_text("prefill_rate: 1000\n", encoding="utf-8")

    assert "at 1,000 tokens a second read and 68 written" in usage()[1]
    assert "at 500 tokens a second read and 25 written" in usage("--prefill-rate", 500, "--decode-rate", 25)[1]


@pytest.mark.parametrize("text", ["prefill_rate: fast", "prefill_rate: -1", "prefill_rate: [", "- prefill_rate"])
@pytest.mark.usefixtures("home")
def test_a_rate_that_is_none_is_the_builds_affair(usage, tmp_path, text):
    (tmp_path / "agents.d").mkdir()
    (tmp_path / "agents.d" / "_project.yaml").write_text(text, encoding="utf-8")

    assert "at 6,200 tokens a second read" in usage()[1]


@pytest.mark.usefixtures("home")
def test_a_page_is_written_and_the_table_is_not(usage, tmp_path):
    code, out, err = usage("--html", tmp_path / "usage.html")

    assert (code, out, err) == (0, "", f"wrote 2 sessions to `{tmp_path / 'usage.html'}`\n")
    text = (tmp_path / "usage.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "s1-4c1f9d20" in text


@pytest.mark.usefixtures("home")
def test_a_page_takes_the_place_of_a_page_and_of_nothing_else(usage, tmp_path):
    page, notes = tmp_path / "usage.html", tmp_path / "notes.md"
    notes.write_text("my notes\n", encoding="utf-8")
    page.touch()

    assert [usage("--html", page)[0], usage("--html", page)[0]] == [0, 0]
    code, out, err = usage("--html", notes)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: `{notes}` is there, and agentmux did not write it\n  = help: name another file")
    assert notes.read_text(encoding="utf-8") == "my notes\n"


@pytest.mark.usefixtures("home")
def test_all_that_is_given_away_gets_what_was_asked_for_and_the_breaks_in_it(usage, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    code, out, err = usage("--since", "2026-12-01", "--agent", "reviewer", "--parquet", tmp_path / "out")

    assert (code, out, err) == (0, "", f"wrote 1 response, 1 session, 1 break to `{tmp_path / 'out'}`\n")
    with duckdb.connect() as database:
        found = database.execute(f"SELECT message_id FROM '{tmp_path / 'out' / 'breaks.parquet'}'").fetchall()  # noqa: S608
    assert found == [("m3",)]


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--html", "nowhere/usage.html"), "cannot write `nowhere/usage.html`: no such file or directory"),
        (("--otlp", "nonsense"), "`nonsense` is no address of an OTLP receiver"),
    ],
)
def test_what_cannot_be_given_away_is_said(usage, words, message):
    code, out, err = usage(*words)

    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}\n")


LINES = (
    {"message": "m2", "time": "2026-11-30T00:53:49.000Z", "output": 600},
    {"message": "m4", "time": "2026-11-30T00:54:10.000Z", "output": 50},
    {"message": "m9", "time": "2026-11-29T00:00:00.000Z", "output": 70},
)


def transcript(path):
    """What the CLI itself wrote of the session that the ledger has too: a call of both, and two that only it has."""
    lines = [
        {
            "type": "assistant",
            "sessionId": "s1-4c1f9d20",
            "timestamp": line["time"],
            "requestId": f"q-{line['message']}",
            "cwd": "/p",
            "version": "2.1.332",
            "message": {
                "id": line["message"],
                "role": "assistant",
                "model": "claude-opus-5",
                "content": [{"type": "text", "text": "An answer."}],
                "usage": {
                    "input_tokens": 15,
                    "cache_read_input_tokens": 40_000,
                    "cache_creation_input_tokens": 2_000,
                    "output_tokens": line["output"],
                },
            },
        }
        for line in LINES
    ]
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def test_what_a_transcript_and_the_ledger_tell_is_counted_once(usage, home):
    transcript(home / ".claude" / "projects" / "-p" / "s1-4c1f9d20.jsonl")
    value = json.loads(usage("--by", "agent", "--format", "json")[1])

    (session,) = (each for each in value["sessions"] if each["provider"] == "claude")
    assert session["turns"] == 5  # m1 and m3 of the ledger, m4 and m9 of the transcript, m2 of both
    assert session["output"] == 400 + 600 + 500 + 50 + 70
    agents = {row["key"]: row["turns"] for row in value["rows"]}
    assert agents == {"reviewer": 4, "tester": 1, "-": 1}
    assert value["sources"] == ["~/.agentmux/ledger.sqlite3", "~/.claude/projects"]


@pytest.mark.usefixtures("home")
def test_paths_that_are_named_are_all_that_is_read_and_the_ledger_still_knows_whose_they_are(usage, tmp_path):
    transcript(tmp_path / "copy" / "s1.jsonl")
    (tmp_path / "copy" / "notes.jsonl").write_text('{"my": "notes"}\n', encoding="utf-8")
    value = json.loads(usage("--by", "agent", "--format", "json", "--import", tmp_path / "copy")[1])

    assert {row["key"]: row["turns"] for row in value["rows"]} == {"reviewer": 4, "-": 1}
    assert value["sources"] == [str(tmp_path / "copy")]
    assert value["notes"] == [
        f"left out, being of no known format or unreadable: `{tmp_path / 'copy' / 'notes.jsonl'}`"
    ]


def test_a_path_that_is_not_there_or_nobodys_is_refused(usage, tmp_path):
    (tmp_path / "notes.txt").write_text("my notes\n", encoding="utf-8")
    refused = [usage("--import", tmp_path / name) for name in ("nothing", "notes.txt")]

    assert [(code, out, err.splitlines()[0]) for code, out, err in refused] == [
        (2, "", f"error: `{tmp_path / 'nothing'}` is not there"),
        (2, "", f"error: `{tmp_path / 'notes.txt'}` is no transcript of a known format"),
    ]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="needs a user who may not read all")
def test_a_path_that_cannot_be_read_is_refused_with_the_systems_words(usage, tmp_path):
    (tmp_path / "s.jsonl").touch(mode=0)
    code, out, err = usage("--import", tmp_path / "s.jsonl")

    assert (code, out, err) == (2, "", f"error: `{tmp_path / 's.jsonl'}`: permission denied\n")


def test_where_nothing_is_it_says_where_it_looked_and_what_would_fill_it(usage):
    code, out, err = usage()

    assert (code, out) == (0, "")
    assert err.startswith("no sessions to show\n  looked in ~/.agentmux/ledger.sqlite3 (not there)\n")
    assert "\n  `agentmux run AGENT PROMPT` fills the ledger; `--import PATH` reads transcripts" in err


def test_nothing_is_an_empty_report_for_programs(usage):
    value = json.loads(usage("--format", "json")[1])
    header, *rows = csv.reader(io.StringIO(usage("--format", "csv")[1]))

    assert (value["sessions"], value["totals"]["turns"], value["totals"]["usd"]) == ([], 0, None)
    assert (header[0], rows) == ("key", [])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--by", "days"), "`--by` takes session, turn, agent, provider, model or day, not `days`"),
        (("--since", "soon"), "`--since` takes a time, not `soon`"),
        (("--since", "2026-12-01", "--until", "2026-11-30"), "`--since` is not before `--until`"),
        (("--zone", "Europe/Berlim"), "no time zone `Europe/Berlim`"),
        (("--provider", "claud"), "no provider `claud`"),
        (("--limit", "many"), "`--limit` takes a number of rows, not `many`"),
        (("--prefill-rate", "0"), "`--prefill-rate` takes tokens a second, not `0`"),
        (("--prefill-rate", "1e-300"), "`--prefill-rate` takes tokens a second, not `1e-300`"),
        (("--decode-rate", "nan"), "`--decode-rate` takes tokens a second, not `nan`"),
        (("--project", "nowhere"), "`nowhere` holds no `agents.d/`"),
    ],
)
def test_what_cannot_be_done_is_refused(usage, words, message):
    code, out, err = usage(*words)

    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}")


def test_a_zone_without_data_says_what_brings_it(usage, monkeypatch):
    def none(name):
        raise zoneinfo.ZoneInfoNotFoundError(name)

    monkeypatch.setattr(zones.zoneinfo, "ZoneInfo", none)
    code, _, err = usage("--zone", "Europe/Berlin")

    assert code == 2
    assert "no time zone `Europe/Berlin`, since this machine has no time zone data" in err
    assert "`pip install tzdata` brings it" in err


def test_a_broken_ledger_is_said_and_left_as_it_is(usage, tmp_path):
    path = tmp_path / "home" / ".agentmux" / "ledger.sqlite3"
    path.parent.mkdir()
    path.write_bytes(b"my notes, not a database at all\n" * 100)
    code, out, err = usage()

    assert (code, out) == (2, "")
    assert err.startswith(f"error: the ledger cannot be read: `{path}`: file is not a database\n  = help: ")
    assert path.read_bytes().startswith(b"my notes")


def test_a_ledger_of_a_newer_agentmux_is_not_to_be_moved_away(usage, tmp_path):
    path = tmp_path / "home" / ".agentmux" / "ledger.sqlite3"
    path.parent.mkdir()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    code, _, err = usage()

    assert code == 2
    assert err.startswith("error: the ledger cannot be read: the ledger was written by a newer agentmux")
    assert err.endswith("\n  = help: use that version, or a later one: `pip install --upgrade agentmux-cli`\n")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
@pytest.mark.usefixtures("home")
def test_a_folder_that_is_gone_is_any_folder_too(usage, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    code, out, err = usage()
    assert (code, err) == (0, "")
    assert "s1-4c1f9" in out


@pytest.mark.usefixtures("home")
def test_of_many_files_that_are_named_some_are_said(usage, tmp_path):
    for number in range(10):
        transcript(tmp_path / f"c{number}" / "s1.jsonl")
    files = [f"c{number}/s1.jsonl" for number in range(10)]

    assert f"\nread: {', '.join(files[:8])} and 2 more\n" in usage("--import", *files)[1]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX")
def test_a_pipe_is_refused_rather_than_empty(usage, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    code, out, err = usage("--import", tmp_path / "pipe")

    assert (code, out) == (2, "")
    assert err.startswith(f"error: `{tmp_path / 'pipe'}` is no file and no folder\n  = help: ")


def test_a_disk_without_room_for_temporary_files_is_said(usage, monkeypatch, tmp_path):
    transcript(tmp_path / "home" / ".claude" / "projects" / "p" / "s1.jsonl")

    def full(*_):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Index, "update", full)
    code, out, err = usage()

    assert (code, out) == (2, "")
    assert err.startswith("error: what the transcripts say cannot be added up: database or disk is full\n  = help: ")


HEAVY = """
import sys
from agentmux.cli import main
code = main(["usage"])
print(code, [name for name in ("pydantic", "jinja2", "ruamel.yaml") if name in sys.modules])
"""


def test_without_anything_to_show_nothing_heavy_is_loaded(usage):
    usage()  # the catalog's facts are kept from now on
    child = subprocess.run([sys.executable, "-c", HEAVY], capture_output=True, encoding="utf-8", check=True)

    assert child.stdout == "0 []\n"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
@pytest.mark.usefixtures("home")
def test_the_machines_own_zone_is_used_where_it_has_no_name(usage, monkeypatch):
    monkeypatch.setenv("TZ", "XYZ-3")
    time.tzset()
    try:
        _, out, _ = usage("--by", "day", "--format", "csv", "--zone", "local")
        assert "2026-11-30T03:53:20+03:00" in out
        assert "all time, local time (XYZ); 2 sessions\n" in usage()[1]
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("width", [60, 90, 110, 140, 200])
def test_a_narrow_terminal_shows_what_matters_most(usage, monkeypatch, width):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    _, out, _ = usage()

    head, *_ = out.splitlines()
    assert {"LATEST", "SESSION", "AGENT", "PREFILL", "HITS", "COST", "LOST"} <= set(head.split())
    left = next((line for line in out.splitlines() if line.startswith("a wider terminal also shows ")), "")
    hidden = left.removeprefix("a wider terminal also shows ").split(", ") if left else []
    order = ["ADDED", "START", "OUTPUT", "PREFILLED", "SIZE", "TURNS", "RATIO", "PROVIDER", "MODEL"]
    assert hidden == order[: len(hidden)]
    assert len(head) <= width or hidden == order
    assert bool(hidden) == (width < 150)


def test_ids_are_as_long_as_tells_them_apart(usage, home):
    with Ledger(home / ".agentmux" / "ledger.sqlite3") as ledger:
        ledger.begin(run("r9", "tester", "codex", "gpt-5.5", BEGAN + 300_000.0))
        ledger.turn(*turn("r9", "gpt-5.5", "s2-77aa10fe", BEGAN + 300_000.0))

    ids = [line.split()[2] for line in usage()[1].splitlines()[1:4]]
    assert ids == ["s2-77aa10fe", "s2-77aa10ff", "s1-4c1f9d20"]


def test_an_id_is_the_same_in_the_list_of_breaks(usage, home):
    with Ledger(home / ".agentmux" / "ledger.sqlite3") as ledger:
        ledger.begin(run("r9", "tester", "claude", "claude-opus-5", BEGAN + 300_000.0))
        ledger.turn(*turn("r9", "claude-opus-5", "s1-4c1f9d2f", BEGAN + 300_000.0))

    for by in ("session", "turn"):
        table, breaks, _ = usage("--breaks", "--by", by)[1].split("\n\n")
        (broken,) = [line.split()[2] for line in breaks.splitlines()[1:]]
        assert broken == "s1-4c1f9d20"
        assert broken in {line.split()[2].partition("#")[0] for line in table.splitlines()[1:-1]}


def test_sessions_of_several_folders_are_told_by_them(usage, home):
    assert "PROJECT" not in usage()[1]
    with Ledger(home / ".agentmux" / "ledger.sqlite3") as ledger:
        other = run("r9", "tester", "codex", "gpt-5.5", BEGAN + 300_000.0)
        ledger.begin(replace(other, project="C:\\work\\shop\\"))
        ledger.turn(*turn("r9", "gpt-5.5", "s3-77aa10fe", BEGAN + 300_000.0))

    head, *rows = usage()[1].splitlines()
    assert head.split()[:4] == ["LATEST", "SESSION", "AGENT", "PROJECT"]
    assert [row.split()[4] for row in rows[:3]] == ["shop", "p", "p"]


def test_a_long_name_leaves_room_for_figures(usage, home):
    with Ledger(home / ".agentmux" / "ledger.sqlite3") as ledger:
        ledger.begin(run("r9", "tester", "codex", "m" * 5_000, BEGAN + 300_000.0))
        ledger.turn(*turn("r9", "m" * 5_000, "s3-77aa10fe", BEGAN + 300_000.0))

    for by in ("session", "model"):
        table = usage("--by", by)[1].partition("\n\n")[0]
        assert f" {'m' * 47}… " in f" {table}".replace("\n", " ")
        assert max(map(len, table.splitlines())) < 250


def test_a_time_that_leaves_something_out_is_at_least_that(usage, home):
    with Ledger(home / ".agentmux" / "ledger.sqlite3") as ledger:
        ledger.begin(run("r9", "tester", "codex", "gpt-5.5", BEGAN + 300_000.0))
        ledger.turn(Turn("r9", 1, "s3", "gpt-5.5", BEGAN, BEGAN + 60, "end_turn", 0, output_tokens=70_000), [])

    assert "\ntime: 18 min+ with the cache, 18 min+ without, at " in usage()[1]


@pytest.mark.usefixtures("home")
def test_names_that_nothing_has_are_named(usage):
    _, out, err = usage("--agent", "nobody", "--agent", "me", "--provider", "qwen")

    assert out == ""
    assert err.startswith("no sessions to show of agent `me` or `nobody` and provider `qwen`\n")


@pytest.mark.usefixtures("home")
def test_a_range_without_sessions_is_named(usage):
    code, out, err = usage("--since", "2027-01-01")

    assert (code, out) == (0, "")
    assert err.startswith("no sessions to show from 2027-01-01 00:00 to now, Europe/Berlin\n  looked in ~/.agentmux/")
