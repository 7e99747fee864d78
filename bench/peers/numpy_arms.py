"""GRPO on a softmax bandit of Bernoulli arms with NumPy: a peer of `make bench`.

All replicas at once, one vector operation after another; the G arms and rewards
of every group are drawn sample by sample, so time and memory grow with G. The
process is that of bench/peers/README.md.
"""

import numpy as np

import peer


def two_arms(rng, size, old, means):
    """Samples n1, n0 of the arms of each replica, k1, k0 of them rewarded."""
    first = rng.random((len(old), size)) < old[:, None]
    rewarded = rng.random((len(old), size)) < np.where(first, means[0], means[1])
    n1 = np.count_nonzero(first, axis=1)
    k1 = np.count_nonzero(first & rewarded, axis=1)
    return n1, size - n1, k1, np.count_nonzero(rewarded, axis=1) - k1


def many_arms(rng, size, old, means):
    replicas, arms = old.shape
    until = np.cumsum(old[:, :-1], axis=1)
    arm = (rng.random((replicas, size, 1)) >= until[:, None, :]).sum(axis=2)
    rewarded = rng.random((replicas, size)) < means[arm]
    cell = (arm + arms * np.arange(replicas)[:, None]).ravel()
    count = np.bincount(cell, minlength=replicas * arms)
    rewards = np.bincount(cell, weights=rewarded.ravel(), minlength=replicas * arms)
    return count.reshape(replicas, arms), rewards.reshape(replicas, arms)


peer.run_vectorised(two_arms, many_arms)
