"""The lists of a spec: bundles and skills found by name, each once, and those that nobody lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from agentmux_compiler import rules
from agentmux_compiler.agent import Bundle, Listed, Skill
from agentmux_compiler.diagnostics import Diagnostic, Span
from agentmux_compiler.sources.skills import SKILL_FILE
from agentmux_compiler.sources.yaml_nodes import Scalar, Sequence
from agentmux_compiler.suggest import did_you_mean
from agentmux_compiler.tree import byte_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agentmux_compiler.sources.bundles import BundleFolder
    from agentmux_compiler.sources.skills import SkillFolder
    from agentmux_compiler.spec import Spec

T = TypeVar("T")


def listed_bundles(spec: Spec, folder: BundleFolder) -> tuple[tuple[Listed[Bundle], ...], list[Diagnostic]]:
    """Global bundles by `order` and name, then the listed ones."""
    shared = sorted(
        (bundle for bundle in folder.bundles.values() if bundle.is_global),
        key=lambda bundle: (bundle.order, byte_order(bundle.name)),
    )
    everywhere = {bundle.name: Listed(bundle, folder.globals_at[bundle.name]) for bundle in shared}
    items = _items(spec, "bundles")
    found = [_unknown_bundle(item, folder) for item in items if item.text not in folder.bundles]
    listed, more = _each_once(items, folder.bundles, everywhere)
    return listed, [*found, *more]


def listed_skills(spec: Spec, folder: SkillFolder) -> tuple[tuple[Listed[Skill], ...], list[Diagnostic]]:
    items = _items(spec, "skills")
    found = [_unknown_skill(item, folder) for item in items if item.text not in folder.skills]
    listed, more = _each_once(items, folder.skills, {})
    return listed, [*found, *more]


def _each_once(
    items: list[Scalar], known: Mapping[str, T], listed: Mapping[str, Listed[T]]
) -> tuple[tuple[Listed[T], ...], list[Diagnostic]]:
    """What `listed` has and then what `items` name, nothing a second time."""
    table = dict(listed)
    found: list[Diagnostic] = []
    for item in items:
        if item.text in table:
            found.append(_again(item, table[item.text].at))
        elif item.text in known:
            table[item.text] = Listed(known[item.text], item.span)
    return tuple(table.values()), found


def _again(item: Scalar, first: Span) -> Diagnostic:
    return rules.DUPLICATE_ENTRY.at(
        item.span,
        f"`{item.text}` is listed twice",
        help="keep one of them",
        notes=(f"the first stands at {first.path}:{first.line}",),
    )


def _unknown_bundle(item: Scalar, folder: BundleFolder) -> Diagnostic:
    return rules.UNKNOWN_BUNDLE.at(
        item.span,
        f"there is no bundle `{item.text}`",
        help=did_you_mean(item.text, folder.bundles),
        notes=(f"bundles are read from `{folder.path}/`",),
    )


def _unknown_skill(item: Scalar, folder: SkillFolder) -> Diagnostic:
    bare = item.text in folder.incomplete
    return rules.UNKNOWN_SKILL.at(
        item.span,
        f"there is no skill `{item.text}`",
        help=f"write `{folder.path}/{item.text}/{SKILL_FILE}`" if bare else did_you_mean(item.text, folder.skills),
        notes=(f"skills are read from `{folder.path}/`",),
    )


def unused_bundles(specs: Iterable[Spec], folder: BundleFolder, found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Bundles nobody lists; silent where a misspelt name may have meant one of them."""
    if any(item.rule is rules.UNKNOWN_BUNDLE for item in found):
        return []
    named = {item.text for spec in specs for item in _items(spec, "bundles")}
    return [
        rules.UNUSED_BUNDLE.at(
            Span(bundle.body.path),
            f"no agent lists the bundle `{bundle.name}`",
            help="list it in an agent's `bundles`, or give it `global: true`",
        )
        for bundle in folder.bundles.values()
        if not bundle.is_global and bundle.name not in named
    ]


def unused_skills(specs: Iterable[Spec], folder: SkillFolder, found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Skills nobody lists; silent where a misspelt name may have meant one of them."""
    if any(item.rule is rules.UNKNOWN_SKILL for item in found):
        return []
    named = {item.text for spec in specs for item in _items(spec, "skills")}
    return [
        rules.UNUSED_SKILL.at(
            Span(f"{skill.folder}/{SKILL_FILE}"),
            f"no agent lists the skill `{skill.name}`",
            help="list it in an agent's `skills`",
        )
        for skill in folder.skills.values()
        if skill.name not in named
    ]


def _items(spec: Spec, field: str) -> list[Scalar]:
    node = spec.node.get(field)
    return [item for item in node.items if isinstance(item, Scalar)] if isinstance(node, Sequence) else []
