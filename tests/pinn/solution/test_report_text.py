"""What a report looks like printed."""

import math
from dataclasses import replace

import pytest

from pinn.estimates import ErrorEstimate
from pinn.optimizers import StopReason
from pinn.solution import Report
from pinn.solution.recovery import DataFit, Recovery
from pinn.solution.report_text import report_text, strange_references

ESTIMATE = ErrorEstimate(
    relative_l2={"u": 2.94e-6, "pressure": 4e-3}, maximum={"u": 1.1e-5, "pressure": 0.02},
    where={"u": {"x": 0.0}, "pressure": {"x": 0.0}},
)
REPORT = Report(
    stop_reason=StopReason.STEPS, message="all 300 steps done after step 340", loss=1.234e-12,
    losses={"burgers": 1.234e-12}, wall_seconds=18.24, steps=340,
    rel_l2={"u": 3.12e-6}, max_error={"u": 1.2e-5}, fresh_loss=1.3e-12, error_estimate=ESTIMATE,
)


def rows(report, files=""):
    return report_text(report, files).splitlines()


def test_errors_and_estimates_stand_beside_each_other():
    head, u, pressure, blank, *facts = rows(REPORT)
    assert head.split("  ")[0] == "unknown"
    assert head.index("relative L2") < head.index("est. relative L2")
    assert u.split() == ["u", "3.12e-06", "1.20e-05", "2.9e-06", "1.1e-05"]
    assert pressure.split() == ["pressure", "4.0e-03", "2.0e-02"]
    assert blank == ""
    assert facts == [
        "loss        1.234e-12 (1.300e-12 on fresh points)",
        "time        18.2 s, 340 steps",
        "stopped     step limit: all 300 steps done after step 340",
    ]
    assert str(REPORT) == report_text(REPORT)


def test_an_estimate_that_is_not_to_be_trusted_has_a_mark_and_the_reason():
    doubted = replace(REPORT, error_estimate=replace(ESTIMATE, doubts=("it jumps",)))
    assert rows(doubted)[1].split()[-4:] == ["2.9e-06", "?", "1.1e-05", "?"]
    assert "?           the estimated error is not to be trusted: it jumps" in rows(doubted)


def test_a_reference_far_from_a_solution_that_seems_right_is_told_of():
    found = " ".join(" ".join(rows(replace(REPORT, rel_l2={"u": 0.25}))).split())
    assert (
        "reference the reference of u differs from the solution by 2.5e-01, and the estimated "
        "error is 2.9e-06: one of the two is not of this problem, or it has several solutions and "
        "these are two of them; compare the reference with the equations, conditions and "
        "constants, or start nearer to it"
    ) in found
    fewer = " ".join(rows(replace(REPORT, rel_l2={"u": 5e-4})))
    assert "the reference of u differs" in fewer and "fewer digits" in fewer


@pytest.mark.parametrize("changes", [
    {"rel_l2": {"u": 2e-4}}, {"rel_l2": {"u": math.nan}}, {"rel_l2": {"v": 0.25}},
    {"rel_l2": {"u": 0.25}, "error_estimate": replace(ESTIMATE, doubts=("it jumps",))},
    {"rel_l2": {"u": 0.25}, "error_estimate": ErrorEstimate()},
    {"rel_l2": {"u": 70.0}, "error_estimate": replace(ESTIMATE, relative_l2={"u": 0.6})},
    {"rel_l2": {"u": 0.25}, "error_estimate": replace(ESTIMATE, relative_l2={"u": None})},
])  # fmt: skip
def test_a_reference_beside_an_estimate_that_is_doubted_or_about_as_large_is_not(changes):
    report = replace(REPORT, **changes)
    assert strange_references(report) == []


def test_an_estimate_as_large_as_the_solution_bounds_nothing():
    """The scale of it is u + e, of the maximum none: 1.3 beside 0.018 where u has collapsed."""
    far = replace(ESTIMATE, relative_l2={"u": 1.3, "pressure": 4e-3})
    found = rows(replace(REPORT, error_estimate=far))
    assert found[1].split()[-4:] == ["1.3e+00", "?", "1.1e-05", "?"]
    assert found[2].split() == ["pressure", "4.0e-03", "2.0e-02"]
    said = " ".join(" ".join(found).split())
    assert "? the estimated error is not to be trusted: u has one of half the size" in said
    assert "the maximum is no bound" in said


def test_one_place_says_whether_an_estimate_is_trusted():
    assert ESTIMATE.trusted
    collapsed = replace(ESTIMATE, relative_l2={"u": 0.6, "pressure": 4e-3})
    assert not collapsed.trusted and not collapsed.doubts
    u, pressure = collapsed.text()
    assert u == "estimated error of u 6.0e-01, not to be trusted"
    assert pressure == "estimated error of pressure 4.0e-03"
    assert "not to be trusted: u has one of half the size" in str(collapsed)
    assert "not to be trusted" in replace(REPORT, error_estimate=collapsed).summary()


def test_how_far_an_error_may_be_off_stands_beside_an_estimate_that_is_not_trusted():
    possible = {"u": 3.2e-3, "pressure": 1.7}
    doubted = replace(ESTIMATE, possible=possible, doubts=("it jumps",), unexplained=0.1)
    head, u, pressure, *_ = rows(replace(REPORT, error_estimate=doubted))
    assert head.split("  ")[-2].strip() == "may be"
    assert u.split()[-5:] == ["2.9e-06", "?", "3.2e-03", "1.1e-05", "?"]
    assert pressure.split()[1:] == ["4.0e-03", "?", "all", "of", "it", "2.0e-02", "?"]
    assert doubted.text() == [
        "estimated error of u 2.9e-06, not to be trusted: it may be 3.2e-03",
        "estimated error of pressure 4.0e-03, not to be trusted: it may be all of it",
    ]
    table = str(doubted).splitlines()
    assert table[0].split() == ["relative", "L2", "may", "be", "maximum", "at"]
    assert table[1].split()[:4] == ["u", "2.94e-06", "3.2e-03", "1.10e-05"]
    # what does not explain the residual says nothing of errors of other kinds
    more = replace(doubted, unexplained=0.5)
    assert more.may_be == {"u": "3.2e-03 or more", "pressure": "all of it"}
    assert "3.2e-03 or more" in rows(replace(REPORT, error_estimate=more))[1]
    # nothing is said where it is trusted, is the larger one, or is not known
    assert "may be" not in rows(replace(REPORT, error_estimate=replace(doubted, doubts=())))[0]
    less = replace(doubted, possible={"u": 1e-6})
    assert "may be" not in rows(replace(REPORT, error_estimate=less))[0]
    untold = replace(doubted, relative_l2={"u": None, "pressure": 4e-3})
    assert untold.up_to == possible


def test_a_maximum_that_is_not_told_says_so():
    for untold in (math.nan, None):
        far = replace(ESTIMATE, maximum={"u": untold, "pressure": 1e-3}, doubts=("it jumps",))
        found = rows(replace(REPORT, error_estimate=far))
        assert found[1].split()[-3:] == ["not", "told", "?"]


def test_standard_errors_of_an_unsolved_problem_are_marked_and_explained():
    recovery = Recovery(standard_errors={"z": 0.0042})
    report = replace(REPORT, parameters={"z": 0.273385, "k": 2.0}, recovery=recovery)
    for unsolved in (False, True):
        found = rows(replace(report, unsolved=unsolved))
        (z,) = [row.split() for row in found if row.startswith("z ")]
        assert z.count("?") == (2 if unsolved else 0)
        assert ("which this is not" in " ".join(found)) == unsolved
        beside = "z = 0.273385 ± 0.0042" + ", not to be trusted" * unsolved + "; "
        assert beside in replace(report, unsolved=unsolved).summary()
        (k,) = [row.split() for row in found if row.startswith("k ")]
        assert k == ["k", "2"]


def test_coefficients_have_their_interval():
    report = replace(
        REPORT, parameters={"nu": 0.0031831, "k": 2.0},
        recovery=Recovery(
            standard_errors={"nu": 1.2e-5},
            data={"sensors": DataFit(200, 0.1, freedom=198.0, chi_square=198.0, probability=0.5)},
        ),
    )
    nu = next(row for row in rows(report) if row.startswith("nu "))
    value, error, low, _, high = nu.split()[1:]
    assert (value, error) == ("0.0031831", "1.2e-05")
    assert float(low) == pytest.approx(0.0031831 - 1.96 * 1.2e-5, abs=1e-6)
    assert float(high) == pytest.approx(0.0031831 + 1.96 * 1.2e-5, abs=1e-6)
    assert next(row for row in rows(report) if row.startswith("k ")).split() == ["k", "2"]
    assert "data        sensors: 200 rows, 1.00 sigma from the solution" in rows(report)
    plain = replace(REPORT, parameters={"nu": 0.0031831})
    assert "nu           0.0031831" in rows(plain)


@pytest.mark.parametrize(("probability", "said"), [
    (0.004, "4 in a thousand"), (0.0, "fewer than one in a thousand"),
])  # fmt: skip
def test_standard_errors_beside_data_that_noise_seldom_brings_are_marked(probability, said):
    fit = DataFit(100, 0.1, 99.0, 139.0, probability)
    recovery = Recovery({"nu": 1e-3}, data={"sensors": fit})
    report = replace(REPORT, parameters={"nu": 0.25, "k": 2.0}, recovery=recovery)
    nu, k = (next(row for row in rows(report) if row.startswith(n)) for n in ("nu ", "k "))
    assert "0.001 ?" in nu and "?" not in k
    told = " ".join(" ".join(rows(report)).split())
    assert f"brings the data of sensors as far off in {said} of such fits" in told
    assert "nu = 0.25 \N{PLUS-MINUS SIGN} 0.001, not to be trusted" in report.summary()

    better = replace(fit, probability=0.5)
    worst = replace(recovery, data={"others": better, "sensors": fit})
    assert "the data of sensors" in worst.doubt(False)
    many = dict.fromkeys("abcdefgh", better)  # of nine the worst is as far off by chance
    seldom = replace(fit, probability=0.004)
    assert not replace(recovery, data={**many, "sensors": seldom}).doubt(False)
    often = replace(recovery, data={"sensors": replace(fit, probability=0.03)})
    assert not replace(report, recovery=often).doubt_of_coefficients
    without = replace(recovery, standard_errors={})  # of data alone there is nothing to doubt
    assert not replace(report, recovery=without).doubt_of_coefficients


def test_a_report_of_nothing_known_says_the_rest():
    bare = replace(
        REPORT, rel_l2={}, max_error={}, error_estimate=ErrorEstimate(), fresh_loss=math.nan,
        steps=1,
    )
    assert rows(bare)[:2] == ["loss        1.234e-12", "time        18.2 s, 1 step"]


def test_eighty_columns_hold_it():
    wide = replace(
        REPORT, rel_l2={"a_very_long_name_of_an_unknown": 1.0},
        max_error={"a_very_long_name_of_an_unknown": 1e-300}, message="it ended " * 30,
        error_estimate=ErrorEstimate(
            {"a_very_long_name_of_an_unknown": 1.0}, {"a_very_long_name_of_an_unknown": 1.0},
            doubts=("it jumps " * 30,), remarks=("points are overfitted " * 9,),
        ),
    )
    found = rows(wide, "runs/burgers-0/")
    assert max(map(len, found)) <= 80
    assert "a_very_lon..an_unknown" in found[1]
    assert "files       runs/burgers-0/" in found


def test_warnings_are_told_again_at_the_end():
    found = rows(replace(REPORT, warnings=("no condition on u", "two")))
    assert "warning     no condition on u" in found and "warning     two" in found


@pytest.mark.parametrize(("fit", "said"), [
    (DataFit(60, 0.1, 58.0, 58.0, 0.5), "60 rows, 1.00 sigma from the solution"),
    (DataFit(60, 0.5, 58.0, 2.7, 1.0), "60 rows, 0.22 sigma from the solution, where 1 is "
     "expected: sigma seems too large, and standard errors with it"),
    (DataFit(8, 0.5, 6.0, 0.3, 1.0), "8 rows, 0.22 sigma from the solution"),
    (DataFit(100, 0.1, 99.0, 139.0, 0.004), "100 rows, 1.18 sigma from the solution, as far as "
     "noise brings 4 in a thousand of such data: see whether the equations are those of "
     "the measurement"),
    (DataFit(100, 0.1, 99.0, 125.0, 0.03), "100 rows, 1.12 sigma from the solution, as far as "
     "noise brings 3 in a hundred of such data: see whether the equations are those of "
     "the measurement"),
    (DataFit(60, 0.1, 58.0, 522.0, 0.0), "60 rows, 3.00 sigma from the solution, where 1 is "
     "expected: standard errors are those of the sigma that was told, and would be 3 times as "
     "large by this scatter"),
    (DataFit(60, 0.0543, 58.0, 58.0), "60 rows, noise of about 0.054 by what is left of them"),
])  # fmt: skip
def test_data_are_told_of_by_their_noise(fit, said):
    assert fit.text == said
