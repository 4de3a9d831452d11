"""Read the baseline back: plans to compare with, and the outputs that are known to be ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agentmux_compiler.diagnostics import Diagnostic, Span
from agentmux_compiler.lowered import PlanPrefix, PrefixSegment
from agentmux_compiler.prefix.align import part_name
from agentmux_compiler.prefix.axes import MCP, SKILLS
from agentmux_compiler.prefix.layout import opaque_parts
from agentmux_compiler.prefix.words import resolved_model, words_of
from agentmux_compiler.providers import NAMES, load_provider
from agentmux_compiler.rules import UNREADABLE_BASELINE
from agentmux_compiler.segment import Text
from agentmux_compiler.snapshots.content import FILES, PLANS, SEGMENTS
from agentmux_compiler.snapshots.plan_file import Damage, Entry, PlanFile, line_of, loads
from agentmux_compiler.text.placeholders import VOLATILE
from agentmux_compiler.tree import Tree, leaves_project

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HEADING = "/heading of "
REMEDY = "run `agentmux build --accept` to write it anew from the sources"
_CONFLICT = re.compile(r"^<{7} .*^={7}$.*^>{7} ", re.MULTILINE | re.DOTALL)
_VOLATILE = re.compile(r"(?<![${])\{\{(" + "|".join(VOLATILE) + r")\}\}(?!\})")


@dataclass(frozen=True, slots=True)
class Baseline:
    """The accepted state: plans by `AGENT/PROVIDER`, and the bytes of committed outputs that carry no header."""

    plans: Mapping[str, PlanPrefix] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)


def read(tree: Tree, folder: str, current: Sequence[PlanPrefix] = ()) -> tuple[Baseline, list[Diagnostic]]:
    """The baseline below `folder`, and what of it cannot be read; a plan that cannot be is left out.

    The plans of the build at hand lend opaque parts their sizes, which the baseline does not store.
    """
    reader = Reader(tree, folder, lent(current))
    found: list[Diagnostic] = []
    plans: dict[str, PlanPrefix] = {}
    for path, agent, provider in _plan_paths(tree, folder):
        plan = reader.plan(path, agent, provider)
        if isinstance(plan, PlanPrefix):
            plans[plan.key] = plan
        else:
            found += plan
    files = {path: tree.read(f"{folder}/{FILES}/{path}") or b"" for path in _below(tree, f"{folder}/{FILES}")}
    return Baseline(plans, files), list(dict.fromkeys(found))


def _plan_paths(tree: Tree, folder: str) -> Iterator[tuple[str, str, str]]:
    """Path, agent and provider of every plan's file."""
    for agent in tree.names(f"{folder}/{PLANS}"):
        for name in tree.names(f"{folder}/{PLANS}/{agent}".rstrip("/")):
            if agent.endswith("/") and name.endswith(".toml"):
                yield f"{folder}/{PLANS}/{agent}{name}", agent.rstrip("/"), name.removesuffix(".toml")


def _below(tree: Tree, folder: str) -> Iterator[str]:
    """Files below a folder, relative to it."""
    for name in tree.names(folder):
        if name.endswith("/"):
            yield from (name + path for path in _below(tree, f"{folder}/{name}".rstrip("/")))
        else:
            yield name


@dataclass(frozen=True, slots=True)
class Lent:
    """What the plans at hand know: themselves, opaque parts by name and by part, segments that quote conflicts."""

    plans: Mapping[str, PlanPrefix]
    names: Mapping[str, PrefixSegment]
    parts: Mapping[tuple[str, str], PrefixSegment]
    quoting: frozenset[str]

    def opaque(self, entry: Entry, known: Mapping[str, PrefixSegment]) -> PrefixSegment:
        """An opaque part with its size; one byte where nobody knows: that it was there is what counts.

        `known` are those that the layout of the plan's own words has.
        """
        found = known.get(entry.name) or self.names.get(entry.name) or self.parts.get(_part(entry.name))
        if found is None:
            return PrefixSegment(entry.layer, entry.name, None, 1)
        return replace(found, layer=entry.layer, name=entry.name)


def lent(current: Sequence[PlanPrefix]) -> Lent:
    segments = [segment for plan in current for segment in plan.segments]
    names = {item.name: item for item in segments if item.opaque}
    quoting = frozenset(item.name for item in segments if item.text and _CONFLICT.search(item.text))
    plans = {plan.key: plan for plan in current}
    return Lent(plans, names, {_part(name): item for name, item in names.items()}, quoting)


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads plans, each segment's text once."""

    tree: Tree
    folder: str
    lent: Lent
    texts: dict[str, Text | None] = field(default_factory=dict)

    def plan(self, path: str, agent: str, provider: str) -> PlanPrefix | list[Diagnostic]:
        data = self.tree.read(path) or b""
        parsed = loads(data)
        if isinstance(parsed, Damage):
            return [_unreadable(path, parsed)]
        found = [problem for entry in parsed.entries if (problem := self.problem(entry, path, data))]
        return found or self.prefix(parsed, agent, provider)

    def problem(self, entry: Entry, path: str, data: bytes) -> Diagnostic | None:
        """What keeps a segment from being read."""
        if entry.opaque:
            return None
        body = self.body(entry.name)
        if body is None and (fault := self.not_text(entry.name)):
            return fault
        if body is None:
            message = f"lists segment `{entry.name}`, which is not there as UTF-8"
            return _unreadable(path, Damage(message, line_of(data, entry)))
        conflict = _CONFLICT.search(body.text) if entry.name not in self.lent.quoting else None
        if conflict:
            line = body.text.count("\n", 0, conflict.start()) + 1
            return _unreadable(body.path, Damage("holds a merge conflict", line))
        return None

    def not_text(self, name: str) -> Diagnostic | None:
        """Said of the segment itself, where it is there and no UTF-8: one cause, however many plans list it."""
        path = f"{self.folder}/{SEGMENTS}/{name}"
        data = None if leaves_project(name) else self.tree.read(path)
        if data is None:
            return None
        try:
            data.decode()
        except UnicodeDecodeError as error:
            return _unreadable(path, Damage("is not UTF-8", data.count(b"\n", 0, error.start) + 1))
        return None

    def body(self, name: str) -> Text | None:
        if name not in self.texts:
            self.texts[name] = self._body(f"{self.folder}/{SEGMENTS}/{name}", name)
        return self.texts[name]

    def _body(self, path: str, name: str) -> Text | None:
        data = None if leaves_project(name) else self.tree.read(path)
        try:
            # A checkout may have turned line ends into CRLF; no segment has any.
            text = data.decode().replace("\r\n", "\n") if data is not None else None
        except UnicodeDecodeError:
            return None
        return Text(text, path, tuple(range(1, text.count("\n") + 1))) if text is not None else None

    def prefix(self, parsed: PlanFile, agent: str, provider: str) -> PlanPrefix:
        now = self.lent.plans.get(f"{agent}/{provider}")
        plan = PlanPrefix(
            agent=agent,
            provider=provider,
            vendor=now.vendor if now else "",
            backend=parsed.backend or (now.backend if now else ""),
            model=parsed.model,
            effort=parsed.effort,
            permission=parsed.permission,
            delivery=parsed.delivery,
            cwd=parsed.cwd,
            cli_version=parsed.cli_version,
            argv=parsed.argv,
            env=parsed.env,
            segments=(),
            resolved_model=now.resolved_model if now and now.model == parsed.model else _resolved(provider, parsed),
            lifetime=now.lifetime if now else None,
            resume=now.resume if now else None,
        )
        own = {item.name: item for item in now.segments if item.opaque} if now else {}
        known = {**own, **_laid_out(plan, parsed)}
        return replace(plan, segments=tuple(self.segment(entry, known) for entry in parsed.entries))

    def segment(self, entry: Entry, known: Mapping[str, PrefixSegment]) -> PrefixSegment:
        body = None if entry.opaque else self.body(entry.name)
        if body is None:
            return self.lent.opaque(entry, known)
        volatile = tuple(sorted(set(_VOLATILE.findall(body.text))))
        size = len(body.text.encode())
        return PrefixSegment(entry.layer, entry.name, body, size, volatile=volatile, file=entry.file)


def _resolved(provider: str, parsed: PlanFile) -> str | None:
    return resolved_model(load_provider(provider), parsed.model) if provider in NAMES else None


def _laid_out(plan: PlanPrefix, parsed: PlanFile) -> Mapping[str, PrefixSegment]:
    """The opaque parts that the layout at hand gives such a plan."""
    if plan.provider not in NAMES:
        return {}
    provider = load_provider(plan.provider)
    words = words_of(provider, plan) | _filled(parsed)
    return opaque_parts(provider, words)


def _filled(parsed: PlanFile) -> set[str]:
    """Names of the slots that hold something, as far as the list of segments shows them."""
    own = [entry for entry in parsed.entries if not entry.opaque]
    found = {"mcp"} if any(entry.name.startswith(MCP) for entry in own) else set()
    found |= {"skills"} if any(entry.name.startswith(SKILLS) for entry in own) else set()
    found |= {"startup"} if any(entry.layer == "startup" for entry in own) else set()
    files = any(entry.opaque and HEADING in entry.name for entry in parsed.entries)
    return found | ({"native"} if files else {"appended"} if parsed.delivery == "flag" else set())


def _part(name: str) -> tuple[str, str]:
    """Provider and part of an opaque name, whatever the version."""
    return name.partition(" ")[0], part_name(PrefixSegment("", name, None, 0))


def _unreadable(path: str, damage: Damage) -> Diagnostic:
    span = Span(path, damage.line, damage.column)
    return UNREADABLE_BASELINE.at(span, f"`{path}` {damage.message}", help=REMEDY)
