"""Independent of the package: every stationary point of a small box-and-line QP, by enumeration."""

from __future__ import annotations

import itertools

import numpy as np


def stationary_points(H, q, upper, A, b, tol=1e-9):
    """KKT points of min ½xᵀHx + qᵀx, 0 ≤ x ≤ upper, Ax = b over all 3ⁿ active sets.

    Isolated ones only: an active set whose KKT matrix is singular is passed over.

    Returns a list of (x, objective).
    """
    n, m = q.size, A.shape[0]
    found = []
    for pattern in itertools.product((0, 1, 2), repeat=n):
        state = np.array(pattern)
        x = np.where(state == 1, upper, 0.0)
        free = np.flatnonzero(state == 2)
        fixed = np.flatnonzero(state != 2)
        k = free.size
        system = np.zeros((k + m, k + m))
        system[:k, :k] = H[np.ix_(free, free)]
        system[:k, k:] = A[:, free].T
        system[k:, :k] = A[:, free]
        right = np.concatenate([-q[free] - H[np.ix_(free, fixed)] @ x[fixed], b - A @ x])
        if k < m or k == 0:
            # A vertex: its multipliers are an interval; it is stationary if one fits.
            point = _vertex(H, q, A, b, x, free, upper, tol)
        else:
            if np.linalg.cond(system) > 1e12:
                continue
            solved = np.linalg.solve(system, right)
            x[free] = solved[:k]
            point = x if _is_kkt(H, q, A, x, solved[k:], state, upper, tol) else None
        if point is not None:
            found.append((point, 0.5 * point @ H @ point + q @ point))
    return found


def _vertex(H, q, A, b, x, free, upper, tol):
    if free.size:
        return None
    if np.max(np.abs(A @ x - b), initial=0.0) > tol:
        return None
    gradient = H @ x + q
    # Feasibility of g + Aᵀν ≥ 0 at the lower and ≤ 0 at the upper bound is a linear program.
    from scipy.optimize import linprog

    signs = np.where(x > 0, 1.0, -1.0)
    outcome = linprog(
        np.zeros(A.shape[0] or 1),
        A_ub=signs[:, None] * (A.T if A.shape[0] else np.zeros((x.size, 1))),
        b_ub=-signs * gradient + tol,
        bounds=[(None, None)] * (A.shape[0] or 1),
    )
    return x if outcome.status == 0 else None


def _is_kkt(H, q, A, x, nu, state, upper, tol):
    if np.any(x < -tol) or np.any(x > upper + tol):
        return False
    reduced = H @ x + q + A.T @ nu
    return bool(np.all(reduced[state == 0] >= -tol) and np.all(reduced[state == 1] <= tol))


def global_minimum(H, q, upper, A, b):
    """Least objective over all stationary points: a global minimum is one of them."""
    return min(value for _, value in stationary_points(H, q, upper, A, b))


def least_with_rows(P, q, G, h, A, b, lower, upper, tol=1e-9):
    """A global minimiser of ½xᵀPx + qᵀx, Gx ≤ h, Ax = b, lower ≤ x ≤ upper, and its value.

    Of all global minimisers one with the most active constraints lies on a face on which the
    objective is strictly convex, and is the only stationary point there. All faces are tried: sets
    of free variables and of active rows, and all corners of the fixed variables at once. Rows may
    depend on each other, and bounds may be infinite as long as there is a minimum. Returns (inf,
    None) if no point is feasible up to `tol` of the sizes in each row.
    """
    n, best = q.size, (np.inf, None)
    rows, right = np.vstack([A, G]), np.concatenate([b, h])
    unit = tol * (1.0 + np.abs(right) + np.abs(rows).max(axis=1, initial=0.0))
    for kept in itertools.product((False, True), repeat=n):
        free = np.array(kept)
        ends = [[end for end in pair if np.isfinite(end)]
                for pair in zip(lower[~free], upper[~free], strict=True)]  # fmt: skip
        corners = np.array([*itertools.product(*ends)], float)
        for chosen in itertools.product((False, True), repeat=h.size):
            active = np.concatenate([np.ones(b.size, bool), np.array(chosen, bool)])
            X = np.zeros((len(corners), n))
            X[:, ~free] = corners
            E, missing = rows[np.ix_(active, free)], right[active] - X @ rows[active].T
            if free.any():
                _, sizes, V = np.linalg.svd(E)
                rank = int(np.sum(sizes > tol * max(1.0, sizes.max(initial=0.0))))
                Z = V[rank:].T
                inner = Z.T @ P[np.ix_(free, free)] @ Z
                if inner.size and np.linalg.eigvalsh(inner)[0] <= tol * max(1.0, np.abs(P).max()):
                    continue
                X[:, free] = missing @ np.linalg.pinv(E, rcond=tol).T
                slope = (X @ P + q)[:, free] @ Z
                X[:, free] -= np.linalg.solve(inner, slope.T).T @ Z.T
            excess = X @ rows.T - right
            excess[:, active] = np.abs(excess[:, active])
            fits = np.all(excess <= unit, axis=1)
            fits &= np.all(np.maximum(lower - X, X - upper) <= tol, axis=1)
            values = 0.5 * np.einsum("ki,ij,kj->k", X, P, X) + X @ q
            for k in np.flatnonzero(fits):
                if values[k] < best[0]:
                    best = float(values[k]), X[k]
    return best
