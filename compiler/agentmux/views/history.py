"""What edits have cost, for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentmux.table import table
from agentmux.views.sharing import order_lines, token_lines
from agentmux_compiler.prefix.history.losses import SCENARIOS
from agentmux_compiler.render.machine import dumps
from agentmux_compiler.render.markdown import dollars
from agentmux_compiler.render.visible import head, visible
from agentmux_compiler.render.words import count, number
from agentmux_launcher.codec import to_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentmux_compiler.prefix.history.commits import Commit
    from agentmux_compiler.prefix.history.losses import Loss
    from agentmux_compiler.prefix.history.report import CommitCost, Culprit, History, Move, Replay
    from agentmux_compiler.render.paint import Paint

SHORT = 9
ROWS = 40
CULPRITS = 10
PLANS = 6
SUBJECT = 44
SESSIONS = {
    "new_prompt": "to new sessions, each with its own prompt",
    "relaunch": "to new sessions with the same prompt",
    "resume": "to sessions that go on",
}


def as_json(history: History) -> str:
    """The fields of `History`; a loss is {text, relaunch, new_prompt, resume, usd {...}, unknown, unpriced, sessions}.

    `commits` [{id, date, subject, plans, changed, new, removed, loss, culprits}], `skipped` [{id, date, subject,
    errors, code, message, path, line}], `replay` null | {name, sections, bundles, before, after, once}.
    """
    commits = [{**_commit(each.commit), **_flat(to_json(each))} for each in history.commits]
    skipped = [{**_commit(each.commit), **to_json(each.fault)} for each in history.skipped]
    replay = to_json(history.replay)
    return dumps(
        {
            **_flat(to_json(history)),
            "before": _commit(history.before) if history.before else None,
            "commits": commits,
            "skipped": skipped,
            "replay": {**_flat(replay), **replay["order"], "name": history.replay.order.name}
            if history.replay
            else None,
        }
    )


def _commit(commit: Commit) -> dict[str, Any]:
    return {"id": commit.id, "date": commit.date, "subject": commit.subject}


def _flat(value: dict[str, Any]) -> dict[str, Any]:
    """Without what stands elsewhere, and each loss with its tokens beside its other figures."""
    kept = {name: item for name, item in value.items() if name not in {"commit", "order"}}
    for name in ("loss", "before", "after", "once"):
        if isinstance(kept.get(name), dict) and "tokens" in kept[name]:
            kept[name] = _loss(kept[name])
    if "culprits" in kept:
        kept["culprits"] = [_flat(each) for each in kept["culprits"]]
    return kept


def _loss(loss: dict[str, Any]) -> dict[str, Any]:
    """Dollars are null where no price is known of anything that was lost."""
    tokens, usd = loss["tokens"], loss["usd"]
    known = {name: None if tokens[name] and loss["unpriced"] and not usd[name] else usd[name] for name in usd}
    others = {name: item for name, item in loss.items() if name != "tokens"}
    return {**others, **tokens, "usd": known}


def for_people(history: History, paint: Paint) -> str:
    """A table of commits and one of what broke, then what would have cost less."""
    blocks = [
        _title(history, paint),
        _commits(history, paint),
        _culprits(history.culprits, paint),
        _lines(_sums(history, paint)),
        _lines(_replay(history.replay, paint)),
        *(_lines(_move(move, paint)) for move in history.moves),
        _lines(_skipped(history, paint)),
        _lines(token_lines(dict(history.methods))),
    ]
    return "\n".join(block for block in blocks if block)


def _lines(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _title(history: History, paint: Paint) -> str:
    total = len(history.commits) + len(history.skipped)
    if not total:
        return f"No commit of `{visible(history.range)}` touches the sources.\n"
    dates = sorted([*(each.commit.date for each in history.commits), *(each.commit.date for each in history.skipped)])
    touch = "touches" if total == 1 else "touch"
    span = f"on {dates[0]}" if dates[0] == dates[-1] else f"from {dates[0]} to {dates[-1]}"
    lines = [paint("strong", f"{count(total, 'commit')} {touch} the sources, {span}")]
    if history.culprits:
        lines.append("LOST are tokens that one new session of each plan, with a prompt of its own, computes again.")
    if history.shallow:
        lines.append("The clone is shallow: what was before is not here.")
    return _lines(iter(lines))


def _commits(history: History, paint: Paint) -> str:
    """The newest first; those that lost nothing are only counted."""
    costly = [each for each in reversed(history.commits) if each.loss.sessions or each.loss.tokens["relaunch"]]
    if not costly:
        return "None of them lost anything that was cached.\n" if history.commits else ""
    rows = [_row(each) for each in costly[:ROWS]]
    text = table(("COMMIT", "DATE", "PLANS", "LOST", "COST", "WHAT BROKE", "SUBJECT"), rows, paint, right={2, 3, 4})
    left_out = [
        (len(costly) - ROWS, "more that lost something"),
        (len(history.commits) - len(costly), "that lost nothing"),
    ]
    more = " and ".join(f"{number(total)} {what}" for total, what in left_out if total > 0)
    return text + (f"and {more}\n" if more else "")


def _row(cost: CommitCost) -> tuple[str, ...]:
    return (
        cost.commit.id[:SHORT],
        cost.commit.date,
        f"{cost.changed}/{cost.plans}",
        number(cost.loss.sessions),
        dollars(cost.loss.usd["new_prompt"] or None),
        _broke(cost.culprits),
        head(visible(cost.commit.subject), SUBJECT),
    )


def _broke(culprits: Sequence[Culprit]) -> str:
    if not culprits:
        return ""
    first = culprits[0]
    more = f", {number(len(culprits) - 1)} more" if len(culprits) > 1 else ""
    return f"{first.segment} {first.reasons[0]}{more}"


def _culprits(culprits: Sequence[Culprit], paint: Paint) -> str:
    """What broke most, with its part of everything that was lost."""
    if not culprits:
        return ""
    whole = sum(each.loss.sessions for each in culprits)
    rows = [
        (
            each.segment,
            ", ".join(each.reasons),
            number(each.commits),
            number(each.plans),
            number(each.loss.sessions),
            f"{100 * each.loss.sessions // whole} %" if whole else "",
        )
        for each in culprits[:CULPRITS]
    ]
    text = table(("WHAT BROKE MOST", "WHY", "COMMITS", "PLANS", "LOST", "SHARE"), rows, paint, right={2, 3, 4, 5})
    return text + (f"and {number(len(culprits) - CULPRITS)} more\n" if len(culprits) > CULPRITS else "")


def _sums(history: History, paint: Paint) -> Iterator[str]:
    if not history.culprits:
        return
    yield paint("strong", "Lost in all, within the lifetime of what was cached:")
    width = max(len(number(history.loss.tokens[name])) for name in SCENARIOS)
    for name, words in SESSIONS.items():
        cost = dollars(history.loss.usd[name] or None)
        yield f"  {number(history.loss.tokens[name]):>{width}} tokens {words}{f', {cost}' if cost else ''}"
    yield from _uncertain(history.loss)
    if history.price_as_of:
        yield f"  Prices as of {history.price_as_of}."


def _uncertain(loss: Loss) -> Iterator[str]:
    if loss.unknown:
        yield f"  What the backend of {count(loss.unknown, 'changed plan')} reuses is not known: the text counts."
    if loss.unpriced:
        yield f"  No price is known for the model of {count(loss.unpriced, 'changed plan')}."


def _replay(replay: Replay | None, paint: Paint) -> Iterator[str]:
    if replay is None:
        return
    before, after = replay.before.sessions, replay.after.sessions
    saved = f"{number(before - after)} tokens less ({100 * (before - after) // before} %)"
    yield f"{paint('help', 'help')}{paint('strong', f': another order of {replay.order.name} would have lost {saved}')}"
    sign = f"  {paint('frame', '=')} "
    yield from (f"{sign}{line}" for line in order_lines(replay.order))
    measured = f"measured by compiling every commit in that order: {number(after)} instead of {number(before)} tokens"
    yield f"{sign}{paint('strong', 'note:')} {measured}"
    yield f"{sign}{paint('strong', 'note:')} to change to it now costs {number(replay.once.sessions)} tokens, once"


def _move(move: Move, paint: Paint) -> Iterator[str]:
    whose = f"the text of {count(len(move.plans), 'plan')}"
    title = f"`delivery: flag` instead of `{move.delivery}` would put {whose} in front of a breakpoint"
    yield f"{paint('help', 'help')}{paint('strong', f': {title}')}"
    sign = f"  {paint('frame', '=')} "
    more = f" and {number(len(move.plans) - PLANS)} more" if len(move.plans) > PLANS else ""
    yield f"{sign}{visible(', '.join(move.plans[:PLANS]))}{more}"
    note = f"{sign}{paint('strong', 'note:')} "
    now = f"{number(move.now_after)} tokens instead of {number(move.now_before)}"
    yield f"{note}one new session of each would be served {now} today"
    served = f"{number(move.served_after)} instead of {number(move.served_before)}"
    yield f"{note}measured by compiling every commit so: one after each would have been served {served}"
    if move.delivery == "file":
        yield f"{note}people's own sessions would no longer read that text from a file"


def _skipped(history: History, paint: Paint) -> Iterator[str]:
    if not history.skipped:
        return
    total = len(history.skipped)
    title = (
        f": {count(total, 'commit')} {'does' if total == 1 else 'do'} not compile; the next that does bears the cost"
    )
    yield paint("warning", "warning") + paint("strong", title)
    for each in history.skipped[-ROWS:]:
        fault = each.fault
        at = f" ({fault.path}:{fault.line})" if fault.path else ""
        more = f", and {count(fault.errors - 1, 'more error')}" if fault.errors > 1 else ""
        said = f"{each.commit.id[:SHORT]} {each.commit.date} {fault.code} {fault.message}{at}{more}"
        yield f"  {paint('frame', '=')} {visible(said)}"
