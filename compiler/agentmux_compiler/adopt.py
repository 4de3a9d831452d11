"""Take a hand-written file in as a source, or carry a hand edit of an output back to its sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from agentmux_compiler import rules
from agentmux_compiler.adopting.carry_back import carry_back, normalised
from agentmux_compiler.adopting.take_in import SKILL_FILE, Foreign, scripts_of, take_in_instructions, take_in_skill
from agentmux_compiler.agent import Settings
from agentmux_compiler.diagnostics import Diagnostic, Span, has_errors
from agentmux_compiler.emit import written
from agentmux_compiler.lowered import OutputFile
from agentmux_compiler.tree import Entry, Found, OutputTree, Tree, byte_order, digest
from agentmux_compiler.trees.overlay import OverlayTree
from agentmux_compiler.writing.blocks import first_difference, has_conflict
from agentmux_compiler.writing.ownership import Standing, claims
from agentmux_launcher.manifest import Manifest, WrittenFile

NEWLINE = "\n"

Compile = Callable[[Tree], tuple[Sequence[OutputFile], Sequence[Diagnostic]]]


@dataclass(frozen=True, slots=True)
class Workshop:
    """What adopting needs to know of a project.

    `compile_outputs` gives the outputs and diagnostics of the project's sources as a tree holds them: every change is
    tried with it before anything is written. `readers` maps the instruction file each provider reads to that provider.
    """

    tree: OutputTree
    compile_outputs: Compile
    manifest: Manifest | None
    baseline_files: Mapping[str, bytes]
    readers: Mapping[str, str]
    settings: Settings = field(default_factory=Settings)


@dataclass(frozen=True, slots=True)
class Adoption:
    """Files to write in this order, sources first; `claimed` are the outputs among them that are a build's own.

    `executables` are those that may be run.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    claimed: tuple[WrittenFile, ...] = ()
    executables: frozenset[str] = frozenset()


NOTHING = Adoption()


def adopt(path: str, shop: Workshop, *, partial: bool = False) -> tuple[Adoption, list[Diagnostic]]:
    """Work out how a file's text becomes source text; `partial` places the hunks that can be placed.

    Nothing is adopted unless a build of the changed sources gives the text back: a hand edit byte for byte, a
    hand-written file as part of the output that takes its place.
    """
    outputs, found = shop.compile_outputs(shop.tree)
    if has_errors(found):
        return NOTHING, list(found)
    place = shop.tree.find(path)
    if place == Found(Entry.FOLDER, path):
        return _adopt_skill(path, shop)
    data = shop.tree.read(path) if place == Found(Entry.FILE, path) else None
    if data is None:
        return NOTHING, [not_adoptable(path, _not_a_file(path, place))]
    wanted = next((output for output in outputs if output.path == path), None)
    return _adopt_file(path, data, wanted, shop, partial=partial)


def _adopt_file(
    path: str, data: bytes, wanted: OutputFile | None, shop: Workshop, *, partial: bool
) -> tuple[Adoption, list[Diagnostic]]:
    standing = claims(shop.manifest, shop.baseline_files).standing(path, data, wanted.content if wanted else None)
    if standing in {Standing.CURRENT, Standing.OURS}:
        return NOTHING, [not_adoptable(path, "it has no edit in it", "run `agentmux build`")]
    # Without a header, only the baseline tells, in a fresh clone, that the file is an output.
    accepted = shop.baseline_files.get(path) if wanted else None
    if standing is Standing.EDITED or (wanted and wanted.lines and accepted == wanted.content):
        return _adopt_edit(path, data, wanted, shop, partial=partial)
    if path.rpartition("/")[2] == SKILL_FILE:
        return _adopt_skill(path.rpartition("/")[0], shop)
    return _adopt_instructions(path, data, wanted, shop)


def not_adoptable(path: str, reason: str, remedy: str | None = None) -> Diagnostic:
    return rules.NOT_ADOPTABLE.at(Span(path), f"`{path}` cannot be adopted: {reason}", help=remedy)


def _not_a_file(path: str, place: Found) -> str:
    if place.entry is Entry.ABSENT:
        return "there is no such file"
    return "it is no regular file" if place.path == path else f"`{place.path}` is a {place.entry}"


def _adopt_edit(
    path: str, data: bytes, wanted: OutputFile | None, shop: Workshop, *, partial: bool
) -> tuple[Adoption, list[Diagnostic]]:
    source = _copied_from(path, wanted, shop) if wanted and not wanted.lines else None
    if wanted and source:
        return _adopt_copy(path, data, source, wanted, shop)
    edited = normalised(data)
    fault = _edit_fault(path, data, wanted, shop)
    if fault or wanted is None or edited is None:
        return NOTHING, [fault or not_adoptable(path, "it is not UTF-8")]
    carried = carry_back(wanted, edited, shop.tree)
    if not carried.sources and not carried.unplaced:
        remedy = "run `agentmux build --force` to write it anew"
        return NOTHING, [not_adoptable(path, "it differs from what was built in no line", remedy)]
    if carried.unplaced and not (partial and carried.sources):
        return NOTHING, list(carried.unplaced)
    adoption, found = _tried(path, data, carried.sources, shop, None if carried.unplaced else edited)
    return adoption, [*carried.unplaced, *found]


def _copied_from(path: str, wanted: OutputFile, shop: Workshop) -> str | None:
    """The file of a skill that an output is a copy of."""
    parts = path.split("/")
    places = [f"{shop.settings.skills}/{'/'.join(parts[start:])}" for start in range(1, len(parts))]
    found = ((place, shop.tree.read(place)) for place in places)
    return next((place for place, data in found if data and _same_text(data, wanted.content)), None)


def _same_text(left: bytes, right: bytes) -> bool:
    return left == right or (normalised(left) is not None and normalised(left) == normalised(right))


def _adopt_copy(
    path: str, data: bytes, source: str, wanted: OutputFile, shop: Workshop
) -> tuple[Adoption, list[Diagnostic]]:
    """The edited copy as its source, byte for byte."""
    if has_conflict(data, wanted.content):
        return NOTHING, [not_adoptable(path, "it holds a merge conflict", "resolve it in the sources")]
    if not _as_built(wanted, shop):
        return NOTHING, [_source_changed(path)]
    outputs, found = shop.compile_outputs(OverlayTree(shop.tree, {source: data}))
    if has_errors(found):
        return NOTHING, list(found)
    rebuilt = next((output for output in outputs if output.path == path), None)
    if rebuilt is None or not _same_text(rebuilt.content, data):
        return NOTHING, [not_adoptable(path, f"with it as `{source}`, a build would not give it back")]
    files = {source: data} if rebuilt.content == data else {source: data, path: rebuilt.content}
    return Adoption(files, (written(rebuilt),)), []


def _edit_fault(path: str, data: bytes, wanted: OutputFile | None, shop: Workshop) -> Diagnostic | None:
    """Why an edited output cannot be compared with what was built, if it cannot."""
    if wanted is None:
        return not_adoptable(path, "no agent builds it any more", "delete it, or rename it to keep it")
    if not wanted.lines:
        return not_adoptable(path, "it is not built from lines of text", "make the change in its source")
    if has_conflict(data, wanted.content):
        return not_adoptable(path, "it holds a merge conflict", "resolve it in the sources")
    return None if _as_built(wanted, shop) else _source_changed(path)


def _as_built(wanted: OutputFile, shop: Workshop) -> bool:
    """Whether what the sources give now is the text that the edit was made on."""
    listed = {file.sha256 for file in shop.manifest.files if file.path == wanted.path} if shop.manifest else set()
    return digest(wanted.content) in listed if listed else shop.baseline_files.get(wanted.path) == wanted.content


def _tried(
    path: str, data: bytes, sources: Mapping[str, bytes], shop: Workshop, edited: str | None
) -> tuple[Adoption, list[Diagnostic]]:
    """The adoption, if a build of the changed sources gives the edited text back (None: whatever it gives)."""
    outputs, found = shop.compile_outputs(OverlayTree(shop.tree, sources))
    if has_errors(found):
        return NOTHING, list(found)
    rebuilt = next((output for output in outputs if output.path == path), None)
    if edited is None:
        return Adoption(sources), []
    if rebuilt is None or rebuilt.content != edited.encode():
        line = first_difference(edited.encode(), rebuilt.content if rebuilt else b"")
        reason = "this edit cannot be carried back: with it in its source, a build would not give this line"
        return NOTHING, [rules.NOT_PLACED.at(Span(path, line), reason, help="make the change in the source itself")]
    files = dict(sources) if data == rebuilt.content else {**sources, path: rebuilt.content}
    return Adoption(files, (written(rebuilt),)), []


def _source_changed(path: str) -> Diagnostic:
    return rules.SOURCE_CHANGED.at(
        Span(path),
        f"`{path}` was edited, and its sources were changed since it was built",
        help="make the edit in the sources by hand, then run `agentmux build --force`",
    )


def _adopt_instructions(
    path: str, data: bytes, wanted: OutputFile | None, shop: Workshop
) -> tuple[Adoption, list[Diagnostic]]:
    text = normalised(data)
    if text is None:
        return NOTHING, [not_adoptable(path, "it is not UTF-8")]
    name = next((name for name in shop.readers if path == name or path.endswith(f"/{name}")), None)
    if name is None:
        listed = ", ".join(f"`{each}`" for each in sorted(shop.readers, key=byte_order))
        return NOTHING, [not_adoptable(path, f"it is none of {listed}, and no skill")]
    agents = tuple(dict.fromkeys(owner.partition("/")[0] for owner in wanted.owners)) if wanted else ()
    foreign = Foreign(path.removesuffix(name).rstrip("/"), data, shop.readers[name], agents)
    refused: list[Diagnostic] = []
    for files in take_in_instructions(foreign, shop.tree, shop.settings):
        outputs, found = shop.compile_outputs(OverlayTree(shop.tree, files))
        rebuilt = next((output for output in outputs if output.path == path), None)
        if not has_errors(found) and rebuilt and f"\n{text.strip(NEWLINE)}\n" in f"\n{rebuilt.content.decode()}":
            return Adoption({**files, path: rebuilt.content}, (written(rebuilt),)), []
        refused = [item for item in found if has_errors((item,))]
    reason = "a build with its text as a bundle would not give the text back"
    return NOTHING, refused or [not_adoptable(path, reason, "make it a bundle by hand, then move the file away")]


def _adopt_skill(folder: str, shop: Workshop) -> tuple[Adoption, list[Diagnostic]]:
    files, reason = take_in_skill(folder, shop.tree, shop.settings)
    if reason:
        return NOTHING, [not_adoptable(folder, reason)]
    _, found = shop.compile_outputs(OverlayTree(shop.tree, files))
    if has_errors(found):
        return NOTHING, list(found)
    return Adoption(files, executables=scripts_of(folder, files, shop.tree, shop.settings)), []
