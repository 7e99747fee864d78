// Package grpo is the algorithm: group relative policy optimization on a softmax bandit, one
// optimizer step at a time (docs/theory.md §1).
//
// The gradient estimate g is called the force. Under a heavy ball the logits θ are a position, v is
// a velocity and g accelerates it. Near a fixed point the logits move as a damped oscillator does
// (docs/theory.md §4). Optimizer step t does this:
//
//  1. Lag. History.Behaviour gives π_old, the policy that draws the groups of step t: π at the last
//     refresh (block), or π of τ steps ago (delay).
//  2. Draw. The caller draws B groups of G samples from π_old, an arm a_i and a reward r_i each
//     (package sim/draw).
//  3. GroupStatistics. OpenBernoulli and AddBernoulli, or AddAtoms, turn each group's rewards into
//     advantages A_i = (r_i − baseline)/scale. They add them up by arm and sign: O(A) numbers.
//  4. Force. Force.Sampled gives g = (1/GB) Σ_i w_i A_i (e_{a_i} − π) − β∇KL. Force.Expected gives its
//     limit for G → ∞ and replaces 2 and 3 there.
//  5. Optimizer. Step moves the logits, v ← μv + g, θ ← θ + ηv for the heavy ball, with the learning
//     rate η of the step, Rate.
//  6. Policy. Policy.Update sets π = softmax θ for the next step.
//
// The package is pure. It draws nothing, starts no goroutine and reads no file. It works in logit
// space, per context, and nowhere assumes that the parameters are the logits. So a network can pull
// the same force back through its Jacobian.
//
// A caller's mistake panics with the field's name, what it got and what it wants. Fields that the
// chosen options do not use are not checked. Policy accepts logits that are not finite, because a
// run that diverges has them; its probabilities are then NaN.
//
// All arithmetic is rounded explicitly and uses fp for exp and log, so results are the same bits on
// every architecture.
//
// Notation, used everywhere in this module (docs/theory.md §0): A arms, θ logits, π = softmax θ the
// policy, m_a the mean reward of arm a, J(π) = Σ π_a m_a. π_old is the snapshot that draws the
// groups, π_ref the reference. G is the group size, B the groups per step, K the refresh interval,
// τ the delay. η is the learning rate, μ the momentum, β the strength of the KL penalty.
package grpo
