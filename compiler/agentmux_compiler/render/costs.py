"""What a change costs in words: per kind of session, in tokens, dollars and seconds, and what would keep more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.render.words import count, number
from agentmux_compiler.rules import CACHE_KEY_CHANGED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agentmux_compiler.report import Advice, PlanDiff, Scenario

SESSIONS = {
    "relaunch": "a new session",
    "new_prompt": "one with another prompt",
    "resume": "one that goes on",
    "text": "the text",
}
CENT, LEAST = 0.01, 0.0001
MUCH = 1024  # tokens; a cache in steps or with a least size misses less


def dollars(usd: float) -> str:
    """`$1.25`, or four places of less than a cent."""
    if 0 < usd < LEAST:
        return f"less than ${LEAST}"
    return f"${usd:,.2f}" if usd >= CENT or not usd else f"${usd:,.4f}"


def paid_again(plan: PlanDiff) -> str | None:
    """`4,667 tokens paid again in a new session ($0.02, 1.5 s), none in one with another prompt`; None: unknown."""
    known = [(words, plan.scenarios.get(name)) for name, words in SESSIONS.items()]
    found = [(words, each) for words, each in known if each is not None and each.lost is not None]
    if not found:
        return None
    first, *rest = found
    if len(found) > 1 and len({each.lost for _, each in found}) == 1:
        return f"{_lost(first[1])} paid again in any session{_price(first[1])}"
    said = [f"{_lost(first[1])} paid again in {first[0]}{_price(first[1])}"]
    said += [f"{number(each.lost) if each.lost else 'none'} in {words}{_price(each)}" for words, each in rest]
    return ", ".join(said) + _longer(plan.scenarios.get("resume"))


def _longer(resumed: Scenario | None) -> str:
    """What a session that goes on gets besides: the new text behind the old one."""
    if resumed is None or resumed.lost or not resumed.added:
        return ""
    return f", which grows by {number(resumed.added)}"


def _lost(scenario: Scenario) -> str:
    return count(scenario.lost, "token") if scenario.lost else "nothing"


def _price(scenario: Scenario) -> str:
    figures = []
    if scenario.usd:
        figures.append(dollars(scenario.usd))
    if scenario.prefill_seconds:
        figures.append(f"{scenario.prefill_seconds:,.1f} s")
    return f" ({', '.join(figures)})" if figures else ""


def standing_notes(plans: Sequence[PlanDiff]) -> Iterator[str]:
    """What holds for the cost of several plans: text that is never served, causes that come back."""
    for plan in plans:
        yield from _whole_entries(plan)
        again, other = plan.scenarios.get("relaunch"), plan.scenarios.get("new_prompt")
        if again and other and again.lost and other.lost == 0 and other.reusable_before:
            yield (
                f"`{plan.backend}` serves {number(other.reusable_before)} tokens to a session of `{plan.provider}` "
                "with another prompt, and none of this text, edited or not"
            )
        if plan.usd_per_day:
            yield f"it comes back: {dollars(plan.usd_per_day)} a day for {plan.agent}/{plan.provider}"


def _whole_entries(plan: PlanDiff) -> Iterator[str]:
    """Why a new session pays for far more than what follows the change: the cache holds nothing that ends before it."""
    again, other = plan.scenarios.get("relaunch"), plan.scenarios.get("new_prompt")
    other_key = any(change.code == CACHE_KEY_CHANGED.code for change in plan.changes if not change.masked)
    if other_key or again is None or not again.lost or again.reusable_after is None:
        return
    kept, follows = plan.text.tokens_kept, plan.text.tokens_total - plan.text.tokens_kept
    if min(kept, again.reusable_before or 0) - again.reusable_after <= max(MUCH, follows):
        return
    always = ", as one with another prompt does anyway" if other and other.reusable_before == 0 else ""
    behind = (
        f"the last one before this change ends at token {number(again.reusable_after)}: a new session pays again for"
    )
    ending = (
        f"{behind} all behind it"
        if again.reusable_after
        else "none ends before this change: a new session pays for everything again"
    )
    yield f"`{plan.backend}` serves whole entries of its cache only, and {ending}{always}"


def terms(plans: Iterable[PlanDiff]) -> list[str]:
    """Where the figures come from and how long they hold."""
    plans = list(plans)
    priced = {plan.price_as_of for plan in plans if plan.price_as_of and _has(plan, "usd")}
    found = [f"Dollars: list prices of {day}, a write instead of a read." for day in sorted(priced)]
    unpriced = sum(_loses(plan) and not _has(plan, "usd") for plan in plans)
    found += [f"No price is known for the model of {count(unpriced, 'plan')}."] if priced and unpriced else []
    rates = {plan.prefill_rate for plan in plans if plan.prefill_rate and _has(plan, "prefill_seconds")}
    found += [f"Seconds: {rate:,g} tokens prefilled a second, as the project states." for rate in sorted(rates)]
    known = [plan for plan in plans if _known(plan)]
    sure = _grouped((plan.certainty, plan.backend) for plan in known)
    found += [f"What is served: {'; '.join(f'{said} ({names})' for said, names in sure)}."] if sure else []
    lasts = _grouped((plan.ttl, plan.backend) for plan in known)
    kept = ", ".join(f"{names} for {ttl}" for ttl, names in lasts)
    found += [f"Without use it is kept by {kept}; after that nothing is lost."] if lasts else []
    return found


def _grouped(pairs: Iterable[tuple[str | None, str | None]]) -> list[tuple[str, str]]:
    """What is said, each once and in its order, with the backends it is said of."""
    found: dict[str, set[str]] = {}
    for said, backend in pairs:
        if said:
            found.setdefault(said, set()).add(f"`{backend}`")
    return [(said, ", ".join(sorted(names))) for said, names in found.items()]


def _has(plan: PlanDiff, field: str) -> bool:
    return any(each is not None and getattr(each, field) for each in plan.scenarios.values())


def _loses(plan: PlanDiff) -> bool:
    return any(each is not None and each.lost for each in plan.scenarios.values())


def _known(plan: PlanDiff) -> bool:
    return any(each is not None and each.lost is not None for each in plan.scenarios.values())


def advice_lines(plans: Sequence[PlanDiff]) -> Iterator[str]:
    """What would keep more, each once with the most that it keeps, and for how many of the plans."""
    found: dict[str, list[Advice]] = {}
    for plan in plans:
        for advice in plan.advice:
            found.setdefault(advice.text, []).append(advice)
    for text, items in found.items():
        most = max(items, key=lambda each: each.keeps_tokens)
        some = "" if len(items) == len(plans) else f", for {number(len(items))} of {number(len(plans))}"
        up_to = "up to " if len({each.keeps_tokens for each in items}) > 1 else ""
        yield f"{text}: keeps {up_to}{count(most.keeps_tokens, 'token')} in {SESSIONS[most.scenario]}{some}"
