from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import agentmux_launcher
from agentmux_launcher.recorder.failures import FAILURES
from agentmux_launcher.recorder.script import loads

COMMAND = [sys.executable, "-m", "agentmux_launcher.recorder"]
ENV = {**os.environ, "PYTHONPATH": str(Path(agentmux_launcher.__file__).parent.parent)}


@pytest.mark.skipif(sys.platform == "win32", reason="a process there is ended, never asked to end")
def test_by_hand_it_prints_its_address_answers_and_stops(tmp_path):
    script = tmp_path / "script.json"
    script.write_text('{"default": {"text": "by hand"}}', encoding="utf-8")
    argv = [*COMMAND, "--out", str(tmp_path / "rec"), "--script", str(script), "--cache", "blocks"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV) as child:
        address = child.stdout.readline().strip()
        body = json.dumps({"model": "m", "input": "hi"}).encode()
        connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=20)
        connection.request("POST", "/v1/responses", body)
        answer = json.loads(connection.getresponse().read())
        connection.close()
        line = child.stderr.readline()
        os.kill(child.pid, signal.SIGTERM)
        child.wait(20)

    assert answer["output"][0]["content"][0]["text"] == "by hand"
    assert line == f"0001 POST /v1/responses main {len(body)} bytes -> 200\n"
    assert child.returncode == 0
    assert [path.name for path in (tmp_path / "rec").iterdir()] == ["0001.json"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "error: [Errno 2] No such file or directory"),
        ('{"turn": []}', "error: script has an unknown field `turn`\n"),
    ],
)
def test_a_wrong_script_is_refused(tmp_path, text, message):
    script = tmp_path / "script.json"
    if text is not None:
        script.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [*COMMAND, "--script", str(script)], capture_output=True, text=True, check=False, timeout=20, env=ENV
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(message)


def test_the_help_holds_a_script_that_can_be_read():
    done = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, check=False, timeout=20, env=ENV)
    sample = done.stdout.partition("all of it optional:\n")[2].partition("\nA request takes")[0]

    script = loads(sample)

    assert [turn.times for turn in script.turns] == [1, 1, 2]
    assert (script.turns[0].answer.tool_calls[0].name, script.default.text) == ("Bash", "ok")
    assert set(FAILURES) <= set(done.stdout.replace(",", "").split())
