"""Long campaigns: python tests/adversary/run.py --draws 50000 --seed 1"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from campaign import Campaign, Failure
from drawing import BRACKETED, FORMULATIONS, KERNELS
from hunt import Hunt
from program_hunt import ProgramHunt


def main() -> int:
    """The table of a campaign; 1 where something is false."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, help="how many problems")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first problem")
    parser.add_argument("--kernel", choices=list(KERNELS), action="append")
    parser.add_argument("--formulation", choices=list(FORMULATIONS), action="append")
    parser.add_argument(
        "--programs", action="store_true", help="quadratic programs with any rows, not kernels"
    )
    parser.add_argument(
        "--brackets", action="store_true", help="brackets of SVMDual and its like, nothing else"
    )
    parser.add_argument("--each", type=int, default=1, help="failures of each kind to print")
    chosen = parser.parse_args()
    if chosen.draws is None and chosen.seconds == float("inf"):
        parser.error("one of --draws and --seconds is needed")
    hunt: Campaign = ProgramHunt(chosen.seed, brackets_only=chosen.brackets)
    if not chosen.programs:
        kernels, formulations = chosen.kernel or KERNELS, chosen.formulation or FORMULATIONS
        if chosen.brackets:
            formulations = chosen.formulation or BRACKETED
        hunt = Hunt(chosen.seed, list(kernels), list(formulations), brackets_only=chosen.brackets)
    shown: dict[str, int] = {}

    def report(failure: Failure) -> None:
        shown[failure.what] = shown.get(failure.what, 0) + 1
        if shown[failure.what] <= chosen.each:
            print(f"{failure}\n", flush=True)

    hunt.run(chosen.seconds, chosen.draws, chosen.first, report)
    print(hunt.table())
    return 1 if hunt.failures else 0


if __name__ == "__main__":
    sys.exit(main())
