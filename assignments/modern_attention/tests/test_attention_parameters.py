"""Public tests of exercise 6, from basic to subtle."""

import pytest
from answers import count_of
from comparison import describe, require


@pytest.mark.graded(
    points="0.5",
    title="The count is a Python int",
    hint="Which division in your formula leaves a float, and does // belong there?",
)
def test_form(submission):
    """Catches: a float, a tensor, a string. The value is not looked at."""
    count = submission.attention_parameters(12, 6, 2, 5, True)
    is_int = isinstance(count, int) and not isinstance(count, bool)
    require(is_int, f"the count is {describe(count)}; expected an int")


@pytest.mark.graded(
    points="1.5",
    title="BERT-base: 28,348,416 in attention",
    hint="Four projections in each layer: what does one nn.Linear(768, 768) hold?",
)
def test_bert(submission):
    """Catches: a projection left out, biases left out, other layers counted along."""
    count = count_of(submission, 768, 12, 12, 12, True)
    require(count == 28_348_416, f"you count {count:,}; BERT-base has 28,348,416")


@pytest.mark.graded(
    points="1",
    title="Twice the layers, twice the parameters",
    hint="Which part of your count is there only once, however many layers there are?",
)
def test_layers(submission):
    """Catches: layers that are not multiplied with, something that is counted only once."""
    one = count_of(submission, 24, 6, 3, 1, True)
    for num_layers in (2, 7):
        count = count_of(submission, 24, 6, 3, num_layers, True)
        require(
            one > 0 and count == num_layers * one,
            f"one layer has {one:,} parameters and {num_layers} layers have {count:,}",
        )


@pytest.mark.graded(
    points="1",
    title="Llama-2-7B: 2,147,483,648 in attention",
    hint="32 layers, no biases: is every digit there, or has a float rounded some away?",
)
def test_llama_2(submission):
    """Catches: the same as for BERT-base, in a model without biases; float32 arithmetic."""
    count = count_of(submission, 4096, 32, 32, 32, False)
    require(count == 2_147_483_648, f"you count {count:,}; Llama-2-7B has 2,147,483,648")
