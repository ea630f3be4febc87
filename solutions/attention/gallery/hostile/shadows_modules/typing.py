"""Stands in the way of typing."""

open("/tmp/autograder-forged-5-typing", "w").close()


def __getattr__(name):
    return lambda *args, **kwargs: True
