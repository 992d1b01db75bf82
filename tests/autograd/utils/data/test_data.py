"""Data sets, orders and batches: what comes, in which order, and what decides it."""

from collections import Counter, OrderedDict, namedtuple

import numpy as np
import pytest

import autograd as T
from autograd.strict import strict_cuda
from autograd.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    default_convert,
    random_split,
)

X = T.arange(14.0).reshape(7, 2)
Y = T.arange(7)


class RowByRow(Dataset):
    """A TensorDataset that nobody can ask for a batch at once."""

    def __getitem__(self, index):
        return X[index], Y[index]

    def __len__(self):
        return 7


def lists(batches):
    return [[part.tolist() for part in batch] for batch in batches]


# ---- data sets


def test_a_tensor_dataset_has_rows():
    rows = TensorDataset(X, Y)
    assert len(rows) == 7
    assert rows[3][0].tolist() == [6.0, 7.0] and rows[-1][1].item() == 6
    assert rows[1:3][0].tolist() == [[2.0, 3.0], [4.0, 5.0]]
    for tensors in ((X, T.ones(3)), (), (T.tensor(1.0),)):
        with pytest.raises(ValueError, match="Size mismatch between tensors"):
            TensorDataset(*tensors)


def test_data_sets_one_after_the_other():
    joined = TensorDataset(X[:2]) + TensorDataset(X[2:3]) + TensorDataset(X[3:])
    assert isinstance(joined, ConcatDataset) and len(joined) == 7
    assert [joined[k][0].tolist() for k in range(-7, 7)] == 2 * X.tolist()
    assert joined.cumulative_sizes == [3, 7]
    with pytest.raises(ValueError, match="absolute value of index"):
        joined[-8]
    with pytest.raises(IndexError, match="index 7 is out of range for 7 items"):
        joined[7]
    with pytest.raises(ValueError, match="should not be an empty iterable"):
        ConcatDataset([])
    with pytest.raises(TypeError, match="has no length"):
        ConcatDataset([IterableDataset()])


def test_data_sets_side_by_side():
    pairs = StackDataset(TensorDataset(X), range(7))
    assert pairs[2][1] == 2 and pairs[2][0][0].tolist() == [4.0, 5.0] and len(pairs) == 7
    assert StackDataset(a=range(3), b="xyz")[1] == {"a": 1, "b": "y"}
    with pytest.raises(ValueError, match="Size mismatch between datasets"):
        StackDataset(range(3), range(4))
    with pytest.raises(ValueError, match="by position, for tuples, or by name"):
        StackDataset()


def test_what_a_data_set_has_to_define():
    with pytest.raises(NotImplementedError, match=r"Bare defines no __getitem__"):
        type("Bare", (Dataset,), {})()[0]
    with pytest.raises(NotImplementedError, match=r"Bare defines no __iter__"):
        iter(type("Bare", (IterableDataset,), {})())


# ---- splits


@pytest.mark.parametrize(
    ("count", "lengths", "sizes"),
    [
        (7, [3, 4], [3, 4]), (7, [7, 0], [7, 0]), (10, [0.3, 0.3, 0.4], [3, 3, 4]),
        (10, [0.5, 0.25, 0.25], [6, 2, 2]), (11, [0.5, 0.25, 0.25], [6, 3, 2]),
    ],
)  # fmt: skip
def test_a_random_split_has_every_item_once(count, lengths, sizes):
    parts = random_split(range(count), lengths)
    assert [len(part) for part in parts] == sizes
    assert sorted(k for part in parts for k in part) == list(range(count))


def test_the_seed_decides_a_split():
    def split(generator=None):
        return [list(part) for part in random_split(range(20), [0.5, 0.5], generator)]

    T.manual_seed(3)
    first = split()
    assert split() != first
    T.manual_seed(3)
    assert split() == first == split(T.Generator().manual_seed(3))


def test_splits_that_do_not_add_up():
    with pytest.raises(ValueError, match="Sum of input lengths does not equal"):
        random_split(range(7), [3, 3])
    with pytest.raises(ValueError, match="Fraction at index 0 is not between 0 and 1"):
        random_split(range(7), [1.5, -0.5])
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        random_split(range(1), [0.5, 0.5])


# ---- orders


def test_orders_and_their_lengths():
    assert list(SequentialSampler(range(4))) == [0, 1, 2, 3]
    for replacement, number, expected in [
        (False, None, 7), (False, 3, 3), (False, 17, 17), (True, None, 7), (True, 20, 20),
    ]:  # fmt: skip
        sampler = RandomSampler(range(7), replacement, number)
        drawn = list(sampler)
        assert len(drawn) == len(sampler) == expected and set(drawn) <= set(range(7))
        if not replacement:
            assert max(Counter(drawn).values()) == -(-expected // 7)
    assert sorted(SubsetRandomSampler([5, 3, 9])) == [3, 5, 9]
    assert list(RandomSampler([])) == []


def test_the_seed_decides_an_order():
    for make in (
        RandomSampler,
        lambda items, generator=None: RandomSampler(items, True, 9, generator),
        lambda items, generator=None: SubsetRandomSampler(list(items), generator),
        lambda items, generator=None: WeightedRandomSampler([1.0] * 50, 9, True, generator),
    ):
        T.manual_seed(1)
        first, second = list(make(range(50))), list(make(range(50)))
        assert first != second
        T.manual_seed(1)
        assert list(make(range(50))) == first
        assert list(make(range(50), generator=T.Generator().manual_seed(1))) == first


def test_weights_are_odds():
    T.manual_seed(0)
    drawn = Counter(WeightedRandomSampler(T.tensor([1.0, 0.0, 3.0]), 4000))
    assert drawn[1] == 0 and abs(drawn[2] / 4000 - 0.75) < 0.03
    assert sorted(WeightedRandomSampler([1.0, 0.0, 3.0], 2, replacement=False)) == [0, 2]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: RandomSampler(range(3), num_samples=0), ValueError, "num_samples should be a pos"),
        (lambda: RandomSampler(range(3), replacement=1), TypeError, "should be a boolean"),
        (lambda: WeightedRandomSampler([[1.0]], 1), ValueError, "should be a 1d sequence"),
        (lambda: WeightedRandomSampler([-1.0, 2.0], 1), ValueError, "numbers >= 0"),
        (lambda: WeightedRandomSampler([1.0, 0.0], 2, False), ValueError, "pass replacement=True"),
        (lambda: BatchSampler(range(3), 0, False), ValueError, "batch_size should be a positive"),
        (lambda: BatchSampler(range(3), True, False), ValueError, "batch_size should be a pos"),
        (lambda: BatchSampler(range(3), 2, None), ValueError, "drop_last should be a boolean"),
    ],
)
def test_orders_refuse(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("drop_last", "expected"), [(False, [[0, 1], [2, 3], [4]]), (True, [[0, 1], [2, 3]])]
)
def test_batches_of_an_order(drop_last, expected):
    batches = BatchSampler(SequentialSampler(range(5)), 2, drop_last)
    assert list(batches) == expected and len(batches) == len(expected)
    assert list(BatchSampler((k for k in range(5)), 2, drop_last)) == expected


# ---- loaders


@pytest.mark.parametrize(
    "options",
    [
        {}, {"batch_size": 3}, {"batch_size": 3, "drop_last": True}, {"batch_size": 9},
        {"batch_size": 2, "shuffle": True}, {"sampler": [5, 1, 1], "batch_size": 2},
        {"batch_sampler": [[0, 6], [2]]}, {"batch_size": 4, "sampler": RandomSampler(Y, True, 9)},
        {"sampler": SubsetRandomSampler([3, 1])}, {"batch_size": None}, {"shuffle": False},
    ],
)  # fmt: skip
def test_rows_read_at_once_come_as_row_by_row(options):
    """The same numbers in the same order, pass after pass, from the same draws."""
    found = []
    for dataset in (TensorDataset(X, Y), RowByRow()):
        T.manual_seed(5)
        loader = DataLoader(dataset, **options)
        found.append([lists(loader), lists(loader), T.rand(1).item()])
        assert len(loader) == len(found[-1][0])
    assert found[0] == found[1]
    if options.get("shuffle"):
        assert found[0][0] != found[0][1]


@pytest.mark.parametrize("kind", [np.array, T.tensor, list])
def test_an_order_may_be_an_array(kind):
    numbers = [6, 0, 3, 1]
    found = DataLoader(TensorDataset(Y), 2, sampler=kind(numbers))
    assert [batch.tolist() for (batch,) in found] == [numbers[:2], numbers[2:]]
    found = DataLoader(TensorDataset(Y), batch_sampler=kind([numbers[:2], numbers[2:]]))
    assert [batch.tolist() for (batch,) in found] == [numbers[:2], numbers[2:]]
    with pytest.raises(ValueError, match="leave out shuffle, sampler and batch_sampler"):
        DataLoader(IterableDataset(), batch_sampler=kind([numbers]))


def test_a_subset_is_read_at_once_as_well():
    for indices in ([4, 1, 0, 6], T.tensor([4, 1, 0, 6]), np.array([4, 1, 0, 6])):
        expected = lists(DataLoader(Subset(RowByRow(), indices), batch_size=3))
        nested = Subset(Subset(TensorDataset(X, Y), range(7)), indices)
        assert lists(DataLoader(nested, batch_size=3)) == expected
    assert [t.tolist() for t in Subset(TensorDataset(X, Y), [2, 5])[[1, 0]]] == [
        [[10.0, 11.0], [4.0, 5.0]], [5, 2],
    ]  # fmt: skip


def test_a_subclass_that_changes_the_items_is_asked_for_each():
    class Doubled(TensorDataset):
        def __getitem__(self, index):
            return tuple(2 * part for part in super().__getitem__(index))

    (batch,) = DataLoader(Doubled(X, Y), batch_size=7)
    assert batch[0].tolist() == (2 * X).tolist()


def test_a_batch_is_memory_of_its_own_and_gradients_flow_to_the_rows():
    x = X.clone().requires_grad_()
    for (batch,) in DataLoader(TensorDataset(x), batch_size=3):
        (batch**2).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), 2 * X.numpy())
    rows = TensorDataset(X.clone())
    for (batch,) in DataLoader(rows, batch_size=7):
        batch.zero_()
    assert rows.tensors[0].tolist() == X.tolist()


def test_rows_on_a_device_stay_there():
    with strict_cuda():
        for batch in DataLoader(TensorDataset(X.to("cuda"), Y), batch_size=4, shuffle=True):
            assert [str(part.device) for part in batch] == ["cuda:0", "cpu"]


def test_a_collate_fn_takes_the_list_of_items():
    def last(items):
        assert isinstance(items, list)
        return items[-1][1].item()

    assert list(DataLoader(TensorDataset(X, Y), batch_size=3, collate_fn=last)) == [2, 5, 6]


def test_a_data_set_may_give_several_items_at_once():
    class Several(RowByRow):
        def __getitems__(self, indices):
            return [self[k] for k in indices[::-1]]

    assert lists(DataLoader(Several(), batch_size=2))[0][1] == [1, 0]


def test_items_one_after_the_other():
    class Count(IterableDataset):
        def __iter__(self):
            return iter(range(5))

    assert [b.tolist() for b in DataLoader(Count(), batch_size=2)] == [[0, 1], [2, 3], [4]]
    assert [b.tolist() for b in DataLoader(Count(), 2, drop_last=True)] == [[0, 1], [2, 3]]
    assert list(DataLoader(Count(), batch_size=None)) == [0, 1, 2, 3, 4]
    with pytest.raises(TypeError):
        len(DataLoader(Count()))
    with pytest.raises(ValueError, match="an order of its own; leave out shuffle"):
        DataLoader(Count(), shuffle=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_workers": 2}, "num_workers=2 is for worker processes, and there are none"),
        ({"persistent_workers": True}, "persistent_workers=True is for worker"),
        ({"shuffle": True, "sampler": [0]}, "mutually exclusive with shuffle"),
        ({"batch_sampler": [[0]], "batch_size": 2}, "batch_sampler option is mutually exclusive"),
        ({"batch_sampler": [[0]], "drop_last": True}, "batch_sampler option is mutually exclus"),
        ({"batch_size": None, "drop_last": True}, "disables auto-batching"),
        ({"batch_size": 0}, "batch_size should be a positive integer"),
    ],
)
def test_arguments_that_do_not_go_together(options, message):
    with pytest.raises(ValueError, match=message):
        DataLoader(TensorDataset(X), **options)


# ---- collation


Pair = namedtuple("Pair", "a b")


def test_a_batch_is_made_of_items_of_one_kind():
    assert default_collate([1, 2]).dtype == T.int64
    assert default_collate([1.0, 2.0]).dtype == T.float64
    assert default_collate([True, False]).dtype == T.bool
    assert default_collate([np.float32(1), np.float32(2)]).dtype == T.float32
    assert default_collate([np.ones(2), np.zeros(2)]).tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert default_collate(["a", "b"]) == ["a", "b"]
    assert [c.tolist() for c in default_collate([(1, 2.0), (3, 4.0)])] == [[1, 3], [2.0, 4.0]]
    pair = default_collate([Pair(1, [2]), Pair(3, [4])])
    assert type(pair) is Pair and pair.a.tolist() == [1, 3] and pair.b[0].tolist() == [2, 4]
    mapped = default_collate([OrderedDict(a=1, b="x"), OrderedDict(a=2, b="y")])
    assert type(mapped) is OrderedDict and mapped["a"].tolist() == [1, 2]
    assert mapped["b"] == ["x", "y"]


def test_what_cannot_be_collated():
    with pytest.raises(TypeError, match="found object; pass a collate_fn"):
        default_collate([object()])
    with pytest.raises(TypeError, match="found NoneType"):
        default_collate([None, None])
    with pytest.raises(RuntimeError, match=r"should be of equal size, got lengths \[1, 2\]"):
        default_collate([[1], [1, 2]])
    with pytest.raises(RuntimeError, match="(?i)stack expects each tensor to be equal size"):
        default_collate([T.ones(2), T.ones(3)])


def test_items_that_are_not_collated_have_tensors_for_arrays():
    found = default_convert({"a": np.arange(2), "b": (1, "x"), "c": Pair([np.ones(1)], None)})
    assert isinstance(found["a"], T.Tensor) and found["b"] == [1, "x"]
    assert type(found["c"]) is Pair and isinstance(found["c"].a[0], T.Tensor)
