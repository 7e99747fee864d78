package path

import (
	"iter"
	"math"
	"slices"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/linear"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/floats"
)

// MeanField computes θ_{t+1} = optimizer(E[g](θ_t, θ_old)) for steps ≥ 0 optimizer
// steps from the logits init, one per arm, with zero velocity. It calls visit at
// t = 0 … steps with the logits, which are valid during the call only.
//
// Its kind is Exact where the mean force is: the exact law of the simulator at G = ∞, and at finite
// G the limit of many groups per step. Else it is an Expansion, as it is where the exact force
// would take more than a few seconds. The scope is out if a logit, a velocity or a reward's mean or
// deviation is not finite or larger than largestSquared; the run ends there, without visiting that
// state.
//
// Adam divides by the root of its second moment, to which the noise of finite groups contributes:
// E[g²] = (E g)² + Var g, averaged over groups. That is LeadingOrder.
func MeanField(p cell.Params, init []float64, steps int, visit func(t int, theta []float64)) (
	scope.Kind, scope.Scope) {
	return Follow(p.Checked(), init, steps, func(t int, theta []float64) (more bool) {
		visit(t, theta)
		return true
	})
}

// Follow is MeanField of checked parameters with a visit that ends the run by returning
// false, and may change the logits.
func Follow(p cell.Params, init []float64, steps int,
	visit func(t int, theta []float64) (more bool)) (scope.Kind, scope.Scope) {
	cell.Must(p.Optimizer.Check)
	cell.Must(p.Lag.Check)
	arms := len(p.Arms)
	cell.CheckLogits("init", init, arms)
	cell.Want(steps >= 0, "steps", steps, "at least 0")
	past := newSnapshots(&p.Lag, init, steps)
	m := state{snapshots: past}
	m.Model, m.most = newModel(&p)
	m.StartBaseline()
	theta, gradient := slices.Clone(init), make([]float64, arms)
	velocity, second := make([]float64, arms), make([]float64, arms)
	decay1, decay2 := 1.0, 1.0
	o := &p.Optimizer
	rewardsSquarable := !slices.ContainsFunc(
		p.Arms, func(a option.Arm) bool { return !isSquarable([]float64{a.Mean, a.Std}) })
	kind := m.Kind()
	if o.Kind == option.Adam && p.GroupSize != option.Infinite || m.most > 0 {
		kind = scope.LeadingOrder
	}
	for t := range steps + 1 {
		if force.Turn(m.Model, t, theta); t > 0 && resets(&p, t-1) {
			clear(velocity)
			clear(second)
			decay1, decay2 = 1, 1
		}
		if !isSquarable(theta) || !isSquarable(velocity) || !linear.IsFinite(second...) ||
			!rewardsSquarable {
			return kind, scope.PathOverflows.Because(t).Scope()
		}
		if !visit(t, theta) || t == steps {
			break
		}
		olds := past.at(t, theta)
		m.meanForce(gradient, theta, olds)
		for a, log := range p.Uniform() { // each of equal arms has its part
			gradient[a] /= fp.MathExp(log)
		}
		if m.Running != nil && p.Draws(t) {
			m.MoveBaseline(past.mean(olds, m.Expected))
		}
		if !isSquarable(gradient) {
			return kind, scope.PathOverflows.Because(t).Scope()
		}
		if size := floats.Norm(gradient, 2); o.MaxNorm > 0 && size > o.MaxNorm &&
			p.GroupSize == option.Infinite {
			floats.Scale(o.MaxNorm/size, gradient)
		}
		rate := RateAt(o, t)
		switch o.Kind {
		default:
			for a, g := range gradient {
				velocity[a] = o.Momentum*velocity[a] + g
				if o.Kind == option.Nesterov {
					theta[a] += rate * (g + o.Momentum*velocity[a])
				} else {
					theta[a] += rate * velocity[a]
				}
			}
		case option.Adam:
			decay1 *= o.Beta1
			decay2 *= o.Beta2
			noise := m.covariance(gradient)
			for a, g := range gradient {
				velocity[a] = o.Beta1*velocity[a] + (1-o.Beta1)*g
				second[a] = o.Beta2*second[a] + (1-o.Beta2)*(g*g+max(noise.At(a, a), 0))
				scale := math.Sqrt(second[a]/(1-decay2)) + o.Epsilon
				if scale != 0 {
					theta[a] += rate * velocity[a] / (1 - decay1) / scale
				}
			}
		}
	}
	return kind, scope.Scope{In: true}
}

// resets reports whether the optimizer forgets its state after step t.
func resets(p *cell.Params, t int) bool {
	return p.ReferenceUpdate.Moves(t) && p.ReferenceUpdate.Optimizer == option.ResetState
}

// A run rests at its fixed point if it has been within AtRest logits of it for
// RestingSteps steps more than the snapshot's age.
const (
	AtRest       = 1e-9
	RestingSteps = 100
)

// largestSquared is the size beyond which the square of a logit, of a velocity or of a reward,
// summed over a run, can leave the range of floating point, as the variance of a simulated run then
// does.
const largestSquared = 1e150

// isSquarable reports whether no entry of x is NaN or larger than largestSquared.
func isSquarable(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return !(math.Abs(v) <= largestSquared) })
}

// RateAt returns the learning rate of step t ≥ 0; see Optimizer.
func RateAt(o *option.Optimizer, t int) float64 {
	return force.Scheduled(o.LearningRate, &o.Schedule, t)
}

// snapshots stores past logits of a run for the behaviour policy: of the last refreshes
// (block), or of the last steps and the present one, never more than the run has.
type snapshots struct {
	period int // steps from one stored policy to the next
	// ages, in periods, of the policies that draw groups, ascending, and their probabilities, of which
	// the last has those beyond the run
	ages   []int
	shares []float64
	ring   [][]float64 // the logits of period n are at n modulo its length
}

// newSnapshots returns the snapshots of a run of the given number of steps that starts at init.
func newSnapshots(l *option.Lag, init []float64, steps int) *snapshots {
	lag := linear.NewLag(l)
	oldest, chances := lag.Stored()
	n, left := min(oldest, steps)+1, 1.0
	s := &snapshots{period: lag.Period(), ring: make([][]float64, n)}
	for age := range chances[:max(min(len(chances), n)-1, 0)] {
		if p := chances[age]; p > 0 {
			s.ages, s.shares = append(s.ages, age), append(s.shares, p)
			left -= p
		}
	}
	s.ages, s.shares = append(s.ages, n-1), append(s.shares, left)
	for i := range s.ring {
		s.ring[i] = slices.Clone(init)
	}
	return s
}

// place returns the place in the ring of the policy of an age, in periods, in step t. Before the run
// it is that of step 0.
func (s *snapshots) place(t, age int) int { return max(t/s.period-age, 0) % len(s.ring) }

// onPolicy reports whether groups are drawn by the present policy.
func (s *snapshots) onPolicy() bool { return s.period == 1 && len(s.ring) == 1 }

// refreshes reports whether the snapshot is taken at the beginning of step t.
func (s *snapshots) refreshes(t int) bool { return t%s.period == 0 }

// at stores the logits theta of step t and returns θ_old of every age: the logits of d refreshes
// before the last (block), or of step max(t−τ, 0) (delay). It has to be called once in every step.
func (s *snapshots) at(t int, theta []float64) (olds [][]float64) {
	if s.refreshes(t) {
		copy(s.ring[s.place(t, 0)], theta)
	}
	for _, age := range s.ages {
		olds = append(olds, s.ring[s.place(t, age)])
	}
	return olds
}

// mean returns the mean over the ages of a function of θ_old.
func (s *snapshots) mean(olds [][]float64, of func(old []float64) float64) (sum float64) {
	for i, old := range olds {
		sum += s.shares[i] * of(old)
	}
	return sum
}

// Deviations yields the deviation x of the logits from a fixed point theta, and the velocity v, at
// step 0 and after each step without end: the linear dynamics in the logits of all arms,
//
//	g_t = −Λ_f x_t − Λ_s x_old,
//
// from x = start and v = 0 with the optimizer and the lag of p (docs/theory.md §5). Before a delay
// has passed, x_old is start; of random ages it is the mean over their law. The slices are
// overwritten by the next step. The optimizer is not Adam.
func Deviations(p cell.Params, theta, start []float64) iter.Seq2[[]float64, []float64] {
	fresh, stale := force.Stiffness(p, theta)
	rate, momentum := p.Optimizer.LearningRate, p.Optimizer.Momentum
	force, velocity := linear.StepGains(p.Optimizer.Kind, momentum)
	return func(yield func(x, v []float64) bool) {
		x, v := slices.Clone(start), make([]float64, len(start))
		past := newSnapshots(&p.Lag, start, math.MaxInt-1)
		old, g := make([]float64, len(start)), make([]float64, len(start))
		for t := 0; yield(x, v); t++ {
			clear(old)
			for i, snapshot := range past.at(t, x) {
				floats.AddScaled(old, past.shares[i], snapshot)
			}
			for a := range g {
				g[a] = 0
				for b := range g {
					g[a] -= fresh.At(a, b)*x[b] + stale.At(a, b)*old[b]
				}
			}
			for a := range g {
				x[a] += rate * (force*g[a] + velocity*v[a])
				v[a] = momentum*v[a] + g[a]
			}
		}
	}
}

// metStep is the distance in logits that policies move between two points at which the norm is
// bounded.
const metStep = 0.01

// Unlimited returns checked parameters without their largest norm where the gradients of runs from
// the logits init do not reach it within the given steps. Else it notes which they do not exceed.
func Unlimited(p cell.Params, init []float64, steps int) cell.Params {
	return cell.Meeting(p, func(free cell.Params) (most float64, ok bool) {
		if !free.Tabular() {
			return normMet(free, &free, init, steps)
		}
		e, visit, because := newEpochs(&free)
		if because.Out() {
			return 0, false
		}
		all, chance := alone(&free, &visit, init, e.visits(steps))
		for _, prompt := range all {
			step := prompt.Params // of a group
			step.GroupsPerStep, step.Chance, step.Others = 1, 0, nil
			step = step.Checked()
			each, known := normMet(prompt.Params, &step, prompt.Init, len(e.visits(steps)))
			if most = max(most, each); !known {
				return 0, false
			}
		}
		return free.NormOfPrompts(most, chance), true
	})
}

// normMet returns what the norms of a step do not exceed on the mean field of p.
func normMet(p cell.Params, step *cell.Params, init []float64, steps int) (most float64, ok bool) {
	m, past, before := force.New(step), newSnapshots(&p.Lag, init, steps), []float64(nil)
	var turned force.Turned
	_, within := Follow(p, init, steps, func(t int, theta []float64) (more bool) {
		now := force.Turn(m, t, theta)
		olds := past.at(t, theta)
		here := slices.Concat(theta, slices.Concat(olds...))
		if before == nil || now != turned || floats.Distance(here, before, math.Inf(1)) > metStep {
			turned = now
			for before = here; len(olds) > 0; olds = olds[1:] {
				most = max(most, m.NormMet(theta, olds[0]))
			}
		}
		return !math.IsInf(most, 1)
	})
	return most, within.In && !math.IsNaN(most)
}
