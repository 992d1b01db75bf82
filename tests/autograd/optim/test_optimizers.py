"""Optimizers: whole trajectories, options, state, and what they must not touch."""

import copy
import gc
import math
import pickle

import numpy as np
import pytest

import autograd as T
from autograd import nn, optim
from autograd.strict import strict_cuda

A0 = np.array([[1.2, -0.7], [0.3, 2.0]])
B0 = np.array([0.5, -1.0])

# Parameters after that many steps on `objective` by PyTorch 2.13 on the CPU in float64. That is the
# default dtype too, in which NAdam keeps its product of momenta.
RECORDED = {
    "sgd": (
        25,
        [
            0.9595833647128491,
            0.4624724201926199,
            0.5968884954420439,
            0.979208960867326,
            0.8123613343741445,
            -0.5904701137305784,
        ],
    ),
    "sgd with momentum": (
        25,
        [
            0.5825338001250363,
            0.9130038988625362,
            0.7143715450976814,
            0.16917036236371275,
            0.2877013229138694,
            0.18038439841780185,
        ],
    ),
    "nesterov": (
        25,
        [
            0.6068955954238224,
            1.138311785899841,
            0.7545284246761559,
            0.3233119009453148,
            0.1940530226221825,
            0.007787743651775642,
        ],
    ),
    "sgd uphill": (
        25,
        [
            1.2025701185298383,
            -0.8082091903731766,
            0.292381458871835,
            2.066066731431501,
            0.46454526419799724,
            -1.0122483351186986,
        ],
    ),
    "adam": (
        25,
        [
            0.27178368928160196,
            0.2823985140516859,
            0.707415875863826,
            1.1293139253298816,
            1.1680155018581904,
            -0.3060635333445217,
        ],
    ),
    "adam with decay": (
        25,
        [
            0.3695787058745885,
            0.22374972242814356,
            0.5525352493604462,
            1.1888078299122946,
            1.064546944546594,
            -0.39503970385226284,
        ],
    ),
    "amsgrad": (
        25,
        [
            0.2717884418746007,
            0.2823989023065062,
            0.7074277219786782,
            1.1296188827856555,
            1.1680274797227588,
            -0.3060762039355097,
        ],
    ),
    "adam uphill": (
        25,
        [
            1.3226972539230382,
            -0.8267676878062858,
            0.17360434229402402,
            2.126159169897626,
            0.373534119674377,
            -1.111558771805715,
        ],
    ),
    "adamw": (
        25,
        [
            0.31661513069286884,
            0.289185560532171,
            0.6419952038487097,
            0.9813644768734824,
            1.0408066084148986,
            -0.24788980836074362,
        ],
    ),
    "rmsprop": (
        25,
        [
            0.42041076155428,
            -0.05375396801420658,
            0.7181139167512263,
            1.4050946755391334,
            1.0552449129267463,
            -0.4435336313983159,
        ],
    ),
    "rmsprop centred": (
        25,
        [
            0.5713502990543607,
            0.8616613304526403,
            0.25705600510376947,
            0.9025251567574142,
            0.7668239632671953,
            -0.2865435868084562,
        ],
    ),
    "adagrad": (
        25,
        [
            0.4560646614026247,
            -0.09937117978169367,
            0.7177249240993117,
            1.434673439169258,
            1.0297287838462952,
            -0.44409342365837867,
        ],
    ),
    "radam": (
        25,
        [
            0.9709515084288862,
            1.71032758994669,
            0.6087733965832942,
            0.5050322715391781,
            0.9577115181250595,
            -0.5499944474680455,
        ],
    ),
    "radam with decay": (
        25,
        [
            0.8547170378384501,
            1.5010559382798825,
            0.5813950943651743,
            0.7089817851807378,
            0.6186671203926605,
            -0.33155174407745214,
        ],
    ),
    "radam, decoupled": (
        25,
        [
            0.8230259714118613,
            1.3626975317339751,
            0.6356088031936242,
            0.6658415165132724,
            0.49358014432912606,
            -0.250027344140933,
        ],
    ),
    "nadam": (
        25,
        [
            0.35967921032311817,
            0.07245435315044113,
            0.7051917781527585,
            1.3038093122273613,
            1.1134984334356257,
            -0.39105099502686524,
        ],
    ),
    "nadam with decay": (
        25,
        [
            0.38439503622865145,
            0.11902362165863489,
            0.6065455249839171,
            1.2679784405111152,
            1.076990741776262,
            -0.39951444915663537,
        ],
    ),
    "nadam, decoupled": (
        25,
        [
            0.38447043116463225,
            0.0904889193231315,
            0.6558332776115814,
            1.148310412340851,
            0.9923647878992241,
            -0.3375900755437442,
        ],
    ),
    "adamax": (
        25,
        [
            0.2721774783911583,
            0.05610512804997447,
            0.8299083142168616,
            1.2916843183709303,
            1.1446552235134633,
            -0.32694474664325035,
        ],
    ),
    "adamax with decay": (
        25,
        [
            0.3681124702438316,
            0.29423116747046046,
            0.5400374078633801,
            1.1498269082130241,
            1.0205290307988544,
            -0.41440567093517644,
        ],
    ),
    "adadelta": (
        25,
        [
            1.1544537248835796,
            -0.6569090533091586,
            0.34397408305522575,
            1.9565689040799206,
            0.54334427521982,
            -0.9522162630220926,
        ],
    ),
    "adadelta with decay": (
        25,
        [
            0.4295554307810324,
            0.6752153125425729,
            0.4295955115694411,
            0.6965905410052571,
            -0.009667314617772899,
            -0.3398406822237376,
        ],
    ),
    "adadelta uphill": (
        25,
        [
            1.2087886501764136,
            -0.708901568398388,
            0.291129384286024,
            2.0088866671167502,
            0.4911089264030363,
            -1.0086869236715212,
        ],
    ),
    "adafactor": (
        25,
        [
            0.4415789777372631,
            0.1185075237795799,
            0.7933176006371513,
            1.243222786152437,
            0.9876811047404924,
            -0.5359865412735945,
        ],
    ),
    "adafactor with decay": (
        25,
        [
            0.665901298483952,
            0.7627854131416985,
            0.6625750685960853,
            0.5164274279762991,
            0.29059551356476354,
            -0.24973952451783338,
        ],
    ),
    "adafactor uphill": (
        25,
        [
            1.2670366973122715,
            -0.9535024343532752,
            -0.2389328028707185,
            2.24519864758416,
            0.28636938674327655,
            -1.0633655682381296,
        ],
    ),
    "rprop": (
        25,
        [
            0.9735268484399101,
            1.1614068869840894,
            0.736953122103296,
            0.4437890757181442,
            0.3242857399336961,
            -0.18824707714088967,
        ],
    ),
    "rprop, other factors": (
        25,
        [
            0.8021530043945313,
            1.1510271542968749,
            0.6269693270996093,
            0.8411192124023442,
            0.623539321533203,
            -0.41518361474609383,
        ],
    ),
    "rprop uphill": (
        25,
        [
            1.6719810832203448,
            -1.1719810832203446,
            -0.17198108322034467,
            2.4719810832203444,
            0.028018916779655456,
            -1.0556799012137936,
        ],
    ),
    "asgd": (
        25,
        [
            0.9595642203413939,
            0.4624626311091307,
            0.596875569731189,
            0.9791895169187224,
            0.8123453414824865,
            -0.5904574606225791,
        ],
    ),
    "asgd, averaged": (
        25,
        [
            0.9202579461830147,
            0.4468187361816829,
            0.5731754274380548,
            0.9382028112976121,
            0.7796204926836316,
            -0.5648630423567265,
        ],
    ),
    "asgd uphill": (
        25,
        [
            1.201374426108965,
            -0.754482277218788,
            0.2959879016073875,
            2.0338379370085344,
            0.481838593906759,
            -1.006573287772628,
        ],
    ),
    "lbfgs": (
        5,
        [
            0.5498621798102105,
            0.15068868486568424,
            0.6079288988289565,
            1.0975102800046492,
            0.7825791301000078,
            -0.41806237637114196,
        ],
    ),
    "lbfgs, short memory": (
        5,
        [
            0.7555297182507078,
            0.8739012764535348,
            0.7060705725793133,
            0.460696509914237,
            0.3492993520679526,
            -0.23117124244083764,
        ],
    ),
    "lbfgs, strong Wolfe": (
        5,
        [
            0.8105463851287102,
            1.1609563476152895,
            0.6975672986386804,
            0.477467346792897,
            0.3710553142359223,
            -0.22747515312164895,
        ],
    ),
}
MAKERS = {
    "sgd": lambda p: optim.SGD(p, lr=0.01),
    "sgd with momentum": lambda p: optim.SGD(
        p, lr=0.01, momentum=0.9, dampening=0.2, weight_decay=0.1
    ),
    "nesterov": lambda p: optim.SGD(p, lr=0.01, momentum=0.9, nesterov=True, weight_decay=0.1),
    "sgd uphill": lambda p: optim.SGD(p, lr=1e-4, momentum=0.5, maximize=True, weight_decay=0.1),
    "adam": lambda p: optim.Adam(p, lr=0.05),
    "adam with decay": lambda p: optim.Adam(
        p, lr=0.05, weight_decay=0.1, betas=(0.8, 0.95), eps=1e-3
    ),
    "amsgrad": lambda p: optim.Adam(p, lr=0.05, amsgrad=True),
    "adam uphill": lambda p: optim.Adam(p, lr=0.005, maximize=True, weight_decay=0.1),
    "adamw": lambda p: optim.AdamW(p, lr=0.05, weight_decay=0.1),
    "rmsprop": lambda p: optim.RMSprop(p, lr=0.01),
    "rmsprop centred": lambda p: optim.RMSprop(
        p, lr=0.01, centered=True, momentum=0.9, weight_decay=0.1, alpha=0.9
    ),
    "adagrad": lambda p: optim.Adagrad(
        p, lr=0.1, lr_decay=0.01, weight_decay=0.1, initial_accumulator_value=0.1
    ),
    "radam": lambda p: optim.RAdam(p, lr=0.05),
    "radam with decay": lambda p: optim.RAdam(
        p, lr=0.05, betas=(0.8, 0.95), weight_decay=0.1, eps=1e-3
    ),
    "radam, decoupled": lambda p: optim.RAdam(
        p, lr=0.05, betas=(0.8, 0.9), weight_decay=0.1, decoupled_weight_decay=True
    ),
    "nadam": lambda p: optim.NAdam(p, lr=0.05),
    "nadam with decay": lambda p: optim.NAdam(
        p, lr=0.05, betas=(0.8, 0.95), weight_decay=0.1, momentum_decay=0.05, eps=1e-3
    ),
    "nadam, decoupled": lambda p: optim.NAdam(
        p, lr=0.05, weight_decay=0.1, decoupled_weight_decay=True
    ),
    "adamax": lambda p: optim.Adamax(p, lr=0.05),
    "adamax with decay": lambda p: optim.Adamax(
        p, lr=0.05, betas=(0.8, 0.95), weight_decay=0.1, eps=1e-3
    ),
    "adadelta": lambda p: optim.Adadelta(p, lr=0.5),
    "adadelta with decay": lambda p: optim.Adadelta(
        p, lr=5.0, rho=0.8, eps=1e-3, weight_decay=0.1
    ),
    "adadelta uphill": lambda p: optim.Adadelta(p, lr=0.1, maximize=True, weight_decay=0.1),
    "adafactor": lambda p: optim.Adafactor(p, lr=0.05),
    "adafactor with decay": lambda p: optim.Adafactor(
        p, lr=0.2, beta2_decay=-0.5, eps=(1e-6, 0.1), d=2.0, weight_decay=0.1
    ),
    "adafactor uphill": lambda p: optim.Adafactor(p, lr=0.01, maximize=True),
    "rprop": lambda p: optim.Rprop(p, lr=0.05),
    "rprop, other factors": lambda p: optim.Rprop(
        p, lr=0.2, etas=(0.3, 1.5), step_sizes=(1e-3, 0.3)
    ),
    "rprop uphill": lambda p: optim.Rprop(p, lr=1e-3, maximize=True),
    "asgd": lambda p: optim.ASGD(p, lr=0.01),
    "asgd, averaged": lambda p: optim.ASGD(
        p, lr=0.01, lambd=0.1, alpha=0.6, t0=5, weight_decay=0.1
    ),
    "asgd uphill": lambda p: optim.ASGD(p, lr=1e-4, maximize=True, weight_decay=0.1),
    "lbfgs": lambda p: optim.LBFGS(p, lr=0.1, max_iter=4),
    "lbfgs, short memory": lambda p: optim.LBFGS(
        p, max_iter=3, history_size=3, line_search_fn="strong_wolfe"
    ),
    "lbfgs, strong Wolfe": lambda p: optim.LBFGS(p, max_iter=20, line_search_fn="strong_wolfe"),
}


def make_parameters(device="cpu"):
    return [T.tensor(values.copy(), device=device, requires_grad=True) for values in (A0, B0)]


def objective(a, b):
    x = a @ b
    return (
        (T.sin(x) * x).sum()
        + ((a - 1) ** 4).sum()
        + 3 * (b[0] - a[1, 1]) ** 2
        + 0.5 * (b * b).sum()
    )


def closure_for(optimizer, parameters):
    def closure():
        optimizer.zero_grad()
        loss = objective(*parameters)
        loss.backward()
        return loss

    return closure


def flat(parameters):
    return np.concatenate([p.detach().cpu().numpy().ravel() for p in parameters])


@pytest.mark.parametrize("name", RECORDED)
def test_trajectory_is_pytorchs(name):
    steps, expected = RECORDED[name]
    parameters = make_parameters()
    optimizer = MAKERS[name](parameters)
    closure = closure_for(optimizer, parameters)
    for _ in range(steps):
        optimizer.step(closure)
    np.testing.assert_allclose(flat(parameters), expected, rtol=1e-12)


@pytest.mark.parametrize("name", RECORDED)
def test_the_strict_device_follows_the_same_trajectory(name):
    with strict_cuda():
        parameters = make_parameters("cuda")
        optimizer = MAKERS[name](parameters)
        closure = closure_for(optimizer, parameters)
        for _ in range(5):
            optimizer.step(closure)
        on_device = flat(parameters)
    parameters = make_parameters()
    optimizer = MAKERS[name](parameters)
    closure = closure_for(optimizer, parameters)
    for _ in range(5):
        optimizer.step(closure)
    np.testing.assert_allclose(on_device, flat(parameters), rtol=1e-12)


def test_adam_follows_its_formula():
    rng = np.random.default_rng(0)
    p = T.tensor(rng.normal(size=4), requires_grad=True)
    optimizer = optim.Adam([p], lr=0.02, betas=(0.7, 0.9), eps=1e-6)
    x, m, v = p.detach().numpy().copy(), np.zeros(4), np.zeros(4)
    for t in range(1, 9):
        g = rng.normal(size=4)
        p.grad = T.tensor(g)
        optimizer.step()
        m = 0.7 * m + 0.3 * g
        v = 0.9 * v + 0.1 * g**2
        x -= 0.02 * (m / (1 - 0.7**t)) / (np.sqrt(v / (1 - 0.9**t)) + 1e-6)
        np.testing.assert_allclose(p.detach().numpy(), x, rtol=1e-13)


@pytest.mark.parametrize("name", [n for n in RECORDED if "lbfgs" not in n])
def test_a_step_writes_in_place_and_leaves_the_gradient(name):
    parameters = make_parameters()
    optimizer = MAKERS[name](parameters)
    loss = objective(*parameters)
    loss.backward(retain_graph=True)
    arrays = [p._data for p in parameters]
    gradients = [p.grad.numpy().copy() for p in parameters]
    optimizer.step()
    assert all(p._data is a and p.is_leaf for p, a in zip(parameters, arrays, strict=True))
    for p, g in zip(parameters, gradients, strict=True):
        np.testing.assert_array_equal(p.grad.numpy(), g)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("name", RECORDED)
def test_state_dict_continues_with_the_same_bits(name):
    parameters = make_parameters()
    optimizer = MAKERS[name](parameters)
    closure = closure_for(optimizer, parameters)
    for _ in range(3):
        optimizer.step(closure)
    snapshot = pickle.loads(pickle.dumps(optimizer.state_dict()))
    others = [T.tensor(p.detach().numpy().copy(), requires_grad=True) for p in parameters]
    continued = MAKERS[name](others)
    continued.load_state_dict(snapshot)
    for _ in range(3):
        optimizer.step(closure)
        continued.step(closure_for(continued, others))
    np.testing.assert_array_equal(flat(parameters), flat(others))


def test_state_dict_is_a_snapshot():
    parameters = make_parameters()
    optimizer = optim.Adam(parameters)
    closure = closure_for(optimizer, parameters)
    optimizer.step(closure)
    snapshot = optimizer.state_dict()
    before = copy.deepcopy(snapshot["state"][0]["exp_avg"].numpy())
    optimizer.step(closure)
    np.testing.assert_array_equal(snapshot["state"][0]["exp_avg"].numpy(), before)
    assert snapshot["state"][0]["step"] == 1
    assert snapshot["param_groups"][0]["params"] == [0, 1]


def test_loading_a_state_that_does_not_fit_is_refused():
    parameters = make_parameters()
    snapshot = optim.Adam(parameters).state_dict()
    with pytest.raises(ValueError, match="group 0 has 2 parameters, here 1"):
        optim.Adam(parameters[:1]).load_state_dict(snapshot)
    with pytest.raises(ValueError, match="1 parameter groups, this optimizer has 2"):
        optim.Adam([{"params": [p]} for p in parameters]).load_state_dict(snapshot)


def test_groups_have_options_of_their_own():
    a, b = make_parameters()
    optimizer = optim.SGD([{"params": [a]}, {"params": b, "lr": 0.5}], lr=0.25)
    a.grad, b.grad = T.ones_like(a).detach(), T.ones_like(b).detach()
    optimizer.step()
    np.testing.assert_allclose(a.detach().numpy(), A0 - 0.25)
    np.testing.assert_allclose(b.detach().numpy(), B0 - 0.5)
    optimizer.param_groups[0]["lr"] = 0.0
    optimizer.step()
    np.testing.assert_allclose(a.detach().numpy(), A0 - 0.25)


def test_named_parameters_and_modules_work():
    net = nn.Linear(2, 1)
    optim.Adam(net.parameters())
    optimizer = optim.SGD(net.named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["params"][0] is net.weight


def test_parameters_without_gradient_stay():
    a, b = make_parameters()
    optimizer = optim.Adam([a, b])
    a.grad = T.ones_like(a).detach()
    optimizer.step()
    np.testing.assert_array_equal(b.detach().numpy(), B0)
    assert b not in optimizer.state


@pytest.mark.parametrize(
    "name", [n for n in RECORDED if "lbfgs" not in n and "adafactor" not in n]
)
def test_a_complex_parameter_moves_as_its_two_parts(name):
    start = np.array([1.0 + 2.0j, -0.5j])
    z = T.tensor(start, requires_grad=True)
    parts = T.tensor(np.stack([start.real, start.imag], axis=1), requires_grad=True)
    first, second = MAKERS[name]([z]), MAKERS[name]([parts])
    for _ in range(5):
        first.zero_grad()
        second.zero_grad()
        ((z - 1).abs() ** 2 + 0.3 * (z * z).real).sum().backward()
        x, y = parts[:, 0], parts[:, 1]
        ((x - 1) ** 2 + y * y + 0.3 * (x * x - y * y)).sum().backward()
        first.step()
        second.step()
    found = z.detach().numpy()
    np.testing.assert_allclose(
        np.stack([found.real, found.imag], axis=1), parts.detach().numpy(), rtol=1e-12
    )


def test_zero_grad_drops_or_fills():
    a, b = make_parameters()
    optimizer = optim.SGD([a, b])
    objective(a, b).backward()
    kept = a.grad
    optimizer.zero_grad(set_to_none=False)
    assert a.grad is kept and kept.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    optimizer.zero_grad()
    assert a.grad is None and b.grad is None


def test_step_returns_the_closures_loss_also_inside_no_grad():
    parameters = make_parameters()
    expected = objective(*parameters).item()
    optimizer = optim.Adam(parameters)
    with T.no_grad():
        loss = optimizer.step(closure_for(optimizer, parameters))
    assert loss.item() == expected


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda a, b: optim.SGD([]), ValueError, "empty parameter list"),
        (lambda a, b: optim.SGD(a), TypeError, "should be an iterable of Tensors"),
        (lambda a, b: optim.SGD([3.0]), TypeError, "can only optimize Tensors"),
        (lambda a, b: optim.SGD([a * 2]), ValueError, "non-leaf Tensor"),
        (lambda a, b: optim.SGD([a, a]), ValueError, "more than one parameter group"),
        (lambda a, b: optim.SGD([a], lr=-1.0), ValueError, "invalid lr: -1.0"),
        (lambda a, b: optim.SGD([a], lr=math.nan), ValueError, "invalid lr: nan"),
        (lambda a, b: optim.Adam([a], betas=(0.9, 1.0)), ValueError, "at index 1: 1.0"),
        (lambda a, b: optim.SGD([a], nesterov=True), ValueError, "requires a momentum"),
        (lambda a, b: optim.RMSprop([a], alpha=2.0), ValueError, "invalid alpha"),
        (lambda a, b: optim.NAdam([a], momentum_decay=-1.0), ValueError, "invalid momentum_decay"),
        (lambda a, b: optim.RAdam([a], betas=(1.0, 0.9)), ValueError, "invalid beta .* index 0"),
        (lambda a, b: optim.Adamax([a], eps=-1.0), ValueError, "invalid eps"),
        (lambda a, b: optim.Adagrad([a], lr_decay=-1.0), ValueError, "invalid lr_decay"),
        (lambda a, b: optim.Adafactor([T.tensor([1j])]), RuntimeError, "does not support complex"),
        (lambda a, b: optim.Adafactor([a], d=0.5), ValueError, "invalid d: 0.5"),
        (lambda a, b: optim.Adafactor([a], eps=(None, -1)), ValueError, "invalid eps"),
        (lambda a, b: optim.Adafactor([a], beta2_decay=0.5), ValueError, "invalid beta2_decay"),
        (lambda a, b: optim.Adadelta([a], rho=1.5), ValueError, "invalid rho: 1.5"),
        (lambda a, b: optim.Rprop([a], etas=(1.2, 0.5)), ValueError, "invalid eta values: 1.2, 0."),
        (lambda a, b: optim.SGD([{"params": [a], "rate": 1}]), ValueError, r"options \['rate'\]"),
        (lambda a, b: optim.LBFGS([{"params": [a]}, {"params": [b]}]), ValueError, "per-parameter"),
        (lambda a, b: optim.LBFGS([a], line_search_fn="armijo"), ValueError, "strong_wolfe"),
    ],
)
def test_bad_arguments_are_refused(make, error, words):
    with pytest.raises(error, match=words):
        make(*make_parameters())


def test_a_step_allocates_nothing_of_the_parameters_size():
    import tracemalloc

    p = T.tensor(np.ones(200_000), requires_grad=True)
    p.grad = T.tensor(np.ones(200_000))
    optimizer = optim.Adam([p])
    optimizer.step()
    tracemalloc.start()
    optimizer.step()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200_000


def test_training_with_the_collector_off_makes_no_garbage():
    net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = optim.Adam(net.parameters())
    x = T.rand(16, 2)
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            optimizer.zero_grad()
            (net(x) ** 2).mean().backward()
            optimizer.step()
        assert gc.collect() == 0
    finally:
        gc.enable()


ALL = [
    optim.SGD,
    optim.Adam,
    optim.AdamW,
    optim.Adamax,
    optim.NAdam,
    optim.RAdam,
    optim.RMSprop,
    optim.Adagrad,
    optim.Adadelta,
    optim.ASGD,
    optim.Adafactor,
]


def trajectory(make, sign=1.0, steps=5):
    p = T.tensor(B0, requires_grad=True)
    optimizer = make([p])
    for _ in range(steps):
        optimizer.zero_grad()
        (sign * ((p - 2) ** 4).sum()).backward()
        optimizer.step()
    return p.detach().numpy()


@pytest.mark.parametrize("make", ALL)
def test_maximize_climbs_what_minimizing_the_negative_climbs(make):
    options = {"lr": 0.01, "weight_decay": 0.1}
    up = trajectory(lambda p: make(p, maximize=True, **options))
    np.testing.assert_array_equal(up, trajectory(lambda p: make(p, **options), sign=-1.0))


@pytest.mark.parametrize("make", [*ALL, optim.Rprop, optim.LBFGS])
def test_one_number_moves_as_a_vector_of_it_does(make):
    found = []
    for shape in ((), (1,)):
        p = T.full(shape, 0.3, dtype=T.float64, requires_grad=True)
        optimizer = make([p], lr=0.01)

        def closure(p=p, optimizer=optimizer):
            optimizer.zero_grad()
            loss = ((p - 2) ** 4).sum()
            loss.backward()
            return loss

        for _ in range(4):
            optimizer.step(closure)
        found.append(p.item())
    assert found[0] == found[1] != 0.3


def test_rprop_uphill_is_rprop_of_the_negative():
    up = trajectory(lambda p: optim.Rprop(p, maximize=True))
    np.testing.assert_array_equal(up, trajectory(optim.Rprop, sign=-1.0))


def test_rprop_follows_its_signs():
    p = T.tensor(np.zeros(3), requires_grad=True)
    optimizer = optim.Rprop([p], lr=0.1)
    lengths = []
    for g in ([1.0, -2.0, 0.0], [3.0, 1.0, 1.0], [1.0, 1.0, -1.0]):
        p.grad = T.tensor(np.array(g))
        optimizer.step()
        lengths.append(optimizer.state[p]["step_size"].tolist())
    np.testing.assert_allclose(
        lengths, [[0.1, 0.1, 0.1], [0.12, 0.05, 0.1], [0.144, 0.05, 0.05]], rtol=1e-15
    )
    # the second element stays where its sign changes, and so does the third
    np.testing.assert_allclose(p.detach().numpy(), [-0.364, 0.05, -0.1], rtol=1e-14)


def test_adafactor_remembers_rows_and_columns():
    matrix, vector = T.ones(2, 3, 4).requires_grad_(), T.ones(5).requires_grad_()
    optimizer = optim.Adafactor([matrix, vector])
    (matrix.sum() + vector.sum()).backward()
    optimizer.step()
    shapes = {name: tuple(v.shape) for name, v in optimizer.state[matrix].items() if name != "step"}
    assert shapes == {"row_var": (2, 3, 1), "col_var": (2, 1, 4)}
    assert optimizer.state[vector]["variance"].tolist() == [1.0] * 5


def test_asgd_has_the_mean_of_the_values_since_a_step():
    p = T.tensor(B0, requires_grad=True)
    optimizer = optim.ASGD([p], lr=0.05, lambd=0.1, alpha=0.5, t0=3)
    values = []
    for _ in range(9):
        optimizer.zero_grad()
        ((p - 2) ** 2).sum().backward()
        optimizer.step()
        values.append(p.detach().numpy().copy())
    # from step 5 on: until then the weight of the present values, 1/max(1, t - t0), is 1
    np.testing.assert_allclose(
        optimizer.state[p]["ax"].numpy(), np.mean(values[4:], axis=0), rtol=1e-13
    )
    assert optimizer.state[p]["eta"] == 0.05 / (1 + 0.1 * 0.05 * 9) ** 0.5


@pytest.mark.parametrize("make", [*ALL, optim.Rprop])
def test_the_step_may_be_a_tensor(make):
    lr = T.tensor(0.25, dtype=T.float64)
    np.testing.assert_array_equal(
        trajectory(lambda p: make(p, lr=lr)), trajectory(lambda p: make(p, lr=0.25))
    )
    with pytest.raises(ValueError, match=r"lr must be a number or a Tensor of one element.*\[2\]"):
        make([T.zeros(1, requires_grad=True)], lr=T.ones(2))


def test_choices_between_implementations_are_accepted():
    plain = trajectory(lambda p: optim.Adam(p, lr=0.1))
    for options in ({"foreach": True}, {"fused": True}, {"foreach": False, "fused": None}):
        chosen = trajectory(lambda p, o=options: optim.Adam(p, lr=0.1, **o))
        np.testing.assert_array_equal(chosen, plain)
    for make in (optim.RAdam, optim.NAdam, optim.Adamax):
        make([T.zeros(1, requires_grad=True)], foreach=True)
    for make in (optim.SGD, optim.Adagrad):
        make([T.zeros(1, requires_grad=True)], foreach=True, fused=False)
    optim.RMSprop([T.zeros(1, requires_grad=True)], foreach=True)


def test_adam_with_decoupled_decay_is_adamw():
    def path(make):
        p = nn.Parameter(T.tensor(A0))
        optimizer = make([p], lr=0.1, weight_decay=0.3)
        for _ in range(5):
            optimizer.zero_grad()
            (p**4).sum().backward()
            optimizer.step()
        return p.tolist(), optimizer

    decoupled, _ = path(lambda *a, **k: optim.Adam(*a, **k, decoupled_weight_decay=True))
    adamw, optimizer = path(optim.AdamW)
    adam, other = path(optim.Adam)
    assert decoupled == adamw != adam
    optimizer.load_state_dict(other.state_dict())
    assert optimizer.param_groups[0]["decoupled_weight_decay"] is True


@pytest.mark.parametrize("make", [
    lambda p: optim.Adam(p, lr=0.1, weight_decay=0.1), lambda p: optim.AdamW(p, lr=0.1),
    lambda p: optim.NAdam(p, lr=0.1, weight_decay=0.1, decoupled_weight_decay=True),
    lambda p: optim.RAdam(p, lr=0.1, weight_decay=0.1), lambda p: optim.SGD(p, lr=0.1),
])  # fmt: skip
def test_options_that_a_group_has_not_are_the_defaults(make):
    whole, parts = (T.tensor([1.0, -2.0], requires_grad=True) for _ in range(2))
    optimizers = [make([whole]), make([parts])]
    optimizers[1].param_groups[0] = {"params": [parts], "lr": 0.05}
    optimizers[0].param_groups[0]["lr"] = 0.05
    for _ in range(3):
        for p, optimizer in zip((whole, parts), optimizers, strict=True):
            p.grad = p.detach() ** 2
            optimizer.step()
    np.testing.assert_array_equal(whole.detach().numpy(), parts.detach().numpy())
    assert whole.detach().tolist() != [1.0, -2.0]
