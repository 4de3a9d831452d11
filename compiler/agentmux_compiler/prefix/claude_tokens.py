"""Tokens of Claude's models without the API, the same on every Python: the vendored counts of ctok, by words.

Every piece of these vocabularies has a word's opening marker at its start only and the closing one at its end only, so
no token spans two words: each word is tiled once, however often it stands in a text.
"""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass, field
from importlib.resources import files

from agentmux_compiler._vendor.ctok.constants import BOW_G, CAPS_G, EOW_G, MARKER_GLYPHS, SHIFT_G
from agentmux_compiler._vendor.ctok.engine import ByteFloor, ReverseTrie, char_cost, min_vocab_tile
from agentmux_compiler._vendor.ctok.normalize import nfc, stream_norm

METHOD = "ctok 1.3.0"
WORDS = re.compile(
    f"[{SHIFT_G}{CAPS_G}]*{BOW_G}[^{BOW_G}{EOW_G}{SHIFT_G}{CAPS_G}]*{EOW_G}?"
    f"|[^{BOW_G}{EOW_G}{SHIFT_G}{CAPS_G}]+{EOW_G}?"
    f"|[{EOW_G}{SHIFT_G}{CAPS_G}]"
)
# Characters younger than Unicode 14, which Python 3.11 knows, are counted as characters nobody will ever assign, so
# that a later Python's tables count the same.
YOUNG = re.compile(
    "[\u0558\u058b\u058c\u05c8\u05c9\u088f\u0897\u0b53\u0b54\u0c5c\u0cdc\u0cf3\u0ece\u1acf-\u1af0\u1b4e\u1b4f\u1b7f"
    "\u208f\u209d-\u209f\u20c1-\u20c4\u2427-\u2429\u2b96\u2e60-\u2e63\u2ffc-\u2fff\u31e4\u31e5\u31ef\ua7cc-\ua7cf"
    "\ua7d2\ua7d4\ua7da-\ua7dd\ua7e2\ua7f1\uab6c\uab6d\ufbc3-\ufbd2\ufd90\ufd91\ufdc8-\ufdce]"
)
YOUNG_ASTRAL = re.compile("[\U000105c0-\U000105f3\U00011380-\U000113e2\U00016100-\U00016139\U00016d40-\U00016d79]")
NEVER, NEVER_ASTRAL = "\ufdd8", "\U0001ffff"


@dataclass(slots=True)
class Model:
    """One vocabulary as the vendored functions want it, and the words it has tiled."""

    fold_quotes: bool
    allcaps_min: int | None
    unit_pieces: frozenset[str]
    bytes: ByteFloor
    trie: ReverseTrie
    frame_bow: bool = False
    words: dict[str, int] = field(default_factory=dict)
    _char_cost_cache: dict[str, int] = field(default_factory=dict)

    def tile(self, word: str) -> int:
        """Least number of pieces that make up a word of the marked stream."""
        known = self.words.get(word)
        if known is None:
            known = self.words[word] = min_vocab_tile(word, self.trie, lambda at: self._floor(word[at]))[0]
        return known

    def _floor(self, char: str) -> int:
        return 1 if char in MARKER_GLYPHS else char_cost(self, char)


@functools.cache
def model(vocabulary: str) -> Model:
    """Load `claude-3` (Claude 3 to Opus 4.6) or `claude-4.7` (Opus 4.7 and later)."""
    source = files("agentmux_compiler._vendor.ctok").joinpath(f"{vocabulary}.json")
    table = json.loads(source.read_text(encoding="utf-8"))
    pieces = table["pieces"]
    units = frozenset(piece for piece in pieces if len(piece) == 1 and piece not in MARKER_GLYPHS)
    floor = ByteFloor(table["bytes"], units)
    return Model(table["fold_quotes"], table["allcaps_min"], units, floor, ReverseTrie(pieces))


def count(text: str, vocabulary: str) -> int:
    """Tokens of `text` as it stands inside a prompt: without a message's frame, its last line end included."""
    counted = model(vocabulary)
    known = YOUNG_ASTRAL.sub(NEVER_ASTRAL, YOUNG.sub(NEVER, text))
    plain = nfc(known, fold_quotes=counted.fold_quotes)
    stream = stream_norm(plain, counted, raw_head_space=False)
    line_ends = len(plain) - len(plain.rstrip("\n"))
    tiled = sum(counted.tile(word) for word in WORDS.findall(stream))
    return tiled + (counted.tile("\n" * line_ends) if line_ends else 0)
