"""Read `skills/`: folders after the Agent Skills convention, held to what every provider's CLI takes."""

from __future__ import annotations

from collections.abc import Mapping as ReadOnly
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.agent import Skill
from agentmux_compiler.diagnostics import Diagnostic, Span
from agentmux_compiler.sources.conflicts import find_conflicts
from agentmux_compiler.sources.front_matter import split
from agentmux_compiler.sources.source_names import folder_outside, invalid_name, name_fault
from agentmux_compiler.sources.source_text import decode_source
from agentmux_compiler.sources.spec_errors import found_in
from agentmux_compiler.sources.yaml_nodes import Entry, Mapping, Scalar
from agentmux_compiler.text.escaped_text import find_escaped
from agentmux_compiler.text.hidden_text import find_hidden
from agentmux_compiler.tree import is_utf8, leaves_project

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux_compiler.tree import Tree

SKILL_FILE = "SKILL.md"
MAX_DEPTH = 12  # of folders below a skill; a link that leads back up would go on for ever
_NOT_COPIED = frozenset({"__pycache__/", "node_modules/"})


@dataclass(frozen=True, slots=True)
class SkillFolder:
    """Skills by name, in byte order; `incomplete` are folders of that name without a SKILL.md."""

    path: str
    skills: ReadOnly[str, Skill]
    incomplete: tuple[str, ...]


def read_skills(tree: Tree, folder: str) -> tuple[SkillFolder, list[Diagnostic]]:
    """Every skill of a folder. One that has faults is known all the same, with what is usable of it."""
    skills: dict[str, Skill] = {}
    incomplete: list[str] = []
    found = [folder_outside(folder)] if tree.outside(folder) else []
    for entry in tree.names(folder):
        if not entry.endswith("/") or entry.startswith("."):
            continue
        name = entry.removesuffix("/")
        if tree.outside(f"{folder}/{name}"):
            found.append(folder_outside(f"{folder}/{name}"))
            continue
        data = tree.read(f"{folder}/{name}/{SKILL_FILE}")
        if data is None:
            incomplete.append(name)
            continue
        skills[name], more = _skill(tree, f"{folder}/{name}", name, data)
        found += more
    return SkillFolder(folder, skills, tuple(incomplete)), found


def _skill(tree: Tree, folder: str, name: str, data: bytes) -> tuple[Skill, list[Diagnostic]]:
    path = f"{folder}/{SKILL_FILE}"
    files = tuple(_files_below(tree, folder, "", MAX_DEPTH))
    fault = name_fault(name)
    found = [invalid_name(path, "skill", name, fault)] if fault else []
    found += [_not_copied(f"{folder}/{file}") for file in files if not _is_copied(tree, f"{folder}/{file}")]
    found += [_too_deep(path)] if any(file.count("/") == MAX_DEPTH for file in files) else []
    text, more = decode_source(path, data)
    found += [_marked(path) if item.rule is rules.BYTE_ORDER_MARK else item for item in more]
    if text is None:
        return Skill(name, folder, "", files), found
    document, more = split(path, text)
    found += [*more, *find_hidden(path, text), *find_escaped(document.front, text)]
    found += _faults_elsewhere(tree, folder, files)
    if document.front is None:
        return Skill(name, folder, "", files), [*found, *([] if more else [_no_front_matter(path)])]
    found += _name_faults(document.front, path, name)
    description, more = _description(document.front, path)
    skill = Skill(
        name,
        folder,
        description.value.text if description and isinstance(description.value, Scalar) else "",
        files,
        effort=_text(document.front, "effort"),
        model=_text(document.front, "model"),
        described_at=description.place if description else None,
        switches_at=next((entry.place for name in ("effort", "model") if (entry := document.front.entry(name))), None),
    )
    return skill, [*found, *more]


def _files_below(tree: Tree, folder: str, below: str, depth: int) -> Iterator[str]:
    """Paths below a skill's folder in byte order; what tools leave behind is not part of it."""
    for entry in tree.names(f"{folder}/{below}".rstrip("/")):
        if entry.startswith(".") or entry in _NOT_COPIED:
            continue
        name = entry.rstrip("/")
        if not entry.endswith("/") or leaves_project(name) or tree.outside(f"{folder}/{below}{name}"):
            yield below + name
        elif depth:
            yield from _files_below(tree, folder, below + entry, depth - 1)


def _is_copied(tree: Tree, path: str) -> bool:
    return is_utf8(path) and tree.read(path) is not None


def _not_copied(path: str) -> Diagnostic:
    """A file with a name that no path on every system may have, or a link that leads out of the project or nowhere."""
    if leaves_project(path):
        return rules.INVALID_SKILL.at(Span(path), f"`{path}` cannot be copied: its name holds `:` or a backslash")
    if not is_utf8(path):
        return rules.INVALID_SKILL.at(Span(path), f"`{path}` cannot be copied: its name is not UTF-8")
    return rules.INVALID_SKILL.at(Span(path), f"`{path}` cannot be copied: it is no file inside the project")


def _too_deep(path: str) -> Diagnostic:
    message = f"the skill's folders are nested {MAX_DEPTH} deep or more"
    return rules.INVALID_SKILL.at(Span(path), message, help="look for a link that leads back up")


def _faults_elsewhere(tree: Tree, folder: str, files: tuple[str, ...]) -> Iterator[Diagnostic]:
    """The other documents of a skill, which a model reads when it uses it."""
    for file in files:
        if file != SKILL_FILE and file.endswith(".md"):
            path = f"{folder}/{file}"
            text = (tree.read(path) or b"").decode("utf-8", "replace").replace("\r\n", "\n")
            yield from (*find_hidden(path, text), *find_conflicts(path, text))


def _marked(path: str) -> Diagnostic:
    return rules.INVALID_SKILL.at(
        Span(path),
        "the file begins with a byte order mark",
        help="save it as UTF-8 without BOM",
        notes=("some CLIs drop such a skill without a word",),
    )


def _no_front_matter(path: str) -> Diagnostic:
    return rules.INVALID_SKILL.at(
        Span(path),
        "the skill has no front matter",
        help="begin the file with `---`, `name: ...`, `description: ...`, `---`",
        notes=("most CLIs drop such a skill without a word",),
    )


def _text(front: Mapping, field: str) -> str | None:
    value = front.get(field)
    return value.text if isinstance(value, Scalar) and isinstance(value.value, str) else None


def _name_faults(front: Mapping, path: str, folder: str) -> list[Diagnostic]:
    entry = front.entry("name")
    if entry is None:
        return [_lacks(front, path, "name", f"write `name: {folder}`")]
    if isinstance(entry.value, Scalar) and entry.value.text == folder:
        return []
    shown = f"is `{entry.value.text}`" if isinstance(entry.value, Scalar) else f"is {found_in(entry.value)}"
    return [
        rules.INVALID_SKILL.at(
            entry.place,
            f"`name` {shown}, and the folder is `{folder}`",
            help=f"write `name: {folder}`, or rename the folder",
        )
    ]


def _lacks(front: Mapping, path: str, field: str, remedy: str) -> Diagnostic:
    place = front.entries[0].key.span if front.entries else Span(path)
    return rules.INVALID_SKILL.at(place, f"the skill has no `{field}`", help=remedy)


def _description(front: Mapping, path: str) -> tuple[Entry | None, list[Diagnostic]]:
    entry = front.entry("description")
    if entry is None:
        return None, [_lacks(front, path, "description", "say in one line what it is for and when to use it")]
    value = entry.value
    if not isinstance(value, Scalar) or not isinstance(value.value, str):
        return entry, [rules.INVALID_SKILL.at(entry.place, f"`description` takes text, found {found_in(value)}")]
    if not value.text.strip():
        return entry, [rules.INVALID_SKILL.at(value.span, "`description` is empty")]
    if "\n" in value.text or value.style in {"|", ">"} or value.span.end_line > value.span.line:
        return entry, [_several_lines(value)]
    return entry, []


def _several_lines(value: Scalar) -> Diagnostic:
    return rules.INVALID_SKILL.at(
        value.span,
        "`description` has more than one line",
        help="write it on one line, in quotes",
        notes=("some CLIs keep the line breaks in their list of skills, others join the lines",),
    )
