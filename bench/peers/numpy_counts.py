"""GRPO on a softmax bandit of Bernoulli arms with NumPy: a peer of `make bench`.

All replicas at once, one vector operation after another; groups are drawn as
counts, by binomials and a multinomial. The process is that of
bench/peers/README.md.
"""

import peer


def two_arms(rng, size, old, means):
    """Samples n1, n0 of the arms of each replica, k1, k0 of them rewarded."""
    n1 = rng.binomial(size, old)
    n0 = size - n1
    return n1, n0, rng.binomial(n1, means[0]), rng.binomial(n0, means[1])


def many_arms(rng, size, old, means):
    count = rng.multinomial(size, old)
    return count, rng.binomial(count, means)


peer.run_vectorised(two_arms, many_arms)
