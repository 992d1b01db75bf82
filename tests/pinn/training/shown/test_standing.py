"""The line that tells where training stands fits where it is shown."""

from dataclasses import replace

import pytest

from pinn.training.shown.standing import Standing

NAMES = [
    "momentum_x", "momentum_y", "continuity", "dirichlet_u_x_low", "dirichlet_u_x_high",
    "dirichlet_v_x_low_y_high", "initial_temperature",
]
LOSSES = {name: 10.0**-k for k, name in enumerate(NAMES)}
MANY = Standing(
    stage="levenberg_marquardt", step=37, steps=300, share=0.25, rate=14.2, left=21.0, loss=1.25,
    losses=LOSSES, shares=LOSSES, errors={"u": 1.2e-4, "v": 3.4e-3}, parameters={"nu": 0.003183},
    damping=1e-3,
)


@pytest.mark.parametrize("width", [*range(30, 260, 7), 59, 60, 199, 200])
def test_it_never_takes_more_columns_than_there_are(width):
    line = MANY.line(width, "=-")
    assert len(line) <= width and "\n" not in line
    assert line.startswith("levenberg_")


def test_the_whole_line_has_everything_by_name():
    line = MANY.line()
    assert line.startswith("levenberg_marquardt 37/300  loss 1.25e+00  momentum_x 1.0e+00  ")
    for part in (*NAMES, "error of u 1.2e-04", "nu = 0.003183", "damping 1.0e-03", "14/s"):
        assert part in line
    assert line.endswith("  0:21 left")


def test_little_room_is_for_what_matters_most():
    line = MANY.line(59, "=-")
    assert line == "levenberg_.. 37/300  loss 1.25e+00  14/s  0:21 left"
    line = MANY.line(79, "=-")
    assert "error of v 3.4e-03" in line and "error of u" not in line


def test_the_losses_that_weigh_most_are_named_and_the_others_counted():
    shares = dict.fromkeys(NAMES, 0.0) | {"initial_temperature": 3.0, "continuity": 2.0}
    line = replace(MANY, shares=shares, errors={}, parameters={}).line(110, "=-")
    assert "continuity 1.0e-02  initial_..perature 1.0e-06 +5  " in line
    assert " +" not in MANY.line(400)


def test_a_long_name_keeps_both_of_its_ends():
    line = MANY.line(400)
    assert "dirichle..x_y_high" not in line  # other ends than the two below would look alike
    assert "dirichlet_u_x_high" in line and "dirichle..w_y_high" in line


def test_the_bar_is_what_is_behind():
    line = replace(MANY, errors={}, parameters={}).line(140, "=-")
    assert "  ===---------  " in line
    assert "=" not in replace(MANY, parameters={}).line(120)


def test_slow_steps_are_told_by_their_seconds():
    assert "  8.3 s/step  " in replace(MANY, rate=0.12).line()
    assert "  4.2/s  " in replace(MANY, rate=4.2).line()


def test_under_a_limit_in_time_no_steps_are_promised():
    assert replace(MANY, steps=None).line().startswith("levenberg_marquardt 37  loss")
    assert "1:01:05 left" in replace(MANY, left=3665.0).line()


def test_one_loss_is_told_once():
    alone = replace(MANY, losses={"heat": 1.25}, shares={"heat": 1.25})
    assert "heat" not in alone.line()
