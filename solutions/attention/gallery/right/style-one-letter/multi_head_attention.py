import torch as t, torch.nn as n
class MultiHeadAttention(n.Module):
    def __init__(s,d,h):
        super().__init__()
        if d%h:raise ValueError(f"{d}%{h}")
        s.h,s.d_k=h,d//h
        s.Wq,s.Wk,s.Wv,s.Wo=[n.Linear(d,d) for _ in "qkvo"]
    def forward(s,x):
        q,k,v=[w(x).unflatten(2,(s.h,s.d_k)).transpose(1,2) for w in(s.Wq,s.Wk,s.Wv)]
        return s.Wo(((q@k.mT/s.d_k**.5).softmax(3)@v).transpose(1,2).flatten(2))
