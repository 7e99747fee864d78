package deep

import (
	"math"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/floats"
)

// Path returns J, the mean over contexts of the expected reward, of the mean field whose kernel
// stays that of r. It starts from the given logits, C·A. It has J before each of the steps and
// after the last:
//
//	g = (1/C) QKQᵀ u(ℓ, ℓ_old),  ℓ ← ℓ + η(a g + b v),  v ← μv + g,  a and b of linear.StepGains.
//
// The kernel is all that the logits see of the weights as long as J does not change. The path ends
// early where J is not finite. The lag is a block or a delay.
func (r *Range) Path(contexts []rom.Params, logits []float64, o option.Optimizer, lag option.Lag, steps int) []float64 {
	lag.Complete()
	gain, velocity := linear.StepGains(o.Kind, o.Momentum)
	n := len(logits)
	now, v, u, change := append([]float64(nil), logits...), make([]float64, n), make([]float64, n), make([]float64, n)
	past := [][]float64{append([]float64(nil), now...)} // of the steps still used, the newest last
	rewards := make([]float64, 0, steps+1)
	for t := 0; ; t++ {
		reward := r.reward(contexts, now)
		if math.IsNaN(reward) {
			return rewards
		}
		if rewards = append(rewards, reward); t == steps {
			return rewards
		}
		old := past[len(past)-1-min(age(&lag, t), t)]
		for x := range contexts {
			from, to := x*r.arms, (x+1)*r.arms
			rom.MeanForce(u[from:to], contexts[x], now[from:to], old[from:to])
		}
		r.respond(change, u)
		for i, g := range change {
			now[i] += o.LearningRate * (gain*g + velocity*v[i])
			v[i] = o.Momentum*v[i] + g
		}
		past = append(past, append([]float64(nil), now...))
		if longest := lag.Interval * (1 + lag.Behind); len(past) > 2*longest+2 {
			past = past[len(past)-longest-1:]
		}
	}
}

// PathSize returns Path through the kernel at the start, and its distance from that through the
// kernel at the end, at each step. That is the size of what a fixed kernel leaves out. The end may
// be the fixed point.
func PathSize(start, end *Range, contexts []rom.Params, logits []float64, o option.Optimizer, lag option.Lag, steps int) (rewards, sizes []float64) {
	rewards, other := start.Path(contexts, logits, o, lag, steps), end.Path(contexts, logits, o, lag, steps)
	rewards = rewards[:min(len(rewards), len(other))]
	for t, j := range rewards {
		sizes = append(sizes, math.Abs(j-other[t]))
	}
	return rewards, sizes
}

// age returns the age of the snapshot in step t, as if runs had no start.
func age(lag *option.Lag, t int) int {
	if lag.Kind == option.Delay {
		return lag.Interval
	}
	return t%lag.Interval + lag.Behind*lag.Interval
}

// respond writes the change of the logits along (1/C) Jᵀu.
func (r *Range) respond(change, u []float64) {
	r.spread(change, product(r.Kernel, r.gather(u)))
	floats.Scale(1/float64(r.contexts), change)
}

// reward returns J at logits.
func (r *Range) reward(contexts []rom.Params, logits []float64) float64 {
	sum := 0.0
	for x := range contexts {
		_, reward := expected(&contexts[x], logits[x*r.arms:(x+1)*r.arms])
		sum += reward
	}
	return sum / float64(len(contexts))
}
