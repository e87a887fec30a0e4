"""Setuptools, which asks for the package ziglang where the machine has no compiler."""

from __future__ import annotations

from typing import Any

import compiler
from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403


def _with_compiler(needed: list[str]) -> list[str]:
    return [*needed, compiler.ZIG] if compiler.is_zig(compiler.command()) else needed


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    return _with_compiler(build_meta.get_requires_for_build_wheel(config_settings))


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    return _with_compiler(build_meta.get_requires_for_build_editable(config_settings))
