"""The benchmarks: each figure of the design is measured by a case, and README says what RESULTS.md does."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("psutil")
cases = pytest.importorskip("benchmarks.cases")

ROOT = Path(__file__).parents[2]


def test_each_target_is_measured_by_a_case_that_has_both_contenders():
    from benchmarks.targets import TARGETS

    for target in TARGETS:
        known = [case for case in cases.CASES if not target.cases or case.key in target.cases]
        assert {case.key for case in known} >= set(target.cases), target.text
        labels = {target.peer or target.measured, target.measured}
        measuring = [case for case in known if labels <= {c.label for c in case.contenders}]
        assert len(measuring) == len(target.cases) or (measuring and not target.cases), target.text
        for case in measuring:
            assert target.verb in case.contender(target.measured).verbs
            assert target.verb in case.contender(target.peer or target.measured).verbs


def test_a_target_that_is_missed_says_why_or_that_nobody_knows():
    from benchmarks import report, targets

    seconds = {"write": [3.0], "read": [3.0]}
    for target in (each for each in targets.TARGETS if each.peer):
        known = [case for case in cases.CASES if not target.cases or case.key in target.cases]
        case = next(c for c in known if {target.peer, target.measured} <= {one.label for one in c.contenders})
        ours = report.Result(case, case.contender(target.measured), 8, 1, (1, 0), seconds, exact=1)
        for times, verdict in ((3e-4, "MISSED"), (3e4, "met")):
            peer = report.Result(
                case, case.contender(target.peer), 8, 1, (1, 0), {verb: [times] for verb in seconds}, exact=1
            )
            rows = [row for row in report.target_rows(report.Run(1, [ours, peer])) if row[0] == target.text]
            assert {row[3] for row in rows} == {verdict}
            assert {row[4] for row in rows} == {(target.reason or report.UNEXPLAINED) if verdict == "MISSED" else ""}
    assert all(len(row) == len(report.TARGET_HEADINGS) for row in rows)
    assert not any("|" in target.reason for target in targets.TARGETS)


def test_a_time_without_a_peer_is_that_of_one_call():
    from benchmarks import report

    case = next(case for case in cases.CASES if case.key == "xlsx-small")
    for each, shown in ((0.019, ["1.9 ms", "met"]), (0.021, ["2.1 ms", "MISSED"])):
        seconds = {"write": [each], "read": [each]}
        ours = report.Result(case, case.contenders[0], 8, 1, (1, 0), seconds, exact=1)
        rows = [row for row in report.target_rows(report.Run(1, [ours])) if row[0].endswith("at most 2 ms")]
        assert [row[2:4] for row in rows] == [shown]


def test_requests_to_google_sheets_are_counted_and_judged():
    from benchmarks import google, report

    counts = google.count_requests()
    assert set(counts) == set(google.SETS)
    more = {"more": {"write": 3, "read": 3, "append": 4}}
    rows = [*report.target_rows(report.Run(1, requests=counts | more))]
    google_rows = [row for row in rows if row[0].startswith("Google")]
    assert [row[3] for row in google_rows if row[1] == "more"] == ["MISSED"] * 3
    assert {row[3] for row in google_rows if row[1] != "more" and not row[0].endswith("append")} == {"met"}


def test_readme_says_what_the_results_say():
    from benchmarks.summary import BEGIN, END, summarize

    results = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.partition(BEGIN)[2].partition(END)[0].strip() == summarize(results)


def test_growth_is_linear_up_to_a_factor():
    from benchmarks.growth import Growth
    from benchmarks.targets import GROWTH

    assert Growth("write", "cell", {1: 1.0, 10: 5.0, 100: 100.0}).ratio == 2.0
    assert Growth("write", "cell", {10: 1.0, 100: 10.0 * GROWTH}).is_linear
    assert not Growth("write", "cell", {10: 1.0, 100: 10.1 * GROWTH}).is_linear
