"""Labels: what each loss takes, what it makes of them, and every refusal by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simlab import losses
from simlab.core import catalogue
from simlab.core.errors import BadInput


@given(st.lists(st.floats(-1e300, 1e300), max_size=20))
def test_real_labels_stay_as_they_are(values: list[float]) -> None:
    found = losses.Squared().encode(values, 1)
    assert found.shape == (len(values), 1)
    assert found[:, 0].tolist() == values


@given(st.lists(st.booleans(), min_size=1, max_size=20))
def test_signs_from_each_of_their_forms(truth: list[bool]) -> None:
    loss, signs = losses.Logistic(), np.where(truth, 1.0, -1.0)[:, None]
    for form in (truth, np.array(truth, float), np.array(truth, int)[:, None], signs, signs[:, 0].astype(np.int8)):
        assert np.array_equal(loss.encode(form, 1, several=False), signs)
        if len(set(truth)) == 1 < len(truth):
            with pytest.raises(BadInput, match="one class only"):
                loss.encode(form, 1)
        else:
            assert np.array_equal(loss.encode(form, 1), signs)


@given(st.integers(2, 5).flatmap(lambda c: st.tuples(st.just(c), st.lists(st.integers(0, c - 1), max_size=20))))
def test_classes_from_each_of_their_forms(case: tuple[int, list[int]]) -> None:
    c, classes = case
    one_hot = np.eye(c)[np.array(classes, int)].reshape(-1, c)
    for form in (np.array(classes, int), np.array(classes, float), one_hot, one_hot.astype(bool)):
        assert np.array_equal(losses.Softmax().encode(form, c, several=False), one_hot)
        assert np.array_equal(losses.Hinge().encode(form, c, several=False), 2.0 * one_hot - 1.0)
    assert np.array_equal(losses.Hinge().encode(2.0 * one_hot - 1.0, c, several=False), 2.0 * one_hot - 1.0)


@given(st.lists(st.floats(-3, 3) | st.sampled_from([0.0, 1.0, -1.0, np.nan, np.inf]), max_size=8), st.integers(1, 4))
def test_labels_are_encoded_or_refused_in_one_line(values: list[float], outputs: int) -> None:
    for kind in catalogue.names("losses"):
        line = ""
        try:
            found = losses.get(kind).encode(values, outputs, "labels")
        except BadInput as error:
            line = str(error)
        if line:
            assert "\n" not in line
            assert "labels" in line or "outputs" in line
        else:
            assert found.shape == (len(values), outputs)
            assert found.dtype == np.float64


def test_one_sample_is_enough() -> None:
    assert losses.Logistic().encode([1], 1) == 1.0
    assert losses.Softmax().encode([1], 2).tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize(
    ("kind", "y", "outputs", "says"),
    [
        ("squared", [1.0, np.nan], 1, r"^y\[1\] = nan: must be finite"),
        ("squared", [[1.0, 2.0], [np.inf, 0.0]], 2, r"^y\[1, 0\] = inf: must be finite"),
        ("squared", [1.0, 2.0], 2, r"^y has shape \(2,\): must be \(n, 2\)"),
        ("squared", [[1.0, 2.0]], 1, r"^y has shape \(1, 2\): must be \(n,\) or \(n, 1\)"),
        ("squared", [[1.0, 2.0]], 3, r"^y has shape \(1, 2\): must be \(n, 3\)"),
        ("squared", [1.0], 0, "^outputs = 0: must be 1 or more"),
        ("squared", [1.0], 1.5, "^outputs = 1.5: must be a whole number"),
        ("huber", ["a", "b"], 1, "^y has dtype <U1, such as 'a': must be real numbers"),
        ("logistic", ["yes", "no"], 1, "^y has dtype <U3, such as 'yes': must be real numbers"),
        ("logistic", [1, -1, np.nan], 1, r"^y\[2\] = nan: must be finite"),
        ("logistic", [1.0, 0.25], 1, r"^y\[1\] = 0.25: must be all −1 or \+1, or all 0 or 1, for the loss logistic"),
        ("hinge", [0, 1, 2], 1, r"^y\[2\] = 2: must be all −1 or \+1, or all 0 or 1, for the loss hinge"),
        ("hinge", [1, -1, 0], 1, r"^y\[2\] = 0: must be all −1 or \+1, or all 0 or 1, .* not both"),
        ("hinge", [0, 1, -1], 1, r"^y\[2\] = -1: .* not both"),
        ("exponential", [1, 1, 1], 1, "^y: one class only, all 3 labels"),
        ("exponential", np.ones((3, 2)), 1, r"^y has shape \(3, 2\): must be \(n,\) or \(n, 1\)"),
        ("logistic", [0, 1, 3], 3, r"^y\[2\] = 3: must be class numbers \(n,\) from 0 to 2, .* or ±1 \(n, 3\)"),
        ("logistic", [[1.0, 0.3], [0.0, 1.0]], 2, r"^y\[0, 1\] = 0.3: must be class numbers"),
        ("softmax", [0, 1], 1, "^outputs = 1: the loss softmax needs one output per class, 2 or more"),
        ("softmax", [0, 1, 2], 2, r"^y\[2\] = 2: must be class numbers \(n,\) from 0 to 1, or one-hot \(n, 2\)"),
        ("softmax", [0, -1], 2, r"^y\[1\] = -1: must be class numbers"),
        ("softmax", [0, 1.5], 2, r"^y\[1\] = 1.5: must be class numbers"),
        ("softmax", [1, 1], 3, "^y: one class only, all 2 labels"),
        ("softmax", [[1, 0], [1, 1]], 2, r"^y\[1\] has 2 entries that are 1: must be"),
        ("softmax", [[1, 0], [0, 0]], 2, r"^y\[1\] has 0 entries that are 1: must be"),
        ("softmax", [[1, -1], [-1, 1]], 2, r"^y\[0, 1\] = -1: must be class numbers"),
        ("softmax", [[1, 0, 0]], 2, r"^y has shape \(1, 3\): must be class numbers"),
        ("softmax", 1, 2, r"^y has shape \(\): must be class numbers"),
    ],
)
def test_every_refusal_by_name(kind: str, y: Any, outputs: Any, says: str) -> None:
    with pytest.raises(BadInput, match=says) as refusal:
        losses.get(kind).encode(y, outputs)
    assert "\n" not in str(refusal.value)


def test_the_error_calls_them_as_it_is_told() -> None:
    with pytest.raises(BadInput, match=r"^test_labels\[0\] = 7: must be"):
        losses.Logistic().encode([7], 1, "test_labels")
