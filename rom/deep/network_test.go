package deep

import (
	"fmt"
	"math"
	"testing"

	"grposim/network"
	"grposim/option"
	"grposim/rom"
	"grposim/rom/force"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// trained is a network whose weights have been brought to the fixed point of its contexts.
type trained struct {
	network.Network
	weights  []float64
	contexts []rom.Params
	point    *Point
}

// newTrained returns a network at the fixed point of addition modulo 5, with its initial policy as
// the reference.
func newTrained(t *testing.T, n network.Network, weights []float64, task *network.Task,
	of option.Estimator) *trained {
	t.Helper()
	reference := make([]float64, n.Contexts()*n.Arms())
	n.Logits(weights, reference)
	contexts := make([]rom.Params, n.Contexts())
	for x := range contexts {
		from := x * task.Arms
		contexts[x] = rom.Params{Estimator: of, Reference: reference[from : from+task.Arms]}
		for _, mean := range task.Means[from : from+task.Arms] {
			contexts[x].Arms = append(contexts[x].Arms, option.Arm{Mean: mean})
		}
	}
	p := FixedPoint(contexts)
	if _, err := network.Fit(n, weights, p.Logits); err != nil {
		t.Fatal(err)
	}
	return &trained{n, weights, contexts, p}
}

// after returns the logits of the mean field of the network itself, that many steps after it was
// displaced from the fixed point.
func (n *trained) after(steps int, displaced []float64, by linear.Update,
	lag option.Lag) []float64 {
	size := n.Contexts() * n.Arms()
	w, v, gradient := append([]float64(nil), n.weights...), make([]float64, n.Weights()),
		make([]float64, n.Weights())
	floats.Add(w, displaced)
	u := make([]float64, size)
	var history [][]float64
	for step := 0; ; step++ {
		now := make([]float64, size)
		n.Logits(w, now)
		if step == steps {
			return now
		}
		history = append(history, now)
		old := history[max(0, step-age(&lag, step))]
		for x := range n.contexts {
			from, to := x*n.Arms(), (x+1)*n.Arms()
			force.Mean(u[from:to], n.contexts[x], now[from:to], old[from:to])
		}
		n.Pull(u, gradient)
		for i := range w {
			v[i] = by.Momentum*v[i] + gradient[i]/float64(n.Contexts())
			w[i] += by.Rate * v[i]
		}
	}
}

// linearAfter returns the change of the logits that the linear recursion gives that many steps
// after the given change.
func (d *Dynamics) linearAfter(steps int, change []float64, lag option.Lag) []float64 {
	r := d.at
	var y, velocity, force, more mat.VecDense
	y.MulVec(r.drop, mat.NewVecDense(r.contexts*(r.arms-1), r.gather(change)))
	velocity.ScaleVec(0, &y)
	var past []*mat.VecDense
	for step := range steps {
		past = append(past, mat.VecDenseCopyOf(&y))
		force.MulVec(d.system.Fresh, &y)
		more.MulVec(d.system.Stale, past[max(0, step-age(&lag, step))])
		force.AddVec(&force, &more)
		velocity.ScaleVec(d.system.Momentum, &velocity)
		velocity.SubVec(&velocity, &force)
		y.AddScaledVec(&y, d.system.Rate, &velocity)
	}
	return r.OnLogits(y.RawVector().Data)
}

// follow returns the error of the linear recursion after some steps, as a share of it. It compares
// half the difference of two runs of the network, displaced in opposite directions along Jᵀ times a
// vector.
func (n *trained) follow(d *Dynamics, lag option.Lag, steps int) float64 {
	u, displaced := make([]float64, n.Contexts()*n.Arms()), make([]float64, n.Weights())
	for i := range u {
		u[i] = math.Sin(float64(1 + i*i))
	}
	n.Logits(n.weights, make([]float64, len(u)))
	n.Pull(u, displaced)
	floats.Scale(3e-8/floats.Norm(displaced, 2), displaced)
	n.Push(displaced, u)
	want := d.linearAfter(steps, u, lag)
	got := n.after(steps, displaced, d.system.Update, lag)
	floats.Scale(-1, displaced)
	floats.Sub(got, n.after(steps, displaced, d.system.Update, lag))
	floats.Scale(0.5, got)
	d.at.spread(got, d.at.gather(got))
	return floats.Distance(got, want, 2) / floats.Norm(got, 2)
}

// Small deviations of a network from its fixed point move as the linear theory says, at a rate
// beyond the threshold too.
func TestNetworksFollow(t *testing.T) {
	task := network.Addition(5, 0.9, 0.2)
	mlp := network.NewMLP(task.Inputs, []int{24, 24}, task.Arms, network.Tanh)
	transformer := network.NewTransformer(task.Tokens, task.Vocabulary, task.Arms,
		network.Shape{Width: 16, Heads: 2, Hidden: 32, Unembedding: network.Untied})
	for name, of := range places {
		for kind, n := range map[string]*trained{
			"MLP":         newTrained(t, mlp, mlp.Initial(3), task, of),
			"transformer": newTrained(t, transformer, transformer.Initial(1), task, of),
		} {
			n.Logits(n.weights, make([]float64, len(n.point.Logits)))
			r := NewRange(n)
			rate := 2.4 / Largest(n, n.point.Total(), 1, 40)[0].Value // beyond the threshold of every block
			for _, lag := range []option.Lag{block(1), block(4), {Kind: option.Delay, Interval: 2}} {
				what := fmt.Sprintf("%s, %s, %v %d", kind, name, lag.Kind, lag.Interval)
				off := n.follow(r.Dynamics(n.point, update(rate, 0.5, lag)), lag, 12)
				t.Logf("%s: rank %d, off by %.1e", what, rank(r), off)
				if !(off < 1e-4) {
					t.Errorf("%s: the linear recursion is off by %v", what, off)
				}
			}
		}
	}
}

// age returns the age of the snapshot in step t, as if runs had no start.
func age(lag *option.Lag, t int) int {
	if lag.Kind == option.Delay {
		return lag.Interval
	}
	return t%lag.Interval + lag.Behind*lag.Interval
}
