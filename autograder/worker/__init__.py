"""The untrusted side: all of ours that exists beside student code.

`zygote` is warm and forks; `box` closes a fork off; `serve` answers the grader's requests in it.
"""
