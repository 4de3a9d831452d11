"""Tool calls and thoughts, folded: each is one line once it is over, and one row below while it goes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentmux.live import words
from agentmux.live.status import duration

if TYPE_CHECKING:
    from rich.text import Text

    from agentmux_launcher.events import Step, Thinking, ToolCall, ToolResult

INNER = "  ◦ "


@dataclass(slots=True)
class Running:
    """A call whose result is to come; `inner` counts what its sub-agents call. `began` is None if nobody timed it."""

    name: str
    given: Any
    began: float | None
    inner: int = 0


@dataclass(slots=True)
class Folding:
    """What goes on. Functions that end something give the lines that stay."""

    calls: dict[str, Running] = field(default_factory=dict)
    _roots: dict[str, str] = field(default_factory=dict)
    _inner: dict[str, Running] = field(default_factory=dict)
    _thought: list[str] = field(default_factory=list)
    _thinks_since: float | None = None
    _plan: tuple[str, ...] = ()

    def called(self, event: ToolCall, now: float | None) -> None:
        root = self._roots.get(event.parent or "", event.parent)
        running = Running(event.name, event.input, now)
        if root in self.calls:
            self.calls[root].inner += 1
            self._roots[event.id] = root
        elif event.parent is not None:
            self._inner[event.id] = running
        else:
            self.calls[event.id] = running

    def given(self, call: str | None) -> Any:
        """The input of a call that runs."""
        running = self.calls.get(call or "") or self._inner.get(call or "")
        return running.given if running else None

    def answered(self, call: str | None, now: float | None) -> None:
        """It was asked whether a call may be made; the time that took is not the call's."""
        for running in (self.calls.get(call or ""), self._inner.get(call or "")):
            if running:
                running.began = now

    def returned(self, event: ToolResult, now: float | None, width: int) -> list[Text]:
        if event.id in self._roots:
            return []
        mark = INNER if event.id in self._inner else words.MARK
        running = self.calls.pop(event.id, None) or self._inner.pop(event.id, None) or Running("tool", "", None)
        line = words.call(running.name, running.given, width, mark)
        line.append_text(words.outcome(event.ok, _since(running.began, now), running.inner))
        return [line, *(words.output(event.output) if event.ok is False else ())]

    def thinks(self, event: Thinking, now: float | None) -> None:
        if not self._thought:
            self._thinks_since = now
        self._thought.append(event.text)

    def thought(self, now: float | None, width: int) -> list[Text]:
        """The thought that is over, if there was one."""
        text, self._thought = "".join(self._thought), []
        return [words.thought(text, width, _since(self._thinks_since, now))] if text.strip() else []

    def planned(self, steps: tuple[Step, ...], width: int) -> list[Text]:
        """A plan with other steps whole; later only how far it has come."""
        before, self._plan = self._plan, tuple(step.text for step in steps)
        if not steps:
            return []
        progress = words.progress(steps, width)
        return [progress] if before == self._plan else [progress, *words.steps(steps, width)]

    def end(self, width: int) -> list[Text]:
        """Nothing of it goes on any more, and what has no result will have none."""
        left = [*self.calls.values(), *self._inner.values()]
        lines = [words.call(each.name, each.given, width).append("  no result", "yellow") for each in left]
        self.calls.clear()
        self._inner.clear()
        return lines

    def row(self, now: float | None, width: int) -> Text | None:
        """What goes on now."""
        if self._thought:
            return words.thought("".join(self._thought), width, _since(self._thinks_since, now), last=True)
        if not self.calls:
            return None
        oldest = next(iter(self.calls.values()))
        line = words.call(oldest.name, oldest.given, width)
        seconds = _since(oldest.began, now)
        more = len(self.calls) - 1
        line.append(f"  {duration(seconds)}" if seconds is not None else "", "dim")
        line.append(f", {oldest.inner} calls" if oldest.inner else "", "dim")
        line.append(f", {more} more" if more else "", "dim")
        return line


def _since(began: float | None, now: float | None) -> float | None:
    return None if began is None or now is None else max(0.0, now - began)
