"""Gives something else each time where a module is expected."""

import itertools

import torch

COUNT = itertools.count()


class Thing:
    def __getattr__(self, name):
        return lambda *args, **kwargs: self

    __call__ = __getattr__


def MultiHeadAttention(d_model, num_heads):
    return (None, torch.ones(2), Thing(), 3.5, "text", (1, 2), {"a": 1}, [])[next(COUNT) % 8]
