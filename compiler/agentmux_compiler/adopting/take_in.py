"""Make a hand-written instruction file or skill a source: which files that takes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from agentmux_compiler.sources.source_names import name_fault
from agentmux_compiler.tree import is_utf8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agentmux_compiler.agent import Settings
    from agentmux_compiler.tree import Tree

SKILL_FILE = "SKILL.md"
ROOT_AGENT, ROOT_BUNDLE = "main", "project"
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_MARK = b"\xef\xbb\xbf"
_FENCE = re.compile(rb"---[ \t]*\r?$", re.MULTILINE)
_FLOW = re.compile(r"^bundles:[ \t]*\[(?P<items>[^\]\n]*)\](?P<rest>[ \t]*(?:#.*)?)$", re.MULTILINE)
_BLOCK = re.compile(
    r"^bundles:[ \t]*(?:#.*)?\n(?P<items>(?:[ \t]*(?:#.*)?\n)*(?P<indent>[ \t]*)- .*(?:\n[ \t]*- .*)*)$", re.MULTILINE
)
_KEY = re.compile(r"^(?:bundles|[\"']bundles[\"'])[ \t]*:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Foreign:
    """A hand-written instruction file of the folder `folder` (empty: the project's) that `provider` reads.

    `agents` are those that want to write it.
    """

    folder: str
    data: bytes
    provider: str
    agents: tuple[str, ...]


def take_in_instructions(foreign: Foreign, tree: Tree, settings: Settings) -> Iterator[dict[str, bytes]]:
    """Ways to make a file's text a bundle, the likeliest first: new and changed sources, by path.

    Every agent that writes the file lists the bundle last; where none does, a new agent with `delivery: file` will.
    The bundle holds the file's bytes as they are.
    """
    bundle = _bundle_name(foreign.folder, _as_bundle(foreign.data), tree, settings)
    files = {f"{settings.bundles}/{bundle}.md": _as_bundle(foreign.data)}
    if not foreign.agents:
        agent = _free(_slug(foreign.folder) or ROOT_AGENT, lambda name: bool(_spec(name, tree, settings)[0]))
        yield {**files, f"{settings.agents}/{agent}.yaml": _new_agent(foreign, bundle)}
        return
    specs = [_spec(name, tree, settings) for name in foreign.agents]
    for entries in (("...", bundle), (bundle,)):
        listed = {path: _listing(data, entries) for path, data in specs if path}
        yield {**files, **{path: text.encode() for path, text in listed.items() if text}}


def take_in_skill(folder: str, tree: Tree, settings: Settings) -> tuple[dict[str, bytes], str | None]:
    """Every file of a skill's folder at its place among the sources, or why it cannot stand there."""
    name = folder.rpartition("/")[2]
    fault = name_fault(name)
    if tree.read(f"{folder}/{SKILL_FILE}") is None:
        return {}, f"it holds no `{SKILL_FILE}`"
    if fault:
        return {}, f"its name {fault}"
    target = f"{settings.skills}/{name}"
    if folder == target:
        return {}, "it is a source already"
    if tree.names(target):
        return {}, f"there is a skill `{target}` already"
    found = {path: tree.read(path) for path in _below(folder, tree)}
    lost = next((path for path, data in found.items() if data is None or not is_utf8(path)), None)
    if lost:
        return {}, f"`{lost}` cannot be read inside the project, or its name is not UTF-8"
    return {target + path.removeprefix(folder): data for path, data in found.items() if data is not None}, None


def scripts_of(folder: str, files: Iterable[str], tree: Tree, settings: Settings) -> frozenset[str]:
    """Those of the `files` that `take_in_skill` gives for a folder which may be run where they lie now."""
    target = f"{settings.skills}/{folder.rpartition('/')[2]}"
    return frozenset(path for path in files if tree.executable(folder + path.removeprefix(target)))


def _below(folder: str, tree: Tree) -> Iterator[str]:
    for name in tree.names(folder):
        if name.endswith("/"):
            yield from _below(f"{folder}/{name}".rstrip("/"), tree)
        else:
            yield f"{folder}/{name}"


def _as_bundle(data: bytes) -> bytes:
    """The file's own bytes; behind empty front matter where they would be taken for front matter themselves."""
    body = data.removeprefix(_MARK)
    return b"---\n---\n" + body if _FENCE.match(body) else data


def _bundle_name(folder: str, data: bytes, tree: Tree, settings: Settings) -> str:
    """A name that is free, or that of a bundle with these very bytes."""

    def taken(name: str) -> bool:
        stands = (tree.read(f"{settings.bundles}/{name}{ending}") for ending in (".md", ".md.j2"))
        return any(found is not None and found != data for found in stands)

    return _free(_slug(folder) or ROOT_BUNDLE, taken)


def _free(name: str, taken: Callable[[str], bool]) -> str:
    numbered = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return next(each for each in numbered if not taken(each))


def _slug(folder: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", folder.lower()).strip("-")
    return "" if name_fault(slug) else slug


def _new_agent(foreign: Foreign, bundle: str) -> bytes:
    folder = foreign.folder if _PLAIN.fullmatch(foreign.folder) else json.dumps(foreign.folder, ensure_ascii=False)
    workdir = f"workdir: {folder}\n" if foreign.folder else ""
    return f"providers:\n  {foreign.provider}: {{}}\ndelivery: file\n{workdir}bundles: [{bundle}]\n".encode()


def _spec(agent: str, tree: Tree, settings: Settings) -> tuple[str, bytes]:
    paths = [f"{settings.agents}/{agent}{ending}" for ending in (".yaml", ".yml")]
    return next(((path, data) for path in paths if (data := tree.read(path)) is not None), ("", b""))


def _listing(data: bytes, entries: tuple[str, ...]) -> str | None:
    """A spec that lists one bundle more; None where its list is written in a way that no line can be added to.

    `entries` is the whole list where the spec has none; otherwise the last of them joins it.
    """
    text = data.decode()
    newline = "\r\n" if "\r\n" in text else "\n"
    changed = _listed(text.replace("\r\n", "\n"), entries)
    return changed.replace("\n", newline) if changed else None


def _listed(text: str, entries: tuple[str, ...]) -> str | None:
    flow, block = _FLOW.search(text), _BLOCK.search(text)
    if flow:
        items = ", ".join(item for item in (flow["items"].strip().rstrip(","), entries[-1]) if item)
        return f"{text[: flow.start()]}bundles: [{items}]{flow['rest']}{text[flow.end() :]}"
    if block:
        return f"{text[: block.end()]}\n{block['indent']}- {entries[-1]}{text[block.end() :]}"
    if _KEY.search(text):
        return None
    return f"{text.rstrip(chr(10))}\nbundles: [{', '.join(entries)}]\n"
