"""The compiler of the loops: all C++ files of `indefinite_opt/core` make one library a build.

    python build_tools/compiler.py                    the libraries of an editable installation
    python build_tools/compiler.py --output FOLDER    the same, in another folder
    python build_tools/compiler.py --checked FOLDER   a library for tests, which checks every access
    python build_tools/compiler.py --wheels FOLDER    the wheels of all platforms in `TARGETS`

The environment variable CC names the compiler and its first arguments, such as "clang" or "python
-m ziglang cc", and CFLAGS adds arguments. Without CC it is gcc, clang or cc, whichever the machine
has, and on Windows or without any of them the Python package ziglang. WHEEL_PLATFORM names another
platform of `TARGETS`, for which ziglang compiles; a compiler that CC names has to do so as well.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORE = Path("indefinite_opt", "core")

ZIG = "ziglang==0.15.2"
"""Not yet a version 1, so that another one may understand its arguments differently."""

NAMES = ("gcc", "clang", "cc")

TARGETS = {
    "manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
    "musllinux_1_2_x86_64": "x86_64-linux-musl",
    "musllinux_1_2_aarch64": "aarch64-linux-musl",
    "macosx_11_0_x86_64": "x86_64-macos.11.0",
    "macosx_11_0_arm64": "aarch64-macos.11.0",
    "win_amd64": "x86_64-windows-gnu",
    "win_arm64": "aarch64-windows-gnu",
}
"""The platforms of the wheels, and their names for ziglang."""

MEANING = (
    "-std=c++17 -shared -fopenmp-simd -ffp-contract=off -fno-math-errno -fno-trapping-math "
    "-fno-signed-zeros -fno-exceptions -fno-rtti -fvisibility=hidden -Wno-psabi"
)
"""Minima and maxima may be vectorised. Nothing else may be reordered, and no product is contracted
with a sum, so that every compiler and processor computes the same numbers."""

CHECKED = (
    "-O1 -g -DCHECK_BOUNDS -fsanitize=address,undefined -fno-sanitize-recover=all "
    "-fno-omit-frame-pointer -Wall -Wextra -Wno-class-conversion -Wno-psabi -Werror"
)

LEVELS = {
    "zig": {"generic": ["-mcpu=x86_64"], "avx2": ["-mcpu=x86_64_v3-fma"]},
    "other": {"generic": ["-march=x86-64"], "avx2": ["-march=x86-64-v3", "-mno-fma"]},
}
"""The builds for x86-64. gcc 12 contracts rotations in spite of -ffp-contract=off where there are
such instructions, so the second build uses none of them."""


def wheel_platform() -> str:
    """WHEEL_PLATFORM, or this platform, where possible as `TARGETS` spells it."""
    given = os.environ.get("WHEEL_PLATFORM", "")
    if given:
        return given
    machine = platform.machine()
    if platform.system() == "Linux":
        libc = "manylinux_2_17" if platform.libc_ver()[0] == "glibc" else "musllinux_1_2"
        return f"{libc}_{machine}"
    if platform.system() == "Darwin":
        return f"macosx_11_0_{machine}"
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def uses_path() -> bool:
    """Whether the compilers of this machine serve: not on Windows, nor for another platform."""
    return platform.system() != "Windows" and os.environ.get("WHEEL_PLATFORM") not in TARGETS


def command() -> list[str]:
    """The compiler, see above. It is ziglang, too, where it has to be installed first."""
    given = shlex.split(os.environ.get("CC", ""), posix=os.name == "posix")
    if given:
        return [sys.executable if part == "python" else part for part in given]
    for name in NAMES if uses_path() else ():
        if shutil.which(name):
            return [name]
    return [sys.executable, "-m", "ziglang", "cc"]


def is_zig(compiler: list[str]) -> bool:
    return "ziglang" in compiler or Path(compiler[0]).stem == "zig"


def is_clang(compiler: list[str]) -> bool:
    """Whether it says so; the command gcc of macOS does."""
    try:
        said = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise SystemExit(failure(compiler, str(error))) from None
    return "clang" in said.stdout


def tag(usual: str) -> str:
    """The platform in the name of a wheel: `usual` if its libraries need the libc of this Linux."""
    wanted = wheel_platform()
    portable = platform.system() == "Darwin" or (is_zig(command()) and wanted in TARGETS)
    return wanted if portable or os.environ.get("WHEEL_PLATFORM") else usual


def failure(arguments: list[str], reason: str) -> str:
    """What an error says: the platform, what was tried, and the command."""
    given = os.environ.get("CC")
    tried = f"CC, which is {given!r}" if given else "gcc, clang and cc in PATH, then ziglang"
    if not given and not uses_path():
        tried = "ziglang alone, which compiles for that platform"
    return (
        f"The loops were not compiled for {wheel_platform()}, on {platform.system()} with "
        f"{platform.machine()}: {reason}.\nTried: {tried}.\nThe command: {shlex.join(arguments)}"
    )


def checksum() -> int:
    """A number for what is compiled, by which `library.py` recognises other sources."""
    files = sorted([*(ROOT / CORE).glob("*.cpp"), *(ROOT / CORE).glob("*.h")])
    return functools.reduce(lambda found, path: zlib.crc32(path.read_bytes(), found), files, 0)


def compile_library(compiler: list[str], flags: list[str], made: Path) -> None:
    """Make one library, which takes the place of an older one only when it is complete."""
    sources = sorted(path.name for path in (ROOT / CORE).glob("*.cpp"))
    flags = [
        *MEANING.split(),
        f"-DSOURCES={checksum()}u",
        *flags,
        *os.environ.get("CFLAGS", "").split(),
    ]
    if not wheel_platform().startswith("win"):
        flags += ["-fPIC", "-lm"]
    made.parent.mkdir(parents=True, exist_ok=True)
    # Linkers for Windows write further files beside the library.
    with tempfile.TemporaryDirectory(dir=made.parent) as folder:
        library = Path(folder, made.name)
        arguments = [*compiler, *sources, *flags, "-o", str(library.resolve())]
        if "ziglang" in compiler and importlib.util.find_spec("ziglang") is None:
            raise SystemExit(failure(arguments, f"{ZIG} is not installed"))
        try:
            code = subprocess.run(arguments, cwd=ROOT / CORE, check=False).returncode
        except OSError as error:
            raise SystemExit(failure(arguments, str(error))) from None
        if code != 0:
            raise SystemExit(failure(arguments, f"the compiler ended with exit code {code}"))
        library.replace(made)


def build(folder: Path) -> None:
    """Make the libraries of a release: the generic one, and on x86-64 the one with AVX2."""
    compiler, wanted = command(), wheel_platform()
    zig = is_zig(compiler)
    flags = ["-O3", "-g0"]
    if zig or is_clang(compiler):
        flags.append("-fno-honor-nans")
    if zig:
        target = TARGETS.get(wanted)
        flags += ["-s", "-target", target] if target else ["-s", "-mcpu=baseline"]
    elif wanted.startswith("macosx"):
        flags.append("-mmacosx-version-min=11.0")
    builds: dict[str, list[str]] = {"generic": []}
    if wanted.endswith(("x86_64", "amd64")):
        builds = LEVELS["zig" if zig else "other"]
    for name, level in builds.items():
        compile_library(compiler, [*flags, *level], folder / f"{name}.core")


def build_checked(folder: Path) -> dict[str, str]:
    """Make checked.core by gcc or clang; returns the environment in which Python can load it."""
    compiler, library = command(), folder.resolve() / "checked.core"
    if is_zig(compiler):
        raise SystemExit(failure(compiler, "ziglang has no sanitizer of addresses"))
    if is_clang(compiler):
        flags, runtimes = ["-shared-libasan"], [f"libclang_rt.asan-{platform.machine()}.so"]
    else:
        flags, runtimes = [], ["libasan.so", "libubsan.so"]
    compile_library(compiler, [*CHECKED.split(), *flags], library)
    # Without the runtime of C++ an exception in any other library would end the process.
    paths = [
        subprocess.run(
            [*compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in (*runtimes, "libstdc++.so.6")
    ]
    return {
        "INDEFINITE_OPT_CORE": str(library),
        "LD_PRELOAD": ":".join(paths),
        "ASAN_OPTIONS": "detect_leaks=0",  # Python leaves memory to the end of the process
    }


def build_wheels(folder: Path) -> None:
    """Make the wheels of all platforms, in an environment with `build` and what it builds with."""
    environment = {name: value for name, value in os.environ.items() if name != "CC"}
    for wanted in TARGETS:
        subprocess.run(
            [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder),
             str(ROOT)],
            env={**environment, "WHEEL_PLATFORM": wanted}, check=True,
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--output", type=Path, metavar="FOLDER")
    one.add_argument("--checked", type=Path, metavar="FOLDER")
    one.add_argument("--wheels", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.checked:
        for name, value in build_checked(options.checked).items():
            print(f"{name}={value}")
    elif options.wheels:
        build_wheels(options.wheels)
    else:
        build(options.output or ROOT / CORE)


if __name__ == "__main__":
    main()
