"""Shared prefixes for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentmux.branches import Branch, folded
from agentmux_compiler.prefix.history.culprits import source_name
from agentmux_compiler.render.machine import dumps
from agentmux_compiler.render.visible import cells, visible
from agentmux_compiler.render.words import count, listed, number
from agentmux_launcher.codec import to_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentmux_compiler.prefix.order import Order
    from agentmux_compiler.prefix.sharing import CacheShare, OrderGain, Sharing
    from agentmux_compiler.prefix.tree import Identity, Node
    from agentmux_compiler.render.paint import Paint

NAMES = 3
BUNDLES = 12
OWN = ("agents/", "bundles/", "skills/", "mcp/", "native/", "header.md")


def as_json(sharing: Sharing) -> str:
    """The fields of `Sharing`, an identity's among those of its cache.

    `caches` [{vendor, backend, model, effort, plans, bytes_total, bytes_distinct, tokens_total, tokens_distinct,
    served, method, error_pct, tree}], `orders` [{name, sections, bundles, served, caches}]. A node of `tree` is {bytes,
    tokens, plans (that end there), parting null | {layer, segment, path, line}, segments, children}; its sizes are
    counted from the start of the prompt.
    """
    return dumps({"caches": [_cache(each) for each in sharing.caches], "orders": [_order(x) for x in sharing.orders]})


def _cache(share: CacheShare) -> dict[str, Any]:
    value = to_json(share)
    return {
        **value.pop("identity"),
        **{name: value[name] for name in value if name != "root"},
        "tree": _node(share.root),
    }


def _node(node: Node) -> dict[str, Any]:
    return {
        "bytes": node.bytes,
        "tokens": node.tokens,
        "plans": list(node.ends),
        "parting": to_json(node.parting),
        "segments": list(node.segments),
        "children": [_node(child) for child in node.children],
    }


def _order(gain: OrderGain) -> dict[str, Any]:
    caches = []
    for each in gain.gains:
        value = to_json(each)
        caches.append({**value.pop("identity"), **value})
    return {"name": gain.order.name, **to_json(gain.order), "served": gain.served, "caches": caches}


def for_people(sharing: Sharing, paint: Paint) -> str:
    """A tree for each cache, then the best other order."""
    if not sharing.caches:
        return "No plan was built.\n"
    blocks = ["".join(f"{line}\n" for line in _tree(each, paint)) for each in sharing.caches]
    advice = "".join(f"{line}\n" for line in _advice(sharing, paint))
    return "\n".join([*blocks, advice, "".join(f"{line}\n" for line in _methods(sharing))])


def _tree(share: CacheShare, paint: Paint) -> Iterator[str]:
    yield paint("strong", visible(f"{named(share.identity)}: {count(share.plans, 'plan')}"))
    if share.plans > 1:
        yield f"  {_sums(share)}"
    rows = list(_rows(folded(share.root), "", "", root=True))
    widths = [max(cells(row[column]) for row in rows) for column in (0, 1)]
    for left, who, what, place in rows:
        padding = (" " * (width - cells(cell)) for width, cell in zip(widths, (left, who), strict=True))
        line = "  ".join(f"{cell}{gap}" for cell, gap in zip((left, who), padding, strict=True))
        yield f"  {line}  {what}{paint('frame', f'  {place}') if place else ''}".rstrip()


def named(identity: Identity) -> str:
    """`anthropic, claude-opus-5-5, effort high`; with the backend where its name is not the vendor's."""
    backend = "" if identity.backend == identity.vendor else f" ({identity.backend})"
    effort = f", effort {identity.effort}" if identity.effort else ""
    return f"{identity.vendor}{backend}, {identity.model or 'no model named'}{effort}"


def _sums(share: CacheShare) -> str:
    distinct = f"{number(share.tokens_total)} tokens, {number(share.tokens_distinct)} where what is shared counts once"
    if share.served is None:
        return f"{distinct}; nobody knows what this backend reuses"
    return f"{distinct}; started once each, they are served {number(share.served)} from the cache"


def _rows(branch: Branch, lead: str, below: str, *, root: bool = False) -> Iterator[tuple[str, str, str, str]]:
    """Each branch as what it adds, for whom, what that is, and where it parts; then those below it."""
    size = number(branch.added) if root else f"+{number(branch.added)}"
    yield f"{lead}{size}", _who(branch), _what(branch.segments), _place(branch)
    last = len(branch.children) - 1
    for index, child in enumerate(branch.children):
        end = index == last and not branch.folded
        yield from _rows(child, f"{below}{'└─ ' if end else '├─ '}", f"{below}{'   ' if end else '│  '}")
    if branch.folded:
        yield f"{below}└─ …", count(branch.folded, "more plan"), "", ""


def _who(branch: Branch) -> str:
    if len(branch.plans) <= NAMES:
        return visible(", ".join(branch.plans))
    return count(len(branch.plans), "plan")


def _what(segments: Sequence[str]) -> str:
    """Our own segments by name, the first few; those of the CLI only where there is no other, or as the beginning."""
    own = list(dict.fromkeys(source_name(segment) for segment in segments if segment.startswith(OWN)))
    shown = own if len(own) <= NAMES + 1 else [*own[:NAMES], f"{number(len(own) - NAMES)} more"]
    return visible(listed(shown)) if own else "the CLI's own text" if segments else ""


def _place(branch: Branch) -> str:
    parting = branch.parting
    return visible(f"{parting.path}:{parting.line}") if parting and parting.path else ""


def _advice(sharing: Sharing, paint: Paint) -> Iterator[str]:
    if sum(share.plans for share in sharing.caches) < 2:  # noqa: PLR2004  one plan has nobody to share with
        return
    if not sharing.orders:
        yield f"{paint('note', 'note')}: no other order that was tried would let a cache serve more"
        return
    best = sharing.orders[0]
    title = f"another order of {best.order.name} would let the caches serve {number(best.served)} tokens more"
    yield f"{paint('help', 'help')}{paint('strong', f': {title}')}"
    for line in order_lines(best.order):
        yield f"  {paint('frame', '=')} {line}"
    for gain in best.gains:
        if gain.served:
            served = f"{number(gain.served_before or 0)} to {number(gain.served_after or 0)}"
            yield f"  {paint('frame', '=')} {visible(named(gain.identity))}: from {served}"
    yield f"  {paint('frame', '=')} {paint('strong', 'note:')} measured by compiling again in that order"


def order_lines(order: Order) -> Iterator[str]:
    """What to write: the sections in `_project.yaml`, the bundles in every list that holds some of them."""
    if order.sections:
        yield f"sections: {', '.join(order.sections)}"
    if order.bundles:
        more = f" and {number(len(order.bundles) - BUNDLES)} more" if len(order.bundles) > BUNDLES else ""
        yield visible(f"bundles, in every list: {', '.join(order.bundles[:BUNDLES])}{more}")


def _methods(sharing: Sharing) -> Iterator[str]:
    yield from token_lines({share.method: share.error_pct for share in sharing.caches})


def token_lines(methods: dict[str, float | None]) -> Iterator[str]:
    """How tokens were counted, and how far that may be off."""
    for method, error in sorted(methods.items()):
        bound = " (error unknown)" if error is None else f" (within {error:g} %)" if error else ""
        yield f"Tokens: {visible(method)}{bound}."
