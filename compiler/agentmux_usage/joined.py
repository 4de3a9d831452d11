"""One account of what the ledger and transcripts tell: each response once, with what each of them knows."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agentmux_launcher.ledger import Run
from agentmux_usage.response import Session

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agentmux_launcher.usage import Tokens
    from agentmux_usage.from_ledger import Kept
    from agentmux_usage.response import Response

SLACK = 2.0  # seconds: the CLI's clock and ours look at different ends of a call
TERMINAL = "terminal"


def joined(kept: Kept, told: Iterable[Session], *, only_told: bool = False) -> Iterator[Session]:
    """The sessions of transcripts as they come, then those that the ledger alone knows, unless `only_told`."""
    ours: defaultdict[tuple[str, str], list[Response]] = defaultdict(list)
    for response in kept.responses:
        ours[response.provider, response.session_id].append(response)
    runs = _Runs(kept)
    for session in told:
        yield _session(session, ours.pop((session.provider, session.session_id), []), runs)
    if not only_told:
        for (provider, session_id), responses in ours.items():
            yield _built(provider, session_id, responses)


def _session(told: Session, ours: Sequence[Response], runs: _Runs) -> Session:
    """A transcript's session; of the ledger's responses those that it does not tell too."""
    by_message = {each.message_id: each for each in _by_their_names(ours, told.responses)}
    responses = [_with_run(each, by_message.pop(each.message_id or "", None), runs) for each in told.responses]
    covered = {each.run_id for each in responses}
    left = [each for each in ours if each.message_id in by_message or each.run_id not in covered]
    return _built(told.provider, told.session_id, [*responses, *left])


def _by_their_names(ours: Sequence[Response], told: Sequence[Response]) -> Iterator[Response]:
    """The calls of the ledger that have an id, under that of the same call in the transcript.

    Some CLIs name a call in their frames otherwise than in their transcript: it is the same one where time, prompt and
    answer are.
    """
    names, known = ({each.message_id for each in side} for side in (told, ours))
    unnamed = [each for each in told if each.message_id not in known]
    for each in ours:
        if each.message_id is None:
            continue
        twin = None if each.message_id in names else next((one for one in unnamed if _same(one, each)), None)
        if twin is not None:
            unnamed.remove(twin)
        yield each if twin is None else replace(each, message_id=twin.message_id)


def _same(one: Response, two: Response) -> bool:
    figures = [(each.tokens.prompt, each.tokens.output, each.kind) for each in (one, two)]
    return figures[0] == figures[1] and abs(one.time - two.time) <= SLACK


def _with_run(told: Response, ours: Response | None, runs: _Runs) -> Response:
    """A transcript's response with what the ledger knows of the run that it was made in."""
    if ours is not None:
        return replace(
            told,
            time=min(told.time, ours.time),
            tokens=_larger(told.tokens, ours.tokens),
            agent=ours.agent,
            model=told.model or ours.model,
            effort=told.effort or ours.effort,
            cli_version=told.cli_version or ours.cli_version,
            usd=ours.usd if told.usd is None else told.usd,
            after_compaction=told.after_compaction or ours.after_compaction,
            run_id=ours.run_id,
            plan=ours.plan,
            prefix=ours.prefix,
            vendor=told.vendor or ours.vendor,
        )
    run = runs.of(told)
    if run is None:
        return told
    return replace(
        told,
        agent=run.agent,
        effort=told.effort or run.effort,
        run_id=run.run_id,
        plan=run.plan,
        prefix=run.prefix,
    )


def _larger(one: Tokens, two: Tokens) -> Tokens:
    """The figures of the copy with the larger output: the other was written before the response had ended."""
    return two if (two.output or 0) > (one.output or 0) and two.prompt is not None else one


def _built(provider: str, session_id: str, responses: Iterable[Response]) -> Session:
    ordered = sorted(responses, key=lambda each: (each.time, each.message_id or ""))
    return Session(provider, session_id, tuple(ordered))


@dataclass(frozen=True, slots=True)
class _Span:
    run: Run
    begun: float
    ended: float

    def away(self, time: float) -> tuple[float, float]:
        """How far from the run a time is, and of those that contain it the latest first."""
        return max(0.0, self.begun - time, time - self.ended), -self.begun


class _Runs:
    """The runs of the ledger, by the session that they went on with and by their time."""

    def __init__(self, kept: Kept) -> None:
        self._spans: defaultdict[tuple[str, str | None], list[_Span]] = defaultdict(list)
        last = {response.run_id: response.time for response in kept.responses}
        for run in kept.runs:
            key = None if run.controller == TERMINAL else run.session_id
            lost = max(run.started, last.get(run.run_id, run.started))
            end = float("inf") if run.ended is None and run.running else (run.ended or lost)
            self._spans[run.provider, key].append(_Span(run, run.started, end))

    def of(self, response: Response) -> Run | None:
        """The run that a response was made in: of its session, else the one that had a terminal in its folder."""
        if not self._spans:
            return None
        found = list(self._around(response, response.session_id))
        if found:
            return min(found, key=lambda span: span.away(response.time)).run
        around = (span.run for span in self._around(response, None))
        screens = [run for run in around if _within(response.cwd, run.project)]
        return screens[0] if len(screens) == 1 else None

    def _around(self, response: Response, session_id: str | None) -> Iterator[_Span]:
        spans = self._spans.get((response.provider, session_id), [])
        last = bisect_right(spans, response.time + SLACK, key=lambda span: span.begun)
        return (span for span in spans[:last] if response.time <= span.ended + SLACK)


def _within(folder: str | None, project: str) -> bool:
    return folder is not None and (folder == project or folder.startswith((project + "/", project + "\\")))
