"""The wheel holds libraries that know nothing of Python: one of a platform serves every Python."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import compiler  # of the folder build_tools, which the build backend is in
from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py


class Build(build_ext):
    """Compiles the libraries for this platform beside their sources, and copies them to the wheel.

    So they are also there for Python that starts in this folder, which imports the sources.
    """

    def run(self) -> None:
        if "WHEEL_PLATFORM" in os.environ:
            compiler.build(Path(self.build_lib) / compiler.CORE)
            return
        compiler.build(compiler.ROOT / compiler.CORE)
        if not self.editable_mode:
            for library in (compiler.ROOT / compiler.CORE).glob("*.core"):
                shutil.copy(library, Path(self.build_lib) / compiler.CORE)


class Clean(build_py):
    """Nothing of an earlier build, for another platform perhaps, gets into the wheel."""

    def run(self) -> None:
        if not self.editable_mode:
            shutil.rmtree(Path(self.build_lib, "indefinite_opt"), ignore_errors=True)
        super().run()


class Wheel(bdist_wheel):
    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", compiler.tag(usual=super().get_tag()[2])


class Compiled(Distribution):
    def has_ext_modules(self) -> bool:
        return True


COMMANDS = {"build_py": Clean, "build_ext": Build, "bdist_wheel": Wheel}

setup(distclass=Compiled, cmdclass=COMMANDS)
