"""Thresholds of code that nobody here wrote: located in training, and predicted from one measurement; prints JSON.

Policy: karpathy/nanoGPT's model.py, one layer, two heads, width 32, tied embeddings, which reads a, b and "=" and answers
a + b mod 5 with one token. Loss: GRPOLoss of open-thought/tiny-grpo, and GRPOTrainer._compute_loss of huggingface/trl, cut
out of its file and given a stand-in of its trainer; both without a clip: ratio, k3 at the current policy, β = 0.4. None of
that code is here: the script takes paths of checkouts and says what it skips without one.

Mean field: ∂L/∂log p of every answer to every prompt comes from the foreign loss, is weighted by the probability with which
the behaviour policy draws it, and is pulled back through the foreign network. The advantage is the mean one at G = ∞, m − J.
The fixed point π = βπ_ref/(β − m + J) is reached by Gauss–Newton; SGD with momentum from a small displacement along Jᵀu, in blocks
of K steps. The threshold is the learning rate at which the logarithm of the deviation of the log-probabilities begins to rise, found by
doubling from a rate that knows nothing of the prediction, and bisection.

Predictions: `pair`, the threshold of one mode of (λ_f, λ) as tools/stiffness.py measures them at the fixed point, which is what
`grposim advise` says; `one_number`, that of λ alone, on-policy; `full`, of all modes on the range of Jᵀ with the matrices
Λ_f and Λ of the logits.
"""

import argparse
import ast
import contextlib
import importlib.util
import io
import json
import math
import os
import sys
import types
from collections import defaultdict

import torch

import stiffness

ARMS, BETA = 5, 0.4
PAIRS = torch.tensor([[a, b, 5] for a in range(5) for b in range(5)])
PROMPTS = len(PAIRS)
MEANS = torch.where(torch.nn.functional.one_hot(PAIRS[:, :2].sum(1) % 5, 5).bool(), 0.9, 0.2).double()


def module_of(path, folder):
    """The module of a file whose imports lie in its folder."""
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location("foreign_" + os.path.basename(path)[:-3], path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(folder)


def tiny_grpo(folder):
    """z, q, reference, advantage of samples of one token -> the mean loss. The loss casts its KL to float32, which would
    hide growth below 1e-7: the cast is switched off for the call."""
    module = module_of(os.path.join(folder, "loss.py"), folder)
    criterion = module.GRPOLoss(clip_eps=math.inf, kl_weight=BETA)

    def loss(z, q, reference, advantage):
        column = [t.reshape(-1, 1) for t in (z, q, reference, advantage)]
        experience = types.SimpleNamespace(action_log_probs=column[1], log_probs_ref=column[2], advantages=column[3], action_mask=None)
        cast = torch.Tensor.float
        torch.Tensor.float = lambda t: t
        try:
            return criterion(log_probs=column[0], experience=experience)[0]
        finally:
            torch.Tensor.float = cast

    return loss


def trl(folder):
    """The same of TRL: the method is cut out, since its file imports all of transformers."""
    with open(os.path.join(folder, "trl", "trainer", "grpo_trainer.py")) as file:
        tree = ast.parse(file.read())
    methods = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "_compute_loss"]
    methods[0].decorator_list = []
    space = {"torch": torch, "nanmin": torch.min, "nanmax": torch.max}
    exec(compile(ast.Module([methods[0]], []), "grpo_trainer.py", "exec"), space)

    def loss(z, q, reference, advantage):
        column = [t.reshape(-1, 1) for t in (z, q, reference, advantage)]
        ones = torch.ones_like(column[0])
        trainer = types.SimpleNamespace(
            _get_per_token_logps_and_entropies=lambda *_, **__: (column[0], torch.zeros_like(ones), None), aux_loss_enabled=False,
            top_entropy_quantile=1.0, off_policy_mask_threshold=None, importance_sampling_level="token", beta=BETA, loss_type="grpo",
            epsilon_low=math.inf, epsilon_high=math.inf, use_vllm=False, current_gradient_accumulation_steps=1, _entropy_bonus_enabled=False,
            args=types.SimpleNamespace(use_bias_correction_kl=False, delta=None), model=types.SimpleNamespace(training=True),
            accelerator=types.SimpleNamespace(gather=lambda t: t, gather_for_metrics=lambda t: t, reduce=lambda t, reduction: t, num_processes=1),
            _metrics={"train": defaultdict(list)})
        ids = torch.zeros_like(ones).long()
        return space["_compute_loss"](trainer, None, {"prompt_ids": ids, "prompt_mask": ones, "completion_ids": ids, "completion_mask": ones,
                                                      "advantages": column[3][:, 0], "old_per_token_logps": column[1], "ref_per_token_logps": column[2]})

    return loss


def nano_gpt(folder):
    module = module_of(os.path.join(folder, "model.py"), folder)
    torch.manual_seed(1)
    with contextlib.redirect_stdout(io.StringIO()):
        return module.GPT(module.GPTConfig(block_size=4, vocab_size=6, n_layer=1, n_head=2, n_embd=32, dropout=0.0, bias=True)).double()


class Task:
    """The network with its reference, at its fixed point."""

    def __init__(self, model, loss):
        self.model, self.loss = model, loss
        self.weights = list(model.parameters())
        self.approach(torch.where(MEANS > 0.5, 0.45, 0.55 / 4).double(), rounds=400)
        self.reference = self.log_probs().detach()
        self.newton(self.at_rest().log())
        self.rest = self.log_probs().detach()
        self.fixed = [w.detach().clone() for w in self.weights]

    def logits(self):
        return self.model(PAIRS)[0][:, -1, :ARMS]

    def log_probs(self):
        return self.logits().log_softmax(1)

    def approach(self, policy, rounds):
        optimizer = torch.optim.LBFGS(self.weights, max_iter=rounds, line_search_fn="strong_wolfe")

        def closure():
            optimizer.zero_grad()
            value = -(policy * self.log_probs()).sum(1).mean()
            value.backward()
            return value

        optimizer.step(closure)

    def at_rest(self):
        """π = βπ_ref/(β − m + J): J by bisection, where the probabilities add up to 1."""
        low = (MEANS - BETA).max(1, keepdim=True).values
        high = torch.ones_like(low)
        for _ in range(200):
            middle = (low + high) / 2
            above = (BETA * self.reference.exp() / (BETA - MEANS + middle)).sum(1, keepdim=True) > 1
            low, high = torch.where(above, middle, low), torch.where(above, high, middle)
        return BETA * self.reference.exp() / (BETA - MEANS + high)

    def jacobian(self, outputs):
        rows = [torch.autograd.grad(o, self.weights, retain_graph=True, allow_unused=True) for o in outputs.reshape(-1)]
        return torch.stack([torch.cat([(torch.zeros_like(w) if g is None else g).reshape(-1) for g, w in zip(row, self.weights)]) for row in rows])

    def newton(self, goal):
        """Moves the log-probabilities to the goal, first by quarters of the way."""
        for share in [0.25, 1 / 3, 0.5] + [1.0] * 6:
            now = self.log_probs()
            off = (goal - now.detach()) * share
            if share == 1 and float(off.abs().max()) < 1e-13:
                break
            j = self.jacobian(now)
            step = j.T @ torch.linalg.lstsq(j @ j.T, off.reshape(-1), driver="gelsd", rcond=1e-12).solution
            self.move(step)

    def move(self, step, start=None):
        with torch.no_grad():
            at = 0
            for i, w in enumerate(self.weights):
                w.copy_((w if start is None else start[i]) + step[at:at + w.numel()].view_as(w))
                at += w.numel()

    def force(self, z, q):
        """−∂E[L]/∂z: the foreign loss's derivative of every sample times the probability of that sample."""
        held = z.detach().requires_grad_()
        chance = q.exp()
        advantage = MEANS - (chance * MEANS).sum(1, keepdim=True)
        slope = torch.autograd.grad(self.loss(held, q, self.reference, advantage), held)[0] * held.numel()
        return -chance * slope / PROMPTS

    def weighted(self, z, q, chance, rows):
        """E[L] as a function of z and q: the foreign loss of one sample at a time, over the prompts of rows."""
        total = 0
        for i, row in enumerate(rows):
            advantage = MEANS[row] - (chance[i] * MEANS[row]).sum()
            for a in range(ARMS):
                total = total + chance[i, a] * self.loss(z[i, a], q[i, a], self.reference[row, a], advantage[a])
        return total / len(rows)


def growth(task, rate, momentum, interval, blocks):
    """The growth of the deviation per block, e^γ: γ from the second half of the blocks, while it is small."""
    generator = torch.Generator().manual_seed(7)
    task.move(torch.zeros(sum(w.numel() for w in task.weights)).double(), task.fixed)
    z = task.log_probs()
    kick = torch.autograd.grad(z, task.weights, torch.randn(z.shape, generator=generator, dtype=torch.float64))
    kick = torch.cat([k.reshape(-1) for k in kick])
    kick *= 1e-9 / float(kick.norm())
    task.move(kick, task.fixed)
    task.move(kick * (1e-7 / float((task.log_probs().detach() - task.rest).norm())), task.fixed)
    velocity = [torch.zeros_like(w) for w in task.weights]
    norms = []
    for _ in range(blocks):
        for step in range(interval):
            z = task.log_probs()
            if step == 0:
                q = z.detach()
                norms.append(float((q - task.rest).norm()))
            pull = torch.autograd.grad(z, task.weights, task.force(z, q))
            with torch.no_grad():
                for w, v, g in zip(task.weights, velocity, pull):
                    w.add_(v.mul_(momentum).add_(g), alpha=rate)
        if not 1e-11 < norms[-1] < 1e-5:
            break
    if not norms[-1] < 1:
        return math.log(1e7)  # it left within a block
    tail = torch.tensor(norms[(len(norms) - 1) // 2:]).double().log()
    t = torch.arange(len(tail)).double()
    return float(((t - t.mean()) * (tail - tail.mean())).sum() / ((t - t.mean()) ** 2).sum())


def locate(task, momentum, interval):
    """The learning rate with γ = 0: doubling, then bisection to 2e-4. γ below it is that of slow modes, so that its size says nothing."""
    low = high = 1e-4
    while growth(task, high, momentum, interval, 60) <= 0:
        low, high = high, 2 * high
    if low == high:
        return math.nan
    while high / low > 1.0002:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if growth(task, middle, momentum, interval, 400) > 0 else (middle, high)
    return math.sqrt(low * high)


def matrices(task):
    """Λ_f and Λ_s on an orthonormal basis of the range of Jᵀ."""
    rows = range(PROMPTS)
    outputs = task.logits()
    j = task.jacobian(outputs)
    u, s, _ = torch.linalg.svd(j @ j.T)
    keep = s > 1e-11 * s[0]
    basis = j.T @ u[:, keep] / s[keep].sqrt()
    r = j @ basis
    current, old = outputs.detach().requires_grad_(), outputs.detach().clone().requires_grad_()
    q = old.log_softmax(1)
    z = current.log_softmax(1)
    first = torch.autograd.grad(task.weighted(z, q, q.exp().detach(), rows), current, create_graph=True)[0].reshape(-1)
    chance = q.exp()
    # Samples move as well: ∂E[L]/∂o_cur with the chances as functions of o_old.
    slope = torch.autograd.grad(task.weighted(z, q, chance, rows), current, create_graph=True)[0].reshape(-1)

    def hessian(values, of):
        return torch.stack([torch.autograd.grad(v, of, retain_graph=True)[0].reshape(-1) for v in values])

    return r.T @ hessian(first, current) @ r, r.T @ hessian(slope, old) @ r


def full(fresh, stale, momentum, interval, scale):
    """The smallest learning rate at which a multiplier of all modes leaves the unit circle: a scan from scale/4 in steps of 2 %, bisected."""
    n = len(fresh)
    one = torch.eye(n).double()

    def outside(rate):
        step = torch.zeros(3 * n, 3 * n).double()
        step[:n, :n], step[:n, n:2 * n], step[:n, 2 * n:] = one - rate * fresh, momentum * one, -rate * stale
        step[n:2 * n, :n], step[n:2 * n, n:2 * n], step[n:2 * n, 2 * n:] = -rate * fresh, momentum * one, -rate * stale
        step[2 * n:, 2 * n:] = one
        power = torch.matrix_power(step, interval)
        closed = power[:2 * n, :2 * n].clone()
        closed[:, :n] += power[:2 * n, 2 * n:]
        return float(torch.linalg.eigvals(closed).abs().max()) > 1 + 1e-10

    low = scale / 4
    while not outside(low * 1.02):
        low *= 1.02
    high = low * 1.02
    for _ in range(16):
        middle = (low + high) / 2
        low, high = (low, middle) if outside(middle) else (middle, high)
    return (low + high) / 2


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--nanogpt", default="", help="a checkout of karpathy/nanoGPT")
    p.add_argument("--tiny-grpo", default="", help="a checkout of open-thought/tiny-grpo")
    p.add_argument("--trl", default="", help="a checkout of huggingface/trl")
    p.add_argument("--cells", type=lambda text: [tuple(c.split(":")) for c in text.split(",")], default=[("0", "1"), ("0", "2"), ("0", "3"), ("0", "4"), ("0.9", "4")],
                   help="momentum:interval, with commas between them")
    c = p.parse_args()
    if not c.nanogpt:
        print("skipped: no checkout of nanoGPT", file=sys.stderr)
        return
    for name, folder, make in [("tiny-grpo", c.tiny_grpo, tiny_grpo), ("trl", c.trl, trl)]:
        if not folder:
            print(f"skipped: no checkout of {name}", file=sys.stderr)
            continue
        task = Task(nano_gpt(c.nanogpt), make(folder))

        def part_loss(z, q, rows):
            z, q = z.view(-1, ARMS), q.view(-1, ARMS)
            return task.weighted(z, q, task.rest[rows].exp(), rows)

        everything = list(range(PROMPTS))
        found = stiffness.measure(task.model, [everything] * 2, lambda rows: task.log_probs()[rows].reshape(-1), part_loss, keep=True, tolerance=1e-6, products=60)
        fresh, stale = matrices(task)
        pair = [found["fresh"]["value"], found["total"]["value"]]
        print(json.dumps({"loss": name, "weights": found["parameters"], "fresh": pair[0], "total": pair[1], "dense": [stiffness.top(fresh), stiffness.top(fresh + stale)],
                          "force": float(task.force(task.rest, task.rest).norm())}), flush=True)
        one = torch.ones(1, 1).double()
        for momentum, interval in c.cells:
            mu, k = float(momentum), int(interval)
            predicted = full(pair[0] * one, (pair[1] - pair[0]) * one, mu, k, 2 * (1 + mu) / pair[0] * (0.2 if mu else 1))
            all_modes = full(fresh, stale, mu, k, predicted)
            located = locate(task, mu, k)
            print(json.dumps({"loss": name, "momentum": mu, "interval": k, "located": located, "located_over_pair": located / predicted,
                              "located_over_full": located / all_modes, "located_over_one_number": located * pair[1] / (2 * (1 + mu))}), flush=True)


if __name__ == "__main__":
    main()
