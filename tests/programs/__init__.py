"""Random programs, right and wrong, written as students write: one choice for each step.

`attention`, `encoding` and `block` each write one of the three files. A writer is given `choose`,
which picks one of several ways that come to the same, and the wrong choices to make.
"""
