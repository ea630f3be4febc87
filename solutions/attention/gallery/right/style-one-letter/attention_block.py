import torch.nn as n
from multi_head_attention import MultiHeadAttention as M
from positional_encoding import EmbeddingWithPE as E
class AttentionBlock(n.Module):
    def __init__(s,v,d,h,max_len=512):super().__init__();s.e,s.a=E(v,d,max_len),M(d,h)
    def forward(s,token_ids):return s.a(s.e(token_ids))
