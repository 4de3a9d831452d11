"""Characters that a reader cannot see and a model reads all the same."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import Diagnostic, Span

if TYPE_CHECKING:
    from collections.abc import Iterable

# Fixed ranges, not `unicodedata.category`: the answer must not depend on the version of Python.
_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
_JOINING = (  # Arabic to Myanmar, Khmer, Mongolian and the like, which spell with joiners
    "\u0600-\u109f\u1780-\u17b3\u17b6-\u180a\u1810-\u18af\u1a00-\u1bff\ua800-\ua9ff\uaa00-\uabff\ufb50-\ufdff"
)
_IDEOGRAPHS = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_REGION_FLAGS = "|".join(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
_LAWFUL = "|".join(
    (
        _REGION_FLAGS,
        f"(?<=[0-9#*{_EMOJI}])[\ufe0e\ufe0f]",
        f"(?<=[\ufe0f{_EMOJI}])\u200d(?=[{_EMOJI}])",
        f"(?<=[{_JOINING}])[\u200c\u200d]",
        "(?<=[\u1820-\u18aa])[\u180b-\u180f]",
        f"(?<=[{_IDEOGRAPHS}])[\U000e0100-\U000e01ef]",
    )
)
_ANY = re.compile(f"[{_HIDDEN}]")
_RUN = re.compile(f"(?:{_LAWFUL})|(?P<hidden>[{_HIDDEN}]+)")
_SHOWN = 8


def find_hidden(path: str, text: str, *, line: int = 1, allowed: Iterable[str] = ()) -> list[Diagnostic]:
    """One AMX305 for each line with invisible characters outside of `allowed`; `line` is that of the first."""
    if not _ANY.search(text):
        return []
    lawful = frozenset(allowed)
    found = (_in_line(path, line + index, each, lawful) for index, each in enumerate(text.split("\n")))
    return [item for item in found if item]


def hidden_characters(text: str) -> tuple[str, ...]:
    """Every invisible character of `text` that no emoji and no script needs there, in order."""
    return tuple(
        character for match in (_RUN.finditer(text) if _ANY.search(text) else ()) for character in match["hidden"] or ()
    )


def visible(text: str) -> str:
    """The same text with a space for every control character and line separator, so that columns stay."""
    return _UNPRINTABLE.sub(" ", text)


_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def character_of(name: str) -> str | None:
    """The character that `U+200B` or `ZERO WIDTH SPACE` names, or None."""
    code = re.fullmatch(r"[Uu]\+([0-9A-Fa-f]{4,6})", name.strip())
    if code:
        point = int(code[1], 16)
        return chr(point) if point <= 0x10FFFF else None  # noqa: PLR2004  the last code point
    try:
        return unicodedata.lookup(name.strip())
    except KeyError:
        return None


def described(character: str) -> str:
    name = unicodedata.name(character, "control character").lower()
    return f"`U+{ord(character):04X}` ({name})"


def refused(span: Span, characters: Iterable[str]) -> Diagnostic:
    """The AMX305 that lists `characters`."""
    names = list(dict.fromkeys(characters))
    codes = ", ".join(f"U+{ord(each):04X}" for each in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    plural = "s" if len(names) > 1 else ""
    return rules.HIDDEN_UNICODE.at(
        span,
        f"invisible character{plural} {', '.join(described(each) for each in names[:_SHOWN])}{more}",
        help=f"remove what nobody meant; a bundle's front matter can allow the rest: `allow_unicode: [{codes}]`",
    )


def _in_line(path: str, line: int, text: str, lawful: frozenset[str]) -> Diagnostic | None:
    runs = [match for match in _RUN.finditer(text) if match["hidden"] and not lawful.issuperset(match["hidden"])]
    if not runs:
        return None
    start, end = runs[0].span()
    characters = [each for run in runs for each in run["hidden"] if each not in lawful]
    return refused(Span(path, line, start + 1, line, end + 1), characters)
