"""A whole proposal: sources for a repository, tried, with what to say about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agentmux_compiler.agent import Settings
from agentmux_compiler.diagnostics import Diagnostic, has_errors, ordered
from agentmux_compiler.emit import written
from agentmux_compiler.proposal import git_lines
from agentmux_compiler.proposal.bundling import NamedBundle
from agentmux_compiler.proposal.composing import Choices, Sources, compose, free_folders
from agentmux_compiler.proposal.secrets import Replaced
from agentmux_compiler.proposal.spec_text import AgentDraft
from agentmux_compiler.proposal.survey import FoundText, Left, Readers, Survey, survey
from agentmux_compiler.proposal.trial import Proof, Trial, build, culprits, fresh, proofs
from agentmux_compiler.tree import DiskTree, Entry, byte_order
from agentmux_launcher.manifest import WrittenFile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from agentmux_compiler.providers.schema import Provider


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for: `providers` to take files in for (empty: the first of the catalog that writes each).

    `default` are the providers of a project that has no such file. `header` marks outputs by a first line; without it
    they stay byte for byte as they are. `skip` are folders (globs) to pass over.
    """

    providers: tuple[str, ...] = ()
    default: tuple[str, ...] = ()
    header: bool = False
    skip: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """Files to write, in this order, and what is to be known before.

    `texts` were taken in; `proofs` say what a build gives for each. `added` are outputs that a build would add.
    `claimed` are outputs that stand there already and are a build's own from then on. `lines` are those added to git's
    files. `executables` are the files that may be run.
    """

    agents: tuple[AgentDraft, ...]
    bundles: tuple[NamedBundle, ...]
    texts: tuple[FoundText, ...]
    files: Mapping[str, bytes]
    proofs: tuple[Proof, ...]
    added: tuple[str, ...]
    left: tuple[Left, ...]
    replaced: tuple[Replaced, ...]
    diagnostics: tuple[Diagnostic, ...]
    claimed: tuple[WrittenFile, ...]
    settings: Settings
    lines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    executables: frozenset[str] = frozenset()

    @property
    def rewritten(self) -> tuple[str, ...]:
        """Files that are there and that a build gives otherwise than they are, if only by their last byte."""
        return tuple(proof.path for proof in self.proofs if proof.differences and not proof.diff and not proof.link)


def propose(tree: DiskTree, catalog: Sequence[Provider], request: Request) -> Proposal:
    """Work out sources for a repository that has none; looks at it, and writes nothing."""
    found = _without_ignored(tree.root, survey(tree, Readers(catalog, request.providers), request.skip))
    header = request.header or not found.texts or any(text.marked for text in found.texts)
    settings = free_folders(tree, header=header)
    choices = Choices(settings, _without_file(tree, catalog, request.providers or request.default))
    sources, trial, differing = _settled(tree, found, choices)
    proven = proofs(sources, trial)
    by_path = {proof.path: trial.outputs[proof.path] for proof in proven}
    rewritten = {proof.path: by_path[proof.path].content for proof in proven if proof.differences and not proof.link}
    lines = _git_lines(tree, sources, trial, settings)
    merged = {path: git_lines.appended(tree.read(path), added) for path, added in lines.items()}
    left_out = [Left(proof.path, "no bundles give its text back") for proof in differing]
    return Proposal(
        agents=sources.agents,
        bundles=sources.bundles,
        texts=sources.texts,
        files={**_in_order(sources.files, settings), **merged, **_specs(sources.files, settings), **rewritten},
        proofs=(*proven, *differing),
        added=fresh(sources, trial),
        left=(*found.left, *sources.left, *left_out),
        replaced=sources.replaced,
        diagnostics=ordered((*found.diagnostics, *trial.diagnostics)),
        claimed=tuple(map(written, {**{out.path: out for out in trial.standing}, **by_path}.values())),
        settings=settings,
        lines=lines,
        executables=sources.executables,
    )


def _settled(tree: DiskTree, found: Survey, choices: Choices) -> tuple[Sources, Trial, tuple[Proof, ...]]:
    """Sources that a build takes: without what it refuses, and without files whose text no bundles give back."""
    differing: list[Proof] = []
    while True:
        sources = compose(found, tree, choices)
        trial = build(tree, sources)
        refused = culprits(sources, trial, choices)
        wrong = [] if has_errors(trial.diagnostics) else [proof for proof in proofs(sources, trial) if proof.diff]
        if refused:
            choices = replace(choices, dropped={**choices.dropped, **refused})
        elif wrong:
            differing += wrong
            choices = replace(choices, out=choices.out | {proof.path for proof in wrong})
        else:
            return sources, trial, tuple(differing)


def _without_file(tree: DiskTree, catalog: Sequence[Provider], names: Sequence[str]) -> tuple[str, ...]:
    """The providers whose file is not there; all of them where each has one, which a build will then say."""
    written = {each.name: each.instructions.written or "" for each in catalog}
    free = tuple(name for name in names if tree.find(written[name]).entry is Entry.ABSENT)
    return free or tuple(names)


def _without_ignored(root: Path, found: Survey) -> Survey:
    """Files that git ignores stay where they are: sources are committed."""
    asked = [*(text.path for text in found.texts), *(f"{skill.places[0]}/SKILL.md" for skill in found.skills)]
    asked += [f"{home}/.mcp.json".removeprefix("./") for home in found.servers]
    hidden = git_lines.ignored(root, asked) if asked else frozenset()
    return replace(
        found,
        texts=tuple(text for text in found.texts if text.path not in hidden),
        skills=tuple(skill for skill in found.skills if f"{skill.places[0]}/SKILL.md" not in hidden),
        servers={
            home: data for home, data in found.servers.items() if f"{home}/.mcp.json".removeprefix("./") not in hidden
        },
        left=(
            *found.left,
            *(Left(path, "git ignores it, and sources are committed") for path in asked if path in hidden),
        ),
    )


def _git_lines(tree: DiskTree, sources: Sources, trial: Trial, settings: Settings) -> dict[str, tuple[str, ...]]:
    """Lines that git's two files lack."""
    texts = (settings.agents, settings.bundles, settings.snapshots)
    outputs = [
        path for path, output in trial.outputs.items() if output.committed and path.endswith(".md") and output.lines
    ]
    wanted = [f"{folder}/** text eol=lf" for folder in texts]
    wanted += [f"{settings.skills}/** text=auto eol=lf"] if any(agent.skills for agent in sources.agents) else []
    wanted += [f"{name} text eol=lf" for name in dict.fromkeys(map(_pattern, sorted(outputs, key=byte_order)))]
    lines = {
        git_lines.IGNORE_FILE: git_lines.ignore_lines(tree.read(git_lines.IGNORE_FILE)),
        git_lines.ATTRIBUTES_FILE: git_lines.attribute_lines(tree.read(git_lines.ATTRIBUTES_FILE), wanted),
    }
    return {path: added for path, added in lines.items() if added}


def _pattern(path: str) -> str:
    """A file's name, which git looks for in every folder."""
    return path.rpartition("/")[2]


def _specs(files: Mapping[str, bytes], settings: Settings) -> dict[str, bytes]:
    return {path: data for path, data in files.items() if path.startswith(f"{settings.agents}/")}


def _in_order(files: Mapping[str, bytes], settings: Settings) -> dict[str, bytes]:
    """All but the specs, whose folder says that there is a project: they come last."""
    return {path: data for path, data in files.items() if path not in _specs(files, settings)}
