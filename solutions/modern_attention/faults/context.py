"""The sizes and tensors that a computation of wrong answers works with."""

from contextlib import contextmanager


class Context:
    """Attributes that can be exchanged for a while.

    At rest they are those of the probe; a wrong program made for the graded tests brings others.
    """

    def __init__(self, **values):
        self.__dict__.update(values)

    @contextmanager
    def exchanged(self, **values):
        before = dict(self.__dict__)
        self.__dict__.update(values)
        try:
            yield
        finally:
            self.__dict__.update(before)
