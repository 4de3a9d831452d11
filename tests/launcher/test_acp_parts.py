"""Pieces of the ACP client by themselves: whatever an agent writes is answered once, and never raises."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_launcher.acp import choice, rpc
from agentmux_launcher.acp.handshake import RefusedError, Wanted, expanded, handshake
from agentmux_launcher.acp.lent import Lent, Terms
from agentmux_launcher.acp.questions import Questions
from agentmux_launcher.acp.terminals import Place
from agentmux_launcher.manifest import AcpPlan, SessionSetting
from agentmux_launcher.permission import ALLOW, ALWAYS, UNANSWERED
from agentmux_launcher.supervise import GRACE, Inbox

KINDS = ("allow_once", "allow_always", "reject_once", "reject_always")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def value_at(*names):
    """Objects in which some of these fields have any value."""
    return st.fixed_dictionaries({}, optional=dict.fromkeys(names, JSON))


@pytest.mark.parametrize(
    ("decision", "order"),
    [(ALLOW, ("allow_once", "allow_always")), (ALWAYS, ("allow_always", "allow_once")), (UNANSWERED, KINDS[2:])],
)
@pytest.mark.parametrize("offered", [kinds for size in range(5) for kinds in itertools.permutations(KINDS, size)])
def test_an_option_is_chosen_by_its_kind_wherever_it_stands(decision, order, offered):
    asked = {"options": [{"optionId": f"id-{kind}", "kind": kind, "name": "x"} for kind in offered]}

    expected = next((kind for kind in order if kind in offered), None)

    chosen = {"outcome": "selected", "optionId": f"id-{expected}"} if expected else {"outcome": "cancelled"}
    assert choice.outcome(asked, decision) == {"outcome": chosen}


def test_of_two_options_of_one_kind_the_first_is_taken():
    asked = {"options": [{"optionId": name, "kind": "allow_once", "name": name} for name in ("a", "b")]}

    assert choice.outcome(asked, ALLOW) == {"outcome": {"outcome": "selected", "optionId": "a"}}


@given(st.dictionaries(st.sampled_from(["id", "method", "params", "result", "error"]), JSON), JSON)
def test_any_message_with_an_id_is_taken(frame, number):
    peer = rpc.Peer()
    asked, _ = peer.request("session/prompt", {})

    taken = peer.take({**frame, "id": number})

    if isinstance(taken, rpc.Answer):
        assert (taken.id, taken.method, str(number)) == (asked, "session/prompt", str(asked))
        assert peer.take({"id": number, "result": {}}) is None
    else:
        assert taken is None or taken.method == frame["method"]


@given(JSON, value_at("options", "toolCall"))
def test_any_permission_request_is_answered_once(number, params):
    questions = Questions(("edit",), "/work")

    answers = questions.take(rpc.Request(number, "session/request_permission", params)) + questions.call_off()

    assert [answer["id"] for answer in answers] == [number]
    assert answers[0]["result"]["outcome"]["outcome"] in {"cancelled", "selected"}
    assert questions.call_off() == []


@given(st.text(), value_at("path", "line", "limit", "content", "terminalId"))
@pytest.mark.parametrize("lends", [(), ("files",)])
def test_any_other_request_is_answered_at_once(lends, method, params):
    lent = Lent(Terms(lends), Place("/no/such/folder", {}, GRACE), Inbox())

    for name in (method, "fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/output"):
        (answer,) = lent.answer(rpc.Request(7, name, params))

        assert answer["id"] == 7
        assert answer["error"]["code"] in {rpc.NOT_OFFERED, rpc.INVALID_PARAMS, rpc.INTERNAL, rpc.NOT_FOUND}


SETTING = SessionSetting("permission", "session/set_mode", "modeId", "plan")


@given(
    st.lists(
        st.dictionaries(st.text(max_size=4), JSON) | value_at("sessionId", "agentCapabilities", "modes"), min_size=4
    )
)
@pytest.mark.parametrize("session", [None, "old"])
def test_any_results_lead_to_a_session_or_to_a_refusal(session, results):
    acp = AcpPlan(goes_on=("session/load",), settings=(SETTING,), authenticate={"KEY": "key"})
    steps = handshake(acp, Wanted("/work", session_id=session), {"KEY": "x"})

    assert next(steps).method == "initialize"
    assert led(steps, results) in {"refused", ("new" if session is None else "goes on")}


def led(steps, results):
    """Where the steps lead with these results."""
    try:
        for result in results:
            steps.send(result)
    except RefusedError:
        return "refused"
    except StopIteration as end:
        return "new" if end.value.new else "goes on"
    return "nowhere"


@given(JSON)
def test_parameters_without_variables_stay_as_they_are(params):
    assert expanded(params, {"A": "b"}) == params


def test_variables_are_filled_in_wherever_they_stand():
    params = [{"url": "https://${HOST}/x", "env": [{"name": "${A}", "value": "${A}${NONE}"}]}, 7]

    assert expanded(params, {"HOST": "h", "A": "b"}) == [
        {"url": "https://h/x", "env": [{"name": "b", "value": "b"}]},
        7,
    ]
