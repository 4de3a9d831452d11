"""`extends`: specs laid over their bases as nodes, so that each value keeps the place where it was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.sources.yaml_nodes import Entry, Mapping, Node, Scalar, Sequence
from agentmux_compiler.suggest import did_you_mean
from agentmux_compiler.tree import byte_order

if TYPE_CHECKING:
    from collections.abc import Container

    from agentmux_compiler.diagnostics import Diagnostic, Span

INHERITED = "..."
OWN_FIELDS = frozenset({"extends", "abstract"})


def base_of(node: Node | None) -> Scalar | None:
    """The scalar after `extends`, if there is a usable one."""
    base = node.get("extends") if isinstance(node, Mapping) else None
    return base if isinstance(base, Scalar) and isinstance(base.value, str) and base.text else None


def order_of(nodes: dict[str, Node | None]) -> tuple[list[str], list[Diagnostic]]:
    """The specs that can be merged, each after its base, with a report for each base that cannot.

    `nodes` holds every file by its agent's name, None where it could not be read; nothing more is said of those.
    """
    usable = {name: False for name, node in nodes.items() if node is None}
    order: list[str] = []
    found: list[Diagnostic] = []
    for name in sorted(nodes, key=byte_order):
        chain, fault = _chain(nodes, usable, name)
        fits = fault is None and all(usable.get(_base_name(nodes[each]), True) for each in chain[-1:])
        usable.update((each, fits) for each in chain)
        order += reversed(chain) if fits else ()
        found += [fault] if fault else []
    return order, found


def _chain(nodes: dict[str, Node | None], known: Container[str], name: str) -> tuple[list[str], Diagnostic | None]:
    """From a spec to the last of its bases that is not known yet, and what is wrong there."""
    chain: list[str] = []
    at = name
    while at and at not in known:
        chain.append(at)
        base = base_of(nodes[at])
        if base and base.text in chain:
            return chain, _cycle(nodes, chain[chain.index(base.text) :])
        if base and base.text not in nodes:
            return chain, _unknown_base(base, [each for each in nodes if each not in chain])
        at = base.text if base else ""
    return chain, None


def _base_name(node: Node | None) -> str:
    base = base_of(node)
    return base.text if base else ""


def _unknown_base(base: Scalar, known: list[str]) -> Diagnostic:
    return rules.UNKNOWN_BASE.at(
        base.span, f"there is no spec `{base.text}` to extend", help=did_you_mean(base.text, known)
    )


def _cycle(nodes: dict[str, Node | None], circle: list[str]) -> Diagnostic:
    start = circle.index(min(circle, key=byte_order))
    turned = [*circle[start:], *circle[: start + 1]]
    base = base_of(nodes[turned[0]])
    path = " -> ".join(f"`{name}`" for name in turned)
    return rules.EXTENDS_CYCLE.at(
        base.span if base else None, "specs extend each other in a circle", help="cut it at one place", notes=(path,)
    )


def merge(base: Node | None, own: Node) -> tuple[Node, list[Diagnostic]]:
    """`own` over `base`: scalars and lists replace, maps merge by key, a list's item `...` is the inherited list."""
    found: list[Diagnostic] = []
    return _merge(_inheritable(base), own, found), found


def _inheritable(base: Node | None) -> Node | None:
    """A base without what only concerns itself."""
    if not isinstance(base, Mapping):
        return None
    return Mapping(tuple(each for each in base.entries if each.key.text not in OWN_FIELDS), base.span)


def _merge_maps(base: Node | None, own: Mapping, found: list[Diagnostic]) -> Mapping:
    inherited = {entry.key.text: entry for entry in base.entries} if isinstance(base, Mapping) else {}
    merged = dict(inherited)
    for entry in own.entries:
        under = inherited.get(entry.key.text)
        merged[entry.key.text] = Entry(entry.key, _merge(under.value if under else None, entry.value, found))
    return Mapping(tuple(merged.values()), own.span)


def _merge(base: Node | None, own: Node, found: list[Diagnostic]) -> Node:
    if isinstance(own, Mapping):
        return _merge_maps(base, own, found)
    return _merge_lists(base, own, found) if isinstance(own, Sequence) else own


def _merge_lists(base: Node | None, own: Sequence, found: list[Diagnostic]) -> Sequence:
    inherited = base.items if isinstance(base, Sequence) else None
    items: list[Node] = []
    seen = False
    for item in own.items:
        if not _stands_for_inherited(item):
            items.append(_merge(None, item, found))
        elif inherited is None:
            found.append(_nothing_to_inherit(item.span))
        elif seen:
            found.append(rules.DUPLICATE_ENTRY.at(item.span, "`...` stands twice in one list", help="keep one of them"))
        else:
            items += inherited
            seen = True
    return Sequence(tuple(items), own.span)


def _stands_for_inherited(item: Node) -> bool:
    return isinstance(item, Scalar) and item.text == INHERITED and not item.style


def _nothing_to_inherit(span: Span) -> Diagnostic:
    return rules.NOTHING_TO_INHERIT.at(
        span, "`...` stands for the inherited list, and there is none", help='remove it, or write `"..."` for the text'
    )
