"""Assemble: an agent's text on one provider as ordered segments, each with its source."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentmux_compiler.agent import ResolvedAgent, Use
from agentmux_compiler.diagnostics import Diagnostic, Span
from agentmux_compiler.providers.schema import Provider
from agentmux_compiler.segment import Kind, Segment, Text
from agentmux_compiler.text.hidden_text import character_of
from agentmux_compiler.text.placeholders import AGENT_VARIABLES, USE_VARIABLES, VOLATILE, Expanded, expand
from agentmux_compiler.writing.header import HEADER
from agentmux_launcher.manifest import LineRun

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agentmux_compiler.agent import Bundle, Listed, Settings


@dataclass(frozen=True, slots=True)
class _Draft:
    """Text before its variables are replaced, and what its segment will be called without them."""

    stem: str
    kind: Kind
    body: Text
    asked_at: Span
    template: bool = False
    allowed: tuple[str, ...] = ()


@dataclass(slots=True)
class _Assembly:
    """One agent on one provider while its text is put together."""

    agent: ResolvedAgent
    use: Use
    provider: Provider
    found: list[Diagnostic] = field(default_factory=list)

    @property
    def values(self) -> Mapping[str, str]:
        """Values of the variables; a model that nobody named has none."""
        names = dict.fromkeys(("AGENT", "AGENT_DISPLAY"), self.agent.display)
        names |= dict.fromkeys(("AGENT_ID", "AGENT_SLUG"), self.agent.name)
        names |= {"PROVIDER": self.provider.display}
        return names | ({"MODEL": self.use.model} if self.use.model else {})

    def segment(self, draft: _Draft) -> Segment | None:
        """The finished segment, or None where nothing is left of it."""
        expanded = self._expanded(draft)
        if not expanded.body.text.strip():
            return None
        volatile = tuple(name for name in VOLATILE if name in expanded.used)
        name = f"{draft.stem}{self._suffix(draft.stem, expanded.used)}.md"
        return Segment(name, draft.kind, expanded.body, draft.asked_at, volatile)

    def _expanded(self, draft: _Draft) -> Expanded:
        if draft.template:
            from agentmux_compiler.text.templates import expand_template  # noqa: PLC0415  few projects need Jinja2

            expanded, found = expand_template(draft.body, self.values, allowed=draft.allowed)
        else:
            expanded, found = expand(draft.body, self.values)
        self.found += found
        return expanded

    def _suffix(self, stem: str, used: frozenset[str]) -> str:
        """What the text depends on, by the variables that its source uses: a model is one agent's on one provider."""
        by_agent = used & {*AGENT_VARIABLES, "MODEL"} and not stem.startswith("agents/")
        by_use = used & set(USE_VARIABLES)
        return (f"@{self.agent.name}" if by_agent else "") + (f"+{self.use.provider}" if by_use else "")


def assemble(
    agent: ResolvedAgent, use: Use, provider: Provider, settings: Settings, *, skills_index: bool
) -> tuple[tuple[Segment, ...], list[Diagnostic]]:
    """Segments in the order of `settings.sections`; what is empty, or meant for other providers, leaves no trace.

    `skills_index` asks for the list of skills, for a CLI that makes none itself.
    """
    assembly = _Assembly(agent, use, provider)
    drafts = {
        "global-bundles": _bundles(agent, use, shared=True),
        "soul": _prose(agent, Kind.SOUL, agent.soul),
        "instructions": _prose(agent, Kind.INSTRUCTIONS, agent.instructions),
        "bundles": _bundles(agent, use, shared=False),
        "skills-index": _skills_index(agent) if skills_index else (),
    }
    made = (assembly.segment(draft) for section in settings.sections for draft in drafts[section])
    return tuple(segment for segment in made if segment is not None), assembly.found


def assemble_startup(agent: ResolvedAgent, use: Use, provider: Provider) -> tuple[Segment | None, list[Diagnostic]]:
    """The text of the first turn, which is no section of an instruction file."""
    assembly = _Assembly(agent, use, provider)
    made = [assembly.segment(draft) for draft in _prose(agent, Kind.STARTUP, agent.startup)]
    return (made[0] if made else None), assembly.found


def _prose(agent: ResolvedAgent, kind: Kind, body: Text | None) -> Iterator[_Draft]:
    if body is not None:
        yield _Draft(f"agents/{agent.name}/{kind}", kind, body, agent.place(kind), kind in agent.templates)


def _bundles(agent: ResolvedAgent, use: Use, *, shared: bool) -> Iterator[_Draft]:
    for listed in agent.bundles:
        bundle = listed.item
        if bundle.is_global == shared and (bundle.providers is None or use.provider in bundle.providers):
            yield _bundle(listed)


def _bundle(listed: Listed[Bundle]) -> _Draft:
    bundle = listed.item
    kind = Kind.GLOBAL_BUNDLE if bundle.is_global else Kind.BUNDLE
    body = bundle.body if bundle.title is None else _titled(bundle.title, bundle.body)
    allowed = tuple(each for name in bundle.allow_unicode if (each := character_of(name)))
    return _Draft(f"bundles/{bundle.name}", kind, body, listed.at, bundle.template, allowed)


def _titled(title: str, body: Text) -> Text:
    """The bundle's title as a heading above its text, ascribed to the front matter's line."""
    heading = f"# {title}\n"
    if not body.text.strip():
        return body
    return Text(f"{heading}\n{body.text}", body.path, (1, 1, *body.lines))


def _skills_index(agent: ResolvedAgent) -> Iterator[_Draft]:
    if not agent.skills:
        return
    rows = [f"- `{each.item.name}`: {each.item.description} (`{each.item.folder}/SKILL.md`)" for each in agent.skills]
    text = "\n".join(("# Skills", "", "Read a skill's file before you do what it describes.", "", *rows)) + "\n"
    at = agent.place("skills")
    lines = (*(at.line for _ in range(4)), *(each.at.line for each in agent.skills))
    yield _Draft(f"agents/{agent.name}/skills-index", Kind.SKILLS_INDEX, Text(text, at.path, lines), at)


def render(segments: Sequence[Segment], *, header: bool) -> tuple[bytes, tuple[LineRun, ...]]:
    """The text of an instruction file, and where its lines come from; one empty line stands between segments."""
    parts: list[str] = [f"{HEADER}\n"] if header else []
    runs: list[LineRun] = []
    line = 3 if header else 1
    for segment in segments:
        parts.append(segment.text)
        runs += _runs(segment, line)
        line += segment.text.count("\n") + 1
    return "\n".join(parts).encode(), tuple(runs)


def _runs(segment: Segment, first: int) -> Iterator[LineRun]:
    """Lines of an output that follow each other in the source, as few runs as there are."""
    start, lines = 0, segment.body.lines
    for index in range(1, len(lines) + 1):
        if index == len(lines) or lines[index] != lines[index - 1] + 1:
            yield LineRun(first + start, index - start, segment.name, segment.body.path, lines[start])
            start = index
