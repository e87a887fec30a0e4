"""Builds the package together with the machine code of its compiled loops.

numba compiles loops when they are first called, which takes half a minute for all. Here they are
called before, on small problems, by two processes, and what numba compiled becomes part of the
wheel, whose name then tells platform and version of Python. Where the package is installed, machine
code of another processor, version of numba or state of the sources is not found, and the loops are
compiled as they are called; see `indefinite_opt/foundation/loop_store.py`. So a build that fails to
compile is complete, and INDEFINITE_OPT_MACHINE_CODE=0 asks for one that does not try.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

MACHINE_CODE = Path("indefinite_opt", "foundation", "machine_code")

MAX_SECONDS = 900.0
"""After this time the package is built without machine code; it takes about half a minute."""


def add_machine_code(root: Path) -> None:
    """Compile the loops of the package in the folder `root`, and put the result into it."""
    with tempfile.TemporaryDirectory() as cache:
        search = [str(root.resolve()), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            "NUMBA_CACHE_DIR": cache,
            "PYTHONPATH": os.pathsep.join(filter(None, search)),
        }
        subprocess.run(
            # -P: the package is that of `root`, not the one beside the program.
            [sys.executable, "-P", Path("typical_solves.py").resolve()],
            env=environment, cwd=root, timeout=MAX_SECONDS, check=True,
        )  # fmt: skip
        # Loops whose names begin with an underscore are part of those that call them.
        files = [
            path for path in Path(cache).rglob("*.loop")
            if not path.name.split("-")[0].rsplit(".", 1)[-1].startswith("_")
        ]  # fmt: skip
        if not files:
            raise OSError("numba has compiled nothing")
        (root / MACHINE_CODE).mkdir()
        for path in files:
            shutil.copy(path, root / MACHINE_CODE)


class BuildWithMachineCode(build_py):
    """The usual build of modules and data, and machine code beside them."""

    def run(self) -> None:
        super().run()
        root = Path() if self.editable_mode else Path(self.build_lib)
        shutil.rmtree(root / MACHINE_CODE, ignore_errors=True)
        if os.environ.get("INDEFINITE_OPT_MACHINE_CODE") == "0":
            return
        try:
            add_machine_code(root)
        except (OSError, subprocess.SubprocessError) as error:
            warnings.warn(
                f"The package has no machine code, and compiles its loops when it is used: {error}",
                stacklevel=1,
            )


class WheelOfPlatform(bdist_wheel):
    """A wheel for this platform if it holds machine code, otherwise for all."""

    def run(self) -> None:
        self.run_command("build")
        if Path(self.get_finalized_command("build_py").build_lib, MACHINE_CODE).is_dir():
            self.root_is_pure = False
            self.distribution.has_ext_modules = lambda: True
        super().run()


setup(cmdclass={"build_py": BuildWithMachineCode, "bdist_wheel": WheelOfPlatform})
