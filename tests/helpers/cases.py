"""Problems with known optima; every accepting solver must find them.

A case lists every local optimum a local solver may end at, the best first. Expected values come
from the closed form written beside them, never from the package.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

import indefinite_opt as iopt
from helpers import shaking

INF = float("inf")

TWO_POINTS = [[1.0, -1.0], [-1.0, 1.0]]  # x = 1 and x = -1, linear kernel
SWAP = [[0.0, -1.0], [-1.0, 0.0]]  # eigenvalues -1 on (1, 1) and 1 on (1, -1)
DIRECTED = [[1.0, -1.0], [0.0, 1.0]]  # k(x₁, x₂) is not k(x₂, x₁)
LIN_LIN = [[1.0, 2.0, -1.0], [2.0, 1.0, -1.0], [-1.0, -1.0, 0.0]]  # Lin & Lin (2003), section 2


@dataclass(frozen=True)
class Case:
    """One problem, one formulation, and what is known about the answer.

    `tol` is the relative accuracy expected of the objective; the default is the accuracy asked
    of the solvers.
    """

    name: str
    K: object
    y: object
    formulation: iopt.Formulation
    objectives: tuple[float, ...]
    values: dict[str, object] = field(default_factory=dict)
    multipliers: dict[str, object] = field(default_factory=dict)
    claim: iopt.Claim = iopt.Claim.GLOBAL
    tol: float = 1e-6

    def problem(self) -> iopt.KernelProblem:
        task = "regression" if self.formulation.task == "regression" else None
        asymmetric = not np.array_equal(self.K, np.transpose(self.K))
        return iopt.KernelProblem(self.K, self.y, task=task, asymmetric=asymmetric)

    def shaken(self) -> Case:
        """The same case, with its points in another order where tests are shaken."""
        order = shaking.order(np.size(self.y), self.name)

        def moved(value: object) -> object:
            array = np.asarray(value)
            for axis in [k for k, size in enumerate(array.shape) if size == order.size]:
                array = np.take(array, order, axis=axis)
            return array

        parameters = {
            name: moved(value) for name, value in vars(self.formulation).items()
            if isinstance(value, np.ndarray)
        }  # fmt: skip
        return replace(
            self, K=moved(self.K), y=moved(self.y),
            formulation=replace(self.formulation, **parameters),
            values={name: moved(value) for name, value in self.values.items()},
            multipliers={name: moved(value) for name, value in self.multipliers.items()},
        )  # fmt: skip


CASES = [case.shaken() for case in [
    # α = (a, a): 2a - 2a², a = 1/2 if C allows; the multiplier of the line is the offset 0.
    Case("two points, hard enough", TWO_POINTS, [1, -1], iopt.SVMDual(C=10.0), (0.5,),
         {"alpha": [0.5, 0.5]}, {"balance": 0.0, "lower": [0, 0], "upper": [0, 0]}),
    Case("two points, C = inf", TWO_POINTS, [1, -1], iopt.SVMDual(C=INF), (0.5,),
         {"alpha": [0.5, 0.5]}, {"balance": 0.0, "lower": [0, 0]}),
    # At C = 1/4: Qα - e = -1/2 on both, paid by the upper multipliers.
    Case("two points, bounded", TWO_POINTS, [1, -1], iopt.SVMDual(C=0.25), (0.375,),
         {"alpha": [0.25, 0.25]}, {"balance": 0.0, "lower": [0, 0], "upper": [0.5, 0.5]}),
    # Q = I: Σ α - ½α², each α = min(1, C).
    Case("identity, C = inf", np.eye(4), [1, 1, -1, -1], iopt.SVMDual(C=INF), (2.0,),
         {"alpha": [1, 1, 1, 1]}, {"balance": 0.0, "lower": [0, 0, 0, 0]}),
    Case("identity, no bias", np.eye(3), [1, 1, -1], iopt.SVMDual(C=0.5, bias=False), (1.125,),
         {"alpha": [0.5, 0.5, 0.5]}, {"lower": [0, 0, 0], "upper": [0.5, 0.5, 0.5]}),
    # K = 0: as many whole pairs as there are, 2C each; which of the larger class is open.
    Case("zero kernel", np.zeros((5, 5)), [1, 1, 1, -1, -1], iopt.SVMDual(C=2.0), (8.0,)),
    # Rank one, K = xxᵀ with x = (1, 2, -1): α = (a, b, a + b), Σ = 2(a + b), w = a + 2b + a + b.
    # Best is a alone: 2a - ½(2a)², a = 1/2.
    Case("rank one", np.outer([1, 2, -1], [1, 2, -1]), [1, 1, -1], iopt.SVMDual(C=9.0), (0.5,),
         {"alpha": [0.5, 0.0, 0.5]}, {"balance": 0.0, "lower": [0, 1, 0], "upper": [0, 0, 0]}),
    # -I is concave along the line: 2a + a² grows, both at C.
    Case("negative identity", -np.eye(2), [1, -1], iopt.SVMDual(C=3.0), (15.0,),
         {"alpha": [3, 3]}, claim=iopt.Claim.LOCAL),
    # diag(1, -1) is conditionally PSD, not PSD (Lin & Lin, below Theorem 3): 2a, so a = C.
    Case("conditionally PSD only", np.diag([1.0, -1.0]), [1, -1], iopt.SVMDual(C=2.0), (4.0,),
         {"alpha": [2, 2]}),
    # Without the line it is not convex: α₁ - ½α₁² + α₂ + ½α₂² = ½ + C + ½C².
    Case("indefinite, no bias", np.diag([1.0, -1.0]), [1, -1], iopt.SVMDual(C=2.0, bias=False),
         (4.5,), {"alpha": [1, 2]}, claim=iopt.Claim.LOCAL),
    # α = (s, 0, s) or (0, s, s): 2s - 3s²/2, s = 2/3, objective 2/3; both are local optima.
    Case("Lin & Lin's example", LIN_LIN, [1, 1, -1], iopt.SVMDual(C=INF), (2 / 3,),
         claim=iopt.Claim.LOCAL),
    # K = 0, bounds 1, 2 and 2: both classes can have 2.
    Case("weights, zero kernel", np.zeros((3, 3)), [1, 1, -1],
         iopt.SVMDual(C=1.0, weights=np.array([1.0, 2.0, 2.0])), (4.0,)),
    # Q = I, bounds ½, 3/2 and ½: ½ - 1/8 twice and 1 - ½.
    Case("weights, no bias", np.eye(3), [1, 1, -1],
         iopt.SVMDual(C=0.5, bias=False, weights=np.array([1.0, 3.0, 1.0])), (1.25,),
         {"alpha": [0.5, 1.0, 0.5]}, {"lower": [0, 0, 0], "upper": [0.5, 0, 0.5]}),
    # α = (a, a, 2a): 4a - 3a² grows up to a = ⅔, beyond the bound ½ of the first two. With the
    # offset b, 1 - α - yb is the multiplier of the bound: b = 0 at the third, ½ at the others.
    *(Case(f"weights, {formulation}", np.eye(3), [1, 1, -1], formulation, (1.25,),
           {"alpha": [0.5, 0.5, 1.0]}, {"balance": 0.0, "lower": [0, 0, 0], "upper": [0.5, 0.5, 0]})
      for formulation in (
          iopt.SVMDual(C=0.5, weights=np.array([1.0, 1.0, 4.0])),
          iopt.SpectrumSVM(C=0.5, weights=np.array([1.0, 1.0, 4.0])),
          iopt.ESVM(C=0.5, weights=np.array([1.0, 1.0, 4.0])))),
    # -I is concave: α = (a, b, a + b) has 2(a + b) + ½(a² + b² + (a + b)²), best at a = 1, b = 2.
    Case("weights, negative identity", -np.eye(3), [1, 1, -1],
         iopt.SVMDual(C=1.0, weights=np.array([1.0, 2.0, 9.0])), (13.0,), {"alpha": [1, 2, 3]},
         claim=iopt.Claim.LOCAL),
    # Q = -(0, 1; 1, 0): 2a + a², both at C.
    Case("exchange", [[0.0, 1.0], [1.0, 0.0]], [1, -1], iopt.SVMDual(C=1.0), (3.0,),
         {"alpha": [1, 1]}, claim=iopt.Claim.LOCAL),
    Case("hulls of two points", TWO_POINTS, [1, -1], iopt.ConvexHullDual(mu=1.0), (-4.0,),
         {"alphabar": [1, 1]}),
    # Hulls {1, 3} and {-1}: the nearest point of the first is 1, unless μ = 1/2 forces the mean 2.
    Case("hull, whole", np.outer([1, 3, -1, -1], [1, 3, -1, -1]), [1, 1, -1, -1],
         iopt.ConvexHullDual(mu=1.0), (-4.0,)),
    Case("hull, reduced to the means", np.outer([1, 3, -1, -1], [1, 3, -1, -1]), [1, 1, -1, -1],
         iopt.ConvexHullDual(mu=0.5), (-9.0,), {"alphabar": [0.5, 0.5, 0.5, 0.5]}),
    # -I on the hulls: ᾱᵀᾱ is largest at a vertex of each simplex, 1 + 1.
    Case("hulls, concave", -np.eye(4), [1, 1, -1, -1], iopt.ConvexHullDual(mu=1.0), (2.0,),
         claim=iopt.Claim.LOCAL),
    Case("ν-form of two points", TWO_POINTS, [1, -1], iopt.GuoSchuurmansQP(beta=0.5), (1.0,),
         {"alpha": [0.5, 0.5]}),
    # Q = I: Σα² least at e/n.
    Case("ν-form of the identity", np.eye(4), [1, 1, -1, -1], iopt.GuoSchuurmansQP(beta=0.5),
         (0.25,), {"alpha": [0.25, 0.25, 0.25, 0.25]}),
    # Δ = 2Q: every sensitivity is 2(α₁ + α₂) = 2.
    Case("LP (12) of two points", TWO_POINTS, [1, -1], iopt.GuoSchuurmansLP(beta=0.5), (2.0,),
         {"alpha": [0.5, 0.5], "delta": 2.0}),
    # Δ = 2I: δ ≥ 2 max α, least at e/n.
    Case("LP (12) of the identity", np.eye(4), [1, 1, -1, -1], iopt.GuoSchuurmansLP(beta=0.5),
         (0.5,), {"alpha": [0.25, 0.25, 0.25, 0.25], "delta": 0.5}),
    # A matrix game that is no kernel: Δ = (0, 1; 3, 0), α = (½, ½): sensitivities Δᵀα = (3/2, ½).
    Case("LP (12) of any Δ", TWO_POINTS, [1, -1],
         iopt.GuoSchuurmansLP(beta=0.5, sensitivity=np.array([[0.0, 1.0], [3.0, 0.0]])), (1.5,),
         {"alpha": [0.5, 0.5], "delta": 1.5}),
    # Ku = (u₁ - u₂)(1, -1) must reach 1 (b = 0): ‖u‖₁ = 1.
    Case("LP-SVM of two points", TWO_POINTS, [1, -1], iopt.LPSVM(C=10.0), (1.0,)),
    # With K = I and C = 1/4 < ½ per unit of slack nothing is bought: 2 · C.
    Case("LP-SVM, slack is cheaper", np.eye(2), [1, -1], iopt.LPSVM(C=0.25), (0.5,),
         {"u": [0, 0]}),
    # clip: ½(1, -1; -1, 1): 2a - a²; flip: I, 2a - a²; shift: (1, -1; -1, 1), 2a - 2a².
    Case("clip", SWAP, [1, -1], iopt.SpectrumSVM(C=10.0, transform="clip"), (1.0,),
         {"alpha": [1, 1]}),
    Case("flip", SWAP, [1, -1], iopt.SpectrumSVM(C=10.0, transform="flip"), (1.0,),
         {"alpha": [1, 1]}),
    Case("shift", SWAP, [1, -1], iopt.SpectrumSVM(C=10.0, transform="shift"), (0.5,),
         {"alpha": [0.5, 0.5]}),
    # (2 · swap)² = 4I: 2a - 4a². Centred, 2P(swap)P has the one eigenvalue 2, on (1, -1)/√2: the
    # same.
    Case("square", 2.0 * np.array(SWAP), [1, -1], iopt.SpectrumSVM(C=10.0, transform="square"),
         (0.25,), {"alpha": [0.25, 0.25]}),
    Case("centred square", 2.0 * np.array(SWAP), [1, -1],
         iopt.SpectrumSVM(C=10.0, transform="square", centered=True), (0.25,),
         {"alpha": [0.25, 0.25]}),
    # PKP of the swap is ½(1, -1; -1, 1): CNE and RNE agree with clip.
    Case("CNE", SWAP, [1, -1], iopt.SpectrumSVM(C=10.0, transform="clip", centered=True), (1.0,),
         {"alpha": [1, 1]}),
    Case("RNE", SWAP, [1, -1], iopt.SpectrumSVM(C=10.0, transform="flip", centered=True), (1.0,),
         {"alpha": [1, 1]}),
    # α = (a, a) in all that follow, z = a(1, -1). K₀ = 0: K* = zzᵀ/(4ρ), 2a - a⁴/(4ρ), a³ = 2ρ.
    Case("proxy of nothing", np.zeros((2, 2)), [1, -1], iopt.LussDual(C=10.0, rho=0.5), (1.5,),
         {"alpha": [1, 1]}, {"balance": 0.0, "lower": [0, 0], "upper": [0, 0]}),
    # At C = ½ the slope 2 - a³/ρ = 7/4 is paid by the two upper multipliers.
    Case("proxy of nothing, bounded", np.zeros((2, 2)), [1, -1], iopt.LussDual(C=0.5, rho=0.5),
         (31 / 32,), {"alpha": [0.5, 0.5]},
         {"balance": 0.0, "lower": [0, 0], "upper": [7 / 8, 7 / 8]}),
    # Eigenvalue 1 becomes 1 + a²/(2ρ), -1 is clipped: 2a - a² - a⁴/(4ρ) + ρ.
    Case("proxy of the swap", SWAP, [1, -1], iopt.LussDual(C=10.0, rho=0.125), (0.75,),
         {"alpha": [0.5, 0.5]}),
    # Both eigenvalues of -I are clipped until a² > 2ρ = 1; then 2a - ½(a² - 1)² + 1, a³ - a = 1.
    Case("proxy of -I", -np.eye(2), [1, -1], iopt.LussDual(C=10.0, rho=0.5), (3.364515769,),
         {"alpha": [1.324717957, 1.324717957]}),
    Case("proxy of -I, kernel 0", -np.eye(2), [1, -1], iopt.LussDual(C=1.0, rho=0.5), (3.0,),
         {"alpha": [1, 1]}, {"balance": 0.0, "lower": [0, 0], "upper": [1, 1]}),
    # K* = √r zzᵀ/‖z‖²: 2a - √r a².
    Case("ball around nothing", np.zeros((2, 2)), [1, -1], iopt.LussBall(C=10.0, radius=4.0),
         (0.5,), {"alpha": [0.5, 0.5]}, {"balance": 0.0, "lower": [0, 0], "upper": [0, 0]}),
    # One unit of the radius clips -1, the other moves 1 to 2: 2a - 2a²; with none, 2a - a². The
    # smallest ball has no interior, which costs a conic solver half its digits.
    Case("ball around the swap", SWAP, [1, -1], iopt.LussBall(C=10.0, radius=2.0), (0.5,),
         {"alpha": [0.5, 0.5]}),
    Case("the smallest ball", SWAP, [1, -1], iopt.LussBall(C=10.0, radius=1.0), (1.0,),
         {"alpha": [1, 1]}, tol=1e-5, claim=iopt.Claim.FEASIBLE),
    # |Λ| = I: 2a - a².
    Case("ESVM of the exchange", [[0.0, 1.0], [1.0, 0.0]], [1, -1], iopt.ESVM(C=10.0), (1.0,),
         {"alpha": [1, 1]}),
    # 4 is 80 % of Σ|λ|, -1 is dropped: 2a - 2a².
    Case("ESVM-L, one eigenvalue", np.diag([4.0, -1.0]), [1, -1], iopt.ESVM(C=10.0, energy=0.7),
         (0.5,), {"alpha": [0.5, 0.5]}, {"balance": -1.0, "lower": [0, 0], "upper": [0, 0]}),
    # Gα = (α₂, α₁): 2(1 - a)² at a = C; slope 2(a - 1) = -1 paid by the upper multipliers.
    Case("KSVM of the swap", SWAP, [1, -1], iopt.KSVM(C=0.5), (0.5,), {"alpha": [0.5, 0.5]},
         {"balance": 0.0, "lower": [0, 0], "upper": [1, 1]}),
    # Gα = -(α₂, α₁): 2(1 + a)², so a = 0.
    Case("KSVM of the exchange", [[0.0, 1.0], [1.0, 0.0]], [1, -1], iopt.KSVM(C=1.0), (2.0,),
         {"alpha": [0, 0]}, {"balance": 0.0, "lower": [2, 2], "upper": [0, 0]}),
    Case("KSVM of the identity", np.eye(2), [1, -1], iopt.KSVM(C=3.0), (0.0,), {"alpha": [1, 1]}),
    # K = 0: α = 0, e^b = n₊/n₋: C(3 log(5/3) + 2 log(5/2)).
    Case("logistic, zero kernel", np.zeros((5, 5)), [1, 1, 1, -1, -1], iopt.KernelLogistic(C=2.0),
         (6.730116670092565,), {"alpha": np.zeros(5), "b": np.log(1.5)}),
    # α = (a, -a), margins 2a: a² + 2C log(1 + e^{-2a}), a(1 + e^{2a}) = 2C; a = 1 at this C.
    Case("logistic, two points", TWO_POINTS, [1, -1], iopt.KernelLogistic(C=0.5 * (1 + np.exp(2))),
         (2.064806205165185,), {"alpha": [1, -1], "b": 0.0}),
    # Q = eeᵀ, α = (a, a), margins 2a: a = ½ reaches 1 and costs ¼; λ = α/2.
    Case("separability of two points", TWO_POINTS, [1, -1], iopt.SeparabilitySVM(C=10.0), (0.25,),
         {"alpha": [0.5, 0.5], "b": 0.0, "xi": [0, 0]},
         {"margin": [0.25, 0.25], "slack": [9.75, 9.75]}),
    # C < ¼: λ = C, α = 2C, ξ = 1 - 4C: 4C² + 2C(1 - 4C).
    Case("separability, bounded", TWO_POINTS, [1, -1], iopt.SeparabilitySVM(C=0.1), (0.16,),
         {"alpha": [0.2, 0.2], "b": 0.0, "xi": [0.6, 0.6]},
         {"margin": [0.1, 0.1], "slack": [0, 0]}),
    # Only b is left: 1 for the larger class, and 2C for each point of the smaller one.
    *(Case(f"separability, zero kernel, {identity}", np.zeros((5, 5)), [1, 1, 1, -1, -1],
           iopt.SeparabilitySVM(C=3.0, identity=identity), (12.0,)) for identity in (True, False)),
    # (5) itself, K ⪰ 0: the primal SVM.
    Case("separability (5)", TWO_POINTS, [1, -1], iopt.SeparabilitySVM(C=10.0, identity=False),
         (0.5,)),
    # diag(1, -1): SVMDual has α = C; lifted ½(C² - C²) + 2C = 4; unbounded below elsewhere.
    Case("separability (5), indefinite", np.diag([1.0, -1.0]), [1, -1],
         iopt.SeparabilitySVM(C=2.0, identity=False), (4.0,), {"alpha": [2, 2]},
         claim=iopt.Claim.STATIONARY),
    # (9) in R^(1,0): ½w² with |w| = 1; the sign of w is the eigenvector's.
    Case("primal of two points", TWO_POINTS, [1, -1], iopt.PseudoEuclideanPrimal(C=10.0), (0.5,),
         {"b": 0.0, "xi": [0, 0]}),
    # Both at C = ¼: w = ½, slacks ½: ⅛ + ¼.
    Case("primal of two points, bounded", TWO_POINTS, [1, -1], iopt.PseudoEuclideanPrimal(C=0.25),
         (0.375,), {"b": 0.0, "xi": [0.5, 0.5]}),
    # diag(1, -1) puts both points in one place of R^(0,0): w has no entry, slacks cost 2C.
    Case("primal without a space", np.diag([1.0, -1.0]), [1, -1],
         iopt.PseudoEuclideanPrimal(C=2.0), (4.0,)),
    # -I: α = (3, 3), w = √18 imaginary, slacks 4: -9 + 24; unbounded below, stationary only.
    Case("primal of -I", -np.eye(2), [1, -1], iopt.PseudoEuclideanPrimal(C=3.0), (15.0,),
         {"xi": [4, 4]}, claim=iopt.Claim.STATIONARY),
    # Minus half the squared distances 4 of the points and 9 of the means; the planes are at wᵀz.
    Case("hull primal of two points", TWO_POINTS, [1, -1], iopt.ConvexHullPrimal(mu=1.0), (-2.0,),
         {"rho_plus": 2.0, "rho_minus": -2.0, "xi": [0, 0]}),
    Case("hull primal, reduced to the means", np.outer([1, 3, -1, -1], [1, 3, -1, -1]),
         [1, 1, -1, -1], iopt.ConvexHullPrimal(mu=0.5), (-4.5,)),
    # -I: vertices of both simplices at squared distance -2; unbounded below, stationary only.
    Case("hull primal of -I", -np.eye(4), [1, 1, -1, -1], iopt.ConvexHullPrimal(mu=1.0), (1.0,),
         claim=iopt.Claim.STATIONARY),
    # Without the line ½ + C + ½C² beats 2C: (19) and (2) differ.
    Case("no line", np.diag([1.0, -1.0]), [1, -1], iopt.SVMDual(C=3.0, bias=False), (8.0,),
         {"alpha": [1, 3]}, claim=iopt.Claim.LOCAL),
    # (a, a): ½(2a)² at the total ½; the slope ½ is the margin ρ.
    Case("nu of two points", TWO_POINTS, [1, -1], iopt.NuSVM(nu=0.5), (0.125,),
         {"alpha": [0.25, 0.25]},
         {"balance": 0.0, "total": 0.5, "lower": [0, 0], "upper": [0, 0]}),
    Case("nu of two points, equality", TWO_POINTS, [1, -1], iopt.NuSVM(nu=0.5, equality=True),
         (0.125,), {"alpha": [0.25, 0.25]},
         {"balance": 0.0, "total": -0.5, "lower": [0, 0], "upper": [0, 0]}),
    # -I: -½‖α‖² is least at the largest weights, with a total of 1 and not of ½.
    Case("nu, a total that is not tight", -np.eye(2), [1, -1], iopt.NuSVM(nu=0.5), (-0.25,),
         {"alpha": [0.5, 0.5]}, claim=iopt.Claim.LOCAL),
    # α_i ~ 1/K_ii: (1, 2, 2)/5, (Kα)_i = 2/5 = ρ.
    Case("one class, diagonal", np.diag([2.0, 1.0, 1.0]), [1, -1, 1], iopt.OneClassSVM(nu=0.5),
         (0.2,), {"alpha": [0.2, 0.4, 0.4]},
         {"total": -0.4, "lower": [0, 0, 0], "upper": [0, 0, 0]}),
    # -I: -½‖α‖² at a vertex of the simplex.
    Case("one class, concave", -np.eye(3), [1, -1, 1], iopt.OneClassSVM(nu=1 / 3), (-0.5,),
         claim=iopt.Claim.LOCAL),
    # 0 and 2 on a line: the ball around 1 of radius 1.
    Case("ball of two points", [[0.0, 0.0], [0.0, 4.0]], [1, -1], iopt.SVDD(C=1.0), (1.0,),
         {"alpha": [0.5, 0.5]}, {"total": 0.0, "lower": [0, 0], "upper": [0, 0]}),
    # The swap: 2α₁α₂ ≤ ½ in the middle, where K_ii = 0; the squared radius is positive.
    Case("ball of the swap", SWAP, [1, -1], iopt.SVDD(C=1.0), (0.5,), {"alpha": [0.5, 0.5]}),
    # β = (-b, b): 2b(1.5 - 0.5) - 2b², b = ½ if C allows; at ¼ the slope ½ is paid on both sides.
    Case("regression of two points", TWO_POINTS, [1.5, -1.5],
         iopt.EpsilonSVR(C=10.0, epsilon=0.5), (0.5,), {"beta": [0.5, -0.5]},
         {"balance": 0.0, "lower": [0, 0], "upper": [0, 0]}),
    Case("regression, bounded", TWO_POINTS, [1.5, -1.5], iopt.EpsilonSVR(C=0.25, epsilon=0.5),
         (0.375,), {"beta": [0.25, -0.25]},
         {"balance": 0.0, "lower": [0, 0.5], "upper": [0.5, 0]}),
    # A tube that holds all targets.
    Case("regression, a wide tube", TWO_POINTS, [1.5, -1.5], iopt.EpsilonSVR(epsilon=2.0), (0.0,),
         {"beta": [0, 0]}),
    # -I is concave: 2b + b² at the bound.
    Case("regression, concave", -np.eye(2), [1.5, -1.5], iopt.EpsilonSVR(C=2.0, epsilon=0.5),
         (8.0,), {"beta": [2, -2]}, claim=iopt.Claim.LOCAL),
    # 3b - 2b² with 2b ≤ ½: the slope 1 is the half width of the tube.
    Case("nu regression of two points", TWO_POINTS, [1.5, -1.5], iopt.NuSVR(C=1.0, nu=0.5),
         (0.625,), {"beta": [0.25, -0.25]},
         {"balance": 0.0, "norm": 1.0, "lower": [0, 0], "upper": [0, 0]}),
    # 2b ≤ 2 is not tight: b = ¾, and the tube has no width.
    Case("nu regression, a norm that is not tight", TWO_POINTS, [1.5, -1.5],
         iopt.NuSVR(C=4.0, nu=0.5), (1.125,), {"beta": [0.75, -0.75]},
         {"balance": 0.0, "norm": 0.0, "lower": [0, 0], "upper": [0, 0]}),
    # w = (½, 0, ½) is 2.5 from all points, and so is the same mixture of points from all w.
    Case("one class by distances", [[0.0, 1.0, 5.0], [1.0, 0.0, 4.0], [5.0, 4.0, 0.0]],
         [1, -1, 1], iopt.OneClassLP(nu=0.5, distances=True), (2.5,)),
    Case("one class by similarities", np.eye(3), [1, -1, 1], iopt.OneClassLP(nu=0.5), (1 / 3,)),
    # Motzkin & Straus: 1 - 1/ω with the largest clique {1, 2, 3}; the diagonal of K has no effect.
    Case("dominant set of a graph", [[9, 1, 1, 0], [1, 0, 1, 0], [1, 1, -5, 1], [0, 0, 1, 2]],
         [1, -1, 1, 1], iopt.DominantSet(), (2 / 3,), {"x": [1 / 3, 1 / 3, 1 / 3, 0]},
         claim=iopt.Claim.LOCAL),
    # 1 - ‖x‖² is concave; (Ax)_i = ⅔, and 2Ax is paid by the multiplier 4/3 of the line.
    Case("dominant set, convex", np.ones((3, 3)), [1, -1, 1], iopt.DominantSet(), (2 / 3,),
         {"x": [1 / 3, 1 / 3, 1 / 3]}, {"total": 4 / 3, "lower": [0, 0, 0]}),
    # Σ d_i(1 - Z_ii) with Σ(1 - Z_ii) = 1 and Z_ii ≤ 1 is at least min d_i, as {1, 2}, {3} has it.
    Case("two clusters, diagonal", np.diag([1.0, 1.0, 4.0]), [1, -1, 1], iopt.PengWei(k=2), (1.0,)),
    Case("two clusters, indefinite", np.diag([-1.0, -1.0, 2.0]), [1, -1, 1], iopt.PengWei(k=2),
         (-1.0,)),
    # α = (a, a), β = (c, c): b_s + a + 2c = -b_s + a + c = 1, b_t + a + c = -b_t + 2a + c = 1.
    Case("AsK-LS of two points", DIRECTED, [1, -1], iopt.AsKLS(gamma=1.0), (0.32,),
         {"alpha": [0.4, 0.4], "beta": [0.4, 0.4], "b_s": -0.2, "b_t": 0.2}),
    # α = β = (a, a) of the least-squares SVM: 2a + a = 1.
    Case("AsK-LS of a symmetric kernel", TWO_POINTS, [1, -1], iopt.AsKLS(gamma=1.0), (2 / 9,),
         {"alpha": [1 / 3, 1 / 3], "beta": [1 / 3, 1 / 3], "b_s": 0.0, "b_t": 0.0}),
    # 2a + 2c - 3ac grows in both at a = c = C = ¼.
    Case("bilinear, all at C", DIRECTED, [1, -1], iopt.BilinearSVM(C=0.25), (13 / 16,),
         {"alpha": [0.25, 0.25], "beta": [0.25, 0.25]}, claim=iopt.Claim.LOCAL),
    # At C = 2 one of a and c is 2 and the other one 0, on both sides.
    Case("bilinear, one side", DIRECTED, [1, -1], iopt.BilinearSVM(C=2.0), (4.0,),
         claim=iopt.Claim.LOCAL),
    # (a, a): 2a - 2a² - 2a²; for the swap 2a - a² - 2a², with Q + 2I positive definite.
    Case("least squares of two points", TWO_POINTS, [1, -1], iopt.LeastSquaresSVM(C=0.5), (0.25,),
         {"alpha": [0.25, 0.25]}, {"balance": 0.0}),
    Case("least squares of the swap", SWAP, [1, -1], iopt.LeastSquaresSVM(C=0.5), (1 / 3,),
         {"alpha": [1 / 3, 1 / 3]}, {"balance": 0.0}),
    # (a, a, 2a) with Q + I = 2I: 4a - 6a²; 1 - 2α = yb.
    Case("squared slacks, identity", np.eye(3), [1, 1, -1], iopt.L2SVM(C=1.0), (2 / 3,),
         {"alpha": [1 / 3, 1 / 3, 2 / 3]}, {"balance": 1 / 3, "lower": [0, 0, 0]}),
    Case("squared slacks, swap", SWAP, [1, -1], iopt.L2SVM(C=0.5), (1 / 3,),
         {"alpha": [1 / 3, 1 / 3]}, {"balance": 0.0, "lower": [0, 0]}),
    # α = (a, -a): 3a - 2a²; at the lower bound -0.3 its slope 1.8 is paid by the multiplier.
    Case("median of two points", TWO_POINTS, [1.5, -1.5], iopt.QuantileRegression(C=10.0), (1.125,),
         {"alpha": [0.75, -0.75]}, {"balance": 0.0, "lower": [0, 0], "upper": [0, 0]}),
    Case("quantile of two points, bounded", TWO_POINTS, [1.5, -1.5],
         iopt.QuantileRegression(C=1.0, tau=0.7), (0.72,), {"alpha": [0.3, -0.3]},
         {"balance": 0.9, "lower": [0, 1.8], "upper": [0, 0]}),
    # -I is concave: 3a + a² at the bound.
    Case("quantile, concave", -np.eye(2), [1.5, -1.5], iopt.QuantileRegression(C=2.0), (4.0,),
         {"alpha": [1, -1]}, claim=iopt.Claim.LOCAL),
    # 0 and 2 on a line are inside; 3 is outside at no price, 1 at the price C2: the centre is 1,
    # and α₃ = s adds s to the squared radius 1.
    Case("ball with a point outside", np.outer([0, 2, 3], [0, 2, 3]), [1, 1, -1], iopt.SVDDneg(),
         (1.0,), {"alpha": [0.5, 0.5, 0.0]}),
    Case("ball around a point outside", np.outer([0, 2, 1], [0, 2, 1]), [1, 1, -1],
         iopt.SVDDneg(C1=1.0, C2=0.5), (1.5,), {"alpha": [0.75, 0.75, 0.5]},
         {"total": 0.0, "lower": [0, 0, 0], "upper": [0, 0, 1]}),
    # α = (a, -a), margins 2a, one edge: 1 - 2a + 4 γ_A a² + 4 γ_I a².
    Case("along an edge", TWO_POINTS, [1, -1], iopt.LaplacianSVM(gamma_A=0.5, gamma_I=0.5),
         (0.75,)),
    # (a, -a, 0) on the complete graph: 1 - a + 2 γ_A a² + γ_I 6a²/9.
    Case("one point without a label", np.eye(3), [1, -1, 1],
         iopt.LaplacianSVM(gamma_A=0.5, gamma_I=1.5, labelled=np.array([1.0, 1.0, 0.0])), (0.875,),
         {"alpha": [0.25, -0.25, 0.0]}),
    # One pair: a - 2a². Two pairs with PPᵀ = (2, 1; 1, 2): 2a - 3a². -I is concave: a + a² at C.
    Case("one pair", TWO_POINTS, [1, -1], iopt.RankingSVM(C=10.0), (0.125,), {"alpha": [0.25]},
         {"lower": [0], "upper": [0]}),
    Case("two pairs", np.eye(3), [1, 1, -1], iopt.RankingSVM(C=10.0), (1 / 3,),
         {"alpha": [1 / 3, 1 / 3]}, {"lower": [0, 0], "upper": [0, 0]}),
    Case("one pair, concave", -np.eye(2), [1, -1], iopt.RankingSVM(C=2.0), (6.0,), {"alpha": [2]},
         claim=iopt.Claim.LOCAL),
    # The parts are ½(1, -1; -1, 1) and ½(1, 1; 1, 1), both times 2: t = 4a² and 0, 2a - 2a².
    Case("mixture of the parts of the swap", SWAP, [1, -1], iopt.MultipleKernelSVM(C=10.0), (0.5,),
         {"alpha": [0.5, 0.5], "t": 1.0}),
    # Both have the trace 2, and are multiplied by 2: t = 8a² beats 4a², 2a - 4a².
    Case("mixture of two kernels", SWAP, [1, -1],
         iopt.MultipleKernelSVM(C=10.0, kernels=np.array([TWO_POINTS, np.eye(2)])), (0.25,),
         {"alpha": [0.25, 0.25], "t": 0.5}),
    # u₁ = s(1, -1)/√2 has margins m = s/√2: s + 2(1 - m)², 1 - m = 1/√8; u₂ has equal values.
    Case("mixed norm on the parts of the swap", SWAP, [1, -1], iopt.MixedNormSVM(),
         (np.sqrt(2) - 0.25,), {"u2": [0, 0], "b": 0.0}),
    # Margins √2 s, twice those of -I: 1 - m = 1/√32.
    Case("mixed norm on two kernels", SWAP, [1, -1],
         iopt.MixedNormSVM(kernels=np.array([TWO_POINTS, -np.eye(2)])), (np.sqrt(0.5) - 1 / 16,),
         {"b": 0.0}),
    # z = (1, -1), K = sI + k(1, -1; -1, 1)/2: 2η/(s + k) + γk, s + k = 2.
    Case("learned kernel near I", np.eye(2), [1, -1], iopt.LearnedKernel(eta=0.4, gamma=0.2),
         (0.6,), {"K": [[1.5, -0.5], [-0.5, 1.5]], "z": [1, -1]}),
    Case("learned kernel near I/2", 0.5 * np.eye(2), [1, -1],
         iopt.LearnedKernel(eta=0.4, gamma=0.2), (0.7,),
         {"K": [[1.25, -0.75], [-0.75, 1.25]], "z": [1, -1]}),
    # The clipped kernel. With W = wwᵀ it is the clipped w∘K₀∘w, over w: -2 is cut off.
    Case("nearest kernel", SWAP, [1, -1], iopt.NearestKernel(), (1.0,),
         {"K": [[0.5, -0.5], [-0.5, 0.5]]}),
    Case("nearest kernel, weighted", SWAP, [1, -1],
         iopt.NearestKernel(W=np.outer([1.0, 2.0], [1.0, 2.0])), (4.0,),
         {"K": [[1, -0.5], [-0.5, 0.25]]}),
    # ‖u‖₁ = s and ‖u‖₂ ≥ s/√2: margins s - κs/√2 must reach 1, or 1 ∓ b with errors in one row.
    Case("noisy LP-SVM of two points", TWO_POINTS, [1, -1], iopt.NoisyLPSVM(C=10.0, kappa=0.5),
         (1 / (1 - np.sqrt(1 / 8)),)),
    Case("noisy LP-SVM, errors in one row", TWO_POINTS, [1, -1],
         iopt.NoisyLPSVM(C=10.0, kappa=0.5, sigma=np.array([[1.0, 1.0], [0.0, 0.0]])),
         (1 / (1 - np.sqrt(1 / 32)),)),
    # N = 0, m₊ - m₋ = (2, -2).
    Case("Fisher, two points", TWO_POINTS, [1, -1], iopt.KernelFisher(mu=0.5), (-16.0,),
         {"w": [4, -4]}),
    # m₊ - m₋ = (1, ½, -1), N + I = (3, -1; -1, 3/2) and 1.
    Case("Fisher, three points", np.diag([2.0, 1.0, 1.0]), [1, 1, -1], iopt.KernelFisher(),
         (-27 / 14,), {"w": [4 / 7, 5 / 7, -1]}),
    Case("uniform weights", TWO_POINTS, [1, -1], iopt.UniformWeights(), (1.0,),
         {"alpha": [0.5, 0.5]}),
]]  # fmt: skip
"""Every formulation appears at least once; a test sees to it."""
