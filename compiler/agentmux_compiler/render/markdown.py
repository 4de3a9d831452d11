"""Markdown for the summary of a pull request: a row for each broken plan, the details folded away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.diagnostics import has_errors, ordered
from agentmux_compiler.render.causes import causes, lost_tokens, phrase, place, quoted, under_another_key, unmasked
from agentmux_compiler.render.costs import advice_lines, standing_notes
from agentmux_compiler.render.markup import cell, code, fenced, html, prose
from agentmux_compiler.render.prefixes import FOLDED, counted, excerpts, measured, methods, named
from agentmux_compiler.render.words import count, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agentmux_compiler.diagnostics import Diagnostic, Span
    from agentmux_compiler.render import View
    from agentmux_compiler.render.causes import Cause
    from agentmux_compiler.report import BuildReport, DiffReport, PlanDiff, Scenario

# A summary of GitHub Actions may have 1 MiB, a comment 65,536 characters.
ROWS = 100
CAUSES = 30
COLUMNS = ("agent", "provider", "first break", "reason", "text kept", "paid again")
SCENARIO_COLUMNS = ("plan", "scenario", "reusable before", "after", "lost", "added", "cost", "prefill")
SCENARIOS = {"relaunch": "same first prompt", "new_prompt": "another first prompt", "resume": "resumed session"}


def diagnostics(items: Sequence[Diagnostic], _view: View) -> str:
    return _blocks([_found(items)])


def build(report: BuildReport, view: View) -> str:
    items = (*report.diagnostics, *report.diff.diagnostics)
    changed = [item for item in report.files if item.status != "unchanged"]
    rows = [f"- {code(item.path)}: {item.status}" for item in changed]
    files = _folded(f"{count(len(rows), 'file')} changed", rows) if rows else []
    return _blocks([*_report(report.diff, items, view), files])


def diff(report: DiffReport, view: View) -> str:
    return _blocks(_report(report, report.diagnostics, view))


def _blocks(blocks: Iterable[Sequence[str]]) -> str:
    return "\n".join("".join(f"{line}\n" for line in block) for block in blocks if block)


def _report(report: DiffReport, items: Sequence[Diagnostic], view: View) -> Iterator[Sequence[str]]:
    if report.plans or not has_errors(items):
        yield [f"**{prose(counted(report))}**"]
    yield _found(items)
    broken = [plan for plan in report.plans if plan.verdict == "broken"]
    if broken:
        yield list(_table(broken))
        yield from _details(broken)
    yield from _others(report.plans)
    if broken:
        yield [prose(line) for line in methods(plan.text for plan in broken)]
    if view.accept and report.summary.plans != report.summary.unchanged:
        yield [f"Accept with {code(view.accept)}."]


def _found(items: Iterable[Diagnostic]) -> list[str]:
    return [line for item in ordered(items) for line in _item(item)]


def _item(item: Diagnostic) -> Iterator[str]:
    at = f" {code(_at(item.span))}" if item.span else ""
    yield f"- **{item.severity.value}** {item.code}{at}: {prose(item.message)}"
    remarks = [("help", item.help)] if item.help else []
    for kind, text in (*remarks, *(("note", note) for note in item.notes)):
        yield f"  - {kind}: {'; '.join(prose(line) for line in text.split(chr(10)))}"


def _table(plans: Sequence[PlanDiff]) -> Iterator[str]:
    """A row for each plan; a column of costs only where one is known."""
    priced = any(_cost(plan) for plan in plans)
    yield _row([*COLUMNS, "cost"][: len(COLUMNS) + priced])
    yield _row([*["---"] * 4, "---:", "---:", *(["---:"] if priced else [])])
    for plan in plans[:ROWS]:
        yield _row([*_cells(plan), *([_cost(plan)] if priced else [])])
    if len(plans) > ROWS:
        lost = sum(map(lost_tokens, plans))
        yield ""
        yield f"And {count(len(plans) - ROWS, 'more plan')}; {number(lost)} tokens lost in all {number(len(plans))}."


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(plan: PlanDiff) -> tuple[str, ...]:
    text, why = plan.text, "; ".join(phrase(change) for change in unmasked(plan))
    kept = 0 if under_another_key(plan) else text.tokens_kept
    return (
        cell(prose(plan.agent)),
        cell(prose(plan.provider)),
        cell(_first_break(plan)),
        cell(prose(why)),
        f"{number(kept)} of {number(text.tokens_total)}",
        number(lost_tokens(plan)),
    )


def _first_break(plan: PlanDiff) -> str:
    first = plan.first_break
    if first is None:
        return ""
    return code(f"{first.path}:{first.line}") if first.path else f"{code(first.segment)} in {code(first.layer)}"


def _worst(plan: PlanDiff) -> Scenario | None:
    known = [each for each in plan.scenarios.values() if each and each.lost is not None]
    return max(known, key=lambda each: each.lost or 0, default=None)


def _cost(plan: PlanDiff) -> str:
    """What the scenario that loses most costs, once; and what a cause that comes back costs in a day."""
    worst = _worst(plan)
    once = dollars(worst.usd) if worst else ""
    daily = f"{dollars(plan.usd_per_day)} a day" if plan.usd_per_day is not None else ""
    return ", ".join(part for part in (once, daily) if part)


def dollars(usd: float | None) -> str:
    return "" if usd is None else f"${usd:,.4f}" if usd < 1 else f"${usd:,.2f}"


def _details(plans: Sequence[PlanDiff]) -> Iterator[list[str]]:
    found = causes(plans)
    for cause in found[:CAUSES]:
        title = f"{cause.what}: {count(len(cause.plans), 'prefix breaks', 'prefixes break')}"
        yield _folded(title, list(_told(cause)))
    if len(found) > CAUSES:
        yield [f"And {count(len(found) - CAUSES, 'more cause')}."]


def _others(plans: Sequence[PlanDiff]) -> Iterator[list[str]]:
    """Plans that did not break, but are not what they were either."""
    for verdict, title in FOLDED.items():
        rows = [f"- {prose(named(plan))}" for plan in plans if plan.verdict == verdict]
        if rows:
            more = [f"- and {number(len(rows) - ROWS)} more"] if len(rows) > ROWS else []
            yield _folded(f"{count(len(rows), 'prefix', 'prefixes')} {title}", [*rows[:ROWS], *more])


def _folded(title: str, lines: Sequence[str]) -> list[str]:
    """GitHub reads Markdown inside `<details>` only behind an empty line, and none in a summary."""
    return [f"<details><summary>{html(title.replace('`', ''))}</summary>", "", *lines, "", "</details>"]


def _told(cause: Cause) -> Iterator[str]:
    for change in cause.changes:
        span = place(change)
        at = f" at {code(_at(span))}" if span else ""
        detail = f": {prose(change.detail)}" if change.detail else ""
        yield f"- {change.code} {prose(phrase(change))}{at}{detail}"
    for plan in cause.plans[:ROWS]:
        yield f"- {prose(f'{plan.agent}/{plan.provider}')}: {prose(measured(plan))}{_where(plan)}"
    yield from (f"- **help**: {prose(line)}" for line in advice_lines(cause.plans))
    yield from (f"- note: {prose(note)}" for note in dict.fromkeys(standing_notes(cause.plans)))
    yield from _excerpts(cause)
    yield from _scenarios(cause.plans[:ROWS])


def _where(plan: PlanDiff) -> str:
    own, first, masked = plan.own, plan.first_break, sum(change.masked for change in plan.changes)
    parts = []
    if own and own.tokens_total != plan.text.tokens_total and not under_another_key(plan):
        parts.append(f"{number(own.tokens_total - own.tokens_kept)} of {number(own.tokens_total)} of your own text")
    if first and first.layer != "key":
        parts.append(f"from byte {number(first.byte)} in {code(first.layer)}")
    if masked:
        parts.append(f"{count(masked, 'more change')} behind it at no further cost")
    return "".join(f", {part}" for part in parts)


def _excerpts(cause: Cause) -> Iterator[str]:
    """The text before and after, of the first plan; a key's values are told by its detail."""
    first = quoted(cause)
    if first is None:
        return
    before, after = excerpts(first.before, first.after, drawn=cause.reason == "whitespace")
    yield ""
    yield from fenced([f"- {before}", f"+ {after}"], "diff")


def _scenarios(plans: Sequence[PlanDiff]) -> Iterator[str]:
    rows = [row for plan in plans for row in _scenario_rows(plan)]
    if rows:
        yield ""
        yield _row(SCENARIO_COLUMNS)
        yield _row(["---", "---", *["---:"] * 6])
        yield from rows
        yield from _terms(plans)


def _scenario_rows(plan: PlanDiff) -> Iterator[str]:
    for name, words in SCENARIOS.items():
        each = plan.scenarios.get(name)
        if each:
            figures = (each.reusable_before, each.reusable_after, each.lost, each.added)
            seconds = "" if each.prefill_seconds is None else f"{each.prefill_seconds:,.1f} s"
            tokens = ["" if figure is None else number(figure) for figure in figures]
            key = cell(prose(f"{plan.agent}/{plan.provider}"))
            yield _row([key, words, *tokens, dollars(each.usd), seconds])


def _terms(plans: Sequence[PlanDiff]) -> Iterator[str]:
    """What the figures hold for: each sentence once, however many plans share it."""
    said = [
        sentence.format(prose(value))
        for plan in plans
        for sentence, value in (
            ("Prices of {}.", plan.price_as_of),
            ("An entry of the cache lives {}; after that nothing is lost.", plan.ttl),
            ("Certainty: {}.", plan.certainty),
        )
        if value
    ]
    yield from ["", *dict.fromkeys(said)] if said else []


def _at(span: Span) -> str:
    return f"{span.path}:{span.line}"
