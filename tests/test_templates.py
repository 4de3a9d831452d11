from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_compiler.diagnostics import Span
from agentmux_compiler.segment import Text
from agentmux_compiler.text.placeholders import VARIABLES, VOLATILE, expand, fill_volatile, volatile_at
from agentmux_compiler.text.templates import expand_template

VALUES = {
    "AGENT": "Aria",
    "AGENT_DISPLAY": "Aria",
    "AGENT_ID": "aria",
    "AGENT_SLUG": "aria",
    "PROVIDER": "Codex",
    "MODEL": "gpt-5.5",
}
SAMPLES = """\
run: echo ${{ github.event.pull_request.title }} ${{AGENT}}
<p>{{ user.name }}</p> <b v-if="{a: {b: 1}}">{{{AGENT}}}</b>
{{- if .Values.ingress.enabled }}{{ include "chart.fullname" . }}{{ end }}
f"{{literal}} {value}" {{UNKNOWN}} {{ AGENT }} {{agent}} {{}} {{AGENT}
{% raw %}{{x}}{% endraw %} {# comment #} \\{{x}} $AGENT ${AGENT}
"""


def body(text, path="bundles/x.md", first=1):
    return Text(text, path, tuple(range(first, first + text.count("\n"))))


def test_variables_are_replaced_in_one_pass():
    text = body(
        "Hello {{AGENT}} ({{AGENT_ID}}) on {{PROVIDER}} with {{MODEL}}, today is {{DATE}} in {{WORKING_DIR}}.\n",
        first=7,
    )

    expanded, found = expand(text, {**VALUES, "AGENT": "{{AGENT_ID}}"})

    assert found == []
    assert expanded.body.text == (
        "Hello {{AGENT_ID}} (aria) on Codex with gpt-5.5, today is {{DATE}} in {{WORKING_DIR}}.\n"
    )
    assert expanded.body.lines == (7,)
    assert expanded.used == {"AGENT", "AGENT_ID", "PROVIDER", "MODEL", "DATE", "WORKING_DIR"}


def test_all_other_braces_stay():
    expanded, found = expand(body(SAMPLES), VALUES)

    assert (expanded.body.text, expanded.used, found) == (SAMPLES, frozenset(), [])


@given(st.text(alphabet="{}$ %#AGENTx.-\n", max_size=60))
def test_text_without_a_known_variable_is_not_touched(text):
    if not any(f"{{{{{name}}}}}" in text for name in VARIABLES):
        assert expand(body(text), VALUES)[0].body.text == text


@given(st.lists(st.sampled_from([*(f"{{{{{name}}}}}" for name in VARIABLES), "{", "}", "$", "a", "\n"]), max_size=30))
def test_lines_keep_their_sources(pieces):
    text = body("".join(pieces) + "\n", first=3)

    expanded, _ = expand(text, VALUES)

    assert expanded.body.text.count("\n") == len(expanded.body.lines)
    assert expanded.body.lines == text.lines


def test_volatile_values_are_filled_when_a_file_is_written():
    text = "{{AGENT}} {{DATE}} ${{DATE}} {{WORKING_DIR}}\n"

    assert fill_volatile(text, {"DATE": "2026-04-10"}) == "{{AGENT}} 2026-04-10 ${{DATE}} {{WORKING_DIR}}\n"
    assert fill_volatile(text, {}) == text


def test_volatile_placeholders_have_a_place():
    text = body("one\ntoday {{DATE}} and {{WORKING_DIR}}\n", first=4)

    assert volatile_at(text) == (
        ("DATE", Span("bundles/x.md", 5, 7, 5, 15)),
        ("WORKING_DIR", Span("bundles/x.md", 5, 20, 5, 35)),
    )


def test_within_yaml_only_the_line_is_known():
    assert volatile_at(body("  {{DATE}}\n", "agents.d/a.yaml", 9)) == (("DATE", Span("agents.d/a.yaml", 9)),)


def test_a_variable_without_value_is_said():
    _, found = expand(body("first\non {{MODEL}}\n"), {})

    assert [(item.code, item.message, item.span) for item in found] == [
        ("AMX301", "`{{MODEL}}` has no value here", Span("bundles/x.md", 2, 4, 2, 13))
    ]


def test_a_template_is_rendered_and_its_lines_are_traced():
    source = (
        "# Rules of {{ AGENT }}\n"  # 3
        "{% for name in ['one', 'two'] %}\n"  # 4
        "- {{ name }}\n"  # 5
        "{% endfor %}\n"  # 6
        "Stay calm.\n"  # 7
        "{% if PROVIDER == 'Codex' %}Use the sandbox.{% endif %}\n"  # 8
        "Done.\n"  # 9
    )

    expanded, found = expand_template(body(source, "bundles/x.md.j2", 3), VALUES)

    assert found == []
    assert expanded.body.text == ("# Rules of Aria\n\n- one\n\n- two\n\nStay calm.\nUse the sandbox.\nDone.\n")
    assert expanded.body.lines[-3:] == (7, 8, 9)
    assert expanded.body.lines[0] == 3
    assert expanded.used == {"AGENT", "PROVIDER"}


def test_volatile_values_stay_in_a_template_too():
    expanded, _ = expand_template(body("{{ DATE }} {{ WORKING_DIR }}\n"), VALUES)

    assert expanded.body.text == "{{DATE}} {{WORKING_DIR}}\n"
    assert expanded.used == set(VOLATILE)


def test_a_template_of_white_space_is_empty():
    expanded, found = expand_template(body("{% if false %}x{% endif %}\n\n"), VALUES)

    assert (expanded.body.text, expanded.body.lines, found) == ("", (), [])


def test_a_line_separator_is_no_line_end():
    expanded, _ = expand_template(body("a\u2028b\x0cc {{ AGENT }}\nd\n"), VALUES)

    assert expanded.body == Text("a\u2028b\x0cc Aria\nd\n", "bundles/x.md", (1, 2))


@pytest.mark.parametrize(
    ("source", "code", "line"),
    [
        ("ok\n{{ AGNT }}\n", "AMX301", 2),
        ("ok\nok\n{{ agent.name }}\n", "AMX301", 3),
        ("ok\n{% if %}\n", "AMX304", 2),
        ("ok\n{% for x in y %}\n", "AMX304", 2),
        ("{{ ().__class__.__bases__ }}\n", "AMX304", 1),
        ("ok\n{% include 'secret.md' %}\n", "AMX304", 2),
        ("ok\n{{ 1 / 0 }}\n", "AMX304", 2),
        ("{{ lipsum() }}\n", "AMX301", 1),
        ("{{ [1, 2] | random }}\n", "AMX304", 1),
        ("{{ cycler(1) }}\n", "AMX301", 1),
        ("{{ 'x' * 10000000 }}\n", "AMX304", 1),
        ("{{ 9 ** 9 ** 9 }}\n", "AMX304", 1),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}\n", "AMX304", 1),
    ],
)
def test_a_template_that_fails_is_said_with_its_line(source, code, line):
    expanded, found = expand_template(body(source, "bundles/x.md.j2"), VALUES)

    assert [(item.code, item.span) for item in found] == [(code, Span("bundles/x.md.j2", line))]
    assert expanded.body.text == ""


def test_a_misspelt_variable_gets_a_suggestion():
    _, found = expand_template(body("{{ AGENTS }}\n"), VALUES)

    assert [(item.message, item.help) for item in found] == [("`AGENTS` is undefined", "did you mean `AGENT`?")]


@pytest.mark.parametrize(
    "source",
    [
        "{{ 'x' ~ 'a'.upper }}",
        "{{ ['a'.upper] }}",
        "{{ 'a'.upper|string }}",
        "{{ 'a'['upper'] }}",
        "{{ ['a'.upper]|join }}",
        "{{ '%s'|format('a'.upper) }}",
        "{{ '%s' % 'a'.upper }}",
        "{{ '{0.upper}'.format('a') }}",
        "{{ ['a']|map(attribute='upper')|list }}",
        "{{ range|string }}",
        "{{ [range] }}",
        "{{ '{}'.format(range) }}",
        "{% block a %}{% endblock %}{{ [self.a] }}",
        "{{ {'a': 1, 'b': 2}.keys() - [] }}",
    ],
)
def test_no_address_and_no_order_of_a_set_is_printed(source):
    expanded, found = expand_template(body(f"ok\n{source}\n"), VALUES)

    assert [(item.code, item.span.line) for item in found] == [("AMX304", 2)]
    assert expanded.body.text == ""


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ ['a', 'b']|map('upper') }}", "['A', 'B']"),
        ("{{ [[1]|map('string')] }}", "[['1']]"),
        ("{{ range(3)|string }}", "[0, 1, 2]"),
        ("{{ AGENT.upper() ~ '-' ~ 3 }}", "ARIA-3"),
        ("{% for k, v in {'a': 1}.items() %}{{ k }}={{ v }}{% endfor %}", "a=1"),
        ("{{ '%s has %d'|format(AGENT, 2) }}", "Aria has 2"),
        ("{{ '{:>4}|{{}}'.format('a') }}", "   a|{}"),
        ("{% set ns = namespace(n=0) %}{% for x in [1, 2] %}{% set ns.n = ns.n + x %}{% endfor %}{{ ns.n }}", "3"),
        ("{% macro f(x) %}<{{ x }}>{% endmacro %}{{ f(AGENT)|lower }}", "<aria>"),
        ("{{ foo|default('none') }}{{ foo is defined }}", "noneFalse"),
        ("{% for x in [1, 2] %}{{ loop.index }}{{ loop.cycle('a', 'b') }}{% endfor %}", "1a2b"),
        ("write `<function name>` and {{ '<b>'|escape }}", "write `<function name>` and &lt;b&gt;"),
    ],
)
def test_what_a_template_may_do(source, text):
    expanded, found = expand_template(body(f"{source}\n"), VALUES)

    assert (expanded.body.text, found) == (f"{text}\n", [])


@pytest.mark.parametrize(
    "source",
    [
        "{{ '%c'|format(55296) }}",
        "{{ 'abc def'|truncate(1) }}",
        "{{ 'a'.zfill(100000000000000) }}",
        "{{ 'a'|center(100000000) }}",
        "{{ 'a'.ljust(100000000) }}",
        "{{ '%99999999999d' % 1 }}",
        "{{ '%99999999999d'|format(1) }}",
        "{{ '%*d'|format(99999999999, 1) }}",
        "{{ '{:99999999999}'.format(1) }}",
        "{{ '{:{}}'.format(1, 99999999999) }}",
        "{{ 'a\\nb'|indent(99999999999) }}",
        "{{ '\\t'.expandtabs(99999999999) }}",
        "{{ [1]|batch(99999999999, 'x')|list }}",
        "{{ 1.5|round(9999999999, 'ceil') }}",
        "{% set ns = namespace(x='a') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        "{% set ns = namespace(x='a') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
        "{% for i in range(99999) %}{% for j in range(99999) %}xxxxxxxxxxxxxxxx{% endfor %}{% endfor %}",
    ],
)
def test_a_template_neither_crashes_nor_grows_without_bound(source):
    _, found = expand_template(body(f"{source}\n"), VALUES)

    assert [(item.code, item.span.line) for item in found] == [("AMX304", 1)]


@pytest.mark.parametrize("source", ["{{ [foo] }}", "{{ {'a': foo} }}", "{{ [foo]|string }}", "{{ 'x' ~ foo }}"])
def test_an_undefined_value_in_a_list_is_said(source):
    _, found = expand_template(body(f"{source}\n"), VALUES)

    assert [(item.code, item.message) for item in found] == [("AMX301", "`foo` is undefined")]


@pytest.mark.parametrize(
    "source",
    [
        "{{ DATE[:4] }}",
        "{{ DATE|lower }}",
        "{{ DATE|default('x') }}",
        "{{ DATE ~ 'x' }}",
        "{{ [DATE] }}",
        "{{ DATE.year }}",
        "{{ '{}'.format(DATE) }}",
        "{{ 'x' % DATE }}",
        "{% if DATE is defined %}x{% endif %}",
        "{% if DATE == '2026' %}x{% endif %}",
    ],
)
def test_a_volatile_value_can_only_be_printed(source):
    _, found = expand_template(body(f"{source}\n"), VALUES)

    assert [(item.code, item.message, item.help) for item in found] == [
        (
            "AMX304",
            "the template cannot be rendered: `DATE` can only be printed, and only as it is",
            "write it in a `{{ }}` of its own, without filters",
        )
    ]


def test_a_captured_volatile_value_stays_whole():
    source = "{% set x %}On {{ DATE }}{% endset %}{{ x|lower }}{% set y = DATE %} {{ y }}\n"
    expanded, found = expand_template(body(source), VALUES)

    assert (expanded.body.text, expanded.used, found) == ("on {{DATE}} {{DATE}}\n", {"DATE"}, [])


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ("{{ '%c'|format(27) }}", "invisible character `U+001B` (control character)"),
        ("{{ '%c'|format(8238) }}", "invisible character `U+202E` (right-to-left override)"),
        ("{{ '\\U000e0041' }}", "invisible character `U+E0041` (tag latin capital letter a)"),
        ("{{ 'a\\rb' }}", "invisible character `U+000D` (control character)"),
        ("{{ '%c' % 0 }}", "invisible character `U+0000` (control character)"),
    ],
)
def test_invisible_characters_that_a_template_makes_are_found(made, message):
    _, found = expand_template(body(f"ok\n{made}\n", "bundles/x.md.j2"), VALUES)

    assert [(item.code, item.span, item.message) for item in found] == [("AMX305", Span("bundles/x.md.j2", 2), message)]


def test_a_template_may_make_what_its_bundle_allows():
    source = "{{ '%c'|format(8203) }}x\n"

    assert expand_template(body(source), VALUES, allowed=["\u200b"]) == (
        expand_template(body(source), VALUES)[0],
        [],
    )


def test_line_ends_that_a_template_makes_are_lf():
    expanded, found = expand_template(body("{{ 'a\\r\\nb' }}\n"), VALUES)

    assert (expanded.body, found) == (Text("a\nb\n", "bundles/x.md", (1, 1)), [])


def test_a_sample_and_a_value_cannot_stand_in_one_template():
    _, found = expand_template(body("{% raw %}{{DATE}}{% endraw %} {{ DATE }}\n"), VALUES)

    assert [(item.code, item.help) for item in found] == [("AMX304", "give the sample a bundle of its own")]


def test_a_sample_alone_is_no_value():
    expanded, found = expand_template(body("{% raw %}{{DATE}}{% endraw %}\n"), VALUES)

    assert (expanded.body.text, expanded.used, found) == ("{{DATE}}\n", frozenset(), [])
