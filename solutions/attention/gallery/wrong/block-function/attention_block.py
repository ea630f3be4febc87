from multi_head_attention import MultiHeadAttention
from positional_encoding import EmbeddingWithPE


def AttentionBlock(vocab_size, d_model, num_heads, max_len=512):
    embedding = EmbeddingWithPE(vocab_size, d_model, max_len)
    attention = MultiHeadAttention(d_model, num_heads)
    return lambda token_ids: attention(embedding(token_ids))
