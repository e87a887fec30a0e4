"""The checker against exact enumeration: honest proofs hold, forged ones prove nothing false."""

from __future__ import annotations

import ast
import copy
import functools
import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.boxes import degenerate, general_quadratic, random_multipliers
from helpers.exact import dot, global_minimisers, is_psd, mirrored
from helpers.problems import positive_part
from indefinite_opt.quadratic import proof_checker
from indefinite_opt.quadratic.bracket.finite_form import box_quadratic
from indefinite_opt.quadratic.bracket.lagrangian import lagrangian_multipliers
from indefinite_opt.quadratic.bracket.minorant import Multipliers
from indefinite_opt.quadratic.bracket.optimality_conditions import Box, Conditions
from indefinite_opt.quadratic.bracket.proof import Part, Proof, Tangent
from indefinite_opt.quadratic.bracket.scaled_box import BoxQuadratic
from indefinite_opt.quadratic.proof.proof_checker import FailedProof
from indefinite_opt.quadratic.proof.proof_document import (
    boxes_document,
    bracket_document,
    certificate_document,
    read_document,
    write_document,
)

Document = dict[str, Any]
MINIMUM = {"sense": 1, "constant": 0}

# -------------------------------------------------------------------------------- honest proofs


def grown(
    conditions: Conditions, box: Box, least: float, generator: np.random.Generator, depth: int
) -> Part:
    """A part with random multipliers, reductions and divisions, as a bad search might make it."""

    def tangent() -> Tangent:
        scaled = conditions.whole.scaled(box.lower, box.upper)
        kind = generator.integers(4)
        if kind == 0:
            multipliers = Multipliers.spectral(scaled.m)
        elif kind == 1:
            multipliers = Multipliers.separable(scaled)
        elif kind == 2 and scaled.m:
            multipliers = lagrangian_multipliers(scaled)
        else:
            multipliers = random_multipliers(generator, scaled.m, 0.3)
        start = generator.uniform(-1.0, 1.0, scaled.m)
        nu = generator.standard_normal(len(conditions.whole.rows))
        return Tangent(multipliers, start, nu if generator.random() < 0.3 else None)

    part = Part()
    if generator.random() < 0.6:
        found, value = tangent(), least + float(generator.choice([1e-9, 0.1, 1.0]))
        scaled = found.scaled(conditions.whole, box)
        bound = found.bound(scaled, box)
        part.reductions.append((found, value))
        left = conditions.reduced(box, scaled, bound, value)
        if left is None:
            return part
        box = left
    part.last = tangent()
    live = np.flatnonzero(box.live)
    if depth and live.size:
        i = int(generator.choice(live))
        part.divided = i, float(generator.uniform(box.lower[i], box.upper[i]))
        for piece in conditions.parts(box, *part.divided):
            inside = conditions.tightened(piece)
            part.parts.append(
                None if inside is None else grown(conditions, inside, least, generator, depth - 1)
            )
    return part


@functools.cache
def honest(seed: int) -> tuple[Document, BoxQuadratic, Proof, Fraction]:
    """A proof about a small program with ties, and the least value by exact enumeration.

    Every second one has rows of any kind.
    """
    generator = np.random.default_rng(seed)
    while True:
        q = general_quadratic(generator, 3) if seed % 2 else degenerate(generator)
        try:
            least, _ = global_minimisers(q)
            break
        except ValueError:  # no point
            continue
    conditions = Conditions(q)
    proof = Proof(grown(conditions, conditions.begin(), float(least), generator, depth=3))
    return boxes_document(q, proof, MINIMUM), q, proof, least


def checked(document: Document) -> Any:
    """The value of a document that was written and read."""
    return proof_checker.check(json.loads(json.dumps(document)))[0]


def assert_honest(seed: int) -> None:
    document, q, proof, least = honest(seed)
    value, program = proof_checker.check(json.loads(json.dumps(document)))
    assert proof.lower_bound(Conditions(q)) <= value
    assert Fraction(value) <= least
    assert program == document["program"]


def test_honest_proofs_of_every_rule_prove_what_the_package_says_and_nothing_false() -> None:
    seen = set()
    for seed in range(10):
        assert_honest(seed)
        for step in honest(seed)[0]["proof"]["steps"]:
            seen |= {(step["rule"], step.get("empty"))}
            seen |= {("divide", "at" in step)} if step["rule"] == "divide" else set()
            seen |= {"reduction"} if "value" in step else set()
            seen |= {"triangle"} if step.get("triangles") else set()
    assert seen >= {
        ("rows", None), ("second order", None), ("tangent", None), ("divide", True),
        ("divide", False), ("second order", 1), ("rows", 1), "reduction", "triangle",
        ("first order", None), ("first order", 1),
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 55))
def test_an_honest_proof_proves_what_the_package_says_and_nothing_false(seed: int) -> None:
    assert_honest(seed)


PAIR = iopt.KernelProblem([[0.0, 2.0], [2.0, 0.0]], [1, -1]), iopt.SVMDual(C=1.0)
"""α₁ + α₂ + 2α₁α₂ with α₁ = α₂ ≤ 1 is 4 at most."""


def test_the_proof_of_a_bracket(tmp_path: Path) -> None:
    bracket = iopt.bound(*PAIR)
    path = bracket.save(tmp_path / "proof.json")
    value, program = proof_checker.check(json.loads(path.read_text()))
    assert value == bracket.upper
    assert 4.0 <= value <= 4.0 + 1e-9
    assert program["H"] == [[0], [-2.0, 0]]
    assert (program["rows"], program["rhs"]) == ([[1.0, -1.0]], [0])
    with pytest.raises(iopt.errors.DataError, match="can be written"):
        bracket.save(tmp_path / "none" / "proof.json")
    values = {"alpha": np.ones(2)}
    with pytest.raises(iopt.errors.ParameterError, match="with a proof"):
        certificate_document(*PAIR, values, {})
    document = certificate_document(*PAIR, values, {}, bracket.proof)
    assert 4.0 <= checked(document) <= 4.0 + 1e-9
    object.__setattr__(bracket, "proof", None)
    with pytest.raises(iopt.errors.ParameterError, match="a bracket with a proof"):
        bracket.save(path)


@pytest.mark.parametrize("scale", [1e-200, 1e-312, 1e-322])
def test_brackets_of_kernels_that_underflow(scale: float) -> None:
    """Near 1e-312 rounding is no share of the numbers any more, and bounds were too good."""
    for seed in range(4):
        generator = np.random.default_rng(seed)
        n = int(generator.integers(2, 5))
        A = generator.integers(-3, 4, (n, n)) if seed % 2 else generator.standard_normal((n, n))
        y = np.append([1, -1], generator.choice([-1, 1], n - 2))
        problem = iopt.KernelProblem(mirrored(A * scale), y)
        formulation = (iopt.ConvexHullDual(mu=1.0), iopt.GuoSchuurmansQP(beta=0.5))[seed // 2 % 2]
        bracket = iopt.bound(problem, formulation, gap=1e-9, time_limit=0.05)
        # There is none of a kernel that rounding does not tell from 0.
        if isinstance(bracket.proof, Proof):
            proof_checker.check(bracket_document(bracket.program, bracket.proof, bracket.bound))
        least, _ = global_minimisers(box_quadratic(bracket.program))
        assert bracket.program.sense * Fraction(bracket.bound) <= least


def test_the_rays_of_a_hard_margin() -> None:
    """K = I: the margin between two orthogonal points is √2, so that ½‖w‖² = 1 at the optimum."""
    problem = iopt.KernelProblem(np.eye(2), [1, -1])
    bracket = iopt.bound(problem, iopt.SVMDual(C=np.inf))
    document = bracket_document(bracket.program, bracket.proof, bracket.bound)
    assert document["objective"]["ray"] == 1.0
    value, _ = proof_checker.check(document)
    assert 1.0 <= value <= 1.0 + 1e-9
    with pytest.raises(FailedProof, match="is claimed"):
        proof_checker.check({**document, "claim": 1.0 - 1e-9})


@pytest.mark.parametrize(
    ("formulation", "best"),
    [
        # Two points with K = (2, 1; 1, 2) and labels 1, -1, derived by hand.
        # ½‖w‖² with α₁ = α₂ = t: 2t - t² is greatest at t = 1.
        (iopt.SVMDual(C=3.0), 1.0),
        # t ≤ ½: 1 - ¼.
        (iopt.SVMDual(C=0.5), 0.75),
        # u₁(2, 1) + u₂(1, 2) + b: margins differ by u₁ - u₂ = 2 at least, ‖u‖₁ = 2.
        (iopt.LPSVM(C=10.0), 2.0),
        # α = (½, ½): Δᵀα = 2Qα = (1, 1).
        (iopt.GuoSchuurmansLP(), 1.0),
        (iopt.UniformWeights(), 1.0),
        # -ᾱᵀQᾱ at ᾱ = (1, 1).
        (iopt.ConvexHullDual(), -2.0),
    ],
)  # fmt: skip
def test_the_proofs_of_certificates(formulation: iopt.Formulation, best: float) -> None:
    problem = iopt.KernelProblem([[2.0, 1.0], [1.0, 2.0]], [1, -1])
    result = iopt.solve(problem, formulation)
    multipliers = result.certificate.multipliers
    document = certificate_document(problem, formulation, result.values, multipliers)
    assert 0.0 <= document["objective"]["sense"] * (best - checked(document)) <= 1e-9


@pytest.mark.parametrize("formulation", [iopt.LussDual(C=1.0, rho=2.0), iopt.LussBall(C=1.0)])
def test_the_proof_of_a_luss_dual_by_its_own_inner_minimum(formulation: iopt.Formulation) -> None:
    """f(α) for one α by an eigendecomposition here; the proof bounds it for all of them."""
    A = np.random.default_rng(7).standard_normal((5, 5))
    K, y = A + A.T, np.array([1, -1, 1, -1, 1])
    problem = iopt.KernelProblem(K, y)
    result = iopt.solve(problem, formulation, tol=1e-9)
    document = certificate_document(problem, formulation, result.values, {})
    value = checked(document)
    assert result.objective - 1e-12 <= value <= result.objective + 1e-5
    if isinstance(formulation, iopt.LussDual):
        z = y * result.values["alpha"]
        proxy = positive_part(K + np.outer(z, z) / 8.0)
        inner = abs(z).sum() - 0.5 * z @ proxy @ z + 2.0 * np.sum((proxy - K) ** 2)
        assert value == pytest.approx(inner, abs=1e-7)
    else:
        document["program"]["radius"] *= 0.5
        with pytest.raises(FailedProof, match="ball"):
            proof_checker.check(document)


@pytest.mark.parametrize("seed", range(3))
def test_linear_multipliers_are_repaired_exactly(seed: int) -> None:
    """Any multipliers give a bound; those of the optimum give the optimum."""
    generator = np.random.default_rng(seed)
    problem = random_kernel(generator, int(generator.integers(2, 9)))
    for formulation in (iopt.LPSVM(C=2.0), iopt.GuoSchuurmansLP()):
        result = iopt.solve(problem, formulation)
        exact = result.certificate.multipliers
        wild = {name: generator.standard_normal(np.shape(v)) for name, v in exact.items()}
        near = {name: v * (1.0 + 1e-7 * generator.random()) for name, v in exact.items()}
        for multipliers, loss in ((exact, 1e-9), (near, 1e-5), (wild, np.inf)):
            document = certificate_document(problem, formulation, result.values, multipliers)
            value, _ = proof_checker.check(document)
            assert -1e-9 <= result.objective - value <= loss


def random_kernel(generator: np.random.Generator, n: int) -> iopt.KernelProblem:
    A = generator.standard_normal((n, n))
    return iopt.KernelProblem(A + A.T, np.append([1, -1], generator.choice([-1, 1], n - 2)))


# ------------------------------------------------------------------------------ the script itself


def test_the_checker_imports_only_the_standard_library() -> None:
    tree = ast.parse(Path(proof_checker.__file__).read_text(encoding="utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add(str(node.module).split(".")[0])
    assert names <= sys.stdlib_module_names


def test_the_checker_is_one_short_file() -> None:
    lines = Path(proof_checker.__file__).read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 465
    assert max(map(len, lines)) <= 100


def test_the_script(tmp_path: Path) -> None:
    document = honest(0)[0]
    good = write_document(document, tmp_path / "good.json")
    bad = write_document({**document, "claim": document["claim"] + 1.0}, tmp_path / "bad.json")
    none = write_document(plain("unbounded", {}), tmp_path / "unbounded.json")
    (tmp_path / "no.json").write_text("[" * 100_000)
    (tmp_path / "two.json").write_text('{"claim": 9.0, ' + good.read_text()[1:])

    def run(path: Path | str, text: str | None = None) -> tuple[int, str]:
        command = [sys.executable, "-I", proof_checker.__file__, str(path)]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        return done.returncode, done.stdout

    digest = proof_checker.digest(document)
    sign = ">=" if document["objective"]["sense"] > 0 else "<="
    said = f"PROVED: optimal value {sign} {document['claim']!r}\nprogram {digest}\n"
    assert run(good) == (0, said)
    assert run("-", good.read_text(encoding="utf-8")) == (0, said)
    assert run(none)[1].startswith("PROVED: the program is unbounded\n")
    for path, reason in ((bad, "is claimed"), (tmp_path / "no.json", "recursion"),
                         (tmp_path / "two.json", "a key occurs twice"),
                         (tmp_path / "missing.json", "No such file")):  # fmt: skip
        code, output = run(path)
        assert code == 1
        assert output.startswith("FAILED: ")
        assert reason in output
        if path != bad:
            with pytest.raises(iopt.errors.DataError):
                read_document(path)


def test_the_digest_is_that_of_the_numbers() -> None:
    one = {"kind": "boxes", "program": {"c": [1, 2.5], "H": [[0]]}, "objective": MINIMUM}
    same = {**one, "program": {"H": [[0.0]], "c": [1.0, 2.5]}, "claim": 3}
    assert proof_checker.digest(one) == proof_checker.digest(same)
    for other in ({"program": {"c": [1, 2.5000000000000004], "H": [[0]]}}, {"kind": "linear"},
                  {"objective": {"sense": 1, "constant": 1}}):  # fmt: skip
        assert proof_checker.digest(one) != proof_checker.digest(one | other)


# ------------------------------------------------------------------------------- forged documents


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of everything in a document."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, entry in pairs:
        found.append((*path, key))
        if isinstance(entry, dict | list):
            found += places(entry, (*path, key))
    return found


def forged(document: Document, others: list[Document], generator: np.random.Generator) -> Document:
    """A copy with one to three changes: numbers, signs, types, order, steps, parts, programs."""
    document = copy.deepcopy(document)
    for _ in range(int(generator.integers(1, 4))):
        paths = places(document)
        path = paths[generator.integers(len(paths))]
        holder = document
        for key in path[:-1]:
            holder = holder[key]
        key, value = path[-1], holder[path[-1]]
        kind = generator.integers(10)
        if kind < 5 and isinstance(value, int | float) and abs(value) < 1e300:
            holder[key] = generator.choice(
                np.array([
                    -value, 0, 1, 2, value + 1, value - 1, float(value) * (1 + 1e-9),
                    float(value) * 1.5, float(value) + generator.standard_normal(), 1e300, 1e-300,
                    float("nan"), float("inf"), True, None, "1", [], "1/3", 10**400,
                ], dtype=object)
            )  # fmt: skip
        elif kind < 5 and isinstance(value, str):
            texts = ["", "1/0", "-" + value, "9" + value, "5/7", "a/b", "1e9/1", "1/-2", " 1/2",
                     "１/2"]  # fmt: skip
            holder[key] = texts[generator.integers(len(texts))]
        elif kind == 5:
            del holder[key]
        elif kind == 6 and isinstance(holder, list):
            holder.insert(int(generator.integers(len(holder) + 1)), copy.deepcopy(value))
        elif kind == 7 and isinstance(holder, list):
            order = generator.permutation(len(holder))
            holder[:] = [holder[k] for k in order]
        elif kind == 8:
            other = others[generator.integers(len(others))]
            same = [path for path in places(other) if path[-1] == key or isinstance(key, int)]
            for step in same[generator.integers(len(same))] if same else ():
                other = other[step]
            holder[key] = copy.deepcopy(other)
        elif kind == 9:
            forge_step(document, generator)
    return document


def forge_step(document: Document, generator: np.random.Generator) -> None:
    """Add a step that cuts or closes without a reason."""
    proof = document.get("proof")
    steps = proof.get("steps") if isinstance(proof, dict) else None
    if not isinstance(steps, list):
        return
    i, rule = int(generator.integers(3)), ("rows", "second order", "first order")
    step: Document = {"rule": rule[generator.integers(3)]}
    ends = {"lower": [[i, float(generator.uniform(0, 1))]], "upper": [[i, 0.0]],
            "value": 0.0, "empty": 1}  # fmt: skip
    key = [*ends][generator.integers(4)]
    step[key] = ends[key]
    steps.insert(int(generator.integers(len(steps) + 1)), step)


def truth(document: Document) -> Fraction | None:
    """The exact optimum of the program of an accepted document; None where no point is feasible."""
    program, objective = document["program"], document["objective"]
    n = len(program["c"])
    H = np.array([[program["H"][max(i, j)][min(i, j)] for j in range(n)] for i in range(n)])
    parts = (np.array(program[key], float) for key in ("c", "lower", "upper", "rhs"))
    c, lower, upper, rhs = parts
    rows = np.array(program["rows"], float).reshape(-1, n)
    try:
        least, _ = global_minimisers(BoxQuadratic(H.astype(float), c, rows, rhs, lower, upper))
    except ValueError:
        return None
    if "ray" in objective:
        least = -(Fraction(objective["ray"]) ** 2) / (4 * least)
    return objective["sense"] * (least + Fraction(objective["constant"]))


def tight(seed: int) -> tuple[Document, Fraction]:
    """A proof by branch and bound that leaves next to nothing, so that little makes it false."""
    generator = np.random.default_rng(seed)
    problem = random_kernel(generator, int(generator.integers(2, 5)))
    formulation = (
        iopt.SVMDual(C=1.0), iopt.SVMDual(C=0.5, bias=False),
        iopt.ConvexHullDual(mu=1.0), iopt.GuoSchuurmansQP(beta=0.5),
    )[seed % 4]  # fmt: skip
    bracket = iopt.bound(problem, formulation, gap=1e-9)
    assert bracket.proof is not None
    least, _ = global_minimisers(box_quadratic(bracket.program))
    return bracket_document(bracket.program, bracket.proof), bracket.program.sense * least


def accepted(
    pool: list[tuple[Document, Any]], count: int, seed: int
) -> Iterator[tuple[Document, Document, float, Any]]:
    """Of so many forgeries of documents with these optima those that the checker accepts.

    The document, what was made of it, the value that is said to be proved, and the optimum.
    """
    documents = [document for document, _ in pool]
    for trial in range(count):
        generator = np.random.default_rng([seed, trial])
        document, best = pool[generator.integers(len(pool))]
        if trial % 2:
            beyond = document["objective"]["sense"] * 10.0 ** -int(generator.integers(13))
            document = {**document, "claim": float(best) + beyond}
        changed = forged(document, documents, generator)
        try:
            value, _ = proof_checker.check(changed)
        except FailedProof:
            continue
        yield document, changed, value, best


def minorant(m: int, **changes: Any) -> Document:
    """Nothing is subtracted, and the tangent touches at 0, unless it is said."""
    plain = {"products": [], "triangles": [], "across": [], "point": [0] * m}
    return {"rule": "tangent", **plain, **changes}


def forgery(
    H: list[list[float]], c: list[float], nodes: list[Any], claim: float, rows: Any = ()
) -> Document:
    """On the unit box, with rows that sum to 1 or, where an entry is negative, to 0.

    Nodes are the steps of one box each; what they leave of it is closed.
    """
    steps: list[Any] = []
    for node in nodes:
        done = node and (node[-1]["rule"] == "divide" or "empty" in node[-1])
        steps += node if done else [*node, {"rule": "close"}]
    n = len(c)
    rhs = [float(min(row) >= 0) for row in rows]
    program = {"H": H, "c": c, "lower": [0] * n, "upper": [1] * n, "rows": [*rows], "rhs": rhs}
    return {"format": proof_checker.FORMAT, "kind": "boxes", "claim": claim, "program": program,
            "objective": MINIMUM, "proof": {"steps": steps}}  # fmt: skip


LINE, DIVIDE = minorant(1), {"rule": "divide", "variable": 0}
SEVEN = [[0] * k for k in range(1, 8)]
FIVE = SEVEN[:5]
"""No curvature."""

POOR = {**minorant(1, products=[[0, 1, 2]]), "value": -0.5}
"""f ≥ -1 + (1 - x) though f = x: the points with f ≥ -½ are to the left of ½, and cost -½."""


def inside(binary: int, rows: int, n: int = 2) -> list[list[Document]]:
    """Where variable 0 is inside, the other is said to be binary."""
    claim = {"rule": "second order", "lower": [[binary, 1]]}
    squares = [[2 * i, 2 * i + 1, 2] for i in range(n)]
    convex = minorant(n, products=squares, across=[[0] * (n + 1)] * rows)
    half = {"rule": "divide", "variable": 1, "at": 0.5}
    return [[DIVIDE], [convex], [half], [convex], [claim, convex]]


FORGERIES = {
    "product": forgery([[0], [-1, 0]], [0, 0], [[minorant(2, products=[[0, 2, -1]])]], 0),
    "product, a square": forgery([[2]], [-1], [[minorant(1, products=[[0, 1, -1]])]], 0),
    "product, of one literal": forgery(
        [[0]], [-1], [[{"rule": "second order"},
                       minorant(1, products=[[0, 0, -1]], point=[0.5])]], -0.3),
    "triangle": forgery([[0], [0, 0], [0, 0, 0]], [-1, 0, 0],
                        [[minorant(3, triangles=[[0, 2, 4, -1]])]], 0),
    "odd clique has a negative": forgery(
        FIVE, [-1, 0, 0, 0, 0], [[minorant(5, pentagons=[[0, 2, 4, 6, 8, -1]])]], 0),
    "odd clique has a negative, of seven": forgery(
        SEVEN, [-1, *[0] * 6], [[minorant(7, heptagons=[[0, 2, 4, 6, 8, 10, 12, -1]])]], 0),
    "odd number, a variable twice": forgery(
        FIVE, [0] * 5, [[minorant(5, pentagons=[[0, 1, 2, 4, 6, 1]])]], 0.5),
    "odd number, a variable twice of seven": forgery(
        SEVEN, [0] * 7, [[minorant(7, heptagons=[[0, 1, 2, 4, 6, 8, 10, 1]])]], 0.5),
    "odd number, six": forgery(
        SEVEN, [0] * 7, [[minorant(7, heptagons=[[0, 2, 4, 6, 8, 10, 1]])]], 0.5),
    "odd number, none": forgery(
        FIVE, [0] * 5, [[minorant(5, pentagons=[[1]])]], 0.5),
    "follow, an end": forgery([[0]], [-1], [[{"rule": "rows", "upper": [[0, 0]]}, LINE]], 0),
    "product, not at an end": forgery([[2]], [-1], [[{"rule": "second order"},
                                                 minorant(1, products=[[0, 1, -0.5]])]], 0),
    "leaves, not empty": forgery([[0]], [-1], [[{"rule": "rows", "empty": 1}]], 5),
    "than numbers": forgery([[0]], [-1], [[{"rule": "rows", "empty": True}]], 5),
    "an index below 1": forgery([[0]], [-1], [[{"rule": "rows", "lower": [[-1, 0]]}, LINE]], -1),
    "leaves, a cut": forgery([[0]], [-1], [[{**POOR, "empty": 1}]], 5),
    "cover, outside": forgery([[0]], [-1], [[{**DIVIDE, "at": -1}], [], [LINE]], 0),
    "1 boxes are not closed": forgery([[0]], [-1], [[{**DIVIDE, "at": 0.5}], [LINE]], -0.5),
    "no box is left": forgery([[0]], [-1], [[LINE], [LINE]], -1),
    "are not closed, a step": forgery([[0]], [1], [[{**DIVIDE, "at": 0.5}, LINE]], 0),
    "no bound": forgery([[0]], [-1], [[]], 0),
    "no bound, of parts": forgery([[0]], [-1], [[{**DIVIDE, "at": 0.5}], [LINE], []], -0.5),
    "luck": forgery([[0]], [-1], [[{"rule": "luck", "empty": 1}]], 0),
    "claimed, a cut": forgery([[0]], [1], [[{**POOR, "lower": [[0, 0.499]]}, LINE]], 0.5),
    "follow, a cut": forgery([[0]], [1], [[{**POOR, "lower": [[0, 0.75]]}, LINE]], -0.5),
    "follow, the other end": forgery([[0]], [1], [[{**POOR, "upper": [[0, 0.25]]}, LINE]], -0.5),
    "convex": forgery([[-2]], [0], [[minorant(1, point=[0.5])]], -0.75),
    "convex, a pair": forgery([[1], [-2, 1]], [0, 0], [[minorant(2)]], -0.5),
    "convex, no pivot": forgery([[0], [-1, 1]], [0, 0], [[minorant(2)]], 0),
    "claimed, a slope": forgery([[0]], [-1], [[LINE]], 0),
    "claimed, a row": forgery([[0], [0, 0]], [-1, 0], [[minorant(2, across=[[1, 0, 0]])]], -0.5,
                              [[1, 1]]),
    "convex, across": forgery([[0], [0, 0]], [-1, 0], [[minorant(2, across=[[0, 2, 0]])]], -0.6,
                              [[1, -1]]),
    "outside": forgery([[2]], [0], [[minorant(1, point=[2])]], 1),
    "argument, too short": forgery([[2], [0, 2]], [-1, -1], [[minorant(2, point=[0])]], -1),
    "follow, alone": forgery([[0.5]], [-1], [[{**DIVIDE, "at": 0.5}], [
        {"rule": "second order", "upper": [[0, 0]]}], [LINE]], 0),
    "follow, a pair": forgery([[1], [0.9, 1]], [0, 0], inside(1, 0), 0),
    "follow, on a row": forgery([[0.5], [0, 0.4]], [0, 0], inside(1, 1), 0, [[1, 1]]),
    # (1 - t, t, 1 - t) has the curvature 0 - 1 + 4, and t = ½ is best; along (1, -1, 0) it is -1.
    "follow, on other rows": forgery([[0], [0, -1], [0, 0, 4]], [0, 2.5, 0], inside(1, 2, 3), 2,
                                     [[1, 1, 0], [0, 1, 1]]),
    # f' = x - ½ has both signs in the box; with a row the multiplier may have any.
    "follow, a slope": forgery([[1]], [-0.5], [[{"rule": "first order", "upper": [[0, 0]]}, LINE]],
                               0),
    "follow, a multiplier": forgery([[0], [0, 0]], [-1, -2], [[
        {"rule": "first order", "lower": [[0, 1]]}, minorant(2)]], -1, [[1, 1]]),
    # Of x₀ + x₁ = 1 with slopes -1 and -2 x₀ ≤ ½ leaves ν ≥ 1, and x₁ free.
    "leaves, a slope": forgery([[0], [0, 0]], [-1, -2], [[{**DIVIDE, "at": 0.5}], [
        {"rule": "first order", "empty": 1}], [minorant(2)]], -1.5, [[1, 1]]),
    "positive along": {**forgery([[0]], [-1], [[LINE]], 0.25),
                       "objective": {**MINIMUM, "ray": 1}},
}  # fmt: skip
"""What the checker says, and a note; none of them is far from a proof."""


@pytest.mark.parametrize("words", FORGERIES)
def test_each_requirement_stands_against_a_forgery(words: str) -> None:
    with pytest.raises(FailedProof, match=words.split(",")[0]):
        proof_checker.check(FORGERIES[words])


def test_multipliers_of_zero_subtract_nothing() -> None:
    """They are not negative: of a product, a triangle and odd cliques, without which f ≥ 0."""
    step = minorant(7, products=[[0, 2, 0]], triangles=[[0, 2, 4, 0]],
                    pentagons=[[0, 2, 4, 6, 8, 0]], heptagons=[[*range(1, 15, 2), 0]])  # fmt: skip
    assert proof_checker.check(forgery(SEVEN, [1, *[0] * 6], [[step]], 0))[0] == 0


@pytest.mark.parametrize(("n", "name"), [(5, "pentagons"), (7, "heptagons")])
def test_an_odd_clique_proves_the_least_value_at_a_vertex(n: int, name: str) -> None:
    """f = 2s² - 2ns at a vertex with s ones; it is twice the clique less a constant everywhere."""
    H, c = [[4] * k + [0] for k in range(n)], [2 - 2 * n] * n
    least = min(2 * s * s - 2 * n * s for s in range(n + 1))
    clique = [*range(0, 2 * n, 2), 2]

    def proof(claim: float, *literals: float) -> Document:
        return forgery(H, c, [[minorant(n, **{name: [[*literals]]})]], claim)

    assert proof_checker.check(proof(least, *clique))[0] == least
    flipped = [literal ^ 1 for literal in clique[:-1]]
    assert proof_checker.check(proof(least, *flipped, 2))[0] == least
    for altered, words in (
        (proof(least + 0.5, *clique), "claimed"),
        (proof(least, *clique[:-1], 1.5), "not convex"),
        (proof(least, *clique[:-1], 2.5), "not convex"),
        (proof(least, *clique[1:]), "odd number"),
        (proof(least, *clique[2:]), "not convex"),
        (proof(least, 1, *clique[1:]), "not convex"),
    ):
        with pytest.raises(FailedProof, match=words):
            proof_checker.check(altered)


@pytest.mark.parametrize("seed", range(3))
def test_a_minorant_is_f_less_what_is_subtracted(seed: int) -> None:
    """At any shares of the intervals, those of a part of the box, with products written out."""
    g = np.random.default_rng(seed)
    n, k = 8, 2
    H = mirrored(g.integers(-3, 4, (n, n)))
    low, width = g.integers(-3, 3, n), g.integers(0, 4, n)
    data = {
        "H": [row[: i + 1] for i, row in enumerate(H.tolist())], "c": g.integers(-3, 4, n).tolist(),
        "lower": low.tolist(), "upper": (low + width).tolist(),
        "rows": g.integers(-2, 3, (k, n)).tolist(), "rhs": g.integers(-2, 3, k).tolist(),
    }  # fmt: skip
    step = proof_checker.exact(minorant(
        n, products=[[*g.integers(0, 2 * n, 2).tolist(), 3], [0, 7, 2]],
        triangles=[[*g.integers(0, 2 * n, 3).tolist(), 2], [1, 2, 4, 1]],
        pentagons=[[*(2 * g.permutation(n)[:5] + g.integers(0, 2, 5)).tolist(), 5]],
        heptagons=[[*(2 * g.permutation(n)[:7] + g.integers(0, 2, 7)).tolist(), 2]],
        across=g.integers(-2, 3, (k, n + 1)).tolist(),
    ))  # fmt: skip
    program = proof_checker.ExactProgram(proof_checker.exact(data))
    half = [Fraction(low + up, 2) for low, up in zip(program.lower, program.upper, strict=True)]
    box = proof_checker.ExactBox(program.lower, half, set(), set())
    found = proof_checker.ExactMinorant(program, box, step)
    for _ in range(4):
        t = [Fraction(int(a), 3) for a in g.integers(0, 4, n)]
        x = [low + (up - low) * v for low, up, v in zip(program.lower, half, t, strict=True)]
        value = dot(x, [dot(row, x) for row in program.H]) / 2 + dot(program.c, x)
        literals = [literal for share in t for literal in (share, 1 - share)]
        for one, other, nu in step["products"]:
            value -= nu * literals[int(one)] * literals[int(other)]
        for *places, nu in step["triangles"]:
            a, b, c = (literals[int(place)] for place in places)
            value -= nu * (a * (1 - b) * (1 - c) + (1 - a) * b * c)
        for name, least in (("pentagons", 4), ("heptagons", 9)):
            for *places, nu in step[name]:
                pairs = itertools.combinations([literals[int(place)] for place in places], 2)
                value -= nu * (sum(a * b + (1 - a) * (1 - b) for a, b in pairs) - least)
        for row, target, (constant, *slope) in zip(
            proof_checker.exact(data["rows"]), program.rows, step["across"], strict=True
        ):
            value += (dot(row, x) - target[1]) * (constant + dot(slope, t))
        curved = dot(t, [dot(row, t) for row in found.M]) / 2
        assert found.const + dot(found.slope, t) + curved == value


def test_only_both_slacks_of_a_binary_variable_may_have_a_negative_multiplier() -> None:
    """x(1 - x) is 0 at both ends. All three variables are binary, as there is no curvature."""
    for one, other in itertools.product(range(6), repeat=2):
        steps = [{"rule": "second order"}, minorant(3, products=[[one, other, -1]])]
        words = "not convex" if one ^ 1 == other else "a product has a negative multiplier"
        with pytest.raises(FailedProof, match=words):
            proof_checker.check(forgery([[0], [0, 0], [0, 0, 0]], [0, 0, 0], [steps], -9))


@pytest.mark.parametrize("point", [[2, 0], [0, 2], [-1, 1], [0.5, 1.25]])
def test_each_entry_of_the_point_of_a_tangent_is_inside(point: list[float]) -> None:
    with pytest.raises(FailedProof, match="outside"):
        proof_checker.check(forgery([[2], [0, 2]], [0, 0], [[minorant(2, point=point)]], -99))


def convex_documents(seed: int) -> list[tuple[Document, float]]:
    """Proofs of linear programs, of proxy kernels and of convex quadratic programs, and the optimum
    that the solvers find."""
    generator = np.random.default_rng(seed)
    found = []
    for formulation in (iopt.LPSVM(C=2.0), iopt.GuoSchuurmansLP(), iopt.LussDual(C=1.0, rho=2.0),
                        iopt.LussBall(C=1.0)):  # fmt: skip
        A = generator.standard_normal((4, 4))
        problem = iopt.KernelProblem(A + A.T, [1, -1, 1, -1])
        result = iopt.solve(problem, formulation, tol=1e-9)
        multipliers = result.certificate.multipliers
        document = certificate_document(problem, formulation, result.values, multipliers)
        found.append((document, result.objective))
    for k in range(3):
        B, G = (generator.integers(-3, 4, (3, 3)).astype(float) for _ in range(2))
        qp = iopt.QuadraticProgram(
            B.T @ B + k * np.eye(3), B[0] - 1.0, G, np.ones(3), lb=-2.0 if k < 2 else None,
            ub=2.0 if k == 0 else None, sense=1,
        )  # fmt: skip
        certificate = iopt.solve(qp, tol=1e-9).certificate
        if certificate.claim is iopt.Claim.GLOBAL:
            found.append((certificate_document(*certificate.basis), certificate.objective))
            assert found[-1][0]["kind"] in ("convex", "boxes")
    return found


@pytest.mark.parametrize("count", [250, pytest.param(4000, marks=pytest.mark.slow)])
def test_forged_proofs_of_convex_programs_prove_nothing_false(count: int) -> None:
    """Where the program is what it was; no change of it may raise anything else either."""
    pool = [pair for seed in range(11, 12 + count // 1000) for pair in convex_documents(seed)]
    compared = 0
    for document, changed, value, optimum in accepted(pool, count, 5):
        if all(changed[part] == document[part] for part in ("program", "objective")):
            gain = document["objective"]["sense"] * (value - optimum)
            assert gain <= 1e-8 * max(1.0, abs(optimum))
            compared += 1
    assert compared > 10


@pytest.mark.parametrize(
    ("seed", "count"),
    [(1000, 60), *(pytest.param(k, 500, marks=pytest.mark.slow) for k in (1040, 1080, 1120))],
)
def test_forged_proofs_prove_nothing_false(seed: int, count: int) -> None:
    """Those of random parts, and those that leave next to nothing; of each a twentieth of them."""
    some = [honest(k) for k in range(seed, seed + count // 20)]
    pool = [(document, document["objective"]["sense"] * least) for document, _, _, least in some]
    pool += [tight(k) for k in range(seed, seed + count // 20)]
    compared = 0
    for trial, (_, changed, value, _) in enumerate(accepted(pool, count, seed)):
        best, sense = truth(changed), changed["objective"]["sense"]
        assert best is None or sense * Fraction(value) <= sense * best, (seed, trial)
        compared += 1
    assert compared > count // 30


# ------------------------------------------------------------------------ programs without optimum


def ended(*program: Any) -> Any:
    """What `verify` says of the ray or conflict with which a run ended."""
    with pytest.raises((iopt.errors.UnboundedProblem, iopt.errors.InfeasibleProblem)) as caught:
        iopt.solve(*program)
    return iopt.verify(*program, caught.value)


WITHOUT_OPTIMUM: dict[str, tuple[Any, ...]] = {
    # Along (1, 1) the row is kept and the objective falls by 1 for each step.
    "flat": (iopt.QuadraticProgram([[1, -1], [-1, 1]], [-1, 0], [[1, -1]], [1], lb=0),),
    "curved": (iopt.QuadraticProgram([[0, 1], [1, 0]], A=[[1, 1]], b=[1 / 3]),),
    "linear": (iopt.QuadraticProgram(np.zeros((2, 2)), [1, -2], [[-1, 1]], [1], lb=0),),
    "rows": (iopt.QuadraticProgram(np.eye(2), G=[[1, 1], [-1, -1]], h=[1 / 3, -0.5]),),
    "bounds": (iopt.QuadraticProgram(np.eye(3), A=[[1, 1, 1]], b=[1], ub=0.3),),
    # Theorem 5 of Lin & Lin: the pair has K_ii + K_jj - 2K_ij = -2, so that (1, 1) falls.
    "a hard margin": (iopt.KernelProblem([[0, 1], [1, 0]], [1, -1]), iopt.SVMDual(C=np.inf)),
}


@pytest.mark.parametrize("name", WITHOUT_OPTIMUM)
def test_that_there_is_no_optimum_is_proved_and_nothing_like_it(name: str, tmp_path: Path) -> None:
    """The same ray or multipliers of a program that has an optimum; and signs that are changed."""
    found = ended(*WITHOUT_OPTIMUM[name])
    assert found.proved
    document = json.loads(found.save(tmp_path / "proof.json").read_text())
    expected = "infeasible" if name in ("rows", "bounds") else "unbounded"
    assert proof_checker.check(document)[0] == expected
    others = [copy.deepcopy(document)]
    data = others[0]["program"]
    n, m = len(data["cost"]), len(data["rows"])
    data |= {"lower": [-9] * n, "upper": [9] * n, "row_lower": [None] * m, "row_upper": [99] * m}
    (key,) = {"direction", "multipliers"} & document["proof"].keys()
    for k, (above, below) in enumerate(document["proof"][key]):
        other = copy.deepcopy(document)
        other["proof"][key][k] = [-above, below]
        others.append(other)
    for other in others[: 1 if name == "a hard margin" else None]:
        with pytest.raises(FailedProof):
            proof_checker.check(other)


def test_a_direction_that_proves_nothing_is_said_to() -> None:
    (qp,) = WITHOUT_OPTIMUM["flat"]
    assert not iopt.verify(qp, {"ray": [1.0, 0.0]}).proved
    assert iopt.verify(qp, {"ray": [2.0, 2.0 + 1e-15]}).proved
    assert not iopt.verify(qp, {"conflict": {"inequalities": [1.0]}}).proved
    with pytest.raises(iopt.errors.ParameterError, match="NOT PROVED"):
        iopt.verify(qp, {"ray": [1.0, 0.0]}).save("proof.json")


PLAIN: dict[str, tuple[Document, Document]] = {
    # -x for x ≥ 0 along (1,).
    "unbounded": (
        {"H": [[0]], "cost": [-1], "lower": [0], "upper": [None], "rows": [], "row_lower": [],
         "row_upper": []},
        {"direction": [[1, 1]], "start": [[0, 1]]},
    ),
    # One point with y = 1, K₀ = 1 and K = FFᵀ = 1 at z = 0: the bound is -C.
    "proxy": (
        {"K": [[1]], "y": [1], "C": 3, "rho": 2},
        {"factor": [[1]], "point": [0], "offset": 0},
    ),
    # x₁ + 2x₂ for x₁ + x₂ ≥ 1 and 0 ≤ x: with the multiplier 1 the bound is 1.
    "linear": (
        {"cost": [1, 2], "lower": [0, 0], "upper": [None, None], "rows": [[[0, 1], [1, 1]]],
         "row_lower": [1], "row_upper": [None]},
        {"multipliers": [[1, 1]]},
    ),
    # ½x² - 2x + y for x ≤ 1 and 0 ≤ y: the slope at 1 is (-1, 1), and ½(x - 1)² is left.
    "convex": (
        {"H": [[1], [0, 0]], "cost": [-2, 1], "lower": [None, 0], "upper": [1, None], "rows": [],
         "row_lower": [], "row_upper": []},
        {"multipliers": [], "point": [1, 7], "strength": [0.5, 0]},
    ),
}  # fmt: skip
"""A program and its proof, of each kind."""


def plain(kind: str, changes: Document, claim: float = -1000) -> Document:
    """The document of that kind, with parts of program and proof changed or, by None, left out."""
    program, proof = PLAIN[kind]
    parts = {k: v for k, v in {**program, **changes}.items() if v is not None and k not in proof}
    return {
        "format": proof_checker.FORMAT, "kind": kind, "claim": claim, "objective": MINIMUM,
        "program": parts, "proof": {k: changes.get(k, v) for k, v in proof.items()},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "changes", "words"),
    [
        ("unbounded", {"cost": [0]}, "does not fall"),
        ("unbounded", {"cost": [1]}, "does not fall"),
        ("unbounded", {"H": [[1]]}, "does not fall"),
        ("unbounded", {"H": [[1]], "cost": [0]}, "does not fall"),
        ("unbounded", {"start": [[-1, 1]]}, "a lower end"),
        ("unbounded", {"direction": [[-1, 1]], "cost": [1]}, "a lower end"),
        ("unbounded", {"upper": [5]}, "an upper end"),
        ("unbounded", {"lower": [None], "upper": [5], "start": [[6, 1]], "direction": [[-1, 1]],
                       "cost": [1]}, "an upper end"),
        ("unbounded", {"rows": [[[0, 1]]], "row_lower": [None], "row_upper": [5]}, "an upper end"),
        ("unbounded", {"rows": [[[0, -1]]], "row_lower": [-5], "row_upper": [None]}, "a lower end"),
        ("unbounded", {"rows": [[[0, 1]]], "row_lower": [1], "row_upper": [None]}, "a lower end"),
        ("unbounded", {"rows": [[[0, -1]]], "row_lower": [None], "row_upper": [-1]},
         "an upper end"),
        ("unbounded", {"cost": [-1, 0]}, "another length"),
        ("unbounded", {"direction": [[1, 1], [0, 1]]}, "another length"),
        ("unbounded", {"start": [[0, 1], [0, 1]]}, "another length"),
        ("unbounded", {"H": [[0], [0, 0]]}, "another length"),
        ("unbounded", {"H": [[1, 2], [3]]}, "lower triangle"),
        ("unbounded", {"H": [[0, 1]]}, "lower triangle"),
        ("unbounded", {"H": [[]]}, "lower triangle"),
        ("unbounded", {"H": [[1], [2]]}, "lower triangle"),
        ("proxy", {"C": -1}, "C or rho is negative"),
        ("proxy", {"rho": -1}, "C or rho is negative"),
        ("proxy", {"factor": [[2]], "rho": None, "radius": 8}, "not in the ball"),
        ("proxy", {"y": [1, 1]}, "another length"),
        ("proxy", {"K": [[1], [0, 1]]}, "another length"),
        ("proxy", {"factor": [[1], [1]]}, "another length"),
        ("proxy", {"point": [0, 0]}, "another length"),
        ("proxy", {"rho": None}, "not in the ball"),
        # A multiplier of an end that is not there.
        ("linear", {"multipliers": [[2, 1]]}, "an end is missing"),
        ("linear", {"multipliers": [[-1, 1]]}, "an end is missing"),
        ("linear", {"lower": [None, 0], "multipliers": [[0, 1]]}, "an end is missing"),
        ("convex", {"strength": [1.001, 0]}, "not convex"),
        ("convex", {"strength": [1.5, 0], "lower": [0, 0]}, "not convex"),
        ("convex", {"H": [[-1], [0, 0]]}, "not convex"),
        ("convex", {"H": [[1], [2, 0]]}, "not convex"),
        ("convex", {"strength": [-1, 0]}, "an end is missing"),
        ("convex", {"upper": [None, None], "strength": [0, 0]}, "an end is missing"),
        ("convex", {"lower": [None, None]}, "an end is missing"),
        ("convex", {"cost": [-2, -1]}, "an end is missing"),
        ("convex", {"strength": [0.5]}, "another length"),
        ("convex", {"point": [1]}, "another length"),
        ("convex", {"H": [[1]]}, "another length"),
        ("convex", {"cost": [-2, 1, 1]}, "another length"),
        ("convex", {"multipliers": [[1, 1]]}, "malformed"),
    ],
)  # fmt: skip
def test_each_condition_of_a_proof(kind: str, changes: Document, words: str) -> None:
    with pytest.raises(FailedProof, match=words):
        proof_checker.check(plain(kind, changes))


@pytest.mark.parametrize("sense", [2, 0, -2])
def test_a_sense_is_one_of_two(sense: int) -> None:
    with pytest.raises(FailedProof, match="neither 1 nor -1"):
        proof_checker.check(plain("linear", {}, 1) | {"objective": {**MINIMUM, "sense": sense}})


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"H": [[-1]], "cost": [1]},
        {"H": [[-1]], "cost": [0]},
        {"lower": [None], "upper": [0], "direction": [[-1, 3]], "cost": [2]},
        {"rows": [[[0, 1]]], "row_lower": [0], "row_upper": [None]},
        {"rows": [[[0, -1]]], "row_lower": [None], "row_upper": [0]},
        {"rows": [[]], "row_lower": [0], "row_upper": [0]},
        {"start": [[7, 2]]},
    ],
)
def test_what_is_unbounded_passes(changes: Document) -> None:
    document = plain("unbounded", changes)
    assert proof_checker.check(document)[0] == "unbounded"
    with pytest.raises(FailedProof, match="the format is not"):
        proof_checker.check({**document, "format": "another"})


@pytest.mark.parametrize(
    ("kind", "bound", "changes"),
    [
        ("proxy", -3, {}),
        # -½·1·1 - 3·max(1 - 1, 0)
        ("proxy", -0.5, {"point": [1]}),
        # The distance is 4 - 1 = 3: -(2·3² + 3).
        ("proxy", -21, {"factor": [[2]]}),
        ("proxy", -3, {"factor": [[2]], "rho": None, "radius": 9}),
        ("proxy", 0, {"C": 0, "rho": 0}),
        # 1 - (0 + 1) = 0 and 1 - (0 - 1) = 2.
        ("proxy", 0, {"offset": 1}),
        ("proxy", -6, {"offset": -1}),
        ("linear", 1, {}),
        ("linear", 0.5, {"multipliers": [[1, 2]]}),
        ("linear", 0, {"multipliers": [[0, 1]]}),
        # x₁ ≤ ½ and reduced costs of -1 and 0: 2 - ½.
        ("linear", 1.5, {"multipliers": [[2, 1]], "upper": [0.5, None]}),
        ("linear", -1, {"cost": [-1, -1], "multipliers": [[-1, 1]], "row_upper": [1],
                        "row_lower": [None]}),
        ("linear", 3, {"lower": [1, 1], "multipliers": [[0, 1]]}),
        ("convex", -1.5, {}),
        # A negative strength costs ½·1·(0 - 1)² at the other end, where the slope -1 gains 1.
        ("convex", -1.5, {"lower": [0, 0], "strength": [-1, 0]}),
        # x ≥ 1 as a row with the multiplier 2 of ½x² + x, whose tangent at 1 has the slope 2.
        ("convex", 1.5, {"cost": [1, 0], "rows": [[[0, 1]]], "row_lower": [1], "row_upper": [None],
                         "multipliers": [[2, 1]], "upper": [None, None], "lower": [None, None]}),
    ],
)  # fmt: skip
def test_the_bound_of_a_proof(kind: str, bound: float, changes: Document) -> None:
    assert proof_checker.check(plain(kind, changes, bound))[0] == bound
    with pytest.raises(FailedProof, match="is claimed"):
        proof_checker.check(plain(kind, changes, bound + 2.0**-40))


@pytest.mark.parametrize(
    ("bound", "changes"),
    [
        # The tangent of ½x² at 1.5 leaves -x/2 - 1.125, and ¼(x - 1.5)² adds to it at the end 1.
        (-0.5 - 1.125 + 0.0625, {"point": [1.5, 0]}),
        # Without that end the least of -x/2 + ¼(x - 1.5)² is at 2.5.
        (-1.25 - 1.125 + 0.25, {"point": [1.5, 0], "upper": [None, None]}),
        # With the slope 0 at 1 a negative strength costs ½·1·(-1 - 1)² at the end -1.
        (-0.5 - 2.0, {"lower": [-1, 0], "strength": [-1, 0], "point": [1, 0], "cost": [-1, 1]}),
    ],
)
def test_curvature_counts_but_for_a_tiny_part_of_it(bound: float, changes: Document) -> None:
    short = Fraction(bound) - proof_checker.reached(plain("convex", changes))
    assert 0 < short < Fraction(1, 2**90)


@pytest.mark.parametrize("seed", range(2))
def test_variables_that_cannot_both_be_inside(seed: int) -> None:
    """Along some move of the two that the rows admit the curvature is not positive.

    Of entries a, b and b, d that are no positive definite matrix (b, -a) is such a move.
    """
    g = np.random.default_rng(seed)
    found = 0
    for _ in range(10):
        n, k = int(g.integers(1, 5)), int(g.integers(0, 3))
        H = mirrored(g.integers(-3, 4, (n, n)) + 3 * np.eye(n, dtype=int)) * 0.75
        rows = g.integers(-2, 3, (k, n)) * g.integers(0, 2, (k, n))
        data = {
            "H": [row[: i + 1] for i, row in enumerate(H.tolist())], "c": [0] * n, "rhs": [0] * k,
            "lower": [0] * n, "upper": [1] * n, "rows": rows.tolist(),
        }  # fmt: skip
        program = proof_checker.ExactProgram(proof_checker.exact(data))
        for i, j in itertools.product(range(n), repeat=2):
            moves = [(a, b) for a, b in itertools.product(range(-6, 7), repeat=2) if a or b]
            moves = [(a, 0) for a, b in moves if a] if i == j else moves
            curved = [
                a * a * H[i, i] + b * b * H[j, j] + 2 * a * b * H[i, j]
                for a, b in moves
                if not np.any(a * rows[:, i] + b * rows[:, j])
            ]
            alone = i != j and (np.any(rows[:, i]) != np.any(rows[:, j]))
            concave = i != j and max(H[i, i], H[j, j]) < 0.0 and not np.any(rows[:, [i, j]])
            if program.exclusive(i, j):
                found += 1
                assert min(curved) <= 0.0
            elif not (alone or concave):
                assert min(curved, default=1.0) > 0.0
    assert found > 3


@pytest.mark.parametrize("seed", range(4))
def test_what_is_semidefinite_up_to_rounding_passes(seed: int) -> None:
    """M = VVᵀ + 2⁻⁹⁰I with V of rank 2: M + εI, ε = (m² + m)·max|M|·2⁻¹⁰⁰, by exact pivots."""
    g = np.random.default_rng(seed)
    m = int(g.integers(1, 6))
    V = [[Fraction(int(entry), 3) for entry in row] for row in g.integers(-4, 5, (m, 2))]
    M = [
        [dot(one, other) + Fraction(i == j, 2**90) for j, other in enumerate(V)]
        for i, one in enumerate(V)
    ]
    epsilon = proof_checker.rounding(M)
    assert epsilon == (m * m + m) * max(abs(entry) for row in M for entry in row) / 2**100
    assert is_psd([[a + epsilon * (i == j) for j, a in enumerate(row)] for i, row in enumerate(M)])


@pytest.mark.parametrize(
    "M",
    [
        [[-1]],
        [[0, 1], [1, 0]],
        [[1, 2], [2, 1]],
        [[0, 0], [0, -1]],
        # All minors of order 2 are positive.
        [[10, 9, 9], [9, 10, 0], [9, 0, 10]],
        [[10, 0, 9, 0], [0, 1, 0, 0], [9, 0, 10, 9], [0, 0, 9, 10]],
    ],
)
def test_what_is_not_semidefinite_is_refused(M: Any) -> None:
    with pytest.raises(FailedProof, match="not convex"):
        proof_checker.rounding([[Fraction(entry) for entry in row] for row in M])
