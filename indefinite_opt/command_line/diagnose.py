"""The command `diagnose`: what a kernel matrix is like, before anything is trained."""

from __future__ import annotations

import indefinite_opt as iopt
from indefinite_opt.command_line.options import DataOptions, Json, facts_line, with_data_options
from indefinite_opt.command_line.terminal import print_json, say


@with_data_options
def diagnose(options: DataOptions, as_json: Json = False) -> None:
    """Tell how indefinite a kernel is, and whether it suits its labels.

    The criteria are those of Haasdonk (2005, sections 7.3 and 7.4) that need no training.
    """
    problem = options.problem()
    found = iopt.theory.diagnose(problem)
    positive, negative = problem.class_sizes
    spectra = {"K": problem.spectrum, "PKP": problem.centered_spectrum}
    facts = {**options.facts(problem), "negative_share": found.negative_share}
    if as_json:
        print_json(
            {
                **facts,
                "class_sizes": {"positive": positive, "negative": negative},
                "signature": list(problem.signature),
                "class_mean_distance": found.class_mean_distance,
                "convex": problem.is_conditionally_psd,
                "spectra": {
                    name: {
                        "positive": spectrum.inertia.positive,
                        "negative": spectrum.inertia.negative,
                        "zero": spectrum.inertia.zero,
                        "smallest": spectrum.minimum,
                        "largest": spectrum.maximum,
                        "negative_share": spectrum.negative_share,
                    }
                    for name, spectrum in spectra.items()
                },
                "sentences": found.sentences,
            }
        )
        return
    say(f"{problem.name} (n = {problem.n}: {positive} of class +1, {negative} of class -1)")
    say(f"  {facts_line(facts)}")
    for name, spectrum in spectra.items():
        say(f"  eigenvalues of {name:<4} from {spectrum.minimum:.4g} to {spectrum.maximum:.4g}")
    for sentence in found.sentences:
        say(sentence)
    if problem.is_conditionally_psd:
        say("The SVM dual with a bias is convex: every stationary point is a global optimum.")
    else:
        say("The SVM dual with a bias is not convex: `bound` tells how good a point is.")
