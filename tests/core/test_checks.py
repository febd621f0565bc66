"""One check of numbers and arrays: what it takes it does not change, and what it refuses it names."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from simlab.core import checks
from simlab.core.errors import BadInput

MASKED = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 0], [0, 1]])


def test_an_array_of_numbers_is_taken_as_it_is() -> None:
    X = np.arange(6.0).reshape(2, 3)
    assert checks.array(X, "X") is X
    assert checks.array(X.astype(np.float32), "X", dtype=None).dtype == np.float32
    assert checks.array([[True, False]], "X").tolist() == [[1.0, 0.0]]
    assert checks.array([10**30, Fraction(1, 2), Decimal("0.25")], "X").tolist() == [1e30, 0.5, 0.25]
    assert checks.array(np.ma.array([1.0, 2.0]), "X").tolist() == [1.0, 2.0]  # nothing is masked
    assert checks.array(np.float16(0.5), "X").dtype == np.float64
    assert checks.array([np.inf, np.nan], "X", finite=False).shape == (2,)
    assert checks.array(X.astype(">f8"), "X").dtype.isnative


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([1.0, np.nan], "X[1] = nan: must be finite"),
        (np.array([[1.0, 2.0], [-np.inf, 0.0]]), "X[1, 0] = -inf: must be finite"),
        (np.nan, "X = nan: must be finite"),
        (["1", "2"], "X has dtype <U1, such as '1': must be real numbers"),
        (b"12", "X has dtype |S2"),
        (np.array(["2020-01-01"], "datetime64[D]"), "X has dtype datetime64[D]: must be real numbers"),
        (np.array([3], "timedelta64[s]"), "X has dtype timedelta64[s]: must be real numbers"),
        ([datetime.date(2020, 1, 1)], "X[0] = datetime.date(2020, 1, 1): argument must be"),
        ([1j], "X has dtype complex128: must be real numbers"),
        (None, "X = None: argument must be"),
        ([[1.0, None]], "X[0, 1] = None: argument must be"),
        ([1.0, "a", None], "X[1] = 'a'"),
        ({}, "X = {}: argument must be"),
        ((x for x in [1.0]), "X = <generator"),
        ([[1.0], [1.0, 2.0]], "X: rows of different lengths"),
        ([10**400], "X[0] = (about 2^1328): too large for float64"),
        (MASKED, "X has masked entries: fill them first, such as X.filled(0.0)"),
        ([MASKED[1], MASKED[1]], "X has masked entries"),
        ([np.ma.masked, 1.0], "X has masked entries"),
        (np.zeros(2, dtype=[("a", float)]), "must be real numbers"),
    ],
)
def test_what_is_no_real_number_is_refused_by_name(values: Any, says: str) -> None:
    with pytest.raises(BadInput) as error:
        checks.array(values, "X")
    assert says in str(error.value)
    assert "\n" not in str(error.value)


class Awkward:
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no")


def test_an_object_whose_own_conversion_fails() -> None:
    with pytest.raises(BadInput, match=r"X = .*Awkward.*: cannot be read as an array of numbers"):
        checks.array(Awkward(), "X")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"ndim": 2}, "X has shape (3,): must be a matrix"),
        ({"ndim": (0, 2)}, "X has shape (3,): must be a single number or a matrix"),
        ({"shape": (4,)}, "X has shape (3,): must be (4,)"),
        ({"ndim": 2, "must": "this"}, "X has shape (3,): must be this"),
    ],
)
def test_shapes(options: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput) as error:
        checks.array([1.0, 2.0, 3.0], "X", **options)
    assert str(error.value) == says


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"least": 1.5}, "X[0] = 1: must be 1.5 or more"),
        ({"above": 2.0}, "X[0] = 1: must be greater than 2.0"),
        ({"least": 0, "most": 2}, "X[2] = 3: must be from 0 to 2"),
        ({"least": 0, "ndim": 2}, "X has shape (3,): must be a matrix"),
    ],
)
def test_bounds(options: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput) as error:
        checks.bounded([1, 2, 3], "X", **options)
    assert str(error.value) == says
    assert checks.bounded([1, 2, 3], "X", least=1, most=3).dtype == np.float64


def test_sizes_of_arrays() -> None:
    with pytest.raises(BadInput, match=r"X has shape \(0,\): must have one entry or more"):
        checks.array([], "X", empty=False)
    with pytest.raises(BadInput, match=r"X\[0\] = 1e\+300: too large for float32"):
        checks.array([1e300], "X", dtype=np.float32)
    with pytest.raises(BadInput, match=r"X has shape \(2, 0\): must be \(n, d\), with at least one coordinate"):
        checks.matrix(np.zeros((2, 0)))
    with pytest.raises(BadInput, match=r"X has shape \(2, 3\): must be \(n, 4\)"):
        checks.matrix(np.zeros((2, 3)), dim=4)
    with pytest.raises(BadInput, match=r"dim = 9: needs 8e\+12 GB of memory, and .* GB are free"):
        checks.memory(10**21, "dim = 9")
    checks.memory(10, "dim = 9")


@pytest.mark.parametrize("value", [3, 3.0, np.float32(3), np.int8(3), np.array(3.0), Fraction(3), Decimal(3)])
def test_a_number_is_any_real_one(value: Any) -> None:
    assert checks.number(value, "x", least=3, most=3) == 3.0


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "x = None: must be a number, greater than 0 and less than 1"),
        ("0.5", "x = '0.5': must be a number"),
        (True, "x = True: must be a number"),
        (0.5j, "x = 0.5j: must be a number"),
        ([0.5], "x = [0.5]: must be a number"),
        (np.datetime64("2020-01-01"), "must be a number"),
        (np.ma.masked, "must be a number"),
        (float("nan"), "x = nan: must be finite and greater than 0 and less than 1"),
        (10**400, "x = (about 2^1328): must be finite"),
        (1, "x = 1: must be greater than 0 and less than 1"),
    ],
)
def test_what_is_no_such_number_is_refused(value: Any, says: str) -> None:
    with pytest.raises(BadInput) as error:
        checks.number(value, "x", above=0, below=1)
    assert says in str(error.value)


@pytest.mark.parametrize("value", [None, "3", 3.0, True, np.bool_(1), 3j, [3], np.datetime64(3, "s"), np.ma.masked])
def test_a_whole_number_is_an_integer(value: Any) -> None:
    assert checks.whole(np.int16(3), "k", least=3, most=3) == 3
    with pytest.raises(BadInput, match=r"^k = .*: must be a whole number, 1 or more$"):
        checks.whole(value, "k", least=1)


def test_objects_and_names() -> None:
    with pytest.raises(BadInput, match="rng = 3: must be a numpy Generator"):
        checks.generator(3)
    with pytest.raises(BadInput, match=r"how = 'fsat': unknown; did you mean \"fast\"\? \(allowed: fast, slow\)"):
        checks.choice("fsat", "how", ("fast", "slow"))
    with pytest.raises(BadInput, match="g = 3: must be a function"):
        checks.function(3, "g")
    for wrong in ("abc", {}, 3, np.array(3)):
        with pytest.raises(BadInput, match=r"list = .*: must be a list"):
            checks.listed(wrong, "list")
    for dtype in (None, "x", np.int64, object()):
        with pytest.raises(BadInput, match="must be float64 or float32"):
            checks.float_type(dtype)
