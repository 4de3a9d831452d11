"""Messages of Claude's dialect: pieces as they stream, whole ones after, each said and counted once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentmux_launcher.events import Event, Notice, Retry, Text, Thinking, ToolCall, ToolResult, Unknown, Usage
from agentmux_launcher.translators.claude_figures import call_figures, closing
from agentmux_launcher.translators.values import count, first, mapping, mappings, parsed, shown
from agentmux_launcher.usage import Tokens, normal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentmux_launcher.usage import Convention

SILENT_EVENTS = {"goal_state", "ping"}
SILENT_DELTAS = {"citations_delta", "signature_delta"}
SAID: dict[str, Callable[..., Text | Thinking]] = {"text": Text, "thinking": Thinking}


@dataclass(slots=True)
class Block:
    """A block that streams; `parts` are the pieces of a tool's input."""

    value: Mapping[str, Any]
    parts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Message:
    """A message under way. `spoken` holds what was said and has not come again in a whole message, by kind.

    `final` says that its figures include all that came out.
    """

    id: str | None = None
    model: str | None = None
    said: Tokens = field(default_factory=Tokens)
    final: bool = False
    counted: bool = False
    blocks: dict[Any, Block] = field(default_factory=dict)
    spoken: dict[str, list[str]] = field(default_factory=dict)

    def unspoken(self, kind: str, text: str) -> str:
        """What of a block of the whole message did not stream before."""
        said = "".join(self.spoken.get(kind, ()))
        if said.startswith(text):
            self.spoken[kind] = [said[len(text) :]]
            return ""
        self.spoken[kind] = []
        return text[len(said) :] if text.startswith(said) else ""


class Messages:
    """The messages under way, one for each sub-agent and one for the agent (parent None)."""

    def __init__(self, convention: Convention, own_words: str | None) -> None:
        self._convention = convention
        self._own_words = own_words
        self._open: dict[str | None, Message] = {}
        self._counted: set[str] = set()
        self._called: set[str] = set()
        self._abandoned: str | None = None
        self.spoke = False
        self._readers: dict[str, Callable[[Mapping[str, Any], str | None], Iterator[Event]]] = {
            "content_block_delta": self._delta,
            "content_block_start": self._block,
            "content_block_stop": self._block_end,
            "message_delta": self._figures,
            "message_start": self._start,
            "message_stop": self._stop,
        }

    def stream(self, frame: Mapping[str, Any]) -> Iterator[Event]:
        """One event of a stream."""
        event = mapping(frame.get("event"))
        kind = str(event.get("type"))
        read = self._readers.get(kind)
        if read:
            # What was abandoned stands beside the event, in the frame.
            value = frame if kind == "message_stop" else event
            yield from read(value, first(frame.get("parent_tool_use_id")))
        elif kind not in SILENT_EVENTS:
            yield Unknown(frame)

    def whole(self, value: Mapping[str, Any], parent: str | None) -> Iterator[Event]:
        """A message, or one block of it, after it streamed or instead."""
        message = self._open.get(parent)
        streamed = message is not None and message.id == first(value.get("id"))
        if message is None or not streamed:
            yield from self.retried()
            message = _begun(value)
        for block in mappings(value.get("content")):
            yield from self._whole_block(block, message, parent)
        if self._convention.whole_message:
            message.said = call_figures(value.get("usage"))
        if self._convention.whole_message or not streamed:
            message.final = self._convention.whole_message or first(value.get("stop_reason")) is not None
            yield from self._count(message, parent)

    def retried(self, retry: Retry | None = None) -> Iterator[Event]:
        """A retry that the CLI reports (or that a new message after an abandoned one shows)."""
        abandoned, self._abandoned = self._abandoned, None
        if retry:
            yield Retry(retry.attempt, retry.status, retry.retry_after_ms, retry.reason, abandoned)
        elif abandoned:
            yield Retry(abandoned=abandoned)

    def turn_ended(self) -> Iterator[Event]:
        """A call that no frame closed was made all the same. Sub-agents may go on."""
        if message := self._open.pop(None, None):
            yield from self._count(message, None)
        self._abandoned, self.spoke = None, False

    def all_ended(self) -> Iterator[Event]:
        for parent, message in self._open.items():
            yield from self._count(message, parent)

    def _start(self, event: Mapping[str, Any], parent: str | None) -> Iterator[Event]:
        if parent in self._open:
            yield from self._count(self._open[parent], parent)
        yield from self.retried()
        self._open[parent] = _begun(mapping(event.get("message")))

    def _block(self, event: Mapping[str, Any], parent: str | None) -> Iterator[Event]:
        block = Block(mapping(event.get("content_block")))
        message = self._message(parent)
        message.blocks[count(event.get("index"))] = block
        kind = str(block.value.get("type"))
        if kind in SAID and (text := first(block.value.get(kind))):
            yield self._say(kind, text, message, parent)

    def _delta(self, event: Mapping[str, Any], parent: str | None) -> Iterator[Event]:
        delta = mapping(event.get("delta"))
        kind = str(delta.get("type"))
        said = kind.removesuffix("_delta")
        if said in SAID:
            if text := first(delta.get(said)):
                yield self._say(said, text, self._message(parent), parent)
        elif kind == "input_json_delta":
            block = self._message(parent).blocks.setdefault(count(event.get("index")), Block({}))
            block.parts.append(first(delta.get("partial_json")) or "")
        elif kind not in SILENT_DELTAS:
            yield Unknown(event)

    def _block_end(self, event: Mapping[str, Any], parent: str | None) -> Iterator[Event]:
        block = self._message(parent).blocks.get(count(event.get("index")))
        if block and str(block.value.get("type")).endswith("tool_use"):
            text = "".join(block.parts)
            yield from self._call(block.value, parsed(text) if text else block.value.get("input"), parent)

    def _figures(self, event: Mapping[str, Any], parent: str | None) -> Iterator[Event]:
        message = self._message(parent)
        message.said = closing(message.said, call_figures(event.get("usage")))
        message.final = first(mapping(event.get("delta")).get("stop_reason")) is not None
        yield from ()

    def _stop(self, frame: Mapping[str, Any], parent: str | None) -> Iterator[Event]:
        message = self._message(parent)
        yield from self._count(message, parent)
        given_up = frame.get("abandoned_blocks")
        since = count(mapping(given_up).get("from_block_index")) or 0
        if isinstance(given_up, dict) and since < len(message.blocks):
            self._abandoned = message.id

    def _whole_block(self, block: Mapping[str, Any], message: Message, parent: str | None) -> Iterator[Event]:
        kind = str(block.get("type"))
        if kind in SAID:
            if text := message.unspoken(kind, first(block.get(kind)) or ""):
                yield self._event(kind, text, message, parent)
        elif kind.endswith("tool_use"):
            yield from self._call(block, block.get("input"), parent)
        elif kind.endswith("tool_result"):
            yield tool_result(block, parent)
        elif kind != "redacted_thinking":
            yield Unknown(block)

    def _message(self, parent: str | None) -> Message:
        return self._open.setdefault(parent, Message())

    def _say(self, kind: str, text: str, message: Message, parent: str | None) -> Event:
        message.spoken.setdefault(kind, []).append(text)
        return self._event(kind, text, message, parent)

    def _event(self, kind: str, text: str, message: Message, parent: str | None) -> Event:
        if self._own_words and text.startswith(self._own_words):
            return Notice(text, "cli")
        self.spoke = self.spoke or parent is None
        return SAID[kind](text, message.id, parent)

    def _call(self, block: Mapping[str, Any], given: Any, parent: str | None) -> Iterator[Event]:
        call = first(block.get("id")) or ""
        if call not in self._called:
            self._called.add(call)
            self.spoke = self.spoke or parent is None
            yield ToolCall(call, first(block.get("name")) or "", {} if given is None else given, parent)

    def _count(self, message: Message, parent: str | None) -> Iterator[Event]:
        tokens = normal(message.said, self._convention)
        if not tokens.prompt or message.counted or message.id in self._counted:
            return
        message.counted = True
        if message.id:
            self._counted.add(message.id)
        out = (tokens.output, tokens.reasoning) if message.final else (None, None)
        yield Usage(
            "call",
            *_inputs(tokens),
            *out,
            context_tokens=tokens.prompt,
            model=message.model,
            message_id=message.id,
            parent=parent,
        )


def _begun(value: Mapping[str, Any]) -> Message:
    return Message(first(value.get("id")), first(value.get("model")), call_figures(value.get("usage")))


def _inputs(tokens: Tokens) -> tuple[int | None, int | None, int | None, int | None]:
    return tokens.input, tokens.cache_read, tokens.cache_write, tokens.cache_write_1h


def tool_result(block: Mapping[str, Any], parent: str | None) -> ToolResult:
    """What a tool gave back. A result without a mark is one that went well."""
    call = first(block.get("tool_use_id")) or ""
    return ToolResult(call, block.get("is_error") is not True, shown(block.get("content")), parent)
