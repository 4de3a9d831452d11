import pytest

from agentmux.errors import CannotRun
from agentmux.fail_on import FailOn, parse
from agentmux_compiler.report import Change, PlanDiff, Scenario, TextKept
from agentmux_compiler.rules import ALSO_READ, UNKNOWN_BUNDLE, UNUSED_BUNDLE

NOTE, WARNING, ERROR = (rule.at(None, "x") for rule in (ALSO_READ, UNUSED_BUNDLE, UNKNOWN_BUNDLE))


def plan(verdict="broken", code="AMX501", lost=100, scenarios=None):
    change = Change("edited", "user", "a", None, None, False, code)
    text = TextKept(1000, 0, 500, 500 - lost, "m", 0.0)
    return PlanDiff("a", "p", "", "", None, None, "", verdict, text, None, (change,), scenarios or {})


def scenario(lost):
    return Scenario(None, None, lost, None, None, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("never", FailOn("never")),
        ("error", FailOn("error")),
        ("warning", FailOn("warning")),
        ("break", FailOn("break")),
        ("break:2000", FailOn("break", 2000)),
        ("break:0", FailOn("break", 0)),
    ],
)
def test_what_is_taken(text, expected):
    assert parse(text) == expected


@pytest.mark.parametrize("text", ["", "errors", "break:", "break:-1", "break:1e3", "break:٣", "warning:1", "break:1:2"])
def test_what_is_not_taken(text):
    with pytest.raises(CannotRun, match="`--fail-on` takes"):
        parse(text)


@pytest.mark.parametrize(
    ("level", "items", "plans", "reached"),
    [
        ("never", [ERROR], [plan()], False),
        ("error", [WARNING, NOTE], [plan()], False),
        ("error", [ERROR], [], True),
        ("warning", [NOTE], [plan()], False),
        ("warning", [WARNING], [], True),
        ("warning", [], [plan(code="AMX502")], True),
        ("warning", [], [plan("kept", "AMX502")], False),
        ("break", [WARNING], [plan("new"), plan("kept"), plan("removed")], False),
        ("break", [], [plan()], True),
        ("break", [ERROR], [], True),
        ("break:100", [], [plan(lost=100)], True),
        ("break:101", [], [plan(lost=100)], False),
        ("break:500", [], [plan(code="AMX503", lost=0)], True),
        (
            "break:70",
            [],
            [plan(scenarios={"relaunch": scenario(69), "resume": scenario(70), "new_prompt": None})],
            True,
        ),
        (
            "break:71",
            [],
            [plan(scenarios={"relaunch": scenario(69), "resume": scenario(70), "new_prompt": None})],
            False,
        ),
    ],
)
def test_what_reaches_a_level(level, items, plans, reached):
    assert parse(level).reached(items, plans) is reached
