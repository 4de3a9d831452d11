from __future__ import annotations

import importlib.util
import random
import sys
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agentmux_compiler.lowered import PlanPrefix, PrefixSegment, ResumeRules
from agentmux_compiler.prefix.backends import load_backend
from agentmux_compiler.prefix.requests import Marks
from agentmux_compiler.prefix.reuse import Block, Request, Terms, match, reusable
from agentmux_compiler.prefix.scenarios import Billing, Caching, scenarios
from agentmux_compiler.segment import Text


def load_simulator():
    spec = importlib.util.spec_from_file_location("cache_simulator", Path(__file__).with_name("cache_simulator.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


simulator = load_simulator()
Part, Clock = simulator.Part, simulator.Clock
BlockCache, MarkerCache, UnitCache = simulator.BlockCache, simulator.MarkerCache, simulator.UnitCache


def blocks(*numbers, marked=()):
    return [Part((number,) * 100, marked=number in marked) for number in numbers]


def marker_cache(clock, **changes):
    return MarkerCache(clock, **{"minimum": 0, "window": 20, "automatic": False, "lifetime": 300, **changes})


def test_a_marker_finds_an_entry_twenty_positions_back_and_none_further():
    cache = marker_cache(Clock())
    assert cache.send(blocks(*range(10), marked=(9,))) == 0
    assert cache.send(blocks(*range(15), marked=(14,))) == 1000
    assert cache.ask(blocks(*range(34), marked=(33,))) == 1500
    assert cache.ask(blocks(*range(35), marked=(34,))) == 0
    assert cache.ask(blocks(*range(35), marked=(14, 34))) == 1500


def test_an_entry_is_written_at_its_marker_only_and_not_below_the_minimum():
    cache = marker_cache(Clock(), minimum=500)
    cache.send(blocks(*range(8), marked=(3, 7)))
    assert cache.ask(blocks(0, 1, 2, 3, 99, marked=(3, 99))) == 0
    assert cache.ask(blocks(*range(8), 99, marked=(99,))) == 800


def test_an_entry_lives_from_its_last_use():
    clock = Clock()
    cache = marker_cache(clock)
    cache.send(blocks(1, 2, marked=(2,)))
    clock.now = 299
    assert cache.ask(blocks(1, 2, marked=(2,))) == 200
    clock.now = 598
    assert cache.ask(blocks(1, 2, marked=(2,))) == 200
    clock.now = 899
    assert cache.ask(blocks(1, 2, marked=(2,))) == 0


def test_a_block_engine_serves_full_blocks_but_never_the_last_token():
    cache = BlockCache(step=16, computed=1)
    tokens = Part(tuple(range(64)))
    cache.send([tokens])
    assert cache.ask([tokens]) == 48
    assert cache.ask([tokens, Part((1,))]) == 64
    assert cache.ask([Part((*range(40), -1, *range(41, 64)))]) == 32


def test_a_unit_is_served_whole_from_the_third_request_with_that_beginning_on():
    cache = UnitCache()
    a, b, c, d = (tuple(letter * 50) for letter in "abcd")
    assert [cache.send([Part(a + tail)]) for tail in (b, c, d)] == [0, 0, 50]
    assert cache.ask([Part(a + b + d)]) == 100


@dataclass(frozen=True)
class Case:
    """A backend with what its maker documents for one model, as the simulator takes it."""

    backend: str
    model: str
    kind: str
    minimum: int = 0
    step: int = 1
    computed: int = 0
    automatic: bool = False
    window: int | None = 20
    lifetime: float = 300
    effort: str = "key"


CASES = (
    Case("anthropic", "claude-opus-5", "markers", minimum=512),
    Case("anthropic", "claude-opus-4-8", "markers", minimum=1024),
    Case("anthropic", "claude-haiku-4-5", "markers", minimum=4096),
    Case("openai-5.6", "gpt-5.6-sol", "markers", minimum=1024, automatic=True, window=None, lifetime=1800),
    Case("openai", "gpt-5.5", "blocks", minimum=1024, step=128),
    Case("vllm", "qwen3-coder-plus", "blocks", minimum=16, step=16, computed=1, effort="unknown"),
    Case("vllm", "glm-5.3", "blocks", minimum=16, step=16, computed=1),
    Case("sglang", "glm-5.3", "blocks", computed=1),
    Case("llama.cpp", "gemma-4", "blocks", computed=1, effort="unknown"),
    Case("moonshot", "kimi-k3", "blocks", minimum=256, step=256, effort="none"),
    Case("deepseek", "deepseek-v4-pro", "units", effort="unknown"),
)


@dataclass(frozen=True)
class Item:
    """A part of a plan: text of ours, or an opaque one with a size; one layer each."""

    layer: str
    name: str
    text: str | None = None
    size: int = 0
    marked: bool = False
    prompt: bool = False


class Letters:
    """A tokenizer with a token for each character and each byte of what is opaque."""

    def count(self, text):
        return len(text)

    def estimate(self, size):
        return size


LAYERS = ("environment", "instructions", "skills", "mcp", "startup")


def any_plan(chance, case):
    """Tools and system text, then parts of changing layers, the prompt somewhere among them, markers anywhere."""
    largest = 3000 if case.step > 1 or case.kind == "markers" else 300
    items = [
        Item("tools", "tools", size=chance.randrange(largest)),
        Item("system", "base", size=chance.randrange(largest)),
    ]
    for index in range(chance.randrange(2, 9)):
        layer = LAYERS[index % len(LAYERS)]
        if chance.random() < 0.6:
            items.append(Item(layer, f"text {index}", text=any_text(chance, largest)))
        else:
            items.append(Item(layer, f"part {index}", size=chance.randrange(largest)))
    items.insert(chance.randrange(2, len(items) + 1), Item("conversation", "prompt", size=40, prompt=True))
    return [with_marker(item, chance) for item in items]


def any_text(chance, largest):
    return "".join(chance.choices("ab", k=chance.randrange(1, largest)))


def with_marker(item, chance):
    marked = item.text is None and not item.prompt and chance.random() < 0.3
    return replace(item, marked=marked)


def changed(items, chance):
    """The plan after one change of its texts, or as it was, and the layers that the change is in."""
    places = [index for index, item in enumerate(items) if item.text is not None and item.layer != "startup"]
    if not places or chance.random() < 0.1:
        return items, frozenset()
    place = chance.choice(places)
    item, following = items[place], items[place + 1 : place + 2]
    new = Item("extra", "text new", text=any_text(chance, 300))
    ways = [[replace(item, text=edited(item.text, chance))], [], [item, new], [new, item]]
    if following and place + 1 in places:
        return [*items[:place], *following, item, *items[place + 2 :]], frozenset({item.layer, following[0].layer})
    way = chance.choice(ways)
    layers = {each.layer for each in (*way, item) if (each in way) != (each is item)}
    return [*items[:place], *way, *items[place + 1 :]], frozenset(layers)


def edited(text, chance):
    at = chance.randrange(len(text) + 1)
    return chance.choice((text[:at] + "c" + text[at:], text[:at] + "c" + text[at + 1 :], text + "d", "c" + text))


def plan(items, case, effort):
    segments = tuple(
        PrefixSegment(item.layer, f"cli 1/{item.name}", None, item.size)
        if item.text is None
        else PrefixSegment(item.layer, item.name, Text(item.text, "x.md", (1,)), len(item.text))
        for item in items
    )
    return PlanPrefix("a", "p", "v", case.backend, case.model, effort, "ask", "file", ".", "1", (), (), segments)


def parts(items, prompt):
    return [Part(tokens(item, prompt), marked=item.marked) for item in items]


def tokens(item, prompt):
    if item.text is not None:
        return tuple(item.text)
    return tuple((item.name, prompt if item.prompt else 0, index) for index in range(item.size))


class World:
    """One cache, in which sessions of the plan as it was have run."""

    def __init__(self, case, before, effort):
        self.case, self.clock = case, Clock()
        if case.kind == "markers":
            self.cache = MarkerCache(self.clock, case.minimum, case.window, case.automatic, case.lifetime)
        elif case.kind == "units":
            self.cache = UnitCache()
            self.cache.send(parts(before, "earlier"), self.key(effort))
        else:
            self.cache = BlockCache(case.step, case.computed, case.minimum)
        self.cache.send(parts(before, "first"), self.key(effort))

    def key(self, effort):
        return (self.case.model, effort if self.case.effort == "key" else None)

    def ask(self, request, effort, age):
        """What one request is served `age` seconds later, in a world of its own."""
        self.clock.now = age
        cache = copy(self.cache)
        if self.case.kind == "markers":
            cache.entries = dict(self.cache.entries)
        return cache.ask(request, self.key(effort))


def turned(items):
    """The request of the next turn; the marker at the end moves along."""
    return [*parts(items, "first"), Part(("turn",), marked=items[-1].marked)]


def expected(case, plans, rule, efforts, age):
    """What the simulator serves: kind of session to tokens without and with the change."""
    before, after = plans
    goes_on = after if rule == "rewritten" else before
    asks = {
        "relaunch": (parts(before, "first"), parts(after, "first")),
        "new_prompt": (parts(before, "second"), parts(after, "second")),
        "resume": (turned(before), turned(goes_on)),
    }
    world = World(case, before, efforts[0])
    return {
        name: tuple(world.ask(request, effort, age) for request, effort in zip(pair, efforts, strict=True))
        for name, pair in asks.items()
    }


def grown(before, after, layers, rule):
    """Tokens that come on top: what got longer, or all of an edited layer once more behind the conversation."""
    longer = max(0, sum(len(item.text or "") for item in after) - sum(len(item.text or "") for item in before))
    again = sum(len(item.text or "") for item in after if item.layer in layers)
    resumed = {"rewritten": longer, "appended": again, "ignored": 0}
    return {"relaunch": longer, "new_prompt": longer, "resume": resumed[rule]}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.backend}-{case.model}")
def test_predictions_agree_with_a_cache_that_was_really_filled(case):
    chance = random.Random(case.model)  # noqa: S311  the same plans on every run
    backend = load_backend(case.backend)
    for _ in range(50):
        before = any_plan(chance, case)
        after, layers = changed(before, chance)
        rule = chance.choice(("appended", "rewritten", "ignored"))
        efforts = ("low", chance.choice(("low", "low", "low", "high")))
        age = chance.choice((0, 0, 0, case.lifetime, case.lifetime + 1)) if case.kind == "markers" else 0
        marks = Marks(frozenset(item.name for item in before if item.marked), frozenset({"prompt"}))
        caching = Caching(backend, marks, ResumeRules(rule, "n/a"))
        plans = [plan(items, case, effort) for items, effort in zip((before, after), efforts, strict=True)]
        found = scenarios(*plans, caching, Letters(), Billing(age=age))
        unknown = case.effort == "unknown" and efforts[0] != efforts[1]
        truth = expected(case, (before, after), rule, efforts, age)
        served = {name: (found[name].reusable_before, found[name].reusable_after) for name in truth}
        lost = {name: found[name].lost for name in truth}
        assert served == {name: (old, None if unknown else new) for name, (old, new) in truth.items()}
        assert lost == {name: None if unknown else max(0, old - new) for name, (old, new) in truth.items()}
        assert {name: found[name].added for name in truth} == grown(before, after, layers, rule)


def test_look_back_implicit_markers_and_minimum_agree_for_any_window():
    chance = random.Random("windows")  # noqa: S311
    for _ in range(500):
        window, automatic = chance.choice((1, 2, 3, 5, None)), chance.random() < 0.5
        written = [Part((chance.randrange(9),) * chance.randrange(20), chance.random() < 0.3) for _ in range(10)]
        minimum = sum(len(part.tokens) for part in written[: chance.randrange(10)])
        rules = Terms("breakpoints", 1, 0, minimum, automatic, window, None, (), "5m", 300)
        kept = written[: chance.randrange(11)]
        asked = kept + [Part((n,) * 5, chance.random() < 0.3) for n in range(10, 10 + chance.randrange(5))]
        cache = marker_cache(Clock(), minimum=minimum, window=window, automatic=automatic)
        cache.send(written)
        old, new = (Request(tuple(map(block, each))) for each in (written, asked))
        assert reusable(old, new, match(old, new), rules) == cache.ask(asked)


def block(part):
    return Block("messages", len(part.tokens), part.tokens, part.marked)
