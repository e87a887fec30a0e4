"""Compiled loops of the doubly nonnegative relaxation, on the named tuples of `relaxation`.

The lifted point is Z = zzᵀ of z = (1, x, s) with s = 1 - x. With d = x - s z is linear in (1, d),
and orthonormal coordinates of it are u = (θ, d/√2), θ² = ω + n/2, where the coordinate 1 of z has
weight √ω: so Z = WUWᵀ costs O(n²), without any product of matrices.

Z is stored in parts without repetition:

- `pairs` (n(n-1)/2, 4), row i(i-1)/2 + j for i > j: x_i x_j, x_i s_j, s_i x_j, s_i s_j;
- `ends` (n, 2): x_i, s_i;
- `squares` (n, 3): x_i², x_i s_i, s_i².

Their weights in the inner product of symmetric matrices are 2, 2ω and (1, 2, 1), and ω² for the
coordinate 1·1.
"""

from __future__ import annotations

import numpy as np

from indefinite_opt.foundation import assign, compiled

BALANCE_PERIOD = 25
"""Iterations between two comparisons of the primal with the dual residual."""

OVER_RELAXATION = 1.6
"""Factor of over-relaxation; 1.5 to 1.8 is usual (Boyd et al. 2011, section 3.4.3)."""

SWEEPS_PER_ITERATION = 2
"""Passes over the multipliers of the inequalities in each iteration."""

MAX_IMBALANCE = 2.0
"""Ratio of the two residuals, after balancing, above which the penalty changes."""


@compiled()
def spread(pairs, ends, squares, corner, omega, G):
    """G = WᵀZW for the parts of a symmetric Z."""
    n = len(ends)
    scale = np.sqrt(2.0 / (omega + 0.5 * n))
    first = omega * omega * corner
    G[:] = 0.0
    p = 0
    for i in range(n):
        square = squares[i]
        slope = 0.5 * omega * (ends[i, 0] - ends[i, 1]) + 0.25 * (square[0] - square[2])
        first += omega * (ends[i, 0] + ends[i, 1])
        first += 0.25 * (square[0] + 2.0 * square[1] + square[2])
        G[i + 1, i + 1] = 0.5 * (square[0] - 2.0 * square[1] + square[2])
        for j in range(i):
            xx, xs, sx, ss = pairs[p, 0], pairs[p, 1], pairs[p, 2], pairs[p, 3]
            first += 0.5 * (xx + xs + sx + ss)
            slope += 0.25 * (xx + xs - sx - ss)
            G[0, j + 1] += 0.25 * (xx - xs + sx - ss)
            G[i + 1, j + 1] = 0.5 * (xx - xs - sx + ss)
            G[j + 1, i + 1] = G[i + 1, j + 1]
            p += 1
        G[0, i + 1] += slope
    G[0, 0] = first / (omega + 0.5 * n)
    for i in range(1, n + 1):
        G[0, i] *= scale
        G[i, 0] = G[0, i]


@compiled()
def _reflect(iterate, binary):
    """Pairs, ends and squares of 2Z - V, where Z = max(V + cut, 0) is the nonnegative part."""
    pairs, cut, ends, squares = iterate.pairs, iterate.cut, iterate.ends, iterate.squares
    out_pairs, out_ends = np.empty_like(pairs), np.empty_like(ends)
    out_squares = np.empty_like(squares)
    for p in range(len(pairs)):
        for q in range(4):
            out_pairs[p, q] = 2.0 * max(pairs[p, q] + cut[p, q], 0.0) - pairs[p, q]
    for i in range(len(ends)):
        for q in range(2):
            out_ends[i, q] = abs(ends[i, q])
        for q in range(3):
            out_squares[i, q] = abs(squares[i, q])
        if binary[i]:
            out_squares[i, 1] = -squares[i, 1]
    return out_pairs, out_ends, out_squares


@compiled()
def _within_lines(G, lines):
    """Restrict G to the subspace orthogonal to the orthonormal rows of `lines`, in place."""
    order = len(G)
    for k in range(len(lines)):
        a = lines[k]
        g = G @ a
        height = a @ g
        for i in range(order):
            for j in range(order):
                G[i, j] += a[i] * (height * a[j] - g[j]) - g[i] * a[j]


@compiled()
def project(G, U):
    """U = the projection of G on the positive semidefinite matrices."""
    values, vectors = np.linalg.eigh(G)
    order = len(values)
    negative = 0
    while negative < order and values[negative] <= 0.0:
        negative += 1
    if order - negative <= negative:
        half = vectors[:, negative:] * np.sqrt(values[negative:])
        _copy(half @ half.T, U)
    else:
        half = vectors[:, :negative] * np.sqrt(-values[:negative])
        _copy(G + half @ half.T, U)


@compiled()
def _copy(source, target):
    for i in range(len(source)):
        assign(target[i], source[i])


@compiled()
def _relax(value, lifted, shift):
    """One entry of V after a step, from Z - shift = max(value + shift, 0) before it."""
    z = max(value + shift, 0.0)
    return OVER_RELAXATION * lifted + (1.0 - OVER_RELAXATION) * z + value - z, z


@compiled()
def _update(model, iterate):
    """V = WUWᵀ, over-relaxed, plus the scaled multipliers; squared residuals, primal and dual."""
    pairs, cut, U, omega = iterate.pairs, iterate.cut, iterate.U, model.omega
    n = len(iterate.ends)
    one = U[0, 0] / (omega + 0.5 * n)
    scale = np.sqrt(2.0 / (omega + 0.5 * n))
    primal, dual = omega * omega * (one - 1.0) ** 2, 0.0
    p = 0
    for i in range(n):
        di, dii = scale * U[0, i + 1], 2.0 * U[i + 1, i + 1]
        primal, dual = _update_single(model, iterate, i, (one, di, dii), (primal, dual))
        for j in range(i):
            dj, dij = scale * U[0, j + 1], 2.0 * U[i + 1, j + 1]
            for q in range(4):
                si, sj = 1.0 - 2.0 * (q // 2), 1.0 - 2.0 * (q % 2)
                lifted = 0.25 * (one + si * di + sj * dj + si * sj * dij)
                new, before = _relax(pairs[p, q], lifted, cut[p, q])
                pairs[p, q] = new
                after = max(new + cut[p, q], 0.0)
                primal += 2.0 * (lifted - after) ** 2
                dual += 2.0 * (after - before) ** 2
            p += 1
    return one, primal, dual


@compiled()
def _update_single(model, iterate, i, moments, residuals):
    """The ends and squares of one variable, whose moments are 1, d_i and d_i²."""
    ends, squares, omega = iterate.ends, iterate.squares, model.omega
    one, di, dii = moments
    primal, dual = residuals
    for q in range(2):
        lifted = 0.5 * (one + (1.0 - 2.0 * q) * di)
        new, before = _relax(ends[i, q], lifted, 0.0)
        ends[i, q] = new
        after = max(new, 0.0)
        primal += 2.0 * omega * (lifted - after) ** 2
        dual += 2.0 * omega * (after - before) ** 2
    for q in range(3):
        sign = 1.0 if q != 1 else -1.0
        lifted = 0.25 * (one + 2.0 * (1.0 - q) * di + sign * dii)
        weight = 1.0 if q != 1 else 2.0
        if q == 1 and model.binary[i]:
            squares[i, 1] += OVER_RELAXATION * lifted
            primal += 2.0 * lifted**2
            continue
        new, before = _relax(squares[i, q], lifted, 0.0)
        squares[i, q] = new
        after = max(new, 0.0)
        primal += weight * (lifted - after) ** 2
        dual += weight * (after - before) ** 2
    return primal, dual


@compiled()
def _sweep(pairs, cut, products, multipliers):
    """One pass of coordinate ascent over the multipliers of some inequalities."""
    v, shift = pairs.ravel(), cut.ravel()
    places, signs, count = products.places, products.signs, len(products.signs)
    for t in range(len(multipliers)):
        value = -products.least
        for q in range(count):
            place = places[t, q]
            value += signs[q] * max(v[place] + shift[place], 0.0)
        new = max(0.0, multipliers[t] - value / count)
        change = new - multipliers[t]
        if change != 0.0:
            multipliers[t] = new
            for q in range(count):
                shift[places[t, q]] += signs[q] * change


@compiled()
def _rescale(iterate, binary, factor):
    """Multiply the penalty and divide the scaled multipliers by the same factor."""
    iterate.penalty[0] *= factor
    iterate.corner[0] = 1.0 + (iterate.corner[0] - 1.0) / factor
    v, shift = iterate.pairs.ravel(), iterate.cut.ravel()
    ends, squares = iterate.ends, iterate.squares
    for p in range(len(v)):
        z = max(v[p] + shift[p], 0.0)
        v[p] = z + (v[p] - z) / factor
        shift[p] /= factor
    for i in range(len(ends)):
        for q in range(2):
            ends[i, q] = max(ends[i, q], 0.0) + min(ends[i, q], 0.0) / factor
        for q in range(3):
            if q == 1 and binary[i]:
                squares[i, 1] /= factor
            else:
                squares[i, q] = max(squares[i, q], 0.0) + min(squares[i, q], 0.0) / factor
    for inequalities in iterate.inequalities:
        for t in range(len(inequalities.multipliers)):
            inequalities.multipliers[t] /= factor


@compiled()
def gather(model, iterate, G):
    """G = Wᵀ(2Z - V)W - L/σ on the face, whose projection is the next U."""
    pairs, ends, squares = _reflect(iterate, model.binary)
    spread(pairs, ends, squares, 2.0 - iterate.corner[0], model.omega, G)
    for i in range(len(G)):
        for j in range(len(G)):
            G[i, j] -= model.cost[i, j] / iterate.penalty[0]
    _within_lines(G, model.lines)


@compiled()
def scatter(model, iterate, residuals):
    """Z and the multipliers from U; adds to the residuals, relative to the sizes of Z and L."""
    one, primal, dual = _update(model, iterate)
    iterate.corner[0] += OVER_RELAXATION * (one - 1.0)
    for _ in range(SWEEPS_PER_ITERATION):
        for k in range(len(iterate.products)):
            multipliers = iterate.inequalities[k].multipliers
            _sweep(iterate.pairs, iterate.cut, iterate.products[k], multipliers)
    residuals[0] += np.sqrt(primal) / (1.0 + len(iterate.ends))
    residuals[1] += iterate.penalty[0] * np.sqrt(dual)


@compiled()
def rebalance(model, iterate, change, residuals):
    """Change the penalty σ by a factor if the residuals so far are out of balance, and reset these.

    In balance the primal residual is `balance` times the dual one.
    """
    primal, dual = residuals[0], model.balance * residuals[1]
    if primal > MAX_IMBALANCE * dual:
        _rescale(iterate, model.binary, change)
    elif dual > MAX_IMBALANCE * primal:
        _rescale(iterate, model.binary, 1.0 / change)
    residuals[:] = 0.0


@compiled()
def advance(model, iterate, change, iterations):
    """Iterations of the alternating direction method of multipliers, in place."""
    G, residuals = np.empty_like(iterate.U), np.zeros(2)
    for k in range(iterations):
        gather(model, iterate, G)
        project(G, iterate.U)
        scatter(model, iterate, residuals)
        if (k + 1) % BALANCE_PERIOD == 0:
            rebalance(model, iterate, change, residuals)


@compiled(inline="always")
def _entry(Z, i, si, j, sj):
    """The product of two literals of i > j; si = 1 stands for s_i."""
    return max(Z[4 * (i * (i - 1) // 2 + j) + 2 * si + sj], 0.0)


@compiled()
def most_violated(pairs, cut, n, least, most):
    """Triangle inequalities violated by more than `least`: literals p, q, r and violations.

    For three literals of different points: p(1 - q) + qr - pr ≥ 0, which holds on the whole box
    because it holds at its corners (Padberg 1989; Burer & Letchford 2009). Four of the eight
    choices of literals differ. When `most` inequalities are found, `least` is doubled and those
    below it are dropped.
    """
    Z = pairs.ravel() + cut.ravel()
    literals = np.empty((most, 3), np.int64)
    found = np.empty(most)
    count = 0
    for i in range(2, n):
        for j in range(1, i):
            for k in range(j):
                for form in range(4):
                    si, sj, sk = int(form == 1), int(form == 2), int(form == 3)
                    value = _entry(Z, i, si, k, sk)
                    value -= _entry(Z, i, si, j, 1 - sj)
                    value -= _entry(Z, j, sj, k, sk)
                    if value <= least:
                        continue
                    if count == most:
                        least *= 2.0
                        count = _keep_above(literals, found, least)
                        if count == most or value <= least:
                            continue
                    literals[count, 0] = 2 * i + si
                    literals[count, 1] = 2 * j + sj
                    literals[count, 2] = 2 * k + sk
                    found[count] = value
                    count += 1
    return literals[:count], found[:count]


@compiled()
def _keep_above(literals, found, least):
    """Move the inequalities that are violated by more to the front; returns how many these are."""
    kept = 0
    for t in range(len(found)):
        if found[t] > least:
            assign(literals[kept], literals[t])
            found[kept] = found[t]
            kept += 1
    return kept


@compiled()
def most_violated_pentagons(D, triples, least):
    """The most violated pentagonal inequality that contains each of some triples of literals.

    D are the second moments of d. With the values ±d of the literals, an inequality says that
    the ten products of two of them sum to at least -2. Returns literals, ascending, and violations.
    """
    count = 0
    found, violations = np.empty((len(triples), 5), np.int64), np.empty(len(triples))
    sums, largest = np.empty(len(D)), 0.0
    for q in range(len(D)):
        for r in range(q + 1):
            largest = max(largest, abs(D[q, r]))
    for t in range(len(triples)):
        one, two, three = triples[t, 0], triples[t, 1], triples[t, 2]
        i, j, k = one // 2, two // 2, three // 2
        si, sj, sk = 1.0 - 2.0 * (one % 2), 1.0 - 2.0 * (two % 2), 1.0 - 2.0 * (three % 2)
        inner = si * sj * D[i, j] + si * sk * D[i, k] + sj * sk * D[j, k]
        for q in range(len(D)):
            sums[q] = si * D[i, q] + sj * D[j, q] + sk * D[k, q]
        sums[i] = sums[j] = sums[k] = np.nan
        best, first, second, same = _best_pair(D, largest, sums, -2.0 - inner - least)
        violation = -2.0 - inner - best
        if violation <= least or first < 0:
            continue
        pull = sums[first] + sums[second] if same else sums[first] - sums[second]
        low = int(pull > 0.0)
        other = 2 * second + (low if same else 1 - low)
        literals = found[count]
        for q, literal in enumerate((one, two, three, 2 * first + low, other)):
            while q > 0 and literals[q - 1] > literal:
                literals[q] = literals[q - 1]
                q -= 1
            literals[q] = literal
        # The complements of all five give the same inequality.
        odd = literals[0] % 2
        for q in range(5):
            literals[q] ^= odd
        violations[count] = violation
        count += 1
    return found[:count], violations[:count]


@compiled()
def _best_pair(D, largest, sums, best):
    """The least that two more literals add, their variables, and whether their signs are equal.

    It is looked for below `best`, where no entry of D is larger than `largest`.
    """
    first, second, same = -1, -1, True
    steepest = 0.0
    for q in range(len(D)):
        if abs(sums[q]) > steepest:
            steepest = abs(sums[q])
    for q in range(1, len(D)):
        if -largest - abs(sums[q]) - steepest >= best:
            continue
        for r in range(q):
            alike = D[q, r] - abs(sums[q] + sums[r])
            unlike = -D[q, r] - abs(sums[q] - sums[r])
            if alike < best:
                best, first, second, same = alike, q, r, True
            if unlike < best:
                best, first, second, same = unlike, q, r, False
    return best, first, second, same
