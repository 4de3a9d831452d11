"""The user's `flags`: split as a shell would, and freed of what a field of the spec owns."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler import rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agentmux_compiler.agent import Use
    from agentmux_compiler.diagnostics import Diagnostic

# Fields that a launch fills, not a spec.
_OF_THE_LAUNCH = ("resume", "prompt")


@dataclass(frozen=True, slots=True)
class Spelling:
    """One way to write a flag: `--flag`, `--flag {}` or `--flag key={}`."""

    flag: str
    valued: bool
    key: str

    @classmethod
    def parse(cls, text: str) -> Spelling:
        flag, _, value = text.partition(" ")
        return cls(flag, bool(value), value.removesuffix("{}"))

    def length(self, tokens: tuple[str, ...]) -> int:
        """How many of the first tokens this spelling takes up: 0, 1 or 2."""
        first = tokens[0]
        if first == self.flag:
            return self._separate(tokens)
        if first.startswith(f"{self.flag}="):
            return int(first[len(self.flag) + 1 :].startswith(self.key))
        attached = self.valued and len(self.flag) == len("-x") and first.startswith(self.flag)
        return int(attached and first[len(self.flag) :].startswith(self.key))

    def _separate(self, tokens: tuple[str, ...]) -> int:
        if not self.valued:
            return 1 + (len(tokens) > 1 and not tokens[1].startswith("-"))  # else it would stay as a stray prompt
        value = tokens[1] if len(tokens) > 1 else "-"
        if self.key:
            return 2 if value.startswith(self.key) else 0
        return 1 if value.startswith("-") else 2


def words(flags: tuple[str, ...] | str) -> tuple[tuple[str, ...], list[tuple[str, ValueError]]]:
    """The arguments that `flags` stands for, and what of it cannot be split, each with the reason.

    One string is split as a shell would; so is an item of a list that begins with `-` and holds white space (a flag
    and its value). Any other item is one argument as it stands.
    """
    made: list[str] = []
    open_: list[tuple[str, ValueError]] = []
    for item in (flags,) if isinstance(flags, str) else flags:
        if not isinstance(flags, str) and not (item.startswith("-") and len(item.split()) > 1):
            made.append(item)
            continue
        try:
            made += shlex.split(item)
        except ValueError as error:
            open_.append((item, error))
    return tuple(made), open_


def split(use: Use) -> tuple[tuple[str, ...], list[Diagnostic]]:
    """The arguments that `flags` stands for."""
    made, open_ = words(use.flags)
    return made, [
        rules.UNSUPPORTED_VALUE.at(
            use.place("flags"),
            f"`{item}` in `flags` cannot be split as a shell would: {str(error).lower()}",
            help="close the quote, or write the flag and its value as two items of a list",
        )
        for item, error in open_
    ]


def without_owned(
    tokens: tuple[str, ...], owns: Mapping[str, Iterable[str]], use: Use
) -> tuple[tuple[str, ...], list[Diagnostic]]:
    """The tokens that no field of `owns` claims, and one diagnostic for each that it does."""
    spellings = [(field, Spelling.parse(text)) for field, texts in owns.items() for text in texts]
    kept: list[str] = []
    found: list[Diagnostic] = []
    while tokens:
        field, length = _claimed(tokens, spellings)
        if length:
            found.append(_owned(field, tokens[:length], use))
        else:
            length = 1
            kept.append(tokens[0])
        tokens = tokens[length:]
    return tuple(kept), found


def _claimed(tokens: tuple[str, ...], spellings: list[tuple[str, Spelling]]) -> tuple[str, int]:
    return max(
        ((field, spelling.length(tokens)) for field, spelling in spellings), key=lambda each: each[1], default=("", 0)
    )


def _owned(field: str, tokens: tuple[str, ...], use: Use) -> Diagnostic:
    flag = " ".join(tokens)
    if field in _OF_THE_LAUNCH:
        return rules.OWNED_FLAG.at(
            use.place("flags"), f"`{flag}` in `flags` is left out: the launch sets it", help="remove it from `flags`"
        )
    return rules.OWNED_FLAG.at(
        use.place("flags"),
        f"`{flag}` in `flags` is left out: the field `{field}` owns it",
        help=f"remove it from `flags` and write `{field}` instead",
    )
