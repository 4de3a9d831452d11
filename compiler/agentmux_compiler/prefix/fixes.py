"""Changes of a project that may keep more of a prefix: another order, text taken back, a rule for a bare name."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from agentmux_compiler.agent import Delivery
from agentmux_compiler.lowering.flags import words
from agentmux_compiler.segment import Text
from agentmux_compiler.text.placeholders import VOLATILE, fill_volatile

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from agentmux_compiler.agent import Bundle, Listed, Project, ResolvedAgent

_BUNDLE = re.compile(r"bundles/([^@+]+?)(?:@[^/+]+)?(?:\+[^/]+)?\.md")
_BARE = re.compile(r"[A-Za-z_]+")
_DENIES = re.compile(r"--dis?allowed-?tools", re.IGNORECASE)


def bundle_of(segment: str) -> str | None:
    """`style` of `bundles/style@reviewer+claude.md`."""
    found = _BUNDLE.fullmatch(segment)
    return found[1] if found else None


def last(project: Project, agents: Collection[str], bundle: str) -> Project:
    """With one bundle behind all others."""
    return _each(project, agents, lambda agent: _sorted(agent, lambda item: item.name == bundle))


def ordered_as(project: Project, agents: Collection[str], orders: Mapping[str, Sequence[str]]) -> Project:
    """With the bundles of each agent as `orders` names their segments; what it does not name comes last."""

    def reorder(agent: ResolvedAgent) -> ResolvedAgent:
        names = [bundle_of(name) for name in orders.get(agent.name, ())]
        places = {name: place for place, name in reversed(list(enumerate(names)))}
        return _sorted(agent, lambda item: places.get(item.name, len(names)))

    return _each(project, agents, reorder)


def started(project: Project, agents: Collection[str], bundle: str) -> Project:
    """With the lines of a bundle that hold a value that changes by itself at the end of the first turn instead."""

    def move(agent: ResolvedAgent) -> ResolvedAgent:
        moved = [_lines(each.item.body, _changing) for each in agent.bundles if each.item.name == bundle]
        left = (
            replace(each, item=replace(each.item, body=_lines(each.item.body, lambda line: not _changing(line))))
            if each.item.name == bundle
            else each
            for each in agent.bundles
        )
        startup = _together([*([agent.startup] if agent.startup else []), *moved])
        return replace(agent, bundles=tuple(each for each in left if each.item.body.text.strip()), startup=startup)

    return _each(project, agents, move)


def _changing(line: str) -> bool:
    return fill_volatile(line, dict.fromkeys(VOLATILE, "")) != line


def _lines(body: Text, wanted: Callable[[str], bool]) -> Text:
    """The lines of a text that are wanted."""
    kept = [(body.line(index), line) for index, line in enumerate(body.text.splitlines(keepends=True)) if wanted(line)]
    return Text("".join(line for _, line in kept), body.path, tuple(number for number, _ in kept))


def unspaced(project: Project, texts: Iterable[str | None]) -> Project:
    """With every text whose words are those of an accepted one as that one is."""
    accepted = {tuple(text.split()): text for text in texts if text}

    def restore(body: Text) -> Text:
        text = accepted.get(tuple(body.text.split()))
        return _lined(text, body) if text else body

    def mend(agent: ResolvedAgent) -> ResolvedAgent:
        bundles = tuple(replace(each, item=replace(each.item, body=restore(each.item.body))) for each in agent.bundles)
        soul, instructions = (body and restore(body) for body in (agent.soul, agent.instructions))
        return replace(agent, bundles=bundles, soul=soul, instructions=instructions)

    return replace(project, agents=tuple(map(mend, project.agents)))


def ruled(project: Project, agents: Collection[str]) -> Project:
    """With tools denied by a rule about some uses instead of by their bare names."""

    def rule(agent: ResolvedAgent) -> ResolvedAgent:
        return replace(agent, uses=tuple(replace(use, flags=_ruled(use.flags)) for use in agent.uses))

    return _each(project, agents, rule)


def flagged(project: Project, keys: Collection[str]) -> Project:
    """With the plans of these keys (`AGENT/PROVIDER`) delivered by flag."""

    def deliver(agent: ResolvedAgent) -> ResolvedAgent:
        uses = (
            replace(use, delivery=Delivery.FLAG) if f"{agent.name}/{use.provider}" in keys else use
            for use in agent.uses
        )
        return replace(agent, uses=tuple(uses))

    return replace(project, agents=tuple(map(deliver, project.agents)))


def _ruled(flags: tuple[str, ...] | str) -> tuple[str, ...] | str:
    """Bare names behind a flag that denies, each as a rule; words that no shell can split stay as they are."""
    given, unsplit = words(flags)
    if unsplit:
        return flags
    denying = False
    made = []
    for word in given:
        denying = bool(_DENIES.match(word)) if word.startswith("-") else denying
        as_rule = denying and not word.startswith("-")
        made.append(_BARE.sub(lambda match: f"{match[0]}(x)", word) if as_rule else word)
    return shlex.join(made)


def _each(project: Project, agents: Collection[str], change: Callable[[ResolvedAgent], ResolvedAgent]) -> Project:
    return replace(project, agents=tuple(change(each) if each.name in agents else each for each in project.agents))


def _sorted(agent: ResolvedAgent, key: Callable[[Bundle], int | bool]) -> ResolvedAgent:
    """Global bundles stand in front of all, in an order of their own."""
    shared = [each for each in agent.bundles if each.item.is_global]
    own: list[Listed[Bundle]] = [each for each in agent.bundles if not each.item.is_global]
    return replace(agent, bundles=(*shared, *sorted(own, key=lambda each: key(each.item))))


def _together(bodies: Sequence[Text]) -> Text | None:
    if not bodies:
        return None
    lines = tuple(line for body in bodies for line in body.lines)
    return Text("".join(body.text for body in bodies), bodies[0].path, lines)


def _lined(text: str, body: Text) -> Text:
    count = text.count("\n")
    return Text(text, body.path, (*body.lines, *([body.line(len(body.lines))] * count))[:count])
