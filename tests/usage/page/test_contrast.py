from __future__ import annotations

import re
from importlib.resources import files

import pytest

DRAWN = ("read", "written", "uncached", "lost", *(f"c{number}" for number in range(8)))
WRITTEN = ("ink", "soft", "link", "good", "lost")


def colours(theme):
    """The variables of a theme; the first of the style's two blocks is the light one."""
    style = files("agentmux_usage.page").joinpath("page.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", style, re.DOTALL)[:2]
    return dict(re.findall(r"--([a-z0-9]+): (#[0-9a-f]{6});", {"light": light, "dark": dark}[theme]))


def luminance(colour):
    """As WCAG 2.2 defines it."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, two):
    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("ground", ["paper", "card"])
def test_what_is_drawn_and_written_stands_out(theme, ground):
    known = colours(theme)

    assert {name for name in DRAWN if contrast(known[name], known[ground]) < 3} == set()
    assert {name for name in WRITTEN if contrast(known[name], known[ground]) < 4.5} == set()
