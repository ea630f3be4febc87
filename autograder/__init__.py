"""Grades exercises written in PyTorch, running every submission apart from its tests.

The engine knows no assignment: what is asked stands in `assignments/`, what is
right in `solutions/`. Importing this package imports nothing else.
"""

__version__ = "1.0.0"
