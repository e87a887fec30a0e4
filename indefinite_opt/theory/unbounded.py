"""Whether a model has an optimum at all: rays in fractions, and cheap proofs of a bound."""

from __future__ import annotations

import numpy as np

from indefinite_opt.algebra import Canonical, Model, settled
from indefinite_opt.errors import ParameterError
from indefinite_opt.formulations import as_formulation
from indefinite_opt.modeling import Formulation, Growth, UnboundedRay, growth_form, model_ray
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import norm_bound, zero_tolerance
from indefinite_opt.theory.numbers import least_eigenvalue


def unbounded_ray(
    problem: KernelProblem | Model, formulation: Formulation | str | None = None
) -> UnboundedRay | None:
    """A ray along which the objective of a model has no bound, with its proof in fractions.

    Along s + td every loss that grows at most linearly is outgrown by a term t²dᵀPd < 0, and so are
    squares of losses if they sum up to less. See the page on models without a minimum.

    Parameters
    ----------
    problem : KernelProblem or Model
    formulation : Formulation or str
        Left out for a `Model`.

    Returns
    -------
    UnboundedRay or None
        None if no ray is found; the model may have one all the same, see `is_bounded`.

    Raises
    ------
    ParameterError
        For a formulation that declares no model.

    Examples
    --------
    Without upper bounds the dual of an SVM has no maximum if two points of opposite classes are at
    a negative squared distance, which is -2 here. Along α = td its negative falls like -t²:

    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1])
    >>> ray = unbounded_ray(problem, "SVMDual(C=inf)")
    >>> ray.direction["alpha"], ray.quadratic, unbounded_ray(problem, "SVMDual(C=1)")
    (array([1., 1.]), Fraction(-1, 1), None)
    """
    return model_ray(_model(problem, formulation))


def is_bounded(
    problem: KernelProblem | Model, formulation: Formulation | str | None = None
) -> bool | None:
    """Whether the objective of a model has a bound, as far as that is cheap to prove.

    True where all variables have two finite bounds, or where nothing in the objective falls without
    end: the quadratic form is proved positive definite in the variables that it has, others are
    bounded on the side to which their cost falls, and all losses are nonnegative. False where
    `unbounded_ray` finds a ray. None if neither is proved.

    Parameters
    ----------
    problem, formulation
        As in `unbounded_ray`.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[0.0, 1.0], [1.0, 0.0]], [1, -1])
    >>> is_bounded(problem, "SVMDual(C=1)"), is_bounded(problem, "SVMDual(C=inf)")
    (True, False)
    """
    model = _model(problem, formulation)
    form = growth_form(model)
    if form is not None and _has_bound(form):
        return True
    return None if model_ray(model) is None else False


def _model(problem: KernelProblem | Model, formulation: Formulation | str | None) -> Model:
    if isinstance(problem, Model):
        return settled(problem.without_endless())
    if not isinstance(problem, KernelProblem) or formulation is None:
        expected = "a formulation of a kernel problem, or a Model alone"
        raise ParameterError("formulation", expected, repr(formulation))
    return settled(as_formulation(formulation).model(problem).without_endless())


def _has_bound(form: Canonical) -> bool:
    """Whether no term falls without end; False may mean that it is not known."""
    from scipy.linalg import null_space

    growth = Growth(form)
    P, q, E = growth.P, growth.q, growth.E
    alone = growth.G[np.count_nonzero(growth.G, axis=1) == 1]
    low, high = np.any(alone < 0.0, axis=0), np.any(alone > 0.0, axis=0)
    if np.all(low & high):
        return True
    curved = np.count_nonzero(P, axis=1) > 0
    falls = ((q > 0.0) & ~low) | ((q < 0.0) & ~high)
    known = [t.kind != "lipschitz" and np.min(t.weights, initial=0) >= 0 for t in form.separables]
    if (
        not all(known)
        or form.affine.linear.keys() - form.variables.keys()
        or np.any(falls & ~curved)
    ):
        return False
    held = E[~E[:, ~curved].any(axis=1)][:, curved]
    Z = null_space(held) if len(held) else np.eye(int(curved.sum()))
    # Z is off by a small multiple of the rounding of a factorisation.
    error = zero_tolerance(len(P), norm_bound(P)) * len(P) if len(held) else 0.0
    return not Z.size or least_eigenvalue(Z.T @ P[np.ix_(curved, curved)] @ Z, error).positive
