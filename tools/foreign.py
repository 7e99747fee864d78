"""Thresholds of code that nobody here wrote: located in training, and predicted from one measurement; prints JSON.

Policy: karpathy/nanoGPT's model.py with tied embeddings, which reads a, b and "=" and answers with digits modulo 5: a + b
(one token; one layer, two heads, width 32), or with --size large a + b, a − b and ab (three tokens; four layers, four heads, width
256). An answer that is right throughout is rewarded with .9 on average, any other with .2. Loss: GRPOLoss of open-thought/tiny-grpo, and
GRPOTrainer._compute_loss of huggingface/trl, cut out of its file and given a stand-in of its trainer; both without a clip: ratio,
k3 at the current policy, β = 0.4. None of that code is here: the script takes paths of checkouts and says what it skips without one.

Mean field: every answer to every prompt is there. ∂L/∂log p of its tokens comes from the foreign loss, is weighted by the
probability with which the behaviour policy draws the answer, and is pulled back through the foreign network. The advantage is the
mean one at G = ∞, r − J. The network is trained to give the right token with probability .6; a reference enters the losses by
its log-probabilities alone, and is the one for which this policy π is the fixed point: after every prompt and beginning of an answer,
π_ref = π(β − Q + V)/β, Q the expected reward with the next token and V that without. From there SGD with momentum from a small displacement
along Jᵀu, in blocks of K steps. The threshold is the learning rate at which the logarithm of the deviation of the log-probabilities begins to
rise, found by doubling from a rate that knows nothing of the prediction, and bisection.

Predictions: `pair`, the threshold of one mode of (λ_f, λ) as tools/stiffness.py measures them at the fixed point, which is what
`grposim advise` says; `one_number`, that of λ alone, on-policy; `full`, of all modes on the range of Jᵀ with the matrices
Λ_f and Λ of the logits, where these are small enough to be written down.
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
import time
import types
from collections import defaultdict

import torch

import stiffness

ARMS, BETA = 5, 0.4
SIZES = {"small": dict(n_layer=1, n_head=2, n_embd=32, tokens=1), "large": dict(n_layer=4, n_head=4, n_embd=256, tokens=3)}


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
    """z, q, reference (samples, tokens), advantage (samples,) -> the mean loss. The loss casts its KL to float32, which would
    hide growth below 1e-7: the cast is switched off for the call."""
    module = module_of(os.path.join(folder, "loss.py"), folder)
    criterion = module.GRPOLoss(clip_eps=math.inf, kl_weight=BETA)

    def loss(z, q, reference, advantage):
        experience = types.SimpleNamespace(action_log_probs=q, log_probs_ref=reference, advantages=advantage[:, None], action_mask=None)
        cast = torch.Tensor.float
        torch.Tensor.float = lambda t: t
        try:
            return criterion(log_probs=z, experience=experience)[0]
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
        ones = torch.ones_like(z)
        trainer = types.SimpleNamespace(
            _get_per_token_logps_and_entropies=lambda *_, **__: (z, torch.zeros_like(ones), None), aux_loss_enabled=False,
            top_entropy_quantile=1.0, off_policy_mask_threshold=None, importance_sampling_level="token", beta=BETA, loss_type="grpo",
            epsilon_low=math.inf, epsilon_high=math.inf, use_vllm=False, current_gradient_accumulation_steps=1, _entropy_bonus_enabled=False,
            args=types.SimpleNamespace(use_bias_correction_kl=False, delta=None), model=types.SimpleNamespace(training=True),
            accelerator=types.SimpleNamespace(gather=lambda t: t, gather_for_metrics=lambda t: t, reduce=lambda t, reduction: t, num_processes=1),
            _metrics={"train": defaultdict(list)})
        ids = torch.zeros_like(ones).long()
        return space["_compute_loss"](trainer, None, {"prompt_ids": ids, "prompt_mask": ones, "completion_ids": ids, "completion_mask": ones,
                                                      "advantages": advantage, "old_per_token_logps": q, "ref_per_token_logps": reference})

    return loss


def nano_gpt(folder, tokens, **shape):
    module = module_of(os.path.join(folder, "model.py"), folder)
    torch.manual_seed(1)
    with contextlib.redirect_stdout(io.StringIO()):
        return module.GPT(module.GPTConfig(block_size=3 + tokens, vocab_size=6, dropout=0.0, bias=True, **shape)).double()


class Expected(torch.autograd.Function):
    """Σ chance·(loss of a sample) as far as its derivatives go, from the derivatives of a mean over samples; its value is that mean."""

    @staticmethod
    def forward(ctx, z, q, chance, loss):
        ctx.save_for_backward(z, q, chance)
        ctx.loss = loss
        return loss(z, q)

    @staticmethod
    def backward(ctx, slope):
        z, q, chance = ctx.saved_tensors
        moving = [t for t, needed in zip((z, q), ctx.needs_input_grad) if needed]
        with torch.enable_grad():
            found = iter(torch.autograd.grad(ctx.loss(z, q) * len(z), moving, create_graph=True))
            weight = slope * chance[:, None]
            return *(weight * next(found) if needed else None for needed in ctx.needs_input_grad[:2]), None, None


class Task:
    """The network at its fixed point. A context is a prompt with the beginning of an answer: all of a length in turn, in the order of
    prompts and tokens. A table has a row of arms, the next tokens, for each; `taken` has the places in a table of the tokens of each answer,
    (answers, tokens)."""

    def __init__(self, model, loss, tokens, device):
        self.model, self.loss = model.to(device), loss
        self.weights = list(model.parameters())
        a, b = torch.cartesian_prod(torch.arange(ARMS), torch.arange(ARMS)).T
        right = torch.stack([a + b, a - b, a * b], 1)[:, :tokens] % ARMS
        self.prompts = len(right)
        self.contexts = [self.prompts * ARMS ** t for t in range(tokens)]
        answers = torch.cartesian_prod(*[torch.arange(ARMS)] * tokens).view(-1, tokens)
        # The longest contexts hold the shorter ones: a row of the table is a position of one of them.
        longest = answers[::ARMS, :-1]
        prompts = torch.stack([a, b, torch.full_like(a, ARMS)], 1)
        self.input = torch.cat([prompts.repeat_interleave(len(longest), 0), longest.repeat(self.prompts, 1)], 1).to(device)
        rows, taken = [], []
        for t, count in enumerate(self.contexts):
            rows.append(torch.arange(count) * (len(self.input) // count) * tokens + t)
            begun = torch.arange(len(answers)) // ARMS ** (tokens - t)
            context = sum(self.contexts[:t]) + torch.arange(self.prompts)[:, None] * ARMS ** t + begun
            taken.append(context * ARMS + answers[:, t])
        self.rows, self.taken = torch.cat(rows).to(device), torch.stack(taken, 2).view(-1, tokens).to(device)
        correct = (answers == right[:, None]).all(2)
        self.reward = torch.where(correct, 0.9, 0.2).double().reshape(-1).to(device)
        goal = torch.cat([torch.nn.functional.one_hot(column, ARMS).repeat_interleave(ARMS ** t, 0) for t, column in enumerate(right.T)])
        self.approach(torch.where(goal.bool(), 0.6, 0.4 / (ARMS - 1)).double().to(device), within=0.05)
        self.fixed = [w.detach().clone() for w in self.weights]
        self.rest = self.table().detach()
        self.reference = self.rest + (1 - self.gain() / BETA).log()

    def logits(self):
        outputs = self.model(self.input, self.input)[0][:, 2:, :ARMS]
        return outputs.reshape(-1, ARMS)[self.rows]

    def table(self):
        """The log-probabilities of the policy."""
        return self.logits().log_softmax(1)

    def of_answers(self, table):
        return table.reshape(-1)[self.taken]

    def approach(self, policy, within, rounds=10000):
        """Supervised training with Adam until every probability is within a distance of the policy's."""
        optimizer = torch.optim.Adam(self.weights, lr=1e-3)
        for i in range(rounds):
            z = self.table()
            if i % 50 == 0 and float((z.detach().exp() - policy).abs().max()) < within:
                return
            optimizer.zero_grad()
            (-(policy * z).sum(1).mean()).backward()
            optimizer.step()
        raise RuntimeError(f"supervised training is not within {within} after {rounds} steps")

    def gain(self):
        """Q − V of every next token, from the last one back."""
        parts, value = [], self.reward
        for policy in reversed(self.rest.exp().split(self.contexts)):
            q = value.view(-1, ARMS)
            value = (policy * q).sum(1)
            parts.append(q - value[:, None])
        return torch.cat(parts[::-1])

    def move(self, step):
        """To the fixed point and a step from there."""
        with torch.no_grad():
            for w, start, s in zip(self.weights, self.fixed, step):
                w.copy_(start + s)

    def mean_loss(self, chance):
        """z, q of the answers -> the foreign loss, with advantages over the mean reward of these chances."""
        rewards = self.reward.view(self.prompts, -1)
        advantage = rewards - (chance.view_as(rewards) * rewards).sum(1, keepdim=True)
        return lambda z, q: self.loss(z, q, self.of_answers(self.reference), advantage.reshape(-1))

    def slope(self, z, q, chance):
        """∂E[L]/∂z of two tables, (contexts, arms), where answers are drawn with a chance."""
        held = self.of_answers(z)
        mean = self.mean_loss(chance)(held, self.of_answers(q)) * len(held)
        each = chance[:, None] * torch.autograd.grad(mean, held, create_graph=True)[0] / self.prompts
        return torch.zeros_like(z).reshape(-1).index_add(0, self.taken.reshape(-1), each.reshape(-1)).view_as(z)

    def force(self, z, q):
        """−∂E[L]/∂z with answers that q draws. At the fixed point it is a multiple of π in each row, which moves no policy."""
        return -self.slope(z.detach().requires_grad_(), q, self.of_answers(q).sum(1).exp()).detach()

    def off_rest(self):
        """The largest force on a logit at the fixed point: rounding."""
        f = self.force(self.rest, self.rest)
        return float((f - self.rest.exp() * f.sum(1, keepdim=True)).abs().max())

    def measured(self):
        """What tools/stiffness.py finds, all answers being there with their chances."""
        chance = self.of_answers(self.rest).sum(1).exp()
        loss = self.mean_loss(chance)
        return stiffness.measure(self.model, [None, None], lambda _: self.of_answers(self.table()), lambda z, q, _: Expected.apply(z, q, chance / self.prompts, loss),
                                 keep=True, tolerance=1e-6, products=60)


def growth(task, rate, momentum, interval, blocks):
    """The growth of the deviation per block, e^γ: γ from the second half of the blocks, while it is small."""
    generator = torch.Generator().manual_seed(7)
    task.move([torch.zeros_like(w) for w in task.weights])
    z = task.table()
    kick = torch.autograd.grad(z, task.weights, torch.randn(z.shape, generator=generator, dtype=torch.float64).to(z))
    norm = math.sqrt(sum(float(k.square().sum()) for k in kick))
    kick = [k * (1e-9 / norm) for k in kick]
    task.move(kick)
    scale = 1e-7 / float((task.table().detach() - task.rest).norm())
    task.move([k * scale for k in kick])
    velocity = [torch.zeros_like(w) for w in task.weights]
    norms = []
    for _ in range(blocks):
        for step in range(interval):
            z = task.table()
            if step == 0:
                q = z.detach()
                norms.append(float((q - task.rest).norm()))
            pull = torch.autograd.grad(z, task.weights, task.force(z, q))
            with torch.no_grad():
                torch._foreach_mul_(velocity, momentum)
                torch._foreach_add_(velocity, pull)
                torch._foreach_add_(task.weights, velocity, alpha=rate)
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
    outputs = task.logits()
    rows = [torch.autograd.grad(o, task.weights, retain_graph=True) for o in outputs.reshape(-1)]
    j = torch.stack([torch.cat([g.reshape(-1) for g in row]) for row in rows])
    u, s, _ = torch.linalg.svd(j @ j.T)
    keep = s > 1e-11 * s[0]
    r = j @ (j.T @ u[:, keep] / s[keep].sqrt())
    current, old = outputs.detach().requires_grad_(), outputs.detach().clone().requires_grad_()
    z, q = current.log_softmax(1), old.log_softmax(1)
    # Samples move with the behaviour policy: the chances are functions of o_old.
    slope = torch.autograd.grad(z, current, task.slope(z, q, task.of_answers(q).sum(1).exp()), create_graph=True)[0].reshape(-1)
    hessian = [torch.stack([torch.autograd.grad(v, of, retain_graph=True)[0].reshape(-1) for v in slope]) for of in (current, old)]
    return [r.T @ h @ r for h in hessian]


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


def cells(text):
    """The pairs (μ, K) of μ:K,μ:K."""
    found = []
    for cell in text.split(","):
        momentum, _, interval = cell.partition(":")
        found.append((float(momentum), int(interval)))
        if not (0 <= found[-1][0] < 1 and found[-1][1] >= 1):
            raise ValueError(cell)
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--nanogpt", default="", help="a checkout of karpathy/nanoGPT")
    p.add_argument("--tiny-grpo", default="", help="a checkout of open-thought/tiny-grpo")
    p.add_argument("--trl", default="", help="a checkout of huggingface/trl")
    p.add_argument("--size", choices=SIZES, default="small", help="of the network and its answers (%(default)s)")
    p.add_argument("--device", default="cpu", help="where PyTorch computes, in float64 (%(default)s)")
    p.add_argument("--cells", type=cells, default="0:1,0:2,0:3,0:4,0.9:4", help="momentum:interval, with commas between them (%(default)s)")
    c = p.parse_args()
    if not c.nanogpt:
        print("skipped: no checkout of nanoGPT", file=sys.stderr)
        return
    for name, folder, make in [("tiny-grpo", c.tiny_grpo, tiny_grpo), ("trl", c.trl, trl)]:
        if not folder:
            print(f"skipped: no checkout of {name}", file=sys.stderr)
            continue
        start = time.monotonic()
        task = Task(nano_gpt(c.nanogpt, **SIZES[c.size]), make(folder), SIZES[c.size]["tokens"], c.device)
        found = task.measured()
        pair = [found["fresh"]["value"], found["total"]["value"]]
        about = {"loss": name, "weights": found["parameters"], "contexts": len(task.rest), "answers": len(task.taken), "fresh": pair[0], "total": pair[1],
                 "fresh_along_total": found["fresh_along_total"], "total_along_fresh": found["total_along_fresh"],
                 "products": [found["fresh"]["products"], found["total"]["products"]], "force": task.off_rest()}
        if c.size == "small":
            fresh, stale = matrices(task)
            about["dense"] = [stiffness.top(fresh), stiffness.top(fresh + stale)]
        print(json.dumps(about | {"seconds": round(time.monotonic() - start)}), flush=True)
        one = torch.ones(1, 1).double()
        for mu, k in c.cells:
            start = time.monotonic()
            predicted = full(pair[0] * one, (pair[1] - pair[0]) * one, mu, k, 2 * (1 + mu) / pair[0] * (0.2 if mu else 1))
            located = locate(task, mu, k)
            cell = {"loss": name, "momentum": mu, "interval": k, "located": located, "located_over_pair": located / predicted,
                    "located_over_one_number": located * pair[1] / (2 * (1 + mu))}
            if c.size == "small":
                cell["located_over_full"] = located / full(fresh, stale, mu, k, predicted)
            print(json.dumps(cell | {"seconds": round(time.monotonic() - start)}), flush=True)


if __name__ == "__main__":
    main()
