"""GRPO on a softmax bandit of Bernoulli arms with Numba: a peer of `make bench`.

Compiled loops, one replica after another, in parallel over replicas (prange).
Groups of up to FEW are drawn sample by sample, larger ones as counts: inversion,
or BTRS where inversion is slow. (numpy.random.binomial as Numba compiles it fails
where q^n underflows.) The process is that of bench/peers/README.md.
"""

import math
import time

import numba
import numpy as np

import peer

FAST = {"fastmath": True, "error_model": "numpy", "cache": True}
FEW = 16  # so many samples at most are drawn one by one


@numba.njit(**FAST)
def one_by_one(n, p):
    k = 0
    for _ in range(n):
        if np.random.random() < p:
            k += 1
    return k


@numba.njit(**FAST)
def inversion(n, p):
    q = 1 - p
    odds = p / q
    mass = q**n
    u = np.random.random()
    k = 0
    while u > mass and k < n:
        u -= mass
        k += 1
        mass *= odds * (n - k + 1) / k
    return k


# What Stirling's formula for log k! lacks, k < 10.
STIRLING_REST = np.array([
    0.08106146679532726, 0.04134069595540929, 0.02767792568499834, 0.02079067210376509, 0.01664469118982119,
    0.01387612882307075, 0.01189670994589177, 0.01041126526197209, 0.009255462182712733, 0.008330563433362871,
])


@numba.njit(**FAST)
def stirling_rest(k):
    if k < 10:
        return STIRLING_REST[k]
    r = 1 / ((k + 1) * (k + 1))
    return (1 / 12 - (1 / 360 - 1 / 1260 * r) * r) / (k + 1)


@numba.njit(**FAST)
def btrs(n, p):
    """Transformed rejection with squeeze (Hörmann 1993), np >= 10."""
    spq = math.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spq
    a = -0.0873 + 0.0248 * b + 0.01 * p
    while True:
        u = np.random.random() - 0.5
        v = np.random.random()
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + n * p + 0.5)
        if us >= 0.07 and v <= 0.92 - 4.2 / b:
            return k
        if k < 0 or k > n:
            continue
        r = p / (1 - p)
        m = math.floor((n + 1) * p)
        v = math.log(v * (2.83 + 5.1 / b) * spq / (a / (us * us) + b))
        bound = (
            (m + 0.5) * math.log((m + 1) / (r * (n - m + 1)))
            + (n + 1) * math.log((n - m + 1) / (n - k + 1))
            + (k + 0.5) * math.log(r * (n - k + 1) / (k + 1))
            + stirling_rest(m) + stirling_rest(n - m) - stirling_rest(k) - stirling_rest(n - k)
        )
        if v <= bound:
            return k


@numba.njit(**FAST)
def low_binomial(n, p):
    return inversion(n, p) if n * p < 10 else btrs(n, p)


@numba.njit(**FAST)
def binomial(n, p):
    if n <= FEW:
        return one_by_one(n, p)
    return low_binomial(n, p) if p <= 0.5 else n - low_binomial(n, 1 - p)


@numba.njit(**FAST)
def advantages(rewarded, size, scaled):
    """The advantages of a reward and of none, over the group size."""
    if rewarded == 0 or rewarded == size:
        return 0.0, 0.0
    mean = rewarded / size
    share = 1 / size
    if scaled:
        share /= math.sqrt(mean * (1 - mean))
    return share * (1 - mean), -share * mean


@numba.njit(parallel=True, **FAST)
def two_arms(means, size, interval, ratio, scaled, momentum, rate, kl, steps, burn_in, replicas, seed):
    """Only z = θ_1 − θ_0 moves. Returns each replica's time averages of z and z²."""
    x, square = np.zeros(replicas), np.zeros(replicas)
    for i in numba.prange(replicas):
        np.random.seed((seed * 1_000_003 + i) % 2**32)
        m1, m0 = means
        z, velocity, old, sum_x, sum_square = 0.0, 0.0, 0.0, 0.0, 0.0
        for t in range(steps):
            p = 1 / (1 + math.exp(-z))
            if t % interval == 0:
                old = p
            if t >= burn_in:
                sum_x += z
                sum_square += z * z
            n1, k1, k0 = 0, 0, 0
            if size <= FEW:  # which of the four outcomes each sample has
                first_rewarded, rewarded = old * m1, old + (1 - old) * m0
                for _ in range(size):
                    u = np.random.random()
                    k1 += u < first_rewarded
                    n1 += u < old
                    k0 += u < rewarded
                k0 -= n1
            else:
                n1 = binomial(size, old)
                k1 = binomial(n1, m1)
                k0 = binomial(size - n1, m0)
            high, low = advantages(k1 + k0, size, scaled)
            a1, a0 = high * k1 + low * (n1 - k1), high * k0 + low * (size - n1 - k0)
            if ratio:
                a1 *= p / old
                a0 *= (1 - p) / (1 - old)
            velocity = momentum * velocity + 2 * ((1 - p) * a1 - p * a0 - kl * p * (1 - p) * z)
            z += rate * velocity
        x[i], square[i] = sum_x / (steps - burn_in), sum_square / (steps - burn_in)
    return x, square


@numba.njit(**FAST)
def draw_group(size, old, means, count, rewarded):
    arms = len(means)
    if size <= FEW:
        count[:] = 0
        rewarded[:] = 0
        for _ in range(size):
            u = np.random.random()
            a = 0
            while a < arms - 1 and u >= old[a]:
                u -= old[a]
                a += 1
            count[a] += 1
            rewarded[a] += u < old[a] * means[a]
        return
    left, rest = size, 1.0
    for a in range(arms):
        count[a] = left if a == arms - 1 or old[a] >= rest else binomial(left, old[a] / rest)
        rewarded[a] = binomial(count[a], means[a])
        left -= count[a]
        rest -= old[a]


@numba.njit(parallel=True, **FAST)
def many_arms(means, size, interval, ratio, scaled, momentum, rate, kl, steps, burn_in, replicas, seed):
    """Any number of arms. Returns each replica's time averages of J and J²."""
    x, square = np.zeros(replicas), np.zeros(replicas)
    arms = len(means)
    for i in numba.prange(replicas):
        np.random.seed((seed * 1_000_003 + i) % 2**32)
        logit, velocity, p, old, force = np.zeros(arms), np.zeros(arms), np.zeros(arms), np.zeros(arms), np.zeros(arms)
        count, rewarded = np.zeros(arms, np.int64), np.zeros(arms, np.int64)
        sum_x, sum_square = 0.0, 0.0
        for t in range(steps):
            norm = 0.0
            for a in range(arms):
                p[a] = math.exp(logit[a])  # of the order of 1: the penalty holds the logits
                norm += p[a]
            reward, pull = 0.0, 0.0
            for a in range(arms):
                p[a] /= norm
                reward += p[a] * means[a]
                pull += p[a] * logit[a]
            if t % interval == 0:
                old[:] = p
            if t >= burn_in:
                sum_x += reward
                sum_square += reward * reward
            draw_group(size, old, means, count, rewarded)
            successes = 0
            for a in range(arms):
                successes += rewarded[a]
            high, low = advantages(successes, size, scaled)
            total = 0.0
            for a in range(arms):
                force[a] = high * rewarded[a] + low * (count[a] - rewarded[a])
                if ratio:
                    force[a] *= p[a] / old[a]
                total += force[a]
            for a in range(arms):
                force[a] -= p[a] * (total + kl * (logit[a] - pull))
                velocity[a] = momentum * velocity[a] + force[a]
                logit[a] += rate * velocity[a]
        x[i], square[i] = sum_x / (steps - burn_in), sum_square / (steps - burn_in)
    return x, square


def main():
    c = peer.case()
    numba.set_num_threads(c.workers)
    simulate = two_arms if len(c.means) == 2 else many_arms

    def run(steps, burn_in):
        return simulate(
            c.means, c.group_size, c.interval, c.importance == "ratio", c.scale == "std",
            c.momentum, c.learning_rate, c.kl, steps, burn_in, c.replicas, c.seed,
        )

    run(2, 1)  # compiles
    start = time.perf_counter()
    x, square = run(c.steps, c.burn_in)
    peer.report(c, time.perf_counter() - start, x, square)


main()
