"""The stiffness of GRPO training, measured from one batch of rollouts.

The largest learning rate that a training step bears, and how old its rollouts may be, follow from two numbers:

    fresh   λ_f, the largest eigenvalue of Λ_f = ∂²L/∂θ², the Hessian of the loss as it is trained: log-probabilities of the
            behaviour policy, samples and advantages held;
    total   λ, that of Λ = d E[∇L]/dθ where samples and behaviour policy move with θ. Λ_s = Λ − Λ_f is what follows a
            snapshot only when it is taken.

`grposim advise --stiffness λ --stiffness-fresh λ_f` turns them into limits.

Formula. The loss depends on θ through z, the log-probabilities of the sampled tokens, and on q, those of the behaviour
policy; at the snapshot q = z. With J = ∂z/∂θ, e = ∂L/∂z and S the matrix that adds the tokens of a sample,

    Λ_f d = ∇(∇L · d)                                            two backward passes
    Λ_s d = Jᵀ [ (∂e/∂q) J d + e ∘ S J d ]                       three more: J d as the derivative of (Jᵀu)·d in u

The second term is the score function: E over y ~ π_q of e(y) moves by E[e(y) ∇log π(y)·d]. With `groups`, S adds the tokens
of all samples of the group, as the scales of the advantage need that depend on the whole group (the standard deviation); with
the mean baseline alone the other samples of a group add noise and nothing to the mean. Gauss–Newton puts Jᵀ(∂²L/∂o²)J in the
place of Λ_f, J = ∂o/∂θ of the outputs o (the logits): what is left at a fixed point, where the force is 0. With Adam the
matrices are D^½ΛD^½, D = 1/(√v̂ + ε): of a step η(1−β₁)D(∇L + β₁∇L′ + …) with second moments that are held.

Method. Arnoldi's iteration, Lanczos's where the matrix is symmetric, with full reorthogonalisation, from Jᵀu of a random u,
until the residual of the eigenvalue with the largest real part is `tolerance` of it. It finds the largest POSITIVE one, where
power iteration finds the largest modulus. `imaginary` is 0 unless that one belongs to a complex pair: `value` is then its real
part, `error` is of v·Λv with the real part of the vector, and `advise`, which takes a real stiffness, does not apply. Vectors and
sums are float64; the passes have the precision of the model unless `double`.

Error. The batch is given in B parts that are independent of each other. One product for each part at the eigenvector v
gives h_b = v·Λ_b v and what Λ_b v has outside of v. `error` is the jackknife's over parts: the standard deviation of h_b over
√B, with B − 1 degrees of freedom. The largest eigenvalue of a noisy matrix is too large on average; `bias` is that to
second order, Σ_k var(u_k·Λ̂v)/(λ − λ_k) over the other Ritz vectors u_k, and everything outside of them at λ_k = 0, and is
NOT subtracted.

Cost. About ten products of two backward passes for λ_f, as many of five for λ, each over the whole batch; memory of one
part with its second derivatives, and after n products of n vectors of the parameters in float64 and four more: the product, its
mean over parts and the eigenvectors of both matrices.

Assumes: a loss that depends on θ through z alone (no weight decay, no entropy of other tokens); no clip that acts at the
snapshot; parts of equal weight whose losses average to that of the batch; the same result of every pass (dropout off);
attention with second derivatives (eager, or the math kernel, which is chosen here where PyTorch has it).
"""

import argparse
import contextlib
import importlib.util
import json
import math
import os
import sys

import torch


class BadInput(ValueError):
    """What was given is wrong: the message says what was got and what is wanted."""


def measure(model, parts, log_probs, loss, groups=None, gauss_newton=False, adam=None, double=False,
            keep=False, tolerance=1e-3, products=30, seed=0):
    """Returns the stiffness of a model at its present parameters, as a dictionary that JSON can hold.

    model      the torch.nn.Module that is trained: its parameters that require a gradient
    parts      the batch of rollouts in two or more parts that are independent of each other (other prompts, or other
               groups of the same ones): what the closures take. Eight or more give an error that is worth having
    log_probs  part -> z, (samples,) or (samples, tokens), with a graph, 0 for padding; or (z, outputs), outputs being
               the logits from which z comes, for gauss_newton
    loss       z, q, part -> the scalar that training minimises, mean over the part; q like z, of the behaviour policy
    groups     part -> the group of every sample, an integer tensor; None: only a sample's own tokens in its score
    adam       the torch.optim.Adam or AdamW whose second moments precondition, after its first step
    keep       hold the graphs of all parts, if memory has room: a product then costs about half
    double     in float64: parameters and buffers are cast, and cast back
    """
    check(model, parts, gauss_newton, adam, tolerance, products)
    cast = in_double(model) if double else contextlib.nullcontext()
    with cast, steady(model), second_derivatives():
        problem = Problem(model, parts, log_probs, loss, groups, gauss_newton, adam, keep)
        problem.probe()
        found = {}
        vectors = {}
        for name, product in [("fresh", problem.fresh), ("total", problem.total)]:
            found[name], vectors[name] = largest(problem, product, tolerance, products, seed)
        found["total_along_fresh"] = problem.quadratic(problem.total, vectors["fresh"])
        found["fresh_along_total"] = problem.quadratic(problem.fresh, vectors["total"])
    found.update(parts=len(parts), parameters=problem.size, gauss_newton=gauss_newton, adam=adam is not None)
    return found


def check(model, parts, gauss_newton, adam, tolerance, products):
    """Raises BadInput that lists every problem of the arguments."""
    wrong = []
    weights = [p for p in model.parameters() if p.requires_grad]
    if not weights:
        wrong.append("model: no parameter requires a gradient")
    if not hasattr(parts, "__len__") or len(parts) < 2:
        wrong.append("parts: want a list of two or more: the error comes from their differences")
    if not 0 < tolerance < 1:
        wrong.append(f"tolerance: got {tolerance}, want > 0 and < 1")
    if products < 2:
        wrong.append(f"products: got {products}, want 2 or more")
    if getattr(model, "is_gradient_checkpointing", False):
        wrong.append("model: gradient checkpointing has no second derivatives: model.gradient_checkpointing_disable()")
    if adam is not None:
        missing = sum("exp_avg_sq" not in adam.state.get(p, {}) for p in weights)
        if missing:
            wrong.append(f"adam: {missing} of {len(weights)} parameters have no second moment: take the optimizer that trains this model, after its first step")
    if wrong:
        raise BadInput("\n".join(wrong))


class Problem:
    """The matrices of one batch, as products with a vector of all parameters in float64."""

    def __init__(self, model, parts, log_probs, loss, groups, gauss_newton, adam, keep):
        self.parts, self.log_probs, self.loss, self.groups = parts, log_probs, loss, groups
        self.gauss_newton = gauss_newton
        self.kept = {} if keep else None  # Graph by the part's place
        self.weights = [p for p in model.parameters() if p.requires_grad]
        self.size = sum(p.numel() for p in self.weights)
        self.root = root_of_preconditioner(adam, self.weights)

    def flat(self, tensors):
        """The gradients as one vector, times D^½; None, of a parameter that is not used, is 0."""
        full = [torch.zeros_like(p) if t is None else t for t, p in zip(tensors, self.weights)]
        return self.root * torch.cat([t.reshape(-1).double() for t in full])

    def shaped(self, vector):
        """D^½ times a vector, in the shapes and types of the parameters."""
        pieces = (self.root * vector).split([p.numel() for p in self.weights])
        return [v.view_as(p).to(p.dtype) for v, p in zip(pieces, self.weights)]

    def outputs(self, part):
        """z and the outputs from which it comes, z itself where the closure gives none."""
        got = self.log_probs(part)
        return got if isinstance(got, tuple) else (got, got)

    def probe(self):
        """Raises BadInput where the closures do not give what is wanted."""
        part = self.parts[0]
        z, outputs = self.outputs(part)
        if not torch.is_tensor(z):
            raise BadInput(f"log_probs: got a {type(z).__name__}, want a tensor, or a tuple of two")
        if not z.requires_grad:
            raise BadInput("log_probs: got no graph, want log-probabilities computed with gradients")
        if self.gauss_newton and outputs is z:
            raise BadInput("gauss_newton: log_probs gives z alone, want (z, logits)")
        if z.dim() not in (1, 2):
            raise BadInput(f"log_probs: got the shape {tuple(z.shape)}, want (samples,) or (samples, tokens)")
        if self.groups is not None and self.groups(part).shape != z.shape[:1]:
            raise BadInput(f"groups: got the shape {tuple(self.groups(part).shape)}, want one group for each of {len(z)} samples")
        again, _ = self.outputs(part)
        if not torch.equal(z, again):
            raise BadInput("log_probs: two passes differ: turn dropout and other randomness off")
        q = z.detach().clone().requires_grad_()
        value = self.loss(z, q, part)
        if not torch.is_tensor(value):
            raise BadInput(f"loss: got a {type(value).__name__}, want a tensor that is computed with gradients")
        if value.dim() != 0 or not torch.isfinite(value):
            raise BadInput(f"loss: got {value.detach()}, want one finite number")
        if not value.requires_grad:
            raise BadInput("loss: got no graph, want a number that is computed with gradients from the log-probabilities")
        if torch.autograd.grad(value, z, retain_graph=True, allow_unused=True)[0] is None:
            raise BadInput("loss: it does not depend on the log-probabilities that it is given")
        seen = torch.autograd.grad(value, q, allow_unused=True)[0]
        moved = self.loss(z.detach(), q.detach() + 0.01 * torch.sin(torch.arange(q.numel(), dtype=q.dtype, device=q.device)).view_as(q), part)
        if seen is None and not torch.equal(moved, value.detach()):
            raise BadInput("loss: it depends on q without a gradient: do not detach q inside")

    def graphs(self):
        """The graph of every part in turn."""
        for i, part in enumerate(self.parts):
            if self.kept is None:
                yield Graph(self, part)
            else:
                if i not in self.kept:
                    self.kept[i] = Graph(self, part)
                yield self.kept[i]

    def mean(self, of, d):
        """The mean over the parts of a product with the vector d."""
        shaped = self.shaped(d)
        total = torch.zeros_like(d)
        for graph in self.graphs():
            total += of(graph, shaped)
        return total.div_(len(self.parts))

    def quadratic(self, of, v):
        return float(v @ self.mean(of, v))

    def random(self, generator):
        """Jᵀu of a random u: a vector without a part in the null space, if no output is the same for all parameters."""
        total = 0
        for graph in self.graphs():
            u = torch.randn(graph.z.shape, generator=generator, dtype=torch.float64).to(graph.z)
            total = total + self.flat(graph.pull(graph.z, u))
        return total

    def fresh(self, graph, d):
        return self.flat(graph.gauss_newton(d) if self.gauss_newton else graph.hessian(d))

    def total(self, graph, d):
        return self.fresh(graph, d) + self.flat(graph.stale(d))


class Graph:
    """One pass over a part, kept for its derivatives. What is made when it is first asked for is made once."""

    def __init__(self, problem, part):
        self.weights, self.loss, self.part = problem.weights, problem.loss, part
        self.z, self.outputs = problem.outputs(part)
        self.groups = problem.groups(part) if problem.groups is not None else None
        self.made = {}

    def once(self, name, make):
        if name not in self.made:
            self.made[name] = make()
        return self.made[name]

    def value(self):
        return self.once("value", lambda: self.loss(self.z, self.z.detach(), self.part))

    def pull(self, outputs, cotangent):
        return torch.autograd.grad(outputs, self.weights, cotangent, retain_graph=True, allow_unused=True)

    def push(self, name, outputs, d):
        """J d of the outputs along d: (Jᵀu)·d is linear in u."""
        u = self.once(name + " u", lambda: torch.zeros_like(outputs, requires_grad=True))
        pulled = self.once(name, lambda: torch.autograd.grad(outputs, self.weights, u, create_graph=True, allow_unused=True))
        return torch.autograd.grad(dot(pulled, d), u, retain_graph=True)[0]

    def hessian(self, d):
        slope = self.once("slope", lambda: torch.autograd.grad(self.value(), self.weights, create_graph=True, allow_unused=True))
        return torch.autograd.grad(dot(slope, d), self.weights, retain_graph=True, allow_unused=True)

    def gauss_newton(self, d):
        along = self.push("outputs", self.outputs, d)
        slope = self.once("slope of outputs", lambda: torch.autograd.grad(self.value(), self.outputs, create_graph=True)[0])
        return self.pull(self.outputs, torch.autograd.grad((slope * along).sum(), self.outputs, retain_graph=True)[0])

    def stale(self, d):
        """Λ_s d before the preconditioner."""
        along = self.push("z", self.z, d)
        q = self.once("q", lambda: self.z.detach().clone().requires_grad_())
        held = self.once("held", lambda: self.z.detach().requires_grad_())
        e = self.once("e", lambda: torch.autograd.grad(self.loss(held, q, self.part), held, create_graph=True)[0])
        moved = e.detach() * self.score(along)
        if e.requires_grad:
            u = self.once("e u", lambda: torch.zeros_like(e, requires_grad=True))
            back = self.once("back", lambda: torch.autograd.grad(e, q, u, create_graph=True, allow_unused=True)[0])
            if back is not None:
                moved = moved + torch.autograd.grad((back * along).sum(), u, retain_graph=True)[0]
        return self.pull(self.z, moved)

    def score(self, along):
        """The change of the log-probability of each sample, or of its group, for each of its tokens."""
        sums = along if along.dim() == 1 else along.sum(1)
        if self.groups is not None:
            _, place = torch.unique(self.groups, return_inverse=True)
            place = place.to(sums.device)
            sums = torch.zeros_like(sums).index_add(0, place, sums)[place]
        return sums.view(-1, *[1] * (along.dim() - 1)).expand_as(along)


def dot(pulled, d):
    return sum((p * v).sum() for p, v in zip(pulled, d) if p is not None)


def root_of_preconditioner(adam, weights):
    """D^½, D = 1/(√v̂ + ε), as one vector in float64; 1 without Adam."""
    if adam is None:
        return torch.ones((), dtype=torch.float64, device=weights[0].device)
    group_of = {p: group for group in adam.param_groups for p in group["params"]}
    roots = []
    for p in weights:
        state, group = adam.state[p], group_of[p]
        v = state.get("max_exp_avg_sq", state["exp_avg_sq"]).double().reshape(-1)
        corrected = v / (1 - group["betas"][1] ** float(state["step"]))
        roots.append((corrected.sqrt() + group["eps"]).rsqrt())
    return torch.cat(roots)


def largest(problem, of, tolerance, products, seed):
    """The eigenvalue of a matrix with the largest real part, its error, and the real part of its eigenvector, of length 1."""
    start = problem.random(torch.Generator().manual_seed(seed))
    if not float(start.norm()) > 0:
        raise BadInput("log_probs: no parameter moves them")
    basis, columns = [start.div_(start.norm())], []
    while True:
        w = problem.mean(of, basis[-1])
        if not torch.isfinite(w).all():
            raise BadInput("a product is not finite: try double=True, or take the batch at other parameters")
        column = torch.zeros(products + 1, dtype=torch.float64)
        n = len(basis)
        for _ in range(2):  # twice is enough to be orthogonal to rounding
            column[:n] += take(w, basis)
        column[n] = rest = float(w.norm())
        columns.append(column)
        small = torch.stack(columns, 1)[:n]
        values, rights = torch.linalg.eig(small)
        top = int(values.real.argmax())
        right = rights[:, top].real
        right = right / right.norm()
        value = float(values[top].real)
        residual = rest * float(rights[-1, top].abs())
        scale = float(small.abs().max())
        done = residual <= tolerance * abs(value) or rest <= 1e-12 * scale
        if done or n == products:
            break
        basis.append(w.div_(rest))
    v = torch.zeros_like(start)
    for c, b in zip(right.tolist(), basis):
        v.add_(b, alpha=c)
    error, bias = spread(problem, of, v, right, basis, small)
    return {"value": value, "imaginary": abs(float(values[top].imag)), "error": error, "bias": bias, "products": n + 1,
            "residual": residual, "converged": bool(done)}, v


def spread(problem, of, v, right, basis, small):
    """The jackknife's standard error over parts of v·Λv, and the bias of the largest eigenvalue; v is `right` in the basis.
    Parts come one at a time: of each, numbers along the basis are kept, and of what is outside the mean and the squares."""
    shaped = problem.shaped(v)
    inside, mean, outside = [], torch.zeros_like(v), 0.0
    for k, graph in enumerate(problem.graphs()):
        rest = of(graph, shaped)
        inside.append(take(rest, basis))
        rest -= mean
        outside += float(rest @ rest) * k / (k + 1)
        mean.add_(rest, alpha=1 / (k + 1))
    parts = len(inside)
    inside = torch.stack(inside)
    value = float(inside.mean(0) @ right)
    off = inside - inside.mean(0)
    along = off @ right
    values, vectors = torch.linalg.eigh((small + small.T) / 2)
    *squares, first = ((off - along.outer(right)) @ vectors).square().sum(0).tolist()
    bias = sum(c / (value - float(x)) for c, x in zip(squares, values) if value > x)
    if value > 0:
        bias += (outside + first) / value
    count = parts * (parts - 1)
    return math.sqrt(float(along @ along) / count), bias / count


def take(w, basis):
    """Takes what a vector has along an orthonormal basis out of it, in place, and returns these numbers."""
    numbers = torch.zeros(len(basis), dtype=torch.float64)
    for i, b in enumerate(basis):
        numbers[i] = c = float(b @ w)
        w.sub_(b, alpha=c)
    return numbers


@contextlib.contextmanager
def in_double(model):
    """The model in float64; then as it was."""
    before = {id(t): t.dtype for t in [*model.parameters(), *model.buffers()]}
    model.double()
    try:
        yield
    finally:
        for t in [*model.parameters(), *model.buffers()]:
            if id(t) in before:
                t.data = t.data.to(before[id(t)])


@contextlib.contextmanager
def steady(model):
    """The model without dropout; then as it was."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, mode in modes:
            module.training = mode


@contextlib.contextmanager
def second_derivatives():
    """Attention by the kernel that can be differentiated twice; says so where a kernel cannot."""
    kernel = contextlib.nullcontext()
    attention = getattr(torch.nn, "attention", None)
    if hasattr(attention, "sdpa_kernel"):
        kernel = attention.sdpa_kernel(attention.SDPBackend.MATH)
    elif hasattr(torch.nn.functional, "scaled_dot_product_attention"):  # PyTorch 2.0 to 2.2
        kernel = torch.backends.cuda.sdp_kernel(enable_flash=False, enable_mem_efficient=False)
    try:
        with kernel:
            yield
    except (RuntimeError, NotImplementedError) as problem:
        if "derivative" not in str(problem) and "once_differentiable" not in str(problem):
            raise
        raise BadInput(f"the model has no second derivatives: load it with attn_implementation=\"eager\" and without fused kernels ({str(problem).splitlines()[0]})") from problem


def example():
    """A policy of two arms whose stiffness is known in closed form, in eight parts of one group of 16; JSON holds both.

    π = (3/4, 1/4), rewards 1 and 0, β = 0.4 times k3 against a uniform reference, ratios without a clip. Along
    (1, −1)/√2 the score of arm a is s = √2(1 − π_a) or −√2(1 − π_a) and log π bends by −F = −2π₀π₁. Of the share f_a of a
    group that is arm a, with A_a = r_a − f₀ and x_a = π_ref/π:

        λ_f = Σ f_a [(βx_a − A_a) s_a² − (β(1 − x_a) − A_a) F]        λ = λ_f + Σ f_a β(1 − x_a) s_a²
    """
    beta, pi, size = 0.4, [0.75, 0.25], 16
    firsts = [10, 11, 12, 13, 14, 12, 11, 13]
    model = Logits(torch.tensor([math.log(3), 0.0], dtype=torch.float64))
    parts = [torch.tensor([0] * n + [1] * (size - n)) for n in firsts]

    def loss(z, q, arms):
        reward = (arms == 0).double()
        return grpo(z, q, reward - reward.mean(), math.log(0.5), beta).mean()

    found = measure(model, parts, lambda arms: model()[arms], loss)
    fresh, total = [], []
    for n in firsts:
        shares = [n / size, 1 - n / size]
        fresh.append(0.0)
        total.append(0.0)
        for a in (0, 1):
            x, advantage, square = 0.5 / pi[a], (a == 0) - shares[0], 2 * (1 - pi[a]) ** 2
            force = beta * (1 - x) - advantage
            fresh[-1] += shares[a] * ((beta * x - advantage) * square - force * 2 * pi[0] * pi[1])
            total[-1] += shares[a] * beta * (1 - x) * square
        total[-1] += fresh[-1]
    known = {}
    for name, values in [("fresh", fresh), ("total", total)]:
        mean = sum(values) / len(values)
        variance = sum((v - mean) ** 2 for v in values) / (len(values) - 1)
        known[name] = {"value": mean, "error": math.sqrt(variance / len(values))}
    return {"measured": found, "known": known}


class Logits(torch.nn.Module):
    """A softmax policy without a context."""

    def __init__(self, logits):
        super().__init__()
        self.logits = torch.nn.Parameter(logits)

    def forward(self):
        return self.logits.log_softmax(-1)


def grpo(z, q, advantage, reference, beta):
    """The loss of every sample: ratio without a clip, k3 at the current policy."""
    delta = reference - z
    return -(z - q).exp() * advantage + beta * (delta.exp() - delta - 1)


def self_check():
    """Stiffnesses of tiny models from products, and from dense matrices of finite differences of the exact mean gradient."""
    return {**check_network(), "std": check_scaled_group()}


def check_network():
    """An MLP of five contexts and three arms: every sample once, weighted by its probability, so that nothing is sampled."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 3)).double()
    inputs, reward, beta = torch.randn(5, 4).double(), torch.rand(5, 3).double(), 0.3
    reference = torch.randn(5, 3).double().log_softmax(-1)
    weights = list(model.parameters())
    behaviour = model(inputs).softmax(-1).detach()

    def surrogate(z, q, rows, chance):
        advantage = reward[rows] - (behaviour[rows] * reward[rows]).sum(-1, keepdim=True)
        return (chance * grpo(z, q, advantage, reference[rows], beta)).sum(-1).mean()

    def log_probs(rows):
        outputs = model(inputs[rows])
        return outputs.log_softmax(-1).reshape(-1), outputs

    def loss(z, q, rows):
        return surrogate(z.view(-1, 3), q.view(-1, 3), rows, behaviour[rows])

    optimizer = torch.optim.Adam(model.parameters(), lr=0)
    for rows in range(5):
        optimizer.zero_grad()
        z, _ = log_probs([rows])
        loss(z, z.detach(), [rows]).backward()
        optimizer.step()

    theta = torch.nn.utils.parameters_to_vector(weights).detach()
    everything = list(range(5))

    def at(vector):
        torch.nn.utils.vector_to_parameters(vector, weights)

    def gradient(current, old):
        at(old)
        q = model(inputs).log_softmax(-1).detach()
        at(current)
        z = model(inputs).log_softmax(-1)
        return torch.cat([g.reshape(-1) for g in torch.autograd.grad(surrogate(z, q, everything, q.exp()), weights)])

    fresh = differences(lambda x: gradient(x, theta), theta)
    total = differences(lambda x: gradient(x, x), theta)
    at(theta)
    bent = differences(lambda x: torch.autograd.grad(surrogate((o := x.view(5, 3).requires_grad_()).log_softmax(-1), behaviour.log(), everything, behaviour), o)[0].reshape(-1),
                       model(inputs).detach().reshape(-1))
    outputs = model(inputs).reshape(-1)
    jacobian = torch.stack([torch.cat([g.reshape(-1) for g in torch.autograd.grad(o, weights, retain_graph=True)]) for o in outputs])
    gauss = jacobian.T @ bent @ jacobian
    root = root_of_preconditioner(optimizer, weights)
    found = {}
    for name, options, first, second in [
        ("hessian", {}, fresh, total),
        ("gauss-newton", {"gauss_newton": True}, gauss, gauss + total - fresh),
        ("adam", {"adam": optimizer}, root[:, None] * fresh * root, root[:, None] * total * root),
    ]:
        measured = measure(model, [[r] for r in everything], log_probs, loss, tolerance=1e-9, products=60, **options)
        found[name] = {"measured": {k: measured[k]["value"] for k in ("fresh", "total")},
                       "known": {"fresh": top(first), "total": top(second)}}
    return found


def check_scaled_group():
    """Two arms, every group of four, advantages over the standard deviation: the score is that of the group."""
    size, beta = 4, 0.2
    model = Logits(torch.tensor([0.8, 0.0], dtype=torch.float64))
    arms = torch.tensor([[n >> i & 1 for i in range(size)] for n in range(2 ** size)])
    reward = 1 - arms.double()
    deviation = reward.std(1, unbiased=False, keepdim=True)
    advantage = torch.where(deviation > 0, (reward - reward.mean(1, keepdim=True)) / deviation.clamp_min(1e-9), torch.zeros(()).double())
    chance = model()[arms].sum(1).exp().detach()

    def surrogate(z, q, chance):
        return (chance * grpo(z, q, advantage, math.log(0.5), beta).mean(1)).sum()

    def gradient(current, old):
        q = old.log_softmax(-1)[arms].detach()
        current = current.clone().requires_grad_()
        return torch.autograd.grad(surrogate(current.log_softmax(-1)[arms], q, q.sum(1).exp()), current)[0]

    theta = model.logits.detach().clone()
    measured = measure(model, [0, 1], lambda _: model()[arms].reshape(-1), lambda z, q, _: surrogate(z.view(arms.shape), q.view(arms.shape), chance),
                       groups=lambda _: torch.arange(2 ** size).repeat_interleave(size))
    return {"measured": {k: measured[k]["value"] for k in ("fresh", "total")},
            "known": {"fresh": top(differences(lambda x: gradient(x, theta), theta)), "total": top(differences(lambda x: gradient(x, x), theta))}}


def differences(f, x, step=1e-5):
    """The Jacobian of f at x by central differences."""
    columns = []
    for i in range(len(x)):
        e = torch.zeros_like(x)
        e[i] = step
        columns.append((f(x + e) - f(x - e)) / (2 * step))
    return torch.stack(columns, 1)


def top(matrix):
    return float(torch.linalg.eigvals(matrix).real.max())


def arguments_of(place):
    """What FUNCTION() of FILE.py:FUNCTION returns."""
    path, _, name = place.rpartition(":")
    if not path:
        raise BadInput(f"got {place}, want FILE.py:FUNCTION")
    if not os.path.isfile(path):
        raise BadInput(f"{path}: got no such file, want a Python file")
    spec = importlib.util.spec_from_file_location("rollouts", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not callable(getattr(module, name, None)):
        raise BadInput(f"{path}: got no function {name}")
    given = getattr(module, name)()
    wanted = {"model", "parts", "log_probs", "loss"}
    if not isinstance(given, dict) or not wanted <= set(given) <= wanted | {"groups", "adam"}:
        got = sorted(given) if isinstance(given, dict) else type(given).__name__
        raise BadInput(f"{place}: got {got}, want a dictionary of {', '.join(sorted(wanted))}, and groups and adam where they are used")
    return given


def main():
    p = argparse.ArgumentParser(description="Measures the stiffness of GRPO training from one batch of rollouts; prints JSON.",
                                epilog="The numbers go into `grposim advise --stiffness TOTAL --stiffness-fresh FRESH`.")
    p.add_argument("place", nargs="?", metavar="FILE.py:FUNCTION", help="a function without arguments that returns a dictionary of measure()'s arguments: model, parts, log_probs, loss, groups, adam")
    p.add_argument("--gauss-newton", action="store_true", help="leave the curvature of the network out: the same at a fixed point")
    p.add_argument("--adam", action="store_true", help="preconditioned by the second moments of the optimizer that the dictionary has as adam")
    p.add_argument("--double", action="store_true", help="cast the model to float64")
    p.add_argument("--tolerance", type=float, default=1e-3, help="largest residual, over the eigenvalue (%(default)s)")
    p.add_argument("--products", type=int, default=30, help="most products for an eigenvalue (%(default)s)")
    p.add_argument("--seed", type=int, default=0, help="of the start of the iteration")
    p.add_argument("--example", action="store_true", help="measure a policy of two arms whose stiffness is known in closed form")
    p.add_argument("--check", action="store_true", help="compare with dense matrices of tiny models")
    c = p.parse_args()
    try:
        if (c.place is not None) + c.example + c.check != 1:
            raise BadInput("want one of FILE.py:FUNCTION, --example and --check")
        if c.example or c.check:
            found = example() if c.example else self_check()
        else:
            given = arguments_of(c.place)
            adam = given.pop("adam", None)
            if c.adam and adam is None:
                raise BadInput("--adam: the dictionary has no adam")
            found = measure(**given, adam=adam if c.adam else None, gauss_newton=c.gauss_newton, double=c.double,
                            tolerance=c.tolerance, products=c.products, seed=c.seed)
    except BadInput as problem:
        print("\n".join(f"stiffness.py: {line}" for line in str(problem).splitlines()), file=sys.stderr)
        sys.exit(2)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
