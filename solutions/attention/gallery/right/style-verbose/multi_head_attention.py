import math

import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    """
    Multi-head self-attention.

    What happens, in my own words:
      (1) every token asks a question (query), offers a label (key) and a content (value)
      (2) queries are compared with labels, which gives scores
      (3) scores become weights
      (4) contents are averaged with these weights
      (5) this is done several times side by side ("heads")
    """

    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model = {d_model} cannot be split into {num_heads} equal heads")
        self.h = num_heads
        self.d_k = d_model // num_heads
        self.Wq = nn.Linear(d_model, d_model)
        self.Wk = nn.Linear(d_model, d_model)
        self.Wv = nn.Linear(d_model, d_model)
        self.Wo = nn.Linear(d_model, d_model)

    # ------------------------------------------------------------------
    # step 1
    # ------------------------------------------------------------------
    def _project_to_queries(self, tokens):
        projected_queries = self.Wq(tokens)
        return projected_queries

    def _project_to_keys(self, tokens):
        projected_keys = self.Wk(tokens)
        return projected_keys

    def _project_to_values(self, tokens):
        projected_values = self.Wv(tokens)
        return projected_values

    # ------------------------------------------------------------------
    # reshaping
    # ------------------------------------------------------------------
    def _separate_the_heads(self, projected):
        batch_size = projected.shape[0]
        sequence_length = projected.shape[1]
        with_head_axis = projected.reshape(batch_size, sequence_length, self.h, self.d_k)
        head_axis_second = with_head_axis.permute(0, 2, 1, 3)
        return head_axis_second

    def _glue_the_heads(self, separated):
        batch_size = separated.shape[0]
        sequence_length = separated.shape[2]
        head_axis_third = separated.permute(0, 2, 1, 3)
        glued = head_axis_third.reshape(batch_size, sequence_length, self.h * self.d_k)
        return glued

    # ------------------------------------------------------------------
    # steps 2, 3, 4
    # ------------------------------------------------------------------
    def _compute_scores(self, queries, keys):
        keys_transposed = keys.permute(0, 1, 3, 2)
        raw_scores = torch.matmul(queries, keys_transposed)
        square_root_of_head_size = math.sqrt(self.d_k)
        scaled_scores = raw_scores / square_root_of_head_size
        return scaled_scores

    def _scores_to_weights(self, scores):
        softmax_function = nn.Softmax(dim=-1)
        weights = softmax_function(scores)
        return weights

    def _average_values(self, weights, values):
        averaged_values = torch.matmul(weights, values)
        return averaged_values

    def forward(self, x):
        # step 1
        projected_queries = self._project_to_queries(x)
        projected_keys = self._project_to_keys(x)
        projected_values = self._project_to_values(x)
        queries = self._separate_the_heads(projected_queries)
        keys = self._separate_the_heads(projected_keys)
        values = self._separate_the_heads(projected_values)
        # steps 2, 3 and 4, for all heads at once (this is step 5)
        scores = self._compute_scores(queries, keys)
        weights = self._scores_to_weights(scores)
        averaged_values = self._average_values(weights, values)
        glued = self._glue_the_heads(averaged_values)
        # the final projection lets the heads talk to each other
        output = self.Wo(glued)
        return output
