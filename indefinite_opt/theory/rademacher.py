"""The Rademacher average of the unit ball of a Krein space (Loosli et al. 2013)."""

from __future__ import annotations

import numpy as np

from indefinite_opt.problem import KernelProblem, check_problem


def loosli_proposition_3_1(problem: KernelProblem) -> float:
    r"""The bound √M on the Rademacher average of the unit ball of the kernel's Krein space.

    .. math:: R_n(\mathcal B)
              = \mathbb E_\varepsilon\ \frac1{\sqrt n} \sup_{\|f_+\|^2 + \|f_-\|^2 \le 1}
                \Bigl|\sum_i \varepsilon_i f(x_i)\Bigr|
              = \mathbb E_\varepsilon \sqrt{\varepsilon^\top\tilde K\varepsilon / n}
              \le \sqrt M,\qquad M = \tfrac1n\sum_i \tilde k(x_i, x_i) = \tfrac1n\sum_i |\lambda_i|

    with independent signs ε, K = VΛVᵀ and K̃ = V|Λ|Vᵀ, the kernel k̃ = k₊ + k₋ on the points. So a
    kernel need not be positive semidefinite for its functions to generalise; what its negative
    part costs is that |λ_i| stands for λ_i.

    Parameters
    ----------
    problem : KernelProblem

    Returns
    -------
    float
        √M, with an allowance for the rounding of the eigenvalues.

    Raises
    ------
    ProblemError
        If rows of K are computed on demand, or K was changed after the problem was made.

    Notes
    -----
    The paper's M is the integral of k̃(x, x) over the distribution of the points. Its mean over the
    given points bounds the average on them, which is what is computed here. As K̃ is a Gram matrix,
    the average is at least √(M/2), by the inequality of Khinchin and Kahane.

    References
    ----------
    Loosli, Ong & Canu (2013), Proposition 3.1, after Ong (2005) and Mendelson (2003).

    Examples
    --------
    >>> round(loosli_proposition_3_1(KernelProblem([[0.0, 4.0], [4.0, 0.0]], [1, -1])), 9)
    2.0
    """
    check_problem(problem)
    problem.check_unchanged()
    total = float(np.abs(problem.spectrum.values).sum())
    return float(np.sqrt(total / problem.n + problem.zero_tolerance))
