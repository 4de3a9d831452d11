from agentmux_compiler.diagnostics import Span
from agentmux_compiler.render.line import rebuilt
from agentmux_compiler.report import BuildReport, DiffReport, FileStatus, PlanDiff, TextKept, summarise
from agentmux_compiler.rules import INVALID_YAML, NOT_WRITABLE, UNUSED_BUNDLE


def report(diagnostics=(), statuses=(), lost=()):
    files = tuple(FileStatus(f"{n}.md", status, 1, None) for n, status in enumerate(statuses))
    plans = tuple(
        PlanDiff("a", "claude", "", "", None, None, "", "broken", TextKept(0, 0, 5000, 5000 - each, "m", 0))
        for each in lost
    )
    return BuildReport(diagnostics, files, DiffReport("snapshots", plans, summarise(plans)))


def test_files_and_breaks():
    built = report(statuses=["written", "written", "removed", "unchanged"], lost=[4667])
    assert rebuilt(built, 0.1234) == "rebuilt 3 files, 1 prefix break (-4,667 tokens)  0.12 s"


def test_nothing_to_do():
    assert rebuilt(report(statuses=["unchanged"]), 0) == "rebuilt 0 files, no prefix break  0.00 s"


def test_warnings_are_counted():
    warning = UNUSED_BUNDLE.at(Span("bundles/a.md"), "no agent lists the bundle `a`")
    built = report([warning], ["written"], [1000, 2000])
    assert rebuilt(built, 2) == "rebuilt 1 file, 2 prefix breaks (-3,000 tokens), 1 warning  2.00 s"


def test_the_first_error_and_how_many_more():
    errors = [INVALID_YAML.at(Span("agents.d/a.yaml", line, 2), "a \x1b[31mcolon") for line in (3, 4, 9)]
    assert rebuilt(report(errors), 0.5) == (
        "error[AMX101] agents.d/a.yaml:3:2: a \\x1b[31mcolon; 2 more errors; nothing was written  0.50 s"
    )


def test_what_was_done_before_an_error():
    fault = NOT_WRITABLE.at(Span("CLAUDE.md"), "no")
    assert rebuilt(report([fault], ["written", "removed", "unchanged"]), 0.5) == (
        "error[AMX607] CLAUDE.md:1:1: no; not all was done: rebuilt 2 files  0.50 s"
    )
