"""The atlas: formulations for indefinite kernels on many real similarities, with proofs.

`design.md` is its plan. `python -m reproduction.atlas` runs it, in the folder that holds this
package, and resumes it; CONTRIBUTING.md has the commands.

`sets.toml` lists the pairs of data and similarity, each with its source, licence and citation. The
data are read where packages or the folder of `INDEFINITE_OPT_DATA` have them; a pair whose data are
not there is skipped by name.
"""
