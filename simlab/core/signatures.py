"""The signature of a kind's class as editors and notebooks show it: ``(*, width: int, bias: bool = False)``.

pydantic's own spells out every bound and validator, `Annotated[float, Gt(gt=0), PlainValidator(func=<function …>)]`.
"""

from __future__ import annotations

from inspect import Parameter, Signature
from types import EllipsisType, NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo


class _Text(str):
    """Text that `inspect` prints without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def of_fields(fields: dict[str, FieldInfo]) -> Signature:
    """Field name → keyword argument with its type, in words a reader knows, and its default."""
    return Signature([_parameter(name, field) for name, field in fields.items()])


def _parameter(name: str, field: FieldInfo) -> Parameter:
    default = Parameter.empty if field.is_required() else field.get_default(call_default_factory=True)
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=_Text(_type(field.annotation)))


def _type(annotation: Any) -> str:
    """``float | 'auto' | None`` of an annotation, without what pydantic keeps in it."""
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " | ".join(map(repr, inside))
    if origin in (Union, UnionType):
        return " | ".join(map(_type, inside))
    if origin is Annotated:
        return _type(inside[0])
    if origin is not None:
        return f"{origin.__name__}[{', '.join(map(_type, inside))}]"
    if annotation is NoneType:
        return "None"
    if isinstance(annotation, EllipsisType):
        return "..."
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).removeprefix("typing.")
