"""The names of torch.special under autograd.special."""

import pytest

import autograd as T
from autograd import special


@pytest.mark.parametrize("name", special.__all__)
def test_every_promised_name_is_there_and_takes_out(name):
    assert callable(getattr(special, name))


def test_names_of_one_function_are_one():
    assert special.psi is special.digamma
    x = T.tensor([0.3, 0.9])
    for one, other in (
        (special.expit, T.sigmoid), (special.gammaln, T.lgamma), (special.erf, T.erf),
        (special.i0, T.i0), (special.logit, T.logit), (special.sinc, T.sinc),
    ):  # fmt: skip
        assert one(x).tolist() == other(x).tolist()


def test_out_and_keywords_of_the_gate():
    out = T.empty(2)
    assert special.ndtr(input=T.zeros(2), out=out) is out and out.tolist() == [0.5, 0.5]
