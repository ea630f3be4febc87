"""Stands before the package of this name, which jsonschema then does without.

Most programs of Jupyter's import it on their way, to check addresses in other alphabets, and
building its grammar takes each of them most of a second: a fifth of what these tests take.
"""

raise ImportError("left out of tests")
