import torch as t, torch.nn as n
def positional_encoding(m,d):
    a=t.arange(m)[:,None]/10000**(t.arange(0,d,2)/d);return t.stack((a.sin(),a.cos()),2).view(m,d)
class EmbeddingWithPE(n.Module):
    def __init__(s,v,d,max_len=512):
        super().__init__();s.emb=n.Embedding(v,d);s.register_buffer("pe",positional_encoding(max_len,d))
    def forward(s,token_ids):return s.emb(token_ids)+s.pe[:token_ids.size(1)]
