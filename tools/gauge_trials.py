"""How good is the stiffness of one batch? Trials of tools/stiffness.py, as docs/gauge.md shows them; prints JSON.

Task: a + b mod 5, 25 prompts, five answers, Bernoulli rewards of mean 0.9 for the right answer and 0.2 for others; no scale,
ratio, k3 at the current policy with β = 0.4, groups of 16. Policies: an MLP 10-48-48-5 of tanh, whose reference is its
initial state, and a transformer of one block, two heads and width 32 that reads three tokens, whose reference is trained
to give the right answer with probability 0.45. Both at the reference and at the fixed point, where π = βπ_ref/(β − m + J).

The truth is measured on every answer of every prompt, weighted by its probability, with the mean advantage
(1 − 1/16)(m − J) of a group of 16. Prompts are all 25, each with the same number of groups ("all", eight parts within every
prompt: whole groups, or samples of the one group), or 24 drawn with replacement ("drawn", eight parts of three prompts).
"""

import argparse
import copy
import json
import math

import torch

import stiffness

PROMPTS, ARMS, SIZE, BETA, PARTS, DRAWN = 25, 5, 16, 0.4, 8, 24
PAIRS = torch.tensor([[a, b] for a in range(5) for b in range(5)])
MEANS = torch.where(torch.nn.functional.one_hot(PAIRS.sum(1) % 5, 5).bool(), 0.9, 0.2).double()


class Perceptron(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(10, 48), torch.nn.Tanh(), torch.nn.Linear(48, 48), torch.nn.Tanh(), torch.nn.Linear(48, 5))

    def forward(self, prompts):
        return self.layers(torch.nn.functional.one_hot(PAIRS[prompts], 5).flatten(1).double())


class Transformer(torch.nn.Module):
    def __init__(self, width=32, heads=2):
        super().__init__()
        self.heads = heads
        self.tokens, self.places = torch.nn.Embedding(6, width), torch.nn.Embedding(3, width)
        self.first, self.second, self.last = (torch.nn.LayerNorm(width) for _ in range(3))
        self.attend, self.project = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.layers = torch.nn.Sequential(torch.nn.Linear(width, 4 * width), torch.nn.GELU(), torch.nn.Linear(4 * width, width))

    def forward(self, prompts):
        pairs = PAIRS[prompts]
        x = self.tokens(torch.cat([pairs, torch.full((len(pairs), 1), 5)], 1)) + self.places.weight
        n, length, width = x.shape
        q, k, v = (t.view(n, length, self.heads, -1).transpose(1, 2) for t in self.attend(self.first(x)).split(width, 2))
        weights = (q @ k.transpose(2, 3) / math.sqrt(width // self.heads)).masked_fill(torch.ones(length, length).triu(1).bool(), -math.inf).softmax(3)
        x = x + self.project((weights @ v).transpose(1, 2).reshape(n, length, width))
        x = x + self.layers(self.second(x))
        return self.last(x[:, -1]) @ self.tokens.weight[:ARMS].T


def fitted(model, policy):
    """A copy of the model whose policy is as given: cross-entropy, to 1e-3 of each probability."""
    model = copy.deepcopy(model)
    everything = torch.arange(PROMPTS)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3000, max_eval=6000, tolerance_grad=1e-12, tolerance_change=1e-16, history_size=50, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        value = -(policy * model(everything).log_softmax(1)).sum(1).mean()
        value.backward()
        return value

    optimizer.step(closure)
    off = float((model(everything).softmax(1) - policy).abs().max().detach())
    if off > 1e-3:
        raise SystemExit(f"the fit is off by {off}")
    return model


def at_rest(reference):
    """π = βπ_ref/(β − m + J) of every prompt: J by bisection, where the probabilities add up to 1."""
    low = (MEANS - BETA).max(1, keepdim=True).values
    high = torch.ones_like(low)
    for _ in range(200):
        middle = (low + high) / 2
        above = (BETA * reference / (BETA - MEANS + middle)).sum(1, keepdim=True) > 1
        low, high = torch.where(above, middle, low), torch.where(above, high, middle)
    return BETA * reference / (BETA - MEANS + high)


def policies():
    """Name, model and the reference policy of the four cases."""
    everything = torch.arange(PROMPTS)
    torch.manual_seed(3)
    mlp = Perceptron().double()
    start = Transformer().double()
    right = torch.where(MEANS > 0.5, 0.45, 0.55 / 4).double()
    trained = fitted(start, right)
    for name, model in [("mlp", mlp), ("transformer", trained)]:
        reference = model(everything).softmax(1).detach()
        yield name + ", reference", model, reference
        yield name + ", fixed point", fitted(model, at_rest(reference)), reference


def draw(model, groups, prompts, generator):
    """One batch in parts, each (prompts, Σ A and number of samples of every answer). The statistics are sufficient: the
    loss of equal samples is the same function."""
    chance = model(torch.arange(PROMPTS)).softmax(1).detach()
    chosen = torch.arange(PROMPTS) if prompts == "all" else torch.randint(PROMPTS, (DRAWN,), generator=generator)
    arms = torch.multinomial(chance[chosen], groups * SIZE, replacement=True, generator=generator).view(-1, groups, SIZE)
    reward = (torch.rand(arms.shape, generator=generator) < MEANS[chosen[:, None, None], arms]).double()
    gain = (reward - reward.mean(2, keepdim=True))[..., None]
    one = torch.nn.functional.one_hot(arms, ARMS).double()
    if prompts == "drawn":
        size = DRAWN // PARTS
        return [(chosen[b:b + size], (one * gain)[b:b + size].sum((1, 2)), one[b:b + size].sum((1, 2))) for b in range(0, DRAWN, size)]
    place = torch.arange(groups * SIZE).view(groups, SIZE)
    place = (place // SIZE if groups >= PARTS else place) % PARTS
    inside = [one * (place == b)[None, :, :, None] for b in range(PARTS)]
    return [(chosen, (i * gain).sum((1, 2)), i.sum((1, 2))) for i in inside]


def measured(model, reference, parts, **options):
    def log_probs(part):
        outputs = model(part[0])
        return outputs.log_softmax(1).reshape(-1), outputs

    def loss(z, q, part):
        rows, gain, count = part
        z, q = z.view(-1, ARMS), q.view(-1, ARMS)
        delta = reference[rows].log() - z
        return (-(z - q).exp() * gain + BETA * count * (delta.exp() - delta - 1)).sum() / count.sum()

    return stiffness.measure(model, parts, log_probs, loss, keep=True, **options)


def exact(model, reference, **options):
    chance = model(torch.arange(PROMPTS)).softmax(1).detach()
    advantage = (1 - 1 / SIZE) * (MEANS - (chance * MEANS).sum(1, keepdim=True))
    part = (torch.arange(PROMPTS), chance * advantage, chance)
    return measured(model, reference, [part, part], tolerance=1e-8, products=60, **options)


def summary(values, truth):
    """The ratio to the truth, and of how many batches the truth lies within two errors, as measured and less the bias."""
    ratios = torch.tensor([v["value"] / truth for v in values]).double()
    errors = torch.tensor([v["error"] / truth for v in values]).double()
    biases = torch.tensor([v["bias"] / truth for v in values]).double()
    return {
        "truth": truth, "ratio": float(ratios.mean()), "deviation": float(ratios.std()),
        "error": float(errors.square().mean().sqrt()), "bias": float(biases.mean()),
        "covered": float(((ratios - 1).abs() <= 2 * errors).double().mean()),
        "covered_less_bias": float(((ratios - biases - 1).abs() <= 2 * errors).double().mean()),
        "products": float(torch.tensor([v["products"] for v in values]).double().mean()),
    }


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--batches", type=int, default=40)
    c = p.parse_args()
    cases = list(policies())
    plan = [("all", False, [1, 8, 64]), ("drawn", False, [1, 8]), ("all", True, [1, 8, 64])]
    for prompts, gauss_newton, numbers in plan:
        for name, model, reference in cases:
            truth = exact(model, reference, gauss_newton=gauss_newton)
            for groups in numbers:
                generator = torch.Generator().manual_seed(groups)
                found = [measured(model, reference, draw(model, groups, prompts, generator), gauss_newton=gauss_newton) for _ in range(c.batches)]
                row = {"policy": name, "gauss_newton": gauss_newton, "prompts": prompts, "groups": groups, "batches": c.batches}
                for which in ("fresh", "total"):
                    row[which] = summary([f[which] for f in found], truth[which]["value"])
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
