"""What the peers in Python share: the case they are given, what they print, and
the dynamics of those in NumPy, which differ in how they draw groups only."""

import argparse
import json
import time

import numpy as np


def case():
    p = argparse.ArgumentParser()
    p.add_argument("--means", type=lambda text: np.array([float(x) for x in text.split(",")]), required=True)
    p.add_argument("--importance", choices=["none", "ratio"], required=True)
    p.add_argument("--scale", choices=["none", "std"], required=True)
    for flag in ["--group-size", "--interval", "--steps", "--burn-in", "--replicas", "--seed", "--workers"]:
        p.add_argument(flag, type=int, required=True)
    for flag in ["--momentum", "--learning-rate", "--kl"]:
        p.add_argument(flag, type=float, required=True)
    return p.parse_args()


def report(c, seconds, x, square):
    """Prints the time, and from each replica's time averages of x and x² the mean
    and variance of x with their standard errors over replicas."""
    mean = x.mean()
    about = square - 2 * mean * x + mean * mean

    def error(values):
        return values.std(ddof=1) / np.sqrt(len(values))

    print(json.dumps({
        "seconds": seconds, "steps": c.steps, "replicas": c.replicas,
        "mean": mean, "mean_error": error(x), "variance": about.mean(), "variance_error": error(about),
    }))


def run_vectorised(draw_two, draw_many):
    """Runs the case with all replicas at once and reports it."""
    c = case()
    if c.workers != 1:
        raise SystemExit("NumPy draws with one worker")
    rng = np.random.Generator(np.random.SFC64(c.seed))  # the fastest it has
    start = time.perf_counter()
    x, square = two_arms(c, rng, draw_two) if len(c.means) == 2 else many_arms(c, rng, draw_many)
    report(c, time.perf_counter() - start, x / (c.steps - c.burn_in), square / (c.steps - c.burn_in))


def advantages(rewarded, size, scale):
    """The advantages of a reward and of none, over the group size."""
    mean = rewarded / size
    if scale == "none":
        share = 1 / size
    else:  # 0 where all rewards are equal
        deviation = np.sqrt(mean * (1 - mean))
        share = np.divide(1 / size, deviation, out=np.zeros_like(mean), where=deviation > 0)
    low = share * mean
    return share - low, -low


def two_arms(c, rng, draw):
    """Only z = θ_1 − θ_0 moves. Returns each replica's sums of z and z²."""
    z, velocity, x, square = np.zeros((4, c.replicas))
    for t in range(c.steps):
        p = 1 / (1 + np.exp(-z))
        if t % c.interval == 0:
            old = p
        if t >= c.burn_in:
            x += z
            square += z * z
        n1, n0, k1, k0 = draw(rng, c.group_size, old, c.means)
        high, low = advantages(k1 + k0, c.group_size, c.scale)
        a1, a0 = high * k1 + low * (n1 - k1), high * k0 + low * (n0 - k0)
        q = 1 - p
        if c.importance == "ratio":
            a1 *= p / old
            a0 *= q / (1 - old)
        velocity = c.momentum * velocity + 2 * (q * a1 - p * a0 - c.kl * p * q * z)
        z += c.learning_rate * velocity
    return x, square


def many_arms(c, rng, draw):
    """Any number of arms. Returns each replica's sums of J and J²."""
    x, square = np.zeros((2, c.replicas))
    logits, velocity = np.zeros((2, c.replicas, len(c.means)))
    for t in range(c.steps):
        p = np.exp(logits)  # of the order of 1: the penalty holds the logits
        p /= p.sum(axis=1, keepdims=True)
        if t % c.interval == 0:
            old = p
        if t >= c.burn_in:
            reward = p @ c.means
            x += reward
            square += reward * reward
        count, rewarded = draw(rng, c.group_size, old, c.means)
        high, low = advantages(rewarded.sum(axis=1, keepdims=True), c.group_size, c.scale)
        force = high * rewarded + low * (count - rewarded)
        if c.importance == "ratio":
            force *= p / old
        pull = (p * logits).sum(axis=1, keepdims=True)
        force -= p * (force.sum(axis=1, keepdims=True) + c.kl * (logits - pull))
        velocity = c.momentum * velocity + force
        logits += c.learning_rate * velocity
    return x, square
