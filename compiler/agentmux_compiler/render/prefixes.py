"""What became of the prefixes, for people: one block per cause, one row per plan it breaks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentmux_compiler.render.causes import causes, phrase, quoted, under_another_key, unmasked
from agentmux_compiler.render.costs import advice_lines, paid_again, standing_notes, terms
from agentmux_compiler.render.snippet import gutter, snippet
from agentmux_compiler.render.visible import head, padded, visible, with_white_space
from agentmux_compiler.render.words import count, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from agentmux_compiler.render import View
    from agentmux_compiler.render.causes import Cause
    from agentmux_compiler.report import DiffReport, PlanDiff, TextKept

BAR = 20
ROWS = 12
QUOTE = 72
FOLDED = {
    "kept": "kept: what changed stands behind everything that could be cached",
    "new": "new: the baseline does not hold them yet",
    "removed": "removed: only the baseline holds them",
}
ACCEPTED = {"new": "new: the baseline did not hold them before"}
VERDICTS = ("broken", "kept", "new", "removed", "unchanged")


def prefix_report(report: DiffReport, view: View) -> str:
    """Blocks for what broke, what was kept, what is new or gone; then one line that counts them all."""
    blocks = [_broken(cause, view) for cause in causes(report.plans)]
    blocks += _folded(report.plans, view, FOLDED | ACCEPTED if view.accepted else FOLDED)
    return "\n".join("".join(f"{line}\n" for line in block) for block in (*blocks, _summary(report, view)))


def counted(report: DiffReport) -> str:
    """`Prefixes: 3 broken, 12 unchanged.`, or `No changes.` as a sentence of its own."""
    summary = report.summary
    if not summary.plans:
        return "No plan was built."
    if summary.unchanged == summary.plans:
        return f"No changes. {count(summary.plans, 'prefix', 'prefixes')} unchanged."
    counts = ((getattr(summary, verdict), verdict) for verdict in VERDICTS)
    against = "" if report.baseline == "snapshots" else f" against `{visible(report.baseline)}`"
    return f"Prefixes{against}: {', '.join(f'{number(total)} {verdict}' for total, verdict in counts if total)}."


def measured(plan: PlanDiff) -> str:
    """How many tokens no longer match, of how many."""
    text = plan.text
    if text.bytes_kept == text.bytes_total and under_another_key(plan):
        total = f"{number(text.tokens_total)} tokens ({number(text.bytes_total)} bytes)"
        return f"all {total} are the same, but the cache has them under another key"
    if under_another_key(plan):
        tokens, octets = number(text.tokens_total - text.tokens_kept), number(text.bytes_total - text.bytes_kept)
        total = f"{number(text.tokens_total)} tokens ({number(text.bytes_total)} bytes)"
        return f"all {total} lost to another key, and {tokens} of them ({octets} bytes) differ besides"
    tokens = f"{number(text.tokens_total - text.tokens_kept)} of {number(text.tokens_total)} tokens"
    octets = f"{number(text.bytes_total - text.bytes_kept)} of {number(text.bytes_total)} bytes"
    return f"{tokens} lost ({octets})"


def _broken(cause: Cause, view: View) -> list[str]:
    severity = cause.rule.severity.value
    breaks = count(len(cause.plans), "prefix breaks", "prefixes break")
    title = visible(f": {cause.what}: {breaks}")
    margin = " " * gutter(cause.span)
    lines = [view.paint(severity, f"{severity}[{cause.rule.code}]") + view.paint("strong", title)]
    if cause.span:
        place = f"{cause.span.path}:{cause.span.line}:{cause.span.column}"
        lines.append(f"{margin}{view.paint('frame', '-->')} {visible(place)}")
        rest_of_line = replace(cause.span, end_line=cause.span.line + 1)
        lines += snippet(rest_of_line, view.source(cause.span.path), severity, view.paint)
    sign = f"{margin} {view.paint('frame', '=')} "
    lines += [row if row.startswith(" ") else sign + row for row in _rows(cause.plans, view, len(margin) + 3)]
    lines += [f"{margin} {line}" for line in _quotes(cause, view)]
    lines += [f"{sign}{view.paint('strong', 'help:')} {visible(line)}" for line in advice_lines(cause.plans)]
    return lines + [f"{sign}{view.paint('strong', 'note:')} {visible(note)}" for note in _notes(cause)]


def _rows(plans: Sequence[PlanDiff], view: View, indent: int) -> Iterator[str]:
    """`reviewer/claude  ██░░  4,667 of 6,497 tokens lost (...)`, the first dozen, with what that costs below."""
    shown = plans[:ROWS]
    keys = [visible(f"{plan.agent}/{plan.provider}") for plan in shown]
    width = max(map(len, keys))
    for key, plan in zip(keys, shown, strict=True):
        yield f"{padded(key, width)}  {_bar(plan, view)}  {measured(plan)}{_where(plan)}"
        paid = paid_again(plan)
        if paid:
            yield f"{' ' * (indent + width)}  {paid}"
    if len(plans) > ROWS:
        kept = sum(0 if under_another_key(plan) else plan.text.tokens_kept for plan in plans)
        lost = sum(plan.text.tokens_total for plan in plans) - kept
        yield f"and {count(len(plans) - ROWS, 'more plan')}; {number(lost)} tokens lost in all {number(len(plans))}"


def _bar(plan: PlanDiff, view: View) -> str:
    text = plan.text
    kept = 0 if under_another_key(plan) or not text.bytes_total else BAR * text.bytes_kept // text.bytes_total
    return view.paint("kept", "█" * kept) + view.paint("lost", "░" * (BAR - kept))


def _where(plan: PlanDiff) -> str:
    """The part of the loss that is the project's own text, and the place of the first difference."""
    own, first = plan.own, plan.first_break
    if under_another_key(plan):
        return ""
    of_own = ""
    if own and own.tokens_total != plan.text.tokens_total:
        of_own = f", {number(own.tokens_total - own.tokens_kept)} of {number(own.tokens_total)} of your own text"
    return visible(of_own + (f", from byte {number(first.byte)} in `{first.layer}`" if first else ""))


def _quotes(cause: Cause, view: View) -> list[str]:
    """The text before and after; a key's values are told by a note."""
    first = quoted(cause)
    if first is None:
        return []
    before, after = excerpts(first.before, first.after, drawn=cause.reason == "whitespace")
    return [view.paint("lost", f"- {before}"), view.paint("kept", f"+ {after}")]


def excerpts(before: str, after: str, *, drawn: bool) -> tuple[str, str]:
    """Both on one line, safe to show: their first lines if these differ already; `drawn` draws white space."""
    if drawn:
        return head(with_white_space(before), QUOTE), head(with_white_space(after), QUOTE)
    lines = before.partition("\n")[0], after.partition("\n")[0]
    left, right = lines if lines[0] != lines[1] else (before, after)
    return head(visible(left.replace("\n", "␤")), QUOTE), head(visible(right.replace("\n", "␤")), QUOTE)


def _notes(cause: Cause) -> Iterator[str]:
    for change in cause.changes[1:]:
        yield f"also: {phrase(change)}" + (f" ({change.path}:{change.line})" if change.path else "")
    details = [(plan, unmasked(plan)[0].detail) for plan in cause.plans if unmasked(plan)]
    same = len({detail for _, detail in details}) == 1
    for plan, detail in details[: 1 if same else ROWS]:
        if detail:
            yield detail if same else f"{plan.agent}/{plan.provider}: {detail}"
    yield from dict.fromkeys(standing_notes(cause.plans))
    masked = [sum(change.masked for change in plan.changes) for plan in cause.plans]
    if max(masked):
        up_to = "" if min(masked) == max(masked) else "up to "
        yield f"{up_to}{count(max(masked), 'more change')} behind it cost{'s' * (max(masked) == 1)} nothing more"


def _folded(plans: Sequence[PlanDiff], view: View, titles: Mapping[str, str]) -> Iterator[list[str]]:
    """Plans that need no block of their own: kept, new and removed ones."""
    for verdict, title in titles.items():
        found = [plan for plan in plans if plan.verdict == verdict]
        rows = [visible(row) for row in (map(named, found) if verdict == "kept" else _by_agent(found))]
        if rows:
            heading = f": {count(len(found), 'prefix', 'prefixes')} {title}"
            more = [f"and {number(len(rows) - ROWS)} more"] if len(rows) > ROWS else []
            some = (f"  = {row}" for row in (*rows[:ROWS], *more))
            yield [view.paint("note", "note") + view.paint("strong", heading), *some]


def _by_agent(plans: Iterable[PlanDiff]) -> list[str]:
    """A row for each agent: `reviewer on claude, codex`."""
    agents: dict[str, list[str]] = {}
    for plan in plans:
        agents.setdefault(plan.agent, []).append(plan.provider)
    return [f"{agent} on {', '.join(providers)}" for agent, providers in agents.items()]


def named(plan: PlanDiff) -> str:
    """`AGENT/PROVIDER`, and what changed where nothing broke."""
    what = ", ".join(dict.fromkeys(phrase(change) for change in plan.changes)) if plan.verdict == "kept" else ""
    return f"{plan.agent}/{plan.provider}" + (f": {what}" if what else "")


def _summary(report: DiffReport, view: View) -> list[str]:
    lines = [view.paint("strong", counted(report))]
    if any(plan.verdict == "broken" for plan in report.plans):
        broken = [plan for plan in report.plans if plan.verdict == "broken"]
        lines += [*methods(plan.text for plan in broken), *map(visible, terms(broken))]
    if view.accept and report.summary.plans != report.summary.unchanged:
        lines.append(f"Accept with `{view.accept}`.")
    if view.accepted:
        lines.append("The baseline holds these prefixes now.")
    return lines


def methods(texts: Iterable[TextKept]) -> list[str]:
    """How the tokens were counted; of several error bounds the widest."""
    bounds: dict[str, list[float | None]] = {}
    for text in texts:
        bounds.setdefault(text.method, []).append(text.error_pct)
    told = "; ".join(f"{visible(method)}{_within(found)}" for method, found in sorted(bounds.items()))
    return [f"Tokens: {told}."] if told else []


def _within(bounds: Sequence[float | None]) -> str:
    known = [bound for bound in bounds if bound is not None]
    if len(known) < len(bounds):
        return " (error unknown)"
    return f" (within {max(known):g} %)" if max(known) else ""
