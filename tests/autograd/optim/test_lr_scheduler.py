"""Learning rate schedules against their closed forms, and against what PyTorch does."""

import math
import pickle

import numpy as np
import pytest

import autograd as T
from autograd import optim
from autograd.optim import lr_scheduler


def make_optimizer(lr=0.5):
    p = T.tensor([1.0], requires_grad=True)
    p.grad = T.tensor([0.0])
    return optim.SGD([{"params": [p]}], lr=lr)


def rates(optimizer, scheduler, epochs):
    found = []
    for _ in range(epochs):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return found


def cosine(epoch):
    return 0.1 + 0.4 * (1 + math.cos(math.pi * epoch / 5)) / 2


def doubling(epoch):
    """Cycles of 2, 4, 8 and 16 epochs."""
    start, length = next((2**k - 2, 2**k) for k in (4, 3, 2, 1) if epoch >= 2**k - 2)
    return 0.5 * (1 + math.cos(math.pi * (epoch - start) / length)) / 2


@pytest.mark.parametrize(
    ("make", "closed"),
    [
        (lambda o: lr_scheduler.StepLR(o, 3, 0.1), lambda e: 0.5 * 0.1 ** (e // 3)),
        (lambda o: lr_scheduler.ExponentialLR(o, 0.9), lambda e: 0.5 * 0.9**e),
        (lambda o: lr_scheduler.CosineAnnealingLR(o, 5, 0.1), cosine),
        (lambda o: lr_scheduler.LambdaLR(o, lambda e: 1 / (1 + e)), lambda e: 0.5 / (1 + e)),
        (
            lambda o: lr_scheduler.MultiplicativeLR(o, lambda e: e / (e + 1)),
            lambda e: 0.5 / (1 + e),
        ),
        (
            lambda o: lr_scheduler.MultiStepLR(o, [2, 5, 5, 9], 0.3),
            lambda e: 0.5 * 0.3 ** ((e >= 2) + 2 * (e >= 5) + (e >= 9)),
        ),
        (lambda o: lr_scheduler.ConstantLR(o), lambda e: 0.5 if e >= 5 else 0.5 / 3),
        (lambda o: lr_scheduler.LinearLR(o), lambda e: 0.5 * (1 / 3 + 2 / 3 * min(e / 5, 1))),
        (
            lambda o: lr_scheduler.LinearLR(o, 1.0, 0.0, total_iters=7),
            lambda e: 0.5 * (1 - min(e / 7, 1)),
        ),
        (lambda o: lr_scheduler.PolynomialLR(o), lambda e: 0.5 * (1 - min(e / 5, 1))),
        (
            lambda o: lr_scheduler.PolynomialLR(o, 9, power=2.5),
            lambda e: 0.5 * (1 - min(e / 9, 1)) ** 2.5,
        ),
        (
            lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 5, eta_min=0.1),
            lambda e: cosine(e % 5),
        ),
        (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 2, T_mult=2), doubling),
    ],
)
def test_rates_follow_the_closed_form(make, closed):
    optimizer = make_optimizer()
    scheduler = make(optimizer)
    expected = [closed(epoch) for epoch in range(17)]
    np.testing.assert_allclose(rates(optimizer, scheduler, 17), expected, rtol=1e-12, atol=1e-16)
    assert scheduler.get_last_lr() == [optimizer.param_groups[0]["lr"]]


def test_two_schedulers_multiply():
    optimizer = make_optimizer()
    first = lr_scheduler.ExponentialLR(optimizer, 0.5)
    second = lr_scheduler.StepLR(optimizer, 2, 0.1)
    for _ in range(4):
        optimizer.step()
        first.step()
        second.step()
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.5 * 0.5**4 * 0.1**2)


def test_state_continues_the_schedule():
    optimizer = make_optimizer()
    scheduler = lr_scheduler.CosineAnnealingLR(optimizer, 5, 0.1)
    rates(optimizer, scheduler, 7)
    state, groups = scheduler.state_dict(), optimizer.state_dict()
    assert "optimizer" not in state
    other = make_optimizer()
    resumed = lr_scheduler.CosineAnnealingLR(other, 5, 0.1)
    resumed.load_state_dict(state)
    other.load_state_dict(groups)
    assert rates(other, resumed, 6) == rates(optimizer, scheduler, 6)


def two_groups():
    groups = []
    for lr in (0.5, 0.2):
        p = T.tensor([1.0], requires_grad=True)
        p.grad = T.tensor([0.0])
        groups.append({"params": [p], "lr": lr})
    return optim.SGD(groups)


MAKERS = {
    "sequential": lambda o: lr_scheduler.SequentialLR(
        o,
        [
            lr_scheduler.LinearLR(o, 0.1, total_iters=3),
            lr_scheduler.CosineAnnealingLR(o, 6),
            lr_scheduler.ExponentialLR(o, 0.9),
        ],
        [3, 8],
    ),
    "sequential of constants": lambda o: lr_scheduler.SequentialLR(
        o,
        [
            lr_scheduler.ConstantLR(o, 0.1, 20),
            lr_scheduler.PolynomialLR(o, 3),
            lr_scheduler.MultiStepLR(o, [2]),
        ],
        [3, 7],
    ),
    "chained": lambda o: lr_scheduler.ChainedScheduler(
        [
            lr_scheduler.LinearLR(o),
            lr_scheduler.StepLR(o, 4),
            lr_scheduler.CosineAnnealingLR(o, 30),
        ]
    ),
    "chained with a sequence": lambda o: lr_scheduler.ChainedScheduler(
        [
            lr_scheduler.SequentialLR(
                o, [lr_scheduler.ConstantLR(o, 0.1, 20), lr_scheduler.PolynomialLR(o, 5)], [4]
            ),
            lr_scheduler.ExponentialLR(o, 0.9),
        ]
    ),
    "one cycle": lambda o: lr_scheduler.OneCycleLR(o, [0.9, 0.3], 10),
    "one cycle, linear": lambda o: lr_scheduler.OneCycleLR(
        o,
        [0.9, 0.3],
        epochs=2,
        steps_per_epoch=5,
        anneal_strategy="linear",
        div_factor=10,
        final_div_factor=10,
        base_momentum=0.8,
    ),
    "one cycle of three phases": lambda o: lr_scheduler.OneCycleLR(o, 0.9, 12, three_phase=True),
    "cyclic": lambda o: lr_scheduler.CyclicLR(
        o, [0.1, 0.2], [0.5, 0.4], 3, 2, mode="triangular2", base_momentum=0.7
    ),
    "cyclic, shrinking step by step": lambda o: lr_scheduler.CyclicLR(
        o, 0.1, 0.5, 3, mode="exp_range", gamma=0.9, cycle_momentum=False
    ),
}

# Rates of two groups and the momentum of the first, epoch by epoch, by PyTorch 2.13.
RECORDED = {
    "sequential": (
        (0.05, 0.020000000000000004, 0),
        (0.19999999999999998, 0.08, 0),
        (0.35, 0.14, 0),
        (0.5, 0.2, 0),
        (0.4665063509461097, 0.1866025403784439, 0),
        (0.375, 0.15000000000000002, 0),
        (0.25, 0.1, 0),
        (0.12500000000000006, 0.050000000000000024, 0),
        (0.5, 0.2, 0),
        (0.45, 0.18000000000000002, 0),
    ),
    "sequential of constants": (
        (0.05, 0.020000000000000004, 0),
        (0.05, 0.020000000000000004, 0),
        (0.05, 0.020000000000000004, 0),
        (0.5, 0.2, 0),
        (0.33333333333333337, 0.13333333333333336, 0),
        (0.16666666666666669, 0.06666666666666668, 0),
        (0.0, 0.0, 0),
        (0.5, 0.2, 0),
        (0.5, 0.2, 0),
        (0.05, 0.020000000000000004, 0),
    ),
    "chained": (
        (0.16666666666666666, 0.06666666666666667, 0),
        (0.23269422112629856, 0.09307768845051942, 0),
        (0.29672214011007086, 0.11868885604402833, 0),
        (0.35769369465411155, 0.14307747786164463, 0),
        (0.041460151582256355, 0.016584060632902544, 0),
        (0.046650635094610975, 0.018660254037844392, 0),
        (0.04522542485937369, 0.018090169943749478, 0),
        (0.04357862063693486, 0.017431448254773944, 0),
        (0.004172826515897146, 0.0016691306063588583, 0),
        (0.003969463130731183, 0.0015877852522924731, 0),
    ),
    "chained with a sequence": (
        (0.05, 0.020000000000000004, 0),
        (0.045000000000000005, 0.018000000000000006, 0),
        (0.04050000000000001, 0.016200000000000006, 0),
        (0.03645000000000001, 0.014580000000000006, 0),
        (0.45, 0.18000000000000002, 0),
        (0.32400000000000007, 0.12960000000000002, 0),
        (0.21870000000000003, 0.08748, 0),
        (0.13122000000000003, 0.052488000000000014, 0),
        (0.059049000000000004, 0.0236196, 0),
        (0.0, 0.0, 0),
    ),
    "one cycle": (
        (0.03600000000000003, 0.01200000000000001, 0.95),
        (0.468, 0.156, 0.8999999999999999),
        (0.9, 0.3, 0.85),
        (0.8554361688121264, 0.2851453896040421, 0.854951556604879),
        (0.7305710885547868, 0.24352369618492894, 0.8688255099070633),
        (0.5501358197426603, 0.18337860658088678, 0.8888739533021842),
        (0.34986778025733967, 0.11662259341911323, 0.9111260466978157),
        (0.16943251144521326, 0.05647750381507109, 0.9311744900929366),
        (0.04456743118787366, 0.014855810395957887, 0.945048443395121),
        (3.6000000000000003e-06, 1.2e-06, 0.95),
    ),
    "one cycle, linear": (
        (0.09, 0.03, 0.95),
        (0.495, 0.165, 0.875),
        (0.9, 0.30000000000000004, 0.8),
        (0.7727142857142857, 0.25757142857142856, 0.8214285714285715),
        (0.6454285714285715, 0.21514285714285714, 0.8428571428571429),
        (0.5181428571428572, 0.1727142857142857, 0.8642857142857143),
        (0.3908571428571429, 0.13028571428571428, 0.8857142857142857),
        (0.26357142857142857, 0.08785714285714286, 0.9071428571428571),
        (0.13628571428571434, 0.04542857142857143, 0.9285714285714285),
        (0.009000000000000008, 0.0030000000000000027, 0.95),
    ),
    "one cycle of three phases": (
        (0.03600000000000003, 0.03600000000000003, 0.95),
        (0.31481068879762475, 0.31481068879762475, 0.9177302443521267),
        (0.7913566432099158, 0.7913566432099158, 0.8625744625914449),
        (0.8505170030821867, 0.8505170030821867, 0.8557271987173395),
        (0.4159281541297002, 0.4159281541297002, 0.9060268340127662),
        (0.048553134871945486, 0.048553134871945486, 0.9485470908713025),
        (0.03433652391832182, 0.03433652391832182, 0.95),
        (0.02810215703980523, 0.02810215703980523, 0.95),
        (0.01897620290450206, 0.01897620290450206, 0.95),
        (0.009571291202597034, 0.009571291202597034, 0.95),
    ),
    "cyclic": (
        (0.1, 0.2, 0.9),
        (0.2333333333333333, 0.26666666666666666, 0.8333333333333334),
        (0.3666666666666666, 0.3333333333333333, 0.7666666666666666),
        (0.4999999999999999, 0.39999999999999997, 0.7),
        (0.29999999999999993, 0.3, 0.8),
        (0.1, 0.2, 0.9),
        (0.16666666666666674, 0.2333333333333334, 0.8666666666666667),
        (0.2333333333333333, 0.26666666666666666, 0.8333333333333334),
        (0.29999999999999993, 0.3, 0.8),
        (0.2000000000000001, 0.25000000000000006, 0.85),
    ),
    "cyclic, shrinking step by step": (
        (0.1, 0.1, 0),
        (0.22000000000000006, 0.22000000000000006, 0),
        (0.31599999999999995, 0.31599999999999995, 0),
        (0.39160000000000006, 0.39160000000000006, 0),
        (0.2749600000000001, 0.2749600000000001, 0),
        (0.17873199999999995, 0.17873199999999995, 0),
        (0.1, 0.1, 0),
        (0.16377292000000016, 0.16377292000000016, 0),
        (0.21479125599999993, 0.21479125599999993, 0),
        (0.25496819560000006, 0.25496819560000006, 0),
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_rates_and_momenta_are_pytorchs(name):
    optimizer = two_groups()
    scheduler = MAKERS[name](optimizer)
    found = []
    for _ in RECORDED[name]:
        first, second = optimizer.param_groups
        found.append((first["lr"], second["lr"], first["momentum"]))
        assert scheduler.get_last_lr() == [first["lr"], second["lr"]]
        optimizer.step()
        scheduler.step()
    np.testing.assert_allclose(found, RECORDED[name], rtol=1e-12)


@pytest.mark.parametrize("name", MAKERS)
def test_a_state_from_a_file_continues_any_schedule(name):
    optimizer = two_groups()
    scheduler = MAKERS[name](optimizer)
    for _ in range(4):
        optimizer.step()
        scheduler.step()
    saved = pickle.dumps([scheduler.state_dict(), optimizer.state_dict()])
    other = two_groups()
    resumed = MAKERS[name](other)
    mine, theirs = pickle.loads(saved)
    resumed.load_state_dict(mine)
    other.load_state_dict(theirs)
    for _ in range(5):
        optimizer.step()
        scheduler.step()
        other.step()
        resumed.step()
        assert resumed.get_last_lr() == scheduler.get_last_lr()
        assert [g["momentum"] for g in other.param_groups] == [
            g["momentum"] for g in optimizer.param_groups
        ]


@pytest.mark.parametrize(
    "make",
    [
        lambda o, at: lr_scheduler.ExponentialLR(o, 0.9, last_epoch=at),
        lambda o, at: lr_scheduler.StepLR(o, 3, last_epoch=at),
        lambda o, at: lr_scheduler.MultiStepLR(o, [3, 5], last_epoch=at),
        lambda o, at: lr_scheduler.ConstantLR(o, 0.5, 7, last_epoch=at),
        lambda o, at: lr_scheduler.LinearLR(o, total_iters=8, last_epoch=at),
        lambda o, at: lr_scheduler.PolynomialLR(o, 9, last_epoch=at),
        lambda o, at: lr_scheduler.CosineAnnealingLR(o, 6, last_epoch=at),
        lambda o, at: lr_scheduler.CosineAnnealingWarmRestarts(o, 2, 2, last_epoch=at),
        lambda o, at: lr_scheduler.LambdaLR(o, lambda e: 1 / (1 + e), last_epoch=at),
        lambda o, at: lr_scheduler.MultiplicativeLR(o, lambda e: 0.5, last_epoch=at),
        lambda o, at: lr_scheduler.OneCycleLR(o, 0.9, 12, last_epoch=at),
        lambda o, at: lr_scheduler.CyclicLR(o, 0.1, 0.9, 3, last_epoch=at),
    ],
)
@pytest.mark.parametrize("finished", [2, 3])
def test_last_epoch_goes_on_from_the_optimizers_state(make, finished):
    optimizer = two_groups()
    scheduler = make(optimizer, -1)
    for _ in range(finished + 1):
        optimizer.step()
        scheduler.step()
    other = two_groups()
    other.load_state_dict(optimizer.state_dict())
    resumed = make(other, finished)
    assert resumed.last_epoch == scheduler.last_epoch
    for _ in range(6):
        np.testing.assert_allclose(resumed.get_last_lr(), scheduler.get_last_lr(), rtol=1e-14)
        optimizer.step()
        scheduler.step()
        other.step()
        resumed.step()


def test_sequences_within_sequences_keep_their_own_time():
    optimizer = make_optimizer()
    inner = lr_scheduler.SequentialLR(
        optimizer,
        [lr_scheduler.ConstantLR(optimizer, 0.1, 99), lr_scheduler.ExponentialLR(optimizer, 0.5)],
        [2],
    )
    chain = lr_scheduler.ChainedScheduler(
        [lr_scheduler.LinearLR(optimizer, 0.5, total_iters=2), lr_scheduler.StepLR(optimizer, 2)]
    )
    scheduler = lr_scheduler.SequentialLR(optimizer, [inner, chain], [4])
    found = rates(optimizer, scheduler, 9)
    np.testing.assert_allclose(
        found, [0.05, 0.05, 0.5, 0.25, 0.25, 0.375, 0.05, 0.05, 0.005], rtol=1e-12
    )


def test_a_sequence_goes_on_with_schedulers_that_go_on():
    optimizer = make_optimizer()

    def sequence(of, at):
        parts = [
            lr_scheduler.PolynomialLR(of, 9, last_epoch=at),
            lr_scheduler.ExponentialLR(of, 0.5),
        ]
        return lr_scheduler.SequentialLR(of, parts, [4], last_epoch=at)

    scheduler = sequence(optimizer, -1)
    found = rates(optimizer, scheduler, 3)
    other = make_optimizer()
    other.load_state_dict(optimizer.state_dict())
    resumed = sequence(other, 2)
    assert resumed.get_last_lr() == scheduler.get_last_lr()
    assert rates(other, resumed, 5) == rates(optimizer, scheduler, 5)
    assert found[0] == 0.5


def test_restarts_may_be_stepped_within_an_epoch():
    optimizer = make_optimizer()
    scheduler = lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 3, 2)
    # epochs and their place in cycles of 3, 6 and 12
    for epoch, part in [(0, 0), (0.5, 1 / 6), (2.75, 11 / 12), (3, 0), (7.5, 0.75), (15, 0.5)]:
        scheduler.step(epoch)
        assert scheduler.last_epoch == math.floor(epoch)
        expected = 0.25 * (1 + math.cos(math.pi * part))
        np.testing.assert_allclose(scheduler.get_last_lr(), [expected], rtol=1e-12)
    with pytest.raises(ValueError, match="non-negative epoch"):
        scheduler.step(-1)


def test_one_cycle_moves_the_first_beta():
    p = T.tensor([1.0], requires_grad=True)
    adam = optim.AdamW([p], betas=(0.9, 0.99))
    scheduler = lr_scheduler.OneCycleLR(adam, 1.0, 10, pct_start=0.5, anneal_strategy="linear")
    found = []
    for _ in range(10):
        found.append(adam.param_groups[0]["betas"])
        adam.step()
        scheduler.step()
    assert {beta2 for _, beta2 in found} == {0.99}
    first = [beta1 for beta1, _ in found]
    np.testing.assert_allclose(first[:5], [0.95 - 0.025 * k for k in range(5)], rtol=1e-12)
    np.testing.assert_allclose(first[4:], [0.85 + 0.02 * k for k in range(6)], rtol=1e-12)


@pytest.mark.parametrize(("mode", "at"), [("cycle", lambda e: 1 + e // 4), ("iterations", int)])
def test_cycles_may_have_heights_of_ones_own(mode, at):
    optimizer = make_optimizer()
    scheduler = lr_scheduler.CyclicLR(
        optimizer, 0.1, 0.5, 2, scale_fn=lambda k: 1 / (1 + k), scale_mode=mode
    )
    up = [0.0, 0.5, 1.0, 0.5]
    expected = [0.1 + 0.4 * up[e % 4] / (1 + at(e)) for e in range(11)]
    np.testing.assert_allclose(rates(optimizer, scheduler, 11), expected, rtol=1e-12)
    assert "scale_fn" not in scheduler.state_dict()


def test_a_rate_that_is_a_tensor_is_written_in_place():
    lr = T.tensor(0.5, dtype=T.float64)
    optimizer = make_optimizer(lr)
    scheduler = lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    scheduler.step()
    assert optimizer.param_groups[0]["lr"] is lr and lr.item() == 0.25
    assert scheduler.get_last_lr() == [0.25] and scheduler.base_lrs == [0.5]


def test_plateau_reduces_after_patience_and_waits_out_its_cooldown():
    optimizer = make_optimizer()
    scheduler = lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1, cooldown=2)
    found = []
    for metric in [3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0]:
        scheduler.step(T.tensor(metric))
        found.append(optimizer.param_groups[0]["lr"])
    # bad epochs: 3 and 4 reduce, 5 and 6 are cooldown, 7 and 8 reduce, then it improves
    assert found == [0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.125, 0.125, 0.125]


def test_plateau_of_a_maximum_and_its_lower_bound():
    optimizer = make_optimizer()
    scheduler = lr_scheduler.ReduceLROnPlateau(
        optimizer, "max", factor=0.1, patience=0, threshold=0.5, threshold_mode="abs", min_lr=0.2
    )
    scheduler.step(1.0)
    scheduler.step(1.6)
    assert optimizer.param_groups[0]["lr"] == 0.5
    scheduler.step(1.9)
    assert optimizer.param_groups[0]["lr"] == 0.2


def test_stepping_before_the_optimizer_warns():
    scheduler = lr_scheduler.ExponentialLR(make_optimizer(), 0.9)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        scheduler.step()


def test_bad_arguments_are_refused():
    optimizer = make_optimizer()
    with pytest.raises(TypeError, match="is not an Optimizer"):
        lr_scheduler.StepLR(3, 1)
    with pytest.raises(ValueError, match="Expected 1 lr_lambdas"):
        lr_scheduler.LambdaLR(optimizer, [lambda e: 1.0, lambda e: 1.0])
    with pytest.raises(ValueError, match="factor should be < 1.0"):
        lr_scheduler.ReduceLROnPlateau(optimizer, factor=1.0)
    with pytest.raises(KeyError, match="initial_lr"):
        lr_scheduler.StepLR(make_optimizer(), 3, last_epoch=4)


def exponential(optimizer):
    return lr_scheduler.ExponentialLR(optimizer, 0.9)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda o: lr_scheduler.ConstantLR(o, 1.5), ValueError, r"factor must lie in \(0, 1\]"),
        (lambda o: lr_scheduler.ConstantLR(o, 0), ValueError, r"factor must lie in \(0, 1\]"),
        (lambda o: lr_scheduler.LinearLR(o, 0), ValueError, "start_factor must lie"),
        (lambda o: lr_scheduler.LinearLR(o, end_factor=-1), ValueError, "end_factor must lie"),
        (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 0), ValueError, "T_0 must be"),
        (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 2, 0.5), ValueError, "T_mult must"),
        (lambda o: lr_scheduler.OneCycleLR(o, 1.0), ValueError, "either total_steps OR"),
        (lambda o: lr_scheduler.OneCycleLR(o, 1.0, 0), ValueError, "positive integer total_steps"),
        (
            lambda o: lr_scheduler.OneCycleLR(o, 1.0, epochs=1, steps_per_epoch=-1),
            ValueError,
            "positive integer steps_per_epoch",
        ),
        (lambda o: lr_scheduler.OneCycleLR(o, 1.0, 9, pct_start=2), ValueError, "between 0 and 1"),
        (
            lambda o: lr_scheduler.OneCycleLR(o, 1.0, 9, anneal_strategy="sine"),
            ValueError,
            "'cos' or 'linear', instead got 'sine'",
        ),
        (lambda o: lr_scheduler.OneCycleLR(o, [1.0, 2.0], 9), ValueError, "Expected 1 max_lrs"),
        (
            lambda o: lr_scheduler.OneCycleLR(optim.Adagrad(o.param_groups[0]["params"]), 1.0, 9),
            ValueError,
            "Adagrad has neither momentum nor betas",
        ),
        (lambda o: lr_scheduler.CyclicLR(o, 0.1, 1.0, mode="sine"), ValueError, "mode must be one"),
        (lambda o: lr_scheduler.CyclicLR(o, 0.1, 1.0, 0), ValueError, "step_size_up must be pos"),
        (
            lambda o: lr_scheduler.CyclicLR(o, 0.1, 1.0, scale_mode="epochs"),
            ValueError,
            "scale_mode must be 'cycle' or 'iterations', got 'epochs'",
        ),
        (lambda o: lr_scheduler.SequentialLR(o, [], []), ValueError, "at least one scheduler"),
        (
            lambda o: lr_scheduler.SequentialLR(o, [exponential(o)], [3]),
            ValueError,
            "1 schedulers and 1 milestones",
        ),
        (
            lambda o: lr_scheduler.ChainedScheduler(
                [exponential(o), exponential(make_optimizer())]
            ),
            ValueError,
            "ExponentialLR at index 1 has another one",
        ),
        (
            lambda o: lr_scheduler.ChainedScheduler([lr_scheduler.ReduceLROnPlateau(o)]),
            TypeError,
            "ReduceLROnPlateau at index 0; step that one by itself",
        ),
    ],
)
def test_schedules_that_make_no_sense_are_refused(make, error, words):
    with pytest.raises(error, match=words):
        make(make_optimizer())


def test_one_cycle_ends():
    optimizer = make_optimizer()
    scheduler = lr_scheduler.OneCycleLR(optimizer, 1.0, 2, cycle_momentum=False)
    rates(optimizer, scheduler, 2)
    with pytest.raises(ValueError, match="Tried to step 3 times.*make the cycle as long"):
        scheduler.step()


def test_a_state_of_other_schedulers_is_refused():
    optimizer = make_optimizer()
    one = lr_scheduler.ChainedScheduler([exponential(optimizer)])
    two = lr_scheduler.ChainedScheduler([exponential(optimizer), exponential(optimizer)])
    with pytest.raises(ValueError, match="the state is of 2 schedulers, but this one has 1"):
        one.load_state_dict(two.state_dict())
