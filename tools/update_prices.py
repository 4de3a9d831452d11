"""Write `prices.json` from two open price lists, or say whether it is stale.

    python -m venv prices && prices/bin/pip install genai-prices && prices/bin/pip download --no-deps litellm
    prices/bin/python tools/update_prices.py --litellm litellm-*.whl --as-of 2026-11-30 [--check]

Both lists are MIT. `genai-prices` has dated prices and times of day; `litellm` (only the JSON inside its wheel is read)
fills what that lacks: Qwen on DashScope, and what OpenAI bills for entries of twelve hours.
"""

from __future__ import annotations

import argparse
import datetime as dt
import importlib.metadata
import json
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[1] / "compiler/agentmux_compiler/prefix/prices.json"
LITELLM_JSON = "litellm/model_prices_and_context_window_backup.json"
VENDORS = {
    "anthropic": ("anthropic", "claude"),
    "deepseek": ("deepseek", "deepseek"),
    "google": ("google", "gemini"),
    "moonshotai": ("moonshot", "kimi"),
    "openai": ("openai", ""),
    "x-ai": ("xai", "grok"),
    "zai": ("zai", "glm"),
}
SHORT_WRITE = {"anthropic": "5m", "moonshot": "5m", "openai": "30m"}
WANTED = re.compile(
    r"claude-(3-[57]|fable|haiku|mythos|opus|sonnet)|gpt-(4\.1|4o|[5-9])|o[34](-|$)|codex|gemini-(2\.5|[3-9])|kimi"
    r"|deepseek|grok-([4-9]|code|build)|glm-(4\.[5-9]|[5-9])|qwen"
)
UNWANTED = re.compile(
    r"audio|cyber|embedding|image|live|ocr|omni|realtime|robotics|rosalind|search|speech|transcribe|tts|video|vl|voice"
    r"|deep-research|\dv(-|$)|mt-|:extended|ft-"
)
PER_MILLION = 1_000_000


def wanted(model: str) -> bool:
    return bool(WANTED.match(model.lower())) and not UNWANTED.search(model.lower())


def figure(value: Any) -> float | None:
    return None if value is None else round(float(value), 9)


def globs(clause: Any) -> list[str]:
    """A matching clause of genai-prices as globs; of an `and`, its beginning alone."""
    kind = type(clause).__name__
    if kind == "ClauseOr":
        return [glob for each in clause.or_ for glob in globs(each)]
    if kind == "ClauseAnd":
        return globs(clause.and_[0])
    if kind == "ClauseRegex":
        return [from_regex(clause.regex)]
    field, form = {
        "ClauseEquals": ("equals", "{}"),
        "ClauseStartsWith": ("starts_with", "{}*"),
        "ClauseEndsWith": ("ends_with", "*{}"),
        "ClauseContains": ("contains", "*{}*"),
    }[kind]
    return [form.format(getattr(clause, field).lower())]


def from_regex(regex: str) -> str:
    """An anchored pattern of literals and digits as a glob.

    Raises:
        ValueError: it holds anything else; look at it, and teach this function.
    """
    glob = re.sub(r"\\d\{(\d)\}", lambda found: "[0-9]" * int(found[1]), regex.removeprefix("^"))
    glob = glob.replace(r"\d", "[0-9]").replace(r"\.", ".")
    glob = glob.removesuffix("$") if glob.endswith("$") else glob + "*"
    if re.search(r"[\\(){}|+?^$]", glob):
        raise ValueError(f"cannot write {regex!r} as a glob")
    return glob.lower()


def tiers(prices: Any, vendor: str) -> list[dict[str, Any]]:
    """The rates of one price of genai-prices, one entry per length of prompt."""
    names = {"input": "input_mtok", "output": "output_mtok", "read": "cache_read_mtok"}
    short = SHORT_WRITE.get(vendor)
    writes = {short: "cache_write_mtok", "1h": "cache_write_1h_mtok"} if short else {}
    used = [getattr(prices, name) for name in (*names.values(), *writes.values())]
    starts = sorted({0, *(tier.start for value in used for tier in getattr(value, "tiers", ()))})
    rows = []
    for start in starts:
        row = {key: at(getattr(prices, name), start) for key, name in names.items()}
        write = {key: at(getattr(prices, name), start) for key, name in writes.items()}
        row["write"] = {key: value for key, value in write.items() if value is not None}
        rows.append({**row, "above": start})
    return rows


def at(value: Any, start: int) -> float | None:
    if not hasattr(value, "tiers"):
        return figure(value)
    reached = [tier.price for tier in sorted(value.tiers, key=lambda tier: tier.start) if tier.start <= start]
    return figure(reached[-1] if reached else value.base)


def from_genai(source: str) -> list[dict[str, Any]]:
    from genai_prices.data import providers  # noqa: PLC0415

    return [
        genai_row(model, VENDORS[provider.id][0], source)
        for provider in providers
        if provider.id in VENDORS
        for model in provider.models
        if model.id.lower().startswith(VENDORS[provider.id][1]) and wanted(model.id) and priced(model)
    ]


def priced(model: Any) -> bool:
    """Whether text goes in and out at a price."""
    prices = model.prices[-1].prices if isinstance(model.prices, list) else model.prices
    return prices.input_mtok is not None and prices.output_mtok is not None


def genai_row(model: Any, vendor: str, source: str) -> dict[str, Any]:
    conditional = model.prices if isinstance(model.prices, list) else None
    dated, windows = [], []
    for each in conditional or [None]:
        rates = tiers(each.prices if each else model.prices, vendor)
        constraint = each and each.constraint
        if hasattr(constraint, "start_time"):
            clock = {"start": f"{constraint.start_time:%H:%M}", "end": f"{constraint.end_time:%H:%M}"}
            windows.append({**clock, "rates": rates})
        else:
            dated.append({"since": constraint.start_date.isoformat() if constraint else None, "rates": rates})
    match = list(dict.fromkeys(globs(model.match)))
    row = {"vendor": vendor, "model": model.id.lower(), "match": match, "prices": dated, "source": source}
    return {**row, "windows": windows} if windows else row


def from_litellm(prices: dict[str, Any], source: str) -> list[dict[str, Any]]:
    """Qwen on DashScope."""
    rows = []
    for key, entry in prices.items():
        model = key.removeprefix("dashscope/")
        priced_by = entry.get("tiered_pricing") or [entry]
        if key == model or not model.startswith("qwen") or not wanted(model):
            continue
        if "input_cost_per_token" not in priced_by[0]:
            continue
        rates = [litellm_rates(tier, tier.get("range", [0])[0]) for tier in priced_by]
        dated = [{"since": None, "rates": rates}]
        rows.append({"vendor": "alibaba", "model": model, "match": [model], "prices": dated, "source": source})
    return sorted(rows, key=lambda row: row["model"])


def litellm_rates(entry: dict[str, Any], above: float) -> dict[str, Any]:
    def of(name: str) -> float | None:
        value = entry.get(name)
        return None if value is None else figure(value * PER_MILLION)

    stored = of("cache_creation_input_token_cost")
    return {
        "input": of("input_cost_per_token"),
        "output": of("output_cost_per_token"),
        "read": of("cache_read_input_token_cost"),
        "write": {} if stored is None else {"5m": stored},
        "above": int(above),
    }


def add_twelve_hours(rows: list[dict[str, Any]], prices: dict[str, Any]) -> None:
    """What OpenAI bills for entries of twelve hours, into the newest rates of each of its models."""
    for row in rows:
        entry = prices.get(row["model"]) if row["vendor"] == "openai" else None
        name = "cache_creation_input_token_cost_above_12hr"
        if entry is None or name not in entry:
            continue
        for rates in row["prices"][-1]["rates"]:
            key = f"{name}_above_272k_tokens" if rates["above"] else name
            value = entry.get(key, entry[name] * 2 if rates["above"] else None)
            rates["write"]["12h"] = figure(value * PER_MILLION)


def compact(value: Any) -> Any:
    """Without what the reader takes by default."""
    if isinstance(value, dict):
        told = {key: each for key, each in value.items() if each not in (None, {}) and (key, each) != ("above", 0)}
        return {key: compact(each) for key, each in told.items()}
    return [compact(each) for each in value] if isinstance(value, list) else value


def dump(as_of: str, sources: list[str], rows: list[dict[str, Any]]) -> str:
    lines = ",\n".join(json.dumps(compact(row), sort_keys=True) for row in rows)
    head = json.dumps({"as_of": as_of, "sources": sources})[1:-1]
    return f'{{{head}, "rows": [\n{lines}\n]}}\n'


def build(litellm: Path, as_of: str) -> str:
    sources = [f"genai-prices {importlib.metadata.version('genai-prices')}", " ".join(litellm.name.split("-")[:2])]
    with zipfile.ZipFile(litellm) as wheel:
        other = json.loads(wheel.read(LITELLM_JSON))
    rows = from_genai(sources[0])
    add_twelve_hours(rows, other)
    return dump(as_of, sources, [*rows, *from_litellm(other, sources[1])])


def differences(old: str, new: str) -> list[str]:
    """Models whose rows are not the same in both."""
    before, after = ({(row["vendor"], row["model"]): row for row in json.loads(text)["rows"]} for text in (old, new))
    for row in (*before.values(), *after.values()):
        del row["source"]
    names = sorted({*before, *after})
    return [f"{vendor} {model}" for vendor, model in names if before.get((vendor, model)) != after.get((vendor, model))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--litellm", type=Path, required=True, help="the wheel of litellm")
    parser.add_argument("--as-of", default=dt.datetime.now(dt.UTC).date().isoformat())
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 and name the rows that changed")
    asked = parser.parse_args()
    new = build(asked.litellm, asked.as_of)
    if not asked.check:
        TARGET.write_bytes(new.encode())
        return 0
    changed = differences(TARGET.read_text(encoding="utf-8"), new)
    print("\n".join(changed) if changed else "prices are current")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
