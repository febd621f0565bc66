"""Checks of the numbers and arrays that a user gives, the same everywhere.

Each function returns its value in the form that is computed with, or raises `BadData` or `BadType`: one line with the
argument's name, the first wrong entry, and what is allowed.

- Refused: text, dates, complex numbers, other objects, sparse matrices, masked entries (their mask would be lost), NaN
  and infinity, other shapes than asked for.
- An array of objects, as a data frame may hold it, is accepted if every entry is a real number.
- Booleans count as 0 and 1 in an array, as in NumPy and scikit-learn; as a single number they are refused.
"""

from __future__ import annotations

import itertools
import math
import numbers
import operator
import sys
from collections.abc import Callable, Iterable, Sized
from decimal import Decimal
from types import UnionType
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from simlab.core._check_words import first_true, place, plain, range_words, shape_words, within
from simlab.core.errors import BadInput, nearest, one_of, shown
from simlab.core.resources import free_memory

T = TypeVar("T")
REALS = "fiub"
"""`dtype.kind` of real numbers: floats, integers, booleans."""
MATRIX = "a matrix, one input per row"
FLOAT_NAMES = ("float64", "float32", "f8", "f4", "d", "f", "double", "single")
"""Names that NumPy has for the two float types."""
MOST_DIM = 1_000_000_000  # largest dimension d of the inputs
MOST_DEGREE = 1_000_000  # largest degree of a polynomial
MOST_ITEMS = 1_000_000  # most items of a list
MOST_WHOLE = 10**300
"""Largest whole number where it is also computed with as a float."""
SMALL_BYTES = 1 << 26
"""Smaller arrays are allocated without asking for the free memory, which takes a millisecond."""


class BadData(BadInput, ValueError):
    """Numbers, arrays or parameters of the right type that cannot be used: shape, range, NaN."""


class BadType(BadInput, TypeError):
    """A value of the wrong type: entries that are no numbers, another object than asked for."""


def array(
    values: Any,
    name: str,
    *,
    ndim: int | tuple[int, ...] | None = None,
    shape: tuple[int, ...] | None = None,
    dtype: DTypeLike | None = np.float64,
    finite: bool = True,
    empty: bool = True,
    must: str = "",
) -> NDArray[Any]:
    """An array of real numbers. An array of the right type is returned itself, not a copy.

    ndim: allowed numbers of dimensions; any by default.
    shape: the whole shape; any by default.
    dtype: float type to convert to; None keeps the type of the numbers.
    finite: whether NaN and infinity are refused.
    empty: whether an array without entries passes.
    must: what the array has to be, in words, for the error about its shape.
    """
    found = numeric(values, name, must)
    allowed = (ndim,) if isinstance(ndim, int) else ndim
    if (allowed is not None and found.ndim not in allowed) or (shape is not None and found.shape != shape):
        raise BadData(f"{name} has shape {found.shape}: must be {must or shape_words(allowed, shape)}")
    if not empty and found.size == 0:
        raise BadData(f"{name} has shape {found.shape}: must have one entry or more")
    memory(found.size // 8, f"{name} has shape {found.shape}")  # isfinite below takes a byte per entry
    if dtype is not None and found.dtype != dtype:
        with np.errstate(over="ignore"):  # what is too large becomes infinity, and is named below
            converted = found.astype(dtype)
    else:
        converted = found
    if finite and converted.dtype.kind == "f" and not np.isfinite(converted).all():
        at = first_true(~np.isfinite(converted))
        if np.isfinite(found[at]):
            raise BadData(f"{place(name, at)} = {plain(found[at])}: too large for {converted.dtype}")
        raise BadData(f"{place(name, at)} = {plain(found[at])}: must be finite, without NaN or infinity")
    return converted


def bounded(
    values: Any,
    name: str,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    ndim: int | None = None,
    must: str = "",
) -> NDArray[np.float64]:
    """An array of finite numbers, as `array` gives it, whose entries lie within bounds.

    least: lower bound, included.
    above: lower bound, excluded.
    most: upper bound, included.
    ndim, must: as in `array`.
    """
    found = numeric(values, name, must)
    converted = array(found, name, ndim=ndim, must=must)
    for bound, wrong in ((least, operator.lt), (above, operator.le), (most, operator.gt)):
        if bound is not None and (bad := wrong(converted, bound)).any():
            at = first_true(bad)
            raise BadData(f"{place(name, at)} = {plain(found[at])}: must be {range_words(least, above, most)}")
    return converted


def matrix(X: Any, name: str = "X", *, dim: int | None = None, dtype: DTypeLike | None = np.float64) -> NDArray[Any]:
    """Inputs X : (n, d), one per row.

    dim: d that is required; any by default.
    dtype: as in `array`.
    """
    found = array(X, name, ndim=2, dtype=dtype, must=f"(n, {'d' if dim is None else dim}), {MATRIX}")
    if found.shape[1] == 0 or (dim is not None and found.shape[1] != dim):
        words = f"(n, {dim})" if dim is not None else "(n, d), with at least one coordinate"
        raise BadData(f"{name} has shape {found.shape}: must be {words}")
    return found


def numeric(values: Any, name: str, must: str = "") -> NDArray[Any]:
    """An array of real numbers, NaN and infinity allowed. The dtype stays; an array of objects becomes float64."""
    found: NDArray[Any] = values if type(values) is np.ndarray else _converted(values, name, must)
    kind = found.dtype.kind
    if kind in REALS:
        return found
    if kind == "O":
        return _of_objects(found, name)
    if kind == "c":
        raise BadData(f"{name} has dtype {found.dtype}: must be real numbers (Complex data not supported)")
    example = f", such as {shown(found.flat[0].item())}" if found.size and kind in "US" else ""
    raise BadType(f"{name} has dtype {found.dtype}{example}: must be real numbers")


def number(
    value: Any,
    name: str,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
    infinite: bool = False,
) -> float:
    """A real number within bounds.

    least, most: bounds, included.
    above, below: bounds, excluded.
    infinite: whether infinity passes.
    """
    bounds = range_words(least, above, most, below)
    single = value.item() if isinstance(value, np.generic | np.ndarray) and np.ndim(value) == 0 else value
    is_number = isinstance(single, numbers.Real | Decimal) and not isinstance(single, bool)
    if not is_number or _is_masked(value):
        raise BadType(f"{name} = {shown(value)}: must be a number{', ' if bounds else ''}{bounds}")
    try:
        found = float(single)
    except OverflowError:
        found = math.inf if single > 0 else -math.inf
    if math.isnan(found) or (math.isinf(found) and not infinite):
        raise BadData(f"{name} = {shown(single)}: must be finite{' and ' if bounds else ''}{bounds}")
    if not within(found, least, above, most, below):
        raise BadData(f"{name} = {shown(single)}: must be {bounds}")
    return found


def whole(value: Any, name: str, *, least: int | None = None, most: int | None = None) -> int:
    """A whole number from `least` to `most`, both included; floats and booleans are refused."""
    bounds = range_words(least=least, most=most)
    try:
        if isinstance(value, bool | np.bool_) or _is_masked(value):
            raise TypeError
        found = operator.index(value)
    except TypeError:
        raise BadType(
            f"{name} = {shown(plain(value))}: must be a whole number{', ' if bounds else ''}{bounds}"
        ) from None
    if not within(found, least, None, most, None):
        raise BadData(f"{name} = {shown(found)}: must be {bounds}")
    return found


def dimension(value: Any, name: str = "dim", *, least: int = 1, most: int = MOST_DIM) -> int:
    """A dimension d of the inputs."""
    return whole(value, name, least=least, most=most)


def sphere_dimension(dim: Any, name: str = "dim") -> int:
    """d of the sphere S^{d−1}."""
    if whole(dim, name, most=MOST_DIM) < 2:
        raise BadData(f"{name} = {shown(dim)}: a sphere needs dimension 2 or more")
    return int(dim)


def flag(value: Any, name: str) -> bool:
    """True or False."""
    return bool(instance(value, name, bool | np.bool_, "True or False"))


def draw_from(dim: Any, rng: Any, *, least: int = 1) -> int:
    """The dimension `dim`, after a check of it and of the generator `rng`."""
    generator(rng)
    return dimension(dim, least=least)


def sample(n: Any, rng: Any, dim: int) -> int:
    """The number n of inputs to draw, after a check of it, of the generator, and of the memory that they need."""
    generator(rng)
    found = whole(n, "n", least=0)
    memory(2 * found * dim, f"n = {found} in dimension {dim}")
    return found


def degree(value: Any, name: str = "max_degree", *, most: int = MOST_DEGREE) -> int:
    """A degree of polynomials, 0 or more."""
    return whole(value, name, least=0, most=most)


def memory(floats: int, what: str, advice: str = "") -> None:
    """Raise BadInput where there is not enough free memory.

    floats: number of float64 that are about to be allocated.
    what: what needs them, for the beginning of the error line.
    advice: what to do instead, for its end.
    """
    if (needed := 8 * floats) > SMALL_BYTES and needed > (free := free_memory()):
        raise BadInput(f"{what}: needs {_gigabytes(needed)} of memory, and {_gigabytes(free)} are free{advice}")


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.3g} GB" if size < 1e300 else "more GB than can be counted"


@overload
def instance(value: Any, name: str, cls: type[T], must: str) -> T: ...
@overload
def instance(value: Any, name: str, cls: UnionType, must: str) -> Any: ...
def instance(value: Any, name: str, cls: Any, must: str) -> Any:
    """The value, if it is an object of this class.

    cls: a class, or several as ``str | Path``.
    must: what the value has to be, in words, for the error.
    """
    if not isinstance(value, cls):
        raise BadType(f"{name} = {shown(value)}: must be {must}")
    return value


def float_type(dtype: Any, name: str = "dtype") -> np.dtype[Any]:
    """The dtype float64 or float32, from any name that NumPy has for it."""
    if isinstance(dtype, str) and dtype.lstrip("<=") not in FLOAT_NAMES:
        raise BadData(f"{name} = {shown(dtype)}: must be float64 or float32")
    try:
        found: np.dtype[Any] = np.dtype(dtype)
    except (TypeError, ValueError):
        raise BadType(f"{name} = {shown(dtype)}: must be float64 or float32") from None
    if dtype is None or found not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise BadData(f"{name} = {shown(dtype) if dtype is None else found.name}: must be float64 or float32")
    return found


def generator(rng: Any, name: str = "rng") -> np.random.Generator:
    return instance(rng, name, np.random.Generator, "a numpy Generator, such as np.random.default_rng(0)")


def function(value: Any, name: str) -> Callable[..., Any]:
    if not callable(value):
        raise BadType(f"{name} = {shown(value)}: must be a function")
    found: Callable[..., Any] = value
    return found


def choice(value: Any, name: str, allowed: Iterable[str]) -> str:
    """The value, if it is one of the `allowed` names."""
    known = list(allowed)
    if not isinstance(value, str) or value not in known:
        near = nearest(value, known) if isinstance(value, str) else ""
        raise BadData(f"{name} = {shown(value)}: unknown{near} (allowed: {one_of(known)})")
    return value


def listed(values: Any, name: str, must: str = "a list", *, most: int = MOST_ITEMS) -> list[Any]:
    """The items of a list, a tuple, a set, a vector or an iterator, as a list.

    Refused are text, tables, masked entries, and more than `most` items.
    """
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable) or _is_masked(values):
        raise BadType(f"{name} = {shown(values)}: must be {must}")
    try:
        too_many = isinstance(values, Sized) and len(values) > most
        found = [] if too_many else list(itertools.islice(values, most + 1))
    except TypeError:  # an array of no dimensions
        raise BadType(f"{name} = {shown(values)}: must be {must}") from None
    if too_many or len(found) > most:
        raise BadData(f"{name}: more than {most} items; must be {must}, {most} items at most")
    return found


def _converted(values: Any, name: str, must: str) -> NDArray[Any]:
    if hasattr(values, "tocsr"):
        raise BadType(f"{name} is sparse: must be dense, such as {name}.toarray()")
    if _is_masked(values):
        raise BadData(f"{name} has masked entries: fill them first, such as {name}.filled(0.0)")
    try:
        return np.asarray(values)
    except Exception as error:  # rows of several lengths, or whatever an object's own conversion raises
        if isinstance(values, list | tuple) and isinstance(error, ValueError):
            words = must or "numbers in rows of one length"
            raise BadData(f"{name}: rows of different lengths; must be {words}") from None
        raise BadType(f"{name} = {shown(values)}: cannot be read as an array of numbers") from None


def _is_masked(values: Any, depth: int = 3) -> bool:
    """Whether an entry of an array, or of an array inside lists nested up to `depth` deep, is masked."""
    ma = sys.modules.get("numpy.ma")
    if ma is None:
        return False
    if isinstance(values, ma.MaskedArray):
        return bool(ma.is_masked(values))
    if isinstance(values, list | tuple) and depth:
        return any(_is_masked(item, depth - 1) for item in values if isinstance(item, list | tuple | ma.MaskedArray))
    return False


def _of_objects(found: NDArray[Any], name: str) -> NDArray[np.float64]:
    out = np.empty(found.size)
    for i, value in enumerate(found.flat):
        at = tuple(int(k) for k in np.unravel_index(i, found.shape))
        if not isinstance(value, numbers.Real | Decimal):
            words = "no string, date or other object but a real number"
            raise BadType(f"{place(name, at)} = {shown(value)}: argument must be {words}")
        try:
            out[i] = float(value)
        except OverflowError:
            raise BadData(f"{place(name, at)} = {shown(value)}: too large for float64") from None
    return out.reshape(found.shape)
