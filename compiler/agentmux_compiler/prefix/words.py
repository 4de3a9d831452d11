"""The words by which a layout is chosen: what a plan says of itself, and what its arguments do to the tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agentmux_compiler.prefix.models import matches, model_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from agentmux_compiler.lowered import PlanPrefix
    from agentmux_compiler.providers.schema import Provider
    from agentmux_compiler.providers.schema_layout import ToolFlags


def words_of(provider: Provider, plan: PlanPrefix) -> frozenset[str]:
    """All that `Part.when` and `Part.unless` may ask of a plan but the names of its slots.

    A model or an effort that nobody named is the CLI's own.
    """
    options = provider.arguments
    model = resolved_model(provider, plan.model)
    effort = plan.effort or (options.effort.usual if options.effort else None)
    held = {*plan.argv, *(f"env:{name}" for name in plan.env), f"delivery:{plan.delivery}"}
    held |= {f"permission:{plan.permission}"}
    held |= {f"model:{model}"} if model else set()
    held |= {f"family:{name}" for name, globs in provider.layout.families.items() if matches(model, globs)}
    held |= {f"effort:{effort}"} if effort else set()
    held |= {"redirected"} if is_redirected(provider, plan.argv, plan.env) else set()
    return frozenset(held | tool_words(provider, plan.argv))


def resolved_model(provider: Provider, model: str | None) -> str | None:
    """The model that a name stands for on this CLI, wherever it is led; its default where none is named."""
    option = provider.arguments.model
    return model_id(next(iter(provider.vendors), ""), model or (option.usual if option else None))


def is_redirected(provider: Provider, argv: Iterable[str], env: Collection[str]) -> bool:
    """Whether the CLI is led to another endpoint, by its variable or by its arguments."""
    redirect = provider.redirect
    if redirect is None or redirect == "unknown":
        return False
    keys = [item.partition("{")[0] for item in redirect.argv if "{" in item]
    return redirect.variable in env or any(word.startswith(key) for word in argv for key in keys)


def tool_words(provider: Provider, argv: Sequence[str]) -> set[str]:
    """`denied:NAME` for what arguments take away, `added:NAME` for what they add, `only:NAME` for all they leave.

    `without:NAME` stands for a tool of the layout that is not declared, for either reason.
    """
    flags = provider.layout.tools
    if flags is None:
        return set()
    denied = {*_named(flags, flags.denied, argv), *_in_settings(flags, argv)}
    only = set(_named(flags, flags.only, argv))
    limited = any(True for _ in _values(flags.only, argv)) and not only & set(flags.every)
    known = {part.tool for part in provider.layout.all_parts if part.tool}
    left_out = {name for name in flags.limited or known if limited and name not in only}
    without = {name for name in known if name in denied | left_out}
    found = {f"denied:{name}" for name in denied} | {f"without:{name}" for name in without}
    found |= {f"added:{name}" for name in _allowed(flags, argv)}
    return found | ({"only", *(f"only:{name}" for name in only)} if limited else set())


def leaves_server(provider: Provider, argv: Sequence[str], name: str) -> bool:
    """Whether the arguments leave a plan this MCP server, with some tools of it."""
    flags = provider.layout.tools
    if flags is None:
        return True
    allowed = [server for value in _values(flags.servers, argv) for server in _names(flags, value)]
    denied = flags.server is not None and flags.server.replace("{name}", name) in _named(flags, flags.denied, argv)
    return not denied and (not allowed or name in allowed)


def _named(flags: ToolFlags, options: Iterable[str], argv: Sequence[str]) -> Iterator[str]:
    """The tools that options name. A rule about some uses of a tool, `Bash(rm *)`, names none."""
    for value in _values(options, argv):
        yield from _names(flags, value)


def _allowed(flags: ToolFlags, argv: Sequence[str]) -> Iterator[str]:
    """The tools that options allow: a rule about some uses allows the tool as well."""
    for value in _values(flags.added, argv):
        for item in _items(value):
            name = item.partition("(")[0]
            if name and name not in flags.not_added:
                yield flags.aliases.get(name, name)


def _names(flags: ToolFlags, text: str) -> Iterator[str]:
    # A rule about all uses is as good as the bare name.
    for name in _items(text.replace("(*)", "")):
        if name and "(" not in name:
            yield flags.aliases.get(name, name)


def _items(text: str) -> list[str]:
    """The words of a list, separated by commas or blanks; of what stands in parentheses a `(` is left for each sign."""
    depth = 0
    plain = []
    for character in text:
        depth += (character == "(") - (character == ")")
        plain.append("(" if depth else "\n" if character in ", " else character)
    return "".join(plain).split("\n")


def _values(options: Iterable[str], argv: Sequence[str]) -> Iterator[str]:
    """What follows each of the options up to the next one, or stands behind its `=`."""
    wanted = set(options)
    taking = False
    for word in argv:
        name, equals, value = word.partition("=")
        if word.startswith("-"):
            taking = word in wanted
            if equals and name in wanted:
                yield value
        elif taking:
            yield word


def _in_settings(flags: ToolFlags, argv: Sequence[str]) -> Iterator[str]:
    """Tools denied by settings that are passed as JSON."""
    for option, path in flags.settings.items():
        for text in _values((option,), argv):
            for item in _at(text, path):
                yield from _names(flags, item)


def _at(text: str, path: str) -> list[str]:
    try:
        value: Any = json.loads(text)
    except ValueError:
        return []
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def argument_values(spellings: Iterable[str], argv: Sequence[str]) -> list[str]:
    """The texts that arguments pass: `--flag {}` as the next word or behind `=`, `-c key={}` behind its key."""
    found: list[str] = []
    following: Mapping[int, str] = dict(enumerate(argv))
    for spelling in spellings:
        flag, _, rest = spelling.partition(" ")
        key = rest.removesuffix("{}")
        for index, word in following.items():
            if word == flag and following.get(index + 1, "").startswith(key):
                found.append(following.get(index + 1, "")[len(key) :])
            elif not key and word.startswith(f"{flag}="):
                found.append(word[len(flag) + 1 :])
    return found
