"""Untrusted text made safe to show: what drives a terminal or hides in a line is written out, never obeyed."""

from __future__ import annotations

import re
import unicodedata

TAB = " " * 4

_CONTROL = r"\x00-\x1f\x7f-\x9f"
UNPAIRED = r"\ud800-\udfff"
# Bidi controls, zero-width characters, fillers that look like nothing, variation selectors and tag characters.
HIDDEN = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_UNSAFE = re.compile(f"[{_CONTROL}{UNPAIRED}{HIDDEN}]")
_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
_JOINER = "\u200d"
_EMOJI_STYLE = "\ufe0f"


def visible(text: str) -> str:
    r"""The text on one line: controls as `\x1b`, hidden characters as `<U+202E>`; a well-formed emoji stays whole."""
    return _UNSAFE.sub(_shown, text)


def source_line(line: str) -> str:
    """A line of a source as it is shown: tabs as four spaces, everything else as `visible` has it."""
    return visible(line.replace("\t", TAB))


def with_white_space(text: str) -> str:
    """The text with its white space drawn, for a change that is nothing else."""
    drawn = text.replace(" ", "·").replace("\t", "→").replace("\r", "␍").replace("\n", "␤")
    return visible(drawn)


def cells(text: str) -> int:
    """Columns that already visible text takes on a terminal."""
    return len(text) if text.isascii() else sum(_width(text, index) for index in range(len(text)))


def padded(text: str, width: int) -> str:
    return text + " " * (width - cells(text))


def head(text: str, width: int) -> str:
    """As much of the beginning as fits `width` columns, with `…` where something was cut."""
    if cells(text) <= width:
        return text
    end = 0
    while cells(text[: end + 1]) < width:
        end += 1
    return text[:end] + "…"


def tail(text: str, width: int) -> str:
    """As much of the end as fits `width` columns, with `…` where something was cut."""
    if cells(text) <= width:
        return text
    start = len(text)
    while cells(text[start - 1 :]) < width:
        start -= 1
    return "…" + text[start:]


def _shown(match: re.Match[str]) -> str:
    character = match[0]
    if character in {_JOINER, _EMOJI_STYLE} and _belongs_to_emoji(match.string, match.start()):
        return character
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    return f"\\x{code:02x}" if code <= 0x9F else f"<U+{code:04X}>"  # noqa: PLR2004  the last C1 control


def _belongs_to_emoji(text: str, index: int) -> bool:
    """Whether the joiner or style selector at `index` stands where an emoji sequence has one."""
    before = text[index - 1 : index]
    if text[index] == _EMOJI_STYLE:
        return bool(before) and (before in "0123456789#*" or unicodedata.category(before) in {"So", "Sm", "Po"})
    after = text[index + 1 : index + 2]
    joined = before == _EMOJI_STYLE or (bool(before) and unicodedata.category(before) in {"So", "Sk"})
    return joined and bool(after) and unicodedata.category(after) == "So"


def _width(text: str, index: int) -> int:
    character = text[index]
    before = text[index - 1 : index]
    if character == _EMOJI_STYLE:
        return 1 if before and _width(text, index - 1) == 1 else 0
    if before == _JOINER or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
