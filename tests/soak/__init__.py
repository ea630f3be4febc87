"""Long runs that try to break the grader: `make soak` runs them all and prints figures.

`tests/test_resilience.py` runs the same in small.
"""
