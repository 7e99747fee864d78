package grpo_test

import (
	"math"
	"testing"

	"grposim/grpo"
)

// The numbers derived from a policy, for π = (½, ¼, ¼) and q = (⅛, ⅛, ¾).
func TestPolicyNumbers(t *testing.T) {
	p := grpo.NewPolicy([]float64{5 + math.Ln2, 5, 5})
	q := grpo.NewPolicy([]float64{-2, -2, -2 + math.Log(6)})
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"entropy", p.Entropy(), 1.5 * math.Ln2},
		{"collision", p.Collision(), 3. / 8},
		{"mean of 4, 0, 1", p.Mean([]float64{4, 0, 1}), 2.25},
		{"KL(π‖q)", p.Divergence(q), 1.25*math.Ln2 - 0.25*math.Log(3)},
		{"KL(q‖π)", q.Divergence(p), 0.75*math.Log(3) - 0.375*math.Ln2},
		{"KL(π‖π)", p.Divergence(p), 0},
		{"largest π/q", p.MaxRatio(q), 4},
		{"largest q/π", q.MaxRatio(p), 3},
		{"log Σe^θ", p.LogNorm(), 5 + math.Log(4)},
	} {
		if !(math.Abs(c.got-c.want) <= 1e-14) {
			t.Errorf("%s is %.17g, want %.17g", c.name, c.got, c.want)
		}
	}
}

// An arm whose probability underflows contributes 0, as in the limit of probability 0.
func TestPolicyWithUnderflow(t *testing.T) {
	p, q := grpo.NewPolicy([]float64{800, 0}), grpo.NewPolicy([]float64{0, 0})
	if got := p.Entropy(); got != 0 {
		t.Errorf("entropy %g", got)
	}
	if got := p.Divergence(q); math.Abs(got-math.Ln2) > 1e-12 {
		t.Errorf("KL to the uniform policy is %g, want ln 2", got)
	}
	if got := q.MaxRatio(p); got != 0.5 {
		t.Errorf("largest ratio %g over the arms of positive probability, want ½", got)
	}
}

// The log of the norm is that of the present logits, after a change and in a copy.
func TestLogNormAfterAChange(t *testing.T) {
	p, q := grpo.NewPolicy([]float64{1, 2, 3}), grpo.NewPolicy([]float64{0, 0, 0})
	for _, logits := range [][]float64{{1, 2, 3}, {-4, 0, 2}, {5, 5, 5}} {
		copy(p.Logits, logits)
		p.Update()
		want := math.Log(math.Exp(logits[0]) + math.Exp(logits[1]) + math.Exp(logits[2]))
		q.LogNorm()
		q.Set(p)
		for _, got := range []float64{p.LogNorm(), q.LogNorm(), p.LogNorm()} {
			if math.Abs(got-want) > 1e-14*math.Abs(want) {
				t.Errorf("logits %v: %v, want %v", logits, got, want)
			}
		}
	}
}
