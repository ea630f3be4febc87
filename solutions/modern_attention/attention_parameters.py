"""What attention costs: the parameters of the attention layers of a whole model."""


def attention_parameters(
    d_model: int, num_heads: int, num_kv_heads: int, num_layers: int, bias: bool
) -> int:
    """Count what can be trained in the attention layers of a Transformer.

    Every layer has four projections, as in `GroupedQueryAttention(d_model, num_heads,
    num_kv_heads)`: from `d_model` features to `d_model` for queries, to `num_kv_heads * d_k` for
    keys and for values, and from `d_model` to `d_model` for the output. With `bias`, each has
    one number more for each feature that it makes.

    Not counted: embeddings, positions, normalisation, feed-forward layers, the output layer.

    Args:
        d_model: number of features of a token.
        num_heads: number of heads of queries; it divides `d_model`.
        num_kv_heads: number of heads of keys and values; it divides `num_heads`.
        num_layers: number of layers, each with one attention.
        bias: whether the projections have biases.

    Returns:
        A Python int, exact: for large models a float32 is not.

    Raises:
        Nothing of its own; sizes that do not divide are outside the contract.

    Source: Vaswani et al. (2017), section 3.2.2; Ainslie et al. (2023), section 2.2.
    """
    # BEGIN SOLUTION
    d_kv = num_kv_heads * (d_model // num_heads)  # features of all keys, and of all values
    per_layer = 2 * d_model * d_model + 2 * d_model * d_kv
    if bias:
        per_layer += 2 * d_model + 2 * d_kv
    return num_layers * per_layer
    # END SOLUTION
