"""Independent of the package: Lin & Lin (2003), section 6.2, in plain Python."""

from __future__ import annotations

import itertools

import numpy as np


def signed_gradient(alpha, gradient, y, C):
    """-y∘∇F where the index is in I_up, else -∞; and the same where it is in I_low, else ∞."""
    signed = -y * gradient
    up = np.where(y > 0, alpha < C, alpha > 0)
    low = np.where(y > 0, alpha > 0, alpha < C)
    return np.where(up, signed, -np.inf), np.where(low, signed, np.inf)


def pair_of(alpha, gradient, y, C):
    """The maximal violating pair (22), and its violation."""
    up, low = signed_gradient(alpha, gradient, y, C)
    i, j = int(np.argmax(up)), int(np.argmin(low))
    return i, j, up[i] - low[j]


def stepped(alpha, K, y, C, i, j, violation):
    """The step (27) of the pair (i, j)."""
    max_step_i = C - alpha[i] if y[i] > 0 else alpha[i]
    max_step_j = alpha[j] if y[j] > 0 else C - alpha[j]
    max_step = min(max_step_i, max_step_j)  # -L of (24b)
    curvature = K[i, i] - 2 * K[i, j] + K[j, j]
    step = min(violation / curvature, max_step) if curvature > 0 else max_step
    moved = alpha.copy()
    moved[i] += y[i] * step
    moved[j] -= y[j] * step
    return np.clip(moved, 0.0, C)


def paper_smo(K, y, C, tol=1e-9, steps=100_000):
    """Section 6.2 as printed: pairs (22), steps (27); yields every iterate."""
    alpha, Q = np.zeros(y.size), K * np.outer(y, y)
    yield alpha
    for _ in range(steps):
        i, j, violation = pair_of(alpha, Q @ alpha - 1, y, C)
        if violation <= tol:
            return
        alpha = stepped(alpha, K, y, C, i, j, violation)
        yield alpha
    raise AssertionError("no convergence")


def printed_steps(alpha, K, y, C, rounding=1e-11):
    """Every iterate that may come after this one.

    After a step to the minimum of (24) both members of its pair have the same entry of -y∘∇F, so
    that (22) has several answers, between which rounding decides.
    """
    up, low = signed_gradient(alpha, (K * np.outer(y, y)) @ alpha - 1, y, C)
    highest, lowest = np.flatnonzero(up >= up.max() - rounding), low <= low.min() + rounding
    pairs = itertools.product(highest, np.flatnonzero(lowest))
    return [stepped(alpha, K, y, C, i, j, up[i] - low[j]) for i, j in pairs if i != j]
