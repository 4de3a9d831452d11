"""The report of two recorded requests: the same as a plan's against its baseline, every byte of the prompt known."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import ordered
from agentmux_compiler.lowered import PlanPrefix, PrefixSegment
from agentmux_compiler.prefix.diff import diff_all
from agentmux_compiler.prefix.rendered import octets
from agentmux_compiler.report import Change, DiffReport, PlanDiff, summarise
from agentmux_compiler.segment import Text
from agentmux_compiler.wire.pairing import is_head, numbered, paired_names, with_heads
from agentmux_compiler.wire.parameters import ROUTING, parameters_of
from agentmux_compiler.wire.reuse import blocks, lifetime, served_by, with_reuse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.wire.parameters import Parameters
    from agentmux_compiler.wire.recorded import Recorded
    from agentmux_launcher.recorder.wire import Part, RenderedRequest


def diff_requests(before: Recorded, after: Recorded) -> DiffReport:
    """One plan: `agent` is the later request's name, `provider` the wire, a `path` the part of the prompt itself."""
    left, right = (parameters_of(item.request) for item in (before, after))
    old, new = _parts(before.request, left), _parts(after.request, right)
    plans = (
        _plan(before.request, after.name, left, old, paired_names(old, new)),
        _plan(after.request, after.name, right, new, numbered(part.name for part in new)),
    )
    report = diff_all({plans[0].key: plans[0]}, plans[1:], before.name)
    plan = _continued(_whole_messages(_versioned(report.plans[0], before, after)), old, new)
    plan = with_reuse(plan, plans, (blocks(before.request, old), blocks(after.request, new)), lifetime(before.request))
    said = ordered(_apart(before.request, after.request, left, right))
    return DiffReport(report.baseline, (plan,), summarise((plan,)), said)


def texts(recorded: Recorded) -> dict[str, str]:
    """The text of each part by the `path` that a report names it with; of a message, that of its first part."""
    parts = _parts(recorded.request, parameters_of(recorded.request))
    shown = (after.text if is_head(part) else part.text for part, after in pairwise([*parts, *parts[-1:]]))
    return dict(zip(numbered(part.name for part in parts), shown, strict=True))


def _parts(request: RenderedRequest, parameters: Parameters) -> list[Part]:
    """The prompt in order, with what a vendor renders into it in front of the layer it belongs to."""
    parts = with_heads(request.parts)
    for part in parameters.rendered:
        behind = (i for i, each in enumerate(parts) if each.layer in {part.layer, "messages"})
        parts.insert(next(behind, len(parts)), part)
    return parts


def _plan(
    request: RenderedRequest, agent: str, parameters: Parameters, parts: Sequence[Part], names: Sequence[str]
) -> PlanPrefix:
    """A request as a plan, of which only the prompt and the keys are known."""
    vendor, backend = served_by(parameters.model)
    return PlanPrefix(
        agent=agent,
        provider=request.wire,
        vendor=vendor,
        backend=backend,
        model=parameters.model,
        effort=parameters.effort,
        permission="",
        delivery="",
        cwd="",
        cli_version="",
        argv=(),
        env=(),
        segments=tuple(_segment(part, name) for part, name in zip(parts, names, strict=True)),
    )


def _segment(part: Part, name: str) -> PrefixSegment:
    lines = tuple(range(1, part.text.count("\n") + 2))
    return PrefixSegment(part.layer, name, Text(part.text, name, lines), octets(part.text))


def _whole_messages(plan: PlanDiff) -> PlanDiff:
    """A message that comes or goes is one change, not one for each of its parts."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for change in plan.changes:
        message, _, part = change.segment.partition(").")
        if not part or (change.reason, f"{message})") not in seen:
            kept.append(change)
        seen.add((change.reason, change.segment))
    return replace(plan, changes=tuple(kept))


def _versioned(plan: PlanDiff, before: Recorded, after: Recorded) -> PlanDiff:
    """Another client is told beside the changes of the text: whether it caused them, no request says."""
    plan = replace(plan, cli_version=after.version)
    old, new = ((item.client, item.version) for item in (before, after))
    if old == new or not (before.client and after.client):
        return plan
    detail = f"`{' '.join(old)}` became `{' '.join(new)}`"
    code = rules.CLI_VERSION_CHANGED.code
    change = Change("cli-version", "client", "user-agent", None, None, masked=False, code=code, detail=detail)
    verdict = "kept" if plan.verdict == "unchanged" else plan.verdict
    return replace(plan, changes=(*plan.changes, change), verdict=verdict)


def _continued(plan: PlanDiff, old: Sequence[Part], new: Sequence[Part]) -> PlanDiff:
    """A request that only goes on where the earlier one ended breaks nothing: all of that can be served."""
    first = plan.first_break
    if first is None or first.layer == "key" or list(new[: len(old)]) != list(old):
        return plan
    return replace(plan, verdict="kept", first_break=None)


def _apart(
    before: RenderedRequest, after: RenderedRequest, left: Parameters, right: Parameters
) -> Iterator[Diagnostic]:
    """Differences that no cache is keyed by, each as a note."""
    for name in sorted({*left.others, *right.others}):
        old, new = left.others.get(name), right.others.get(name)
        if old != new:
            message = f"request parameter `{name}`: {_value(old)} became {_value(new)}"
            yield rules.PARAMETER_CHANGED.at(None, message, notes=["it is not known to key a cache"])
    keys = [request.identity.get(ROUTING) for request in (before, after)]
    if keys[0] != keys[1]:
        note = "a request with another key may reach a machine that has not cached this prefix"
        yield rules.PARAMETER_CHANGED.at(None, f"`{ROUTING}` is another one", notes=[note])


def _value(value: str | None) -> str:
    return "nothing" if value is None else f"`{value}`"
