"""The compiled loops: one C++ file and one Python face a theme.

A face checks its arrays, calls C++ and returns numbers; nothing else calls C++. `tests/core` states
the same loops once more, in plain Python for readers.
"""
