"""The page in a real browser: what is drawn, what the script does, and that nothing leaves."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import threading
import zlib
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from agentmux_usage.page import page
from agentmux_usage.response import Session

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--enable-logging=stderr",
)
REQUIRED = "AGENTMUX_BROWSER_REQUIRED"


@pytest.fixture(scope="session")
def chromium() -> str:
    found = next((path for path in map(shutil.which, NAMES) if path and runs(path)), None)
    if found is None:
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(f"{REQUIRED} is set, and there is no Chromium on PATH")
        pytest.skip("no Chromium on PATH")
    return found


def runs(path) -> bool:
    """Some systems have a stub that only says how to install it."""
    return subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0


@pytest.fixture
def browse(chromium, tmp_path):
    """Open a page, give what the browser wrote to stdout and what its console said. `script` runs behind the page's."""

    def open_it(html, *flags, script="", fragment="") -> tuple[str, list[str]]:
        path = tmp_path / "page.html"
        path.write_text(with_probe(html, script), encoding="utf-8")
        profile = f"--user-data-dir={tempfile.mkdtemp(dir=tmp_path)}"
        done = subprocess.run(
            [chromium, *QUIET, profile, *flags, path.as_uri() + fragment],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
        )
        return done.stdout, re.findall(r"CONSOLE\S* (.*)", done.stderr)

    return open_it


def with_probe(html, script) -> str:
    """The page with one more script, which its policy is told of."""
    if not script:
        return html
    html = html.replace("script-src ", "script-src 'nonce-probe' ")
    return html.replace("</body>", f"<script nonce=probe>{script}</script></body>")


def measured(dom) -> dict[str, object]:
    """What a probe wrote into the page's title."""
    (said,) = re.findall(r"<title>(.*?)</title>", dom, re.DOTALL)[:1]
    return json.loads(said.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


MEASURE = """
addEventListener("load", () => {
const shown = [...document.querySelectorAll(".session")].filter((one) => one.offsetParent !== null);
const layers = ["read", "written", "uncached"].map((layer) => shown[0].querySelector(`path.${layer}`));
const heights = (selector, from) => [...from.querySelectorAll(selector)].map((one) => one.getBBox().height);
document.title = JSON.stringify({
  shown: shown.map((one) => one.id),
  bars: layers.map((path) => path.getAttribute("d").split("z").length - 1),
  heights: layers.map((path) => path.getBBox().height),
  marks: shown[0].querySelectorAll("a.mark").length,
  lost: heights("rect.lost", shown[0]),
  items: shown[0].querySelectorAll("ol.breaks > li").length,
  columns: heights("svg.days > path", document),
  points: document.querySelectorAll("svg.foretold circle.point").length,
  totals: ["total-usd", "total-hit", "total-lost"].map((id) => document.querySelector(`#${id} b`).textContent),
  paper: getComputedStyle(document.body).backgroundColor,
  fits: document.documentElement.scrollWidth <= innerWidth,
  loaded: performance.getEntriesByType("resource").length,
});
});
"""
ACT = """
const shown = () => [...document.querySelectorAll(".session")].filter((one) => one.offsetParent !== null);
const rows = () => [...document.querySelectorAll(".sessions tbody tr")].filter((one) => !one.hidden);
const said = {};
const frame = shown()[0].querySelector(".wide");
const press = (key) => frame.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
press("ArrowRight"); press("ArrowRight"); press("ArrowRight"); press("ArrowLeft");
said.read = shown()[0].querySelector(".reading").textContent;
const svg = frame.querySelector("svg"), box = svg.getBoundingClientRect();
const over = (box.width / 960) * (56 + 4.5 * Number(svg.dataset.step));
svg.dispatchEvent(new PointerEvent("pointermove", {clientX: box.left + over, clientY: box.top + 50}));
said.pointed = shown()[0].querySelector(".reading").textContent;
said.current = document.querySelector(".sessions a[aria-current]").hash;
const find = document.querySelector(".find input");
find.value = "OTHER";
find.dispatchEvent(new Event("input"));
said.found = rows().map((row) => row.cells[0].textContent);
find.value = "";
find.dispatchEvent(new Event("input"));
document.querySelectorAll(".sessions thead button")[4].click();
said.sorted = rows().map((row) => row.cells[4].textContent);
location.hash = "#s1";
addEventListener("hashchange", () => {
  said.opened = [shown().map((one) => one.id), document.querySelector(".sessions a[aria-current]").hash];
  document.title = JSON.stringify(said);
});
"""


@pytest.fixture
def broken_page(broken_session, response, report):
    session, breaks = broken_session
    other = Session("claude", "other", tuple(response(9000 + at, session="other", read=at) for at in range(30)))
    return page(report([session, other], breaks), [session, other], price=lambda _: 0.25)


def near(*heights):
    return [pytest.approx(height, abs=0.25) for height in heights]


def test_what_is_drawn_equals_the_figures(browse, broken_page):
    dom, console = browse(broken_page, "--dump-dom", "--window-size=1200,900", script=MEASURE)

    assert console == []
    tokens, usd = 222 / 15_000, 204 / 15
    assert measured(dom) == {
        "shown": ["s2"],
        "bars": [10, 12, 12],
        "heights": near(11_000 * tokens, 12_000 * tokens, 11_010 * tokens),
        "marks": 2,
        "lost": near(4000 * tokens, 500 * tokens),
        "items": 2,
        "columns": near(42 * 0.25 * usd),
        "points": 1,
        "totals": ["$1.50", "79.2%", "4.50k"],
        "paper": "rgb(251, 250, 248)",
        "fits": True,
        "loaded": 0,
    }


def test_keys_pointer_search_order_and_links_work(browse, broken_page):
    dom, console = browse(broken_page, "--dump-dom", "--window-size=1200,900", script=ACT)

    assert console == []
    assert measured(dom) == {
        "read": "Call 2 · turn 1 · 12:01:00 · read 1,000 · written 1,000 · neither 10 · output 20",
        "pointed": "Call 5 · turn 2 · 12:04:00 · read 0 · written 5,000 · neither 10 · output 20",
        "current": "#s2",
        "found": ["other"],
        "sorted": ["30", "12"],
        "opened": [["s1"], "#s1"],
    }


def test_sessions_are_chosen_without_a_script_too(browse, broken_page):
    still = re.sub(r"<script>.*?</script>", "", broken_page, flags=re.DOTALL)

    opened = [
        measured(browse(still, "--dump-dom", script=MEASURE, fragment=fragment)[0])["shown"]
        for fragment in ("", "#s1", "#s2", "#b2-1", "#sessions")
    ]

    assert opened == [["s2"], ["s1"], ["s2"], ["s2"], ["s2"]]


def test_it_is_dark_where_that_is_preferred_and_fits_a_narrow_window(browse, broken_page):
    dom, console = browse(
        broken_page, "--dump-dom", "--window-size=500,900", "--blink-settings=preferredColorScheme=0", script=MEASURE
    )

    assert console == []
    assert (measured(dom)["paper"], measured(dom)["fits"]) == ("rgb(20, 23, 26)", True)


@pytest.mark.parametrize("count", [0, 300])
def test_no_session_and_many_open_without_a_complaint(browse, response, report, count):
    sessions = [
        Session("claude", f"s{index}", tuple(response(900 * index + at, session=f"s{index}") for at in range(17)))
        for index in range(count)
    ]

    dom, console = browse(page(report(sessions), sessions), "--dump-dom")

    assert console == []
    assert dom.count('<section class="session') == count
    assert dom.count("<tr") >= count * 18


def test_its_policy_keeps_what_slips_in_from_leaving(browse, broken_page, listener):
    address, asked = listener
    slipped = (
        f"<img src='{address}/image'><script src='{address}/script'></script><style>@import '{address}/style';</style>"
        f"<script>document.title = 'ours'</script><img src=x onerror=\"document.title = 'ours'\">"
    )
    guarded = broken_page.replace("</main>", slipped + "</main>")
    open_to_all = re.sub(r"<meta http-equiv[^>]*>", "", guarded)

    dom, console = browse(guarded, "--dump-dom")
    assert (asked, "<title>agentmux usage</title>" in dom) == ([], True)
    assert len([line for line in console if "Content Security Policy" in line]) >= 4

    dom, _ = browse(open_to_all, "--dump-dom")
    assert (sorted(asked), "<title>ours</title>" in dom) == (["/image", "/script", "/style"], True)


@pytest.fixture
def listener():
    """An address on loopback, and the paths that were asked of it."""
    asked: list[str] = []

    class Asked(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(404)
            self.end_headers()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Asked) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


def test_a_screenshot_shows_columns_on_paper(browse, broken_page, tmp_path):
    picture = tmp_path / "page.png"

    _, console = browse(broken_page, f"--screenshot={picture}", "--window-size=700,1000")

    assert console == []
    colours = Counter(pixels(picture.read_bytes()))
    assert colours[251, 250, 248] > 50_000
    assert colours[47, 111, 181] > 5000
    assert len(colours) > 50


def pixels(png):
    """The pixels of an 8-bit PNG, with alpha or without."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, data, width, size = 8, b"", 0, 0
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        body = png[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, _, depth, colour, *_ = struct.unpack(">IIBBBBB", body)
            size = {2: 3, 6: 4}[colour]
            assert depth == 8
        data += body if kind == b"IDAT" else b""
        at += length + 12
    raw = zlib.decompress(data)
    line = bytearray(width * size)
    for start in range(0, len(raw), width * size + 1):
        line = unfiltered(raw[start], raw[start + 1 : start + 1 + width * size], line, size)
        yield from zip(*(line[channel::size] for channel in range(3)), strict=True)


def unfiltered(kind, line, above, size):
    """A line of a PNG as it was before it was filtered against its left and upper neighbours."""
    made = bytearray(line)
    for index in range(len(made)):
        left = made[index - size] if index >= size else 0
        up = above[index]
        corner = above[index - size] if index >= size else 0
        guess = left + up - corner
        nearest = min((left, up, corner), key=lambda one: abs(guess - one))
        made[index] = (made[index] + (0, left, up, (left + up) // 2, nearest)[kind]) % 256
    return made
