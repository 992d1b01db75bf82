"""What was logged, as the curves of a page."""

import math

from pinn.report.curves import curves_data


def record(step, stage="adam", **more):
    return {
        "step": step, "stage": stage, "wall_s": step / 10, "loss": 2.0**-step,
        "losses": {"heat": 2.0**-step / 4, "initial_u": 3 * 2.0**-step / 4}, **more,
    }  # fmt: skip


def panels(data):
    return {panel["title"]: panel for panel in data["panels"]}


def names(panel):
    return [one["name"] for one in panel["series"]]


def test_losses_errors_coefficients_and_weights_have_panels():
    records = [
        record(i, fresh_loss=1.0, rel_l2={"u": 0.1}, parameters={"k": -1.0 + i},
               weights={"heat": 2.0})
        for i in (1, 2, 3)
    ]  # fmt: skip
    data = curves_data(records, {"k": 0.25})
    found = panels(data)
    assert list(found) == ["loss", "relative L2 error", "k", "weight of a loss"]
    assert names(found["loss"]) == ["total", "heat", "initial_u", "loss on fresh points"]
    assert found["loss"]["series"][0]["values"] == [0.5, 0.25, 0.125]
    assert [found[name]["log"] for name in found] == [True, True, False, True]
    assert found["k"]["series"][0]["values"] == [0.0, 1.0, 2.0]
    assert found["k"]["band"] == [1.5, 2.5]  # two standard errors about the last value
    assert data["steps"] == [1, 2, 3] and data["seconds"] == [0.1, 0.2, 0.3]


def test_a_stage_begins_after_the_last_step_of_the_one_before():
    records = [record(1), record(2), record(3, "lbfgs"), record(4, "lbfgs")]
    assert curves_data(records)["stages"] == [[0, "adam"], [1, "lbfgs"]]


def test_steps_after_which_points_were_drawn_anew_are_told():
    records = [record(i, draw=draw) for i, draw in enumerate([0, 0, 1, 1, 2])]
    assert curves_data(records)["draws"] == [2, 4]


def test_steps_that_training_went_back_on_are_left_out():
    assert curves_data([record(1), record(2), record(3), record(2)])["steps"] == [1, 2]


def test_what_is_no_number_and_what_a_logarithm_has_no_place_for_is_a_gap():
    records = [
        record(i, fresh_loss=value, rel_l2={"u": value})
        for i, value in enumerate([None, math.nan, math.inf, 0.0, -1.0, "x", 10**400, True, 0.5])
    ]
    found = panels(curves_data(records))
    assert found["relative L2 error"]["series"][0]["values"] == [None] * 8 + [0.5]
    assert found["loss"]["series"][-1]["values"] == [None] * 8 + [0.5]


def test_a_loss_of_one_block_that_is_the_total_is_drawn_once():
    records = [{"step": 1, "stage": "a", "loss": 0.5, "losses": {"heat": 0.5}}]
    assert names(panels(curves_data(records))["loss"]) == ["total"]


def test_long_histories_are_thinned_and_keep_the_ends_of_stages():
    records = [record(i, "one" if i < 4998 else "two") for i in range(1, 10_001)]
    data = curves_data(records)
    assert len(data["steps"]) <= 1300
    assert {1, 4997, 4998, 10_000} <= set(data["steps"])
    at, name = data["stages"][1]
    assert (data["steps"][at], name) == (4997, "two")


def test_a_run_that_has_logged_nothing_has_no_panels():
    assert curves_data([]) == {"steps": [], "seconds": [], "panels": [], "stages": [], "draws": []}
