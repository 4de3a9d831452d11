"""One translator for each dialect, by the name that a provider's `frames` gives it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from agentmux_launcher.translators.acp.translator import AcpTranslator
from agentmux_launcher.translators.antigravity import AntigravityTranslator
from agentmux_launcher.translators.base import Translator
from agentmux_launcher.translators.claude import ClaudeTranslator
from agentmux_launcher.translators.codex import CodexTranslator
from agentmux_launcher.translators.gemini import GeminiTranslator
from agentmux_launcher.translators.kimi import KimiTranslator
from agentmux_launcher.translators.plain import PlainTranslator
from agentmux_launcher.usage import FRESH, Convention, Start


@dataclass(frozen=True, slots=True)
class Dialect:
    """How frames are read, and what their figures mean unless a plan says otherwise.

    `framed` is false for a CLI whose output is its screen.
    """

    make: Callable[[Convention, Start], Translator]
    convention: Convention
    framed: bool = True


DIALECTS: dict[str, Dialect] = {
    "claude-stream-json": Dialect(
        ClaudeTranslator,
        Convention("measured 2.1.332, 2026-11-30", "turn", input_includes_cached=False),
    ),
    "qwen-stream-json": Dialect(
        partial(ClaudeTranslator, own_words="[API Error: "),
        Convention("measured 0.24.4, 2026-11-30", "cumulative", input_includes_cached=True, whole_message=True),
    ),
    "codex-json": Dialect(
        CodexTranslator,
        Convention("measured 0.171.0, 2026-11-30", "cumulative", input_includes_cached=True),
    ),
    "gemini-json": Dialect(
        GeminiTranslator,
        Convention(
            "measured 0.61.0, 2026-11-30", "process", input_includes_cached=True, output_includes_reasoning=False
        ),
    ),
    "kimi-stream-json": Dialect(
        KimiTranslator,
        Convention("measured 2.1.0, 2026-11-30", "none", input_includes_cached=True),
    ),
    "agy-stream-json": Dialect(
        AntigravityTranslator,
        Convention("read in recordings of 1.1.11, 2026-10-06", "calls", input_includes_cached=False),
    ),
    "acp": Dialect(
        AcpTranslator,
        Convention("each agent has its own, which its plan says", "none", input_includes_cached=None),
    ),
    "none": Dialect(
        PlainTranslator,
        Convention("no frames", "none", input_includes_cached=False),
        framed=False,
    ),
}


def translator(
    dialect: str, start: Start = FRESH, convention: Convention | None = None, own_words: tuple[str, ...] = ()
) -> Translator:
    """A translator for one process.

    Raises:
        KeyError: no dialect of that name.
    """
    known = DIALECTS[dialect]
    made = known.make(convention or known.convention, start)
    made.own_words = own_words
    return made
