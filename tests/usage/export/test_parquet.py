from __future__ import annotations

import re
import sys
from dataclasses import astuple, replace
from datetime import UTC, datetime

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmux_launcher.usage import Tokens
from agentmux_usage.export.outlet import CannotExport
from agentmux_usage.export.parquet import Parquet
from agentmux_usage.export.rows import TABLES
from agentmux_usage.response import Response, Session


def written(folder, *given) -> str:
    outlet = Parquet(folder)
    try:
        for session, breaks in given:
            outlet.take(session, breaks)
        return outlet.finish()
    finally:
        outlet.close()


def ask(folder, query) -> list[tuple[object, ...]]:
    with duckdb.connect() as database:
        for table in TABLES:
            database.read_parquet(str(folder / f"{table}.parquet")).create_view(table)
        return database.execute(query).fetchall()


def test_sums_read_back_are_exact(session, breaks, tmp_path):
    said = written(tmp_path / "out", (session, breaks))

    assert said == f"wrote 4 responses, 1 session, 1 break to `{tmp_path / 'out'}`"
    sums = "sum(input), sum(cache_read), sum(cache_write), sum(cache_write_1h), sum(output), sum(reasoning), count(*)"
    assert ask(tmp_path / "out", "FROM responses SELECT " + sums) == [(2017, 5100, 5900, 100, 273, 50, 4)]
    assert ask(
        tmp_path / "out",
        "SELECT input, cache_read, cache_write, cache_write_1h, output, reasoning, turns, lost FROM sessions",
    ) == [(2017, 5100, 5900, 100, 273, 50, 2, 10)]
    assert ask(tmp_path / "out", "SELECT * EXCLUDE time FROM breaks") == [
        (
            "claude",
            "it's \N{SNOWMAN}",
            2,
            3,
            "instructions",
            5110,
            5100,
            10,
            12,
            0.00005,
            "bundles/style.md",
            7,
            "line 7 of `bundles/style.md` was edited",
            "m2",
        )
    ]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "breaks.parquet",
        "responses.parquet",
        "sessions.parquet",
    ]


def test_the_documented_queries_answer(session, breaks, tmp_path, monkeypatch, repository):
    written(tmp_path / "usage", (session, breaks))
    monkeypatch.chdir(tmp_path)
    text = (repository / "docs" / "usage-export.md").read_text(encoding="utf-8")

    with duckdb.connect() as database:
        by_week, by_line, by_provider = (
            database.execute(query).fetchall() for query in re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
        )

    assert [(row[0], row[1].date().isoformat(), row[3]) for row in by_week] == [("reviewer", "2026-06-01", 38.9)]
    assert by_line == [("bundles/style.md", 7, 1, 10, 0.0)]
    assert by_provider == [("claude", 1, 20.0)]


def test_columns_have_types_and_times_are_utc(session, breaks, tmp_path):
    written(tmp_path, (session, breaks))

    for table, columns in TABLES.items():
        assert {name: kind for name, kind, *_ in ask(tmp_path, f"DESCRIBE {table}")} == dict(columns)
    assert ask(tmp_path, "SELECT number, epoch_us(time) FROM responses ORDER BY number") == [
        (1, 1_780_315_200_000_000),
        (2, 1_780_315_202_250_000),
        (3, 1_780_315_260_500_000),
        (4, 1_780_315_261_000_000),
    ]
    (moment,) = ask(tmp_path, "SELECT time FROM responses WHERE number = 2")[0]
    assert moment == datetime(2026, 6, 1, 12, 0, 2, 250_000, tzinfo=UTC)


def test_what_is_not_known_is_null(session, breaks, tmp_path):
    written(tmp_path, (session, breaks))

    assert ask(tmp_path, "SELECT input, cache_read, output, usd FROM responses WHERE number = 4") == [
        (None, None, 3, None)
    ]


def test_a_second_export_replaces_the_first(session, breaks, tmp_path):
    written(tmp_path, (session, breaks))
    written(tmp_path, (replace(session, responses=session.responses[:1]), ()))

    assert ask(tmp_path, "SELECT count(*) FROM responses") == [(1,)]
    assert ask(tmp_path, "SELECT count(*) FROM breaks") == [(0,)]


def test_nothing_is_three_empty_tables(tmp_path):
    written(tmp_path)

    assert [ask(tmp_path, f"FROM {table}") for table in TABLES] == [[]] * 3


def test_a_file_that_somebody_else_wrote_stays(tmp_path):
    foreign = tmp_path / "breaks.parquet"
    duckdb.sql("SELECT 1 AS one").write_parquet(str(foreign))
    before = foreign.read_bytes()

    with pytest.raises(CannotExport) as refused:
        Parquet(tmp_path)

    assert refused.value.message == f"`{foreign}` is there, and agentmux did not write it"
    assert refused.value.remedy == "name another folder, or move that file away"
    assert foreign.read_bytes() == before
    assert list(tmp_path.iterdir()) == [foreign]


def test_what_is_no_parquet_file_or_a_link_is_not_ours(session, breaks, tmp_path):
    written(tmp_path / "ours", (session, breaks))
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "responses.parquet").write_text("mine")
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "responses.parquet").symlink_to(tmp_path / "ours" / "responses.parquet")

    for folder in ("text", "link"):
        with pytest.raises(CannotExport):
            Parquet(tmp_path / folder)


def test_an_export_that_is_given_up_leaves_what_was_there(session, breaks, tmp_path):
    written(tmp_path, (session, breaks))
    outlet = Parquet(tmp_path)
    outlet.take(session, ())
    outlet.close()

    assert ask(tmp_path, "SELECT count(*) FROM breaks") == [(1,)]
    assert len(list(tmp_path.iterdir())) == 3


def test_a_disk_without_room_is_said_and_leaves_nothing(session, breaks, tmp_path):
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    outlet = Parquet(tmp_path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        outlet.take(session, breaks)
        with pytest.raises(CannotExport, match=r"cannot write into `.*`: file too large"):
            outlet.finish()
        outlet.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_is_said(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(CannotExport, match="cannot write into"):
        Parquet(tmp_path / "file" / "out")


def test_names_with_quotes_and_patterns_are_only_names(session, breaks, tmp_path):
    folder = tmp_path / "it's [a]"

    written(folder, (session, breaks))
    written(folder, (session, breaks))

    assert len(list(folder.iterdir())) == 3


def test_without_duckdb_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "duckdb", None)

    with pytest.raises(CannotExport) as refused:
        Parquet(tmp_path)

    assert (refused.value.message, refused.value.remedy) == (
        "Parquet files need DuckDB",
        "`pip install 'agentmux-cli[parquet]'` brings it",
    )


counts = st.none() | st.integers(0, 2**62)
texts = st.none() | st.text()


@settings(max_examples=15)
@given(st.lists(st.tuples(st.tuples(*[counts] * 6), texts, st.floats(0, 4e9)), max_size=5))
def test_any_text_and_count_comes_back(tmp_path_factory, cases):
    folder = tmp_path_factory.mktemp("out")
    responses = [Response("claude", "one", time, Tokens(*tokens), agent=agent) for tokens, agent, time in cases]

    written(folder, *((Session("claude", str(at), (one,)), ()) for at, one in enumerate(responses)))

    read = ask(folder, "SELECT input, cache_read, cache_write, cache_write_1h, output, reasoning, agent FROM responses")
    assert sorted(read, key=repr) == sorted(((*astuple(one.tokens), one.agent) for one in responses), key=repr)
