"""Read the baseline back: plans to compare with, and the outputs that are known to be ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentmux_compiler.diagnostics import Diagnostic, Span
from agentmux_compiler.lowered import PlanPrefix, PrefixSegment
from agentmux_compiler.placeholders import VOLATILE
from agentmux_compiler.prefix.align import part_name
from agentmux_compiler.rules import UNREADABLE_BASELINE
from agentmux_compiler.segment import Text
from agentmux_compiler.snapshots.content import FILES, PLANS, SEGMENTS
from agentmux_compiler.snapshots.plan_file import Damage, Entry, PlanFile, line_of, loads
from agentmux_compiler.tree import Tree, leaves_project

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    return Baseline(plans, files), found


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
    """What the plans at hand know: sizes of opaque parts, by plan, name and part; segments that quote conflicts."""

    plans: Mapping[str, Mapping[str, int]]
    sizes: Mapping[str, int]
    parts: Mapping[tuple[str, str], int]
    quoting: frozenset[str]

    def size(self, plan: str, name: str) -> int:
        """Bytes of an opaque part. One byte where nobody knows: that it was there is what counts."""
        of_plan = self.plans.get(plan, {})
        return of_plan.get(name, self.sizes.get(name, self.parts.get(_part(name), 1)))


def lent(current: Sequence[PlanPrefix]) -> Lent:
    segments = [segment for plan in current for segment in plan.segments]
    plans = {plan.key: {item.name: item.size for item in plan.segments if item.opaque} for plan in current}
    sizes = {name: size for of_plan in plans.values() for name, size in of_plan.items()}
    quoting = frozenset(item.name for item in segments if item.text and _CONFLICT.search(item.text))
    return Lent(plans, sizes, {_part(name): size for name, size in sizes.items()}, quoting)


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
        if body is None:
            message = f"lists segment `{entry.name}`, which is not there as UTF-8"
            return _unreadable(path, Damage(message, line_of(data, entry)))
        conflict = _CONFLICT.search(body.text) if entry.name not in self.lent.quoting else None
        if conflict:
            line = body.text.count("\n", 0, conflict.start()) + 1
            return _unreadable(body.path, Damage("holds a merge conflict", line))
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
        return PlanPrefix(
            agent=agent,
            provider=provider,
            vendor="",
            backend="",
            model=parsed.model,
            effort=parsed.effort,
            permission=parsed.permission,
            delivery=parsed.delivery,
            cwd=parsed.cwd,
            cli_version=parsed.cli_version,
            argv=parsed.argv,
            env=parsed.env,
            segments=tuple(self.segment(entry, f"{agent}/{provider}") for entry in parsed.entries),
        )

    def segment(self, entry: Entry, plan: str) -> PrefixSegment:
        body = None if entry.opaque else self.body(entry.name)
        if body is None:
            return PrefixSegment(entry.layer, entry.name, None, self.lent.size(plan, entry.name))
        volatile = tuple(sorted(set(_VOLATILE.findall(body.text))))
        size = len(body.text.encode())
        return PrefixSegment(entry.layer, entry.name, body, size, volatile=volatile, file=entry.file)


def _part(name: str) -> tuple[str, str]:
    """Provider and part of an opaque name, whatever the version."""
    return name.partition(" ")[0], part_name(PrefixSegment("", name, None, 0))


def _unreadable(path: str, damage: Damage) -> Diagnostic:
    span = Span(path, damage.line, damage.column)
    return UNREADABLE_BASELINE.at(span, f"`{path}` {damage.message}", help=REMEDY)
