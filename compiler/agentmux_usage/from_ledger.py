"""Responses from our own ledger: every call of every run, and what a turn used where its calls are not known."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux_launcher.ledger import Ledger, LedgerError, Run
from agentmux_launcher.usage import NAMES, ZERO, Tokens, plus
from agentmux_usage.response import Kind, Response

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agentmux_launcher.ledger import Turn, UsageRow


@dataclass(frozen=True, slots=True)
class Kept:
    """What the ledger holds: its runs, the oldest first, and the responses of them."""

    runs: tuple[Run, ...] = ()
    responses: tuple[Response, ...] = ()


def read(path: Path) -> Kept:
    """All of a ledger; nothing where there is none.

    Raises:
        LedgerError: it cannot be read.
    """
    if not path.exists():
        return Kept()
    try:
        with opened(path) as ledger:
            runs, vendors = ledger.runs(), ledger.vendors()
            return Kept(tuple(runs), tuple(_responses(runs, ledger.turns(), ledger.usage(), vendors)))
    except sqlite3.Error as error:
        raise LedgerError(f"`{path}`: {error}") from error


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Ledger]:
    """A ledger that is there; where this user may not write it, a copy of it, since opening one may change it.

    Raises:
        LedgerError: it cannot be read.
    """
    with contextlib.ExitStack() as stack:
        if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
            import tempfile  # noqa: PLC0415  only for a copy

            path = _copied(path, Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="agentmux-"))))
        yield stack.enter_context(Ledger(path))


def _copied(path: Path, folder: Path) -> Path:
    """The file, and what was written last and still stands beside it."""
    import shutil  # noqa: PLC0415  only for a copy

    try:
        shutil.copyfile(path, folder / path.name)
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(path.with_name(f"{path.name}-wal"), folder / f"{path.name}-wal")
    except OSError as error:
        raise LedgerError(f"`{path}`: {(error.strerror or str(error)).lower()}") from error
    return folder / path.name


def _responses(
    runs: Sequence[Run], turns: Sequence[Turn], usage: Sequence[UsageRow], vendors: Mapping[str, str]
) -> Iterator[Response]:
    """In the order of the runs; a session's turns are counted over all of them."""
    rows: dict[tuple[str, int], list[UsageRow]] = defaultdict(list)
    for row in usage:
        rows[row.run_id, row.turn].append(row)
    of_run: dict[str, list[Turn]] = defaultdict(list)
    for turn in turns:
        of_run[turn.run_id].append(turn)
    counted: dict[tuple[str, str], int] = defaultdict(int)
    seen: set[tuple[str, str, str]] = set()
    for run in runs:
        for turn in of_run[run.run_id]:
            session = turn.session_id or run.session_id or run.run_id
            counted[run.provider, session] += 1
            like = _like(run, turn, session, counted[run.provider, session], vendors)
            for response in _of_turn(like, turn, rows[run.run_id, turn.turn]):
                mark = (run.provider, session, response.message_id or "")
                if response.message_id is None or mark not in seen:
                    seen.add(mark)
                    yield response


def _like(run: Run, turn: Turn, session: str, number: int, vendors: Mapping[str, str]) -> Response:
    """All that the responses of a turn have in common."""
    prefix = run.prefix
    return Response(
        provider=run.provider,
        session_id=session,
        time=turn.started,
        tokens=Tokens(),
        model=turn.model or run.model,
        turn=number,
        agent=run.agent,
        effort=run.effort,
        cli_version=run.cli_version,
        run_id=run.run_id,
        plan=run.plan,
        prefix=prefix,
        cwd=run.project,
        vendor=vendors.get(prefix or ""),
    )


def _of_turn(like: Response, turn: Turn, rows: Sequence[UsageRow]) -> Iterator[Response]:
    calls = [row for row in rows if row.scope == "call"]
    total = _tokens(turn)
    if not calls:
        if total != Tokens():
            yield replace(like, tokens=total, usd=turn.usd, calls=turn.calls or None)
        return
    known = _with_output([_tokens(row) for row in calls], total)
    for number, (row, tokens) in enumerate(zip(calls, known, strict=True), 1):
        yield _call(like, row, tokens, turn.usd if number == len(calls) else None)
    beside = _beside(total, known)
    if beside is not None:
        yield replace(like, time=turn.ended, tokens=beside, kind="side", calls=None, model=None)


def _call(like: Response, row: UsageRow, tokens: Tokens, usd: float | None) -> Response:
    kind: Kind = "main" if row.parent is None else "subagent"
    return replace(
        like,
        time=like.time if row.time is None else row.time,
        tokens=tokens,
        model=row.model or like.model,
        kind=kind,
        thread=row.parent,
        message_id=row.message_id,
        usd=usd,
        after_compaction=row.after_compaction,
    )


def _with_output(calls: Sequence[Tokens], total: Tokens) -> list[Tokens]:
    """The calls; one whose output alone is not known has what the others leave of the turn's."""
    without = [number for number, tokens in enumerate(calls) if tokens.output is None]
    if len(without) != 1 or total.output is None:
        return list(calls)
    rest = total.output - sum(tokens.output or 0 for tokens in calls)
    (missing,) = without
    return [
        replace(tokens, output=rest) if number == missing and rest >= 0 else tokens
        for number, tokens in enumerate(calls)
    ]


def _beside(total: Tokens, calls: Sequence[Tokens]) -> Tokens | None:
    """What a turn used beyond its calls, where both are known: calls that the CLI made and did not report."""
    summed = ZERO
    for tokens in calls:
        summed = plus(summed, Tokens(*(getattr(tokens, name) or 0 for name in NAMES)))
    pairs = [(getattr(total, name), getattr(summed, name)) for name in NAMES]
    if any(tokens.output is None for tokens in calls) or total.input is None or total.output is None:
        return None
    rest = Tokens(*(None if some is None else some - others for some, others in pairs))
    counts = [getattr(rest, name) for name in NAMES if getattr(rest, name) is not None]
    return rest if min(counts) >= 0 and max(counts) > 0 else None


def _tokens(row: Turn | UsageRow) -> Tokens:
    return Tokens(*(getattr(row, f"{name}_tokens") for name in NAMES))
