"""The one argument builder: a mode's own arguments, then each group in the provider's order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.agent import Permission
from agentmux_compiler.lowering import flags
from agentmux_compiler.lowering.modes import (
    controller_of,
    delivered_at_first,
    goes_on_by_protocol,
    in_session,
    mode_of,
    model_by_variable,
    other_permission,
    permissions_of,
    trusting,
)
from agentmux_compiler.suggest import did_you_mean, listing
from agentmux_launcher.arguments import LONGEST_PROMPT, too_long, utf16_units
from agentmux_launcher.manifest import Literal, Slot

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agentmux_compiler.agent import Use
    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.lowered import ArgumentParts
    from agentmux_compiler.providers.schema import Option, Provider
    from agentmux_compiler.providers.schema_modes import Mode
    from agentmux_launcher.manifest import Argument

Arguments = tuple["Argument", ...]
Made = tuple[Arguments, "list[Diagnostic]"]


@dataclass(frozen=True, slots=True)
class Overrides:
    """What one launch sets besides the spec. `resume` and `fork` are session ids."""

    model: str | None = None
    effort: str | None = None
    permission: Permission | None = None
    resume: str | None = None
    fork: str | None = None
    prompt: str | None = None

    def apply(self, use: Use) -> Use:
        return replace(
            use,
            model=self.model or use.model,
            effort=self.effort or use.effort,
            permission=self.permission or use.permission,
        )

    @property
    def values(self) -> Mapping[str, str]:
        """Values of the slots."""
        slots = {"resume": self.resume, "fork": self.fork, "prompt": self.prompt}
        return {name: value for name, value in slots.items() if value is not None}


AS_WRITTEN = Overrides()


def build_argv(provider: Provider, use: Use, parts: ArgumentParts, overrides: Overrides = AS_WRITTEN) -> Made:
    """All arguments of a plan behind the executable; slots stay open for what only a launch knows."""
    use = overrides.apply(use)
    mode, found = mode_of(provider, use)
    resume, more = _resume(provider, use, mode, parts, overrides)
    found += [*more, *_prompt_faults(mode, use, overrides)]
    groups: dict[str, Arguments] = {
        "redirect": parts.redirect,
        "mcp": parts.mcp,
        "delivery": () if delivered_at_first(provider) else parts.delivery,
        "directories": parts.directories,
        "resume": resume,
        "prompt": _prompt(mode),
    }
    for name, (made, more) in {
        "permission": _permission(provider, use, mode),
        "model": _option(provider, use, mode, "model", use.model),
        "effort": _option(provider, use, mode, "effort", use.effort),
        "flags": _flags(provider, use, mode, parts),
    }.items():
        groups[name] = made
        found += more
    taken = [group for group in provider.arguments.order if group in {*mode.takes, "permission", "prompt"}]
    argv = [
        *literals(mode.argv),
        *_trust(provider, use),
        *parts.opt_outs,
        *(each for group in taken for each in groups[group]),
    ]
    return tuple(argv), [*found, *_voided(provider, use, tuple(argv), parts)]


def literals(values: Iterable[str]) -> Arguments:
    return tuple(Literal(value) for value in values)


def filled(template: Iterable[str], value: str) -> Arguments:
    """A template's arguments with `{}` replaced."""
    return literals(item.replace("{}", value) for item in template)


def _permission(provider: Provider, use: Use, mode: Mode) -> Made:
    argv = getattr(permissions_of(provider, mode), use.permission.value)
    if argv is not None:
        return literals(argv), []
    fault = rules.UNSUPPORTED_CAPABILITY.at(
        use.place("permission"),
        f"`{provider.name}` cannot enforce the permission `{use.permission}`",
        help=other_permission(provider, use, mode),
    )
    return (), [fault]


def _option(provider: Provider, use: Use, mode: Mode, field: str, value: str | None) -> Made:
    option: Option | None = getattr(provider.arguments, field)
    if value is None or (field not in mode.takes and in_session(provider, mode, field)):
        return (), []
    if option is None or field not in mode.takes:
        return (), [_dropped(use, field, f"`{provider.name}` takes no `{field}`, so `{value}` is left out")]
    if use.model and _matches(use.model, option.absent_for):
        return (), [_dropped(use, field, f"`{use.model}` takes no `{field}`, so `{value}` is left out")]
    values = next(
        (each for glob, each in option.values_for.items() if _matches(use.model or "", (glob,))), option.values
    )
    if values is not None and value not in values:
        return (), [_refused(use, field, value, provider, did_you_mean(value, values) or f"it takes {listing(values)}")]
    if not use.base_url and _matches(value, option.refuses):
        return (), [_refused(use, field, value, provider, f"`{value}` belongs to another provider")]
    by_variable = option.variable is not None or (field == "model" and model_by_variable(provider, use))
    return () if by_variable else filled(option.argv, value), []


def _matches(value: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(value, glob) for glob in globs)


def _dropped(use: Use, field: str, message: str) -> Diagnostic:
    return rules.DROPPED_OPTION.at(use.place(field), message, help=f"remove `{field}`")


def _refused(use: Use, field: str, value: str, provider: Provider, remedy: str) -> Diagnostic:
    return rules.UNSUPPORTED_VALUE.at(
        use.place(field), f"`{provider.name}` does not take the {field} `{value}`", help=remedy
    )


def _flags(provider: Provider, use: Use, mode: Mode, parts: ArgumentParts) -> Made:
    tokens, found = flags.split(use)
    if "flags" not in mode.takes:
        by = controller_of(provider, use)
        dropped = _dropped(use, "flags", f"`{provider.name}` takes no `flags` by the controller `{by}`")
        return (), [*found, *([dropped] if tokens else [])]
    owns = provider.arguments.owns.items()
    active: dict[str, tuple[str, ...]] = {field: texts for field, texts in owns if getattr(parts, field, True)}
    kept, more = flags.without_owned(tokens, active, use)
    present = _bare_flags((*mode.argv, *(item.value for item in parts.opt_outs if isinstance(item, Literal))))
    return literals(token for token in kept if token not in present), [*found, *more]


def _bare_flags(argv: tuple[str, ...]) -> frozenset[str]:
    """Flags of a mode that take no value; said twice, some CLIs refuse them."""
    following = (*argv[1:], "-")[: len(argv)]
    return frozenset(flag for flag, after in zip(argv, following, strict=True) if flag[:1] == "-" and after[:1] == "-")


def _voided(provider: Provider, use: Use, argv: Arguments, parts: ArgumentParts) -> list[Diagnostic]:
    given = {item.value.partition("=")[0] for item in argv if isinstance(item, Literal)}
    return [
        rules.FLAG_VOIDS_OPTION.at(
            use.place("flags"), f"`{flag}` in `flags` makes `{ours}` void", help=f"remove `{flag}`, or live without"
        )
        for flag, ours in provider.arguments.voids.items()
        if flag in given and (ours in given or ours in parts.files)
    ]


def _resume(provider: Provider, use: Use, mode: Mode, parts: ArgumentParts, overrides: Overrides) -> Made:
    """The slots for going on with a session, as itself or as a fork."""
    facts = provider.arguments.resume
    ways = {"resume": facts.resume, "fork": facts.fork} if "resume" in mode.takes else {}
    possible = {name for name, argv in ways.items() if argv is not None} | goes_on_by_protocol(provider, mode)
    found = [
        rules.UNSUPPORTED_CAPABILITY.at(use.at, f"`{provider.name}` cannot {name} a session", help="start a new one")
        for name in ("resume", "fork")
        if name in overrides.values and name not in possible
    ]
    first = [item.value for item in parts.delivery if isinstance(item, Literal)] if delivered_at_first(provider) else []
    absent = {"resume": tuple(first)}
    return tuple(Slot(name, argv, absent.get(name, ())) for name, argv in ways.items() if argv is not None), found


def _trust(provider: Provider, use: Use) -> Arguments:
    """What opens the provider's gate, where a launch is allowed to."""
    argv = trusting(provider, controller_of(provider, use))
    return (Slot("trust", tuple(item.replace("{cwd}", "{}") for item in argv)),) if argv else ()


def _prompt(mode: Mode) -> Arguments:
    if mode.prompt == mode.prompt_absent:
        return literals(mode.prompt)
    return (Slot("prompt", mode.prompt, mode.prompt_absent),)


def _prompt_faults(mode: Mode, use: Use, overrides: Overrides) -> list[Diagnostic]:
    prompt = overrides.prompt
    if prompt is None or mode.prompt_delivery != "argument" or not too_long(prompt):
        return []
    message = f"the prompt has {utf16_units(prompt):,} UTF-16 units, and an argument holds {LONGEST_PROMPT:,}"
    return [rules.UNSUPPORTED_VALUE.at(use.at, message, help="put it into a file and name the file in the prompt")]
