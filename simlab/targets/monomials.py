"""Any polynomial of signs: f(x) = Σ_S c_S ∏_{i∈S} z_i over terms S of P coordinates, z = factor·x. MATH §9.

``terms = [[0], [0, 1], [0, 1, 2]]`` is z₁ + z₁z₂ + z₁z₂z₃; ``[]`` as a term is the constant. Every function on {±1}^P
is of this form (`simlab.theory.leap` finds the coefficients of one given by its values).
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, model_validator

from simlab.core.parsing import AsTuple
from simlab.targets.boolean_function import OnTheCube, Term, check_terms


def _nested(value: Any) -> Any:
    """Lists of lists, as TOML has them, as tuples of tuples."""
    return tuple(tuple(term) if isinstance(term, list) else term for term in value) if _is_list(value) else value


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


class Monomials(OnTheCube):
    """f(x) = Σ_S c_S ∏_{i∈S} z_i over given terms."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"terms": [[0], [0, 1], [0, 1, 2]]},
        {"terms": [[], [1, 3]], "coefficients": [0.5, -2.0], "coordinates": "random"},
        {"terms": [[0, 1]], "factor": "unit"},
    )

    terms: Annotated[tuple[tuple[int, ...], ...], BeforeValidator(_nested)] = Field(
        min_length=1, description="terms, each a list of coordinates that count from 0"
    )
    coefficients: Annotated[tuple[float, ...] | None, AsTuple] = Field(
        None, description="coefficient of each term; 1 each by default"
    )

    @model_validator(mode="after")
    def _one_coefficient_per_term(self) -> Monomials:
        check_terms(self.terms)
        if self.coefficients is not None and len(self.coefficients) != len(self.terms):
            raise ValueError(
                f"coefficients has {len(self.coefficients)} numbers: must be {len(self.terms)}, one per term"
            )
        return self

    def place_count(self) -> int:
        return 1 + max((place for term in self.terms for place in term), default=-1)

    def expansion(self) -> tuple[tuple[Term, ...], tuple[float, ...]]:
        return self.terms, self.coefficients if self.coefficients is not None else (1.0,) * len(self.terms)
