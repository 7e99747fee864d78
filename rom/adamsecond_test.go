package rom

import (
	"fmt"
	"testing"

	"grposim/option"
)

// twoArmAdam returns the state at rest of second order of the arms 0.9 and 0.2.
func twoArmAdam(t *testing.T, size int, beta, rate, beta2 float64) (p Params, l *linearization, out *adamSecond) {
	t.Helper()
	p = adamCell(option.NoScale, size, 1, beta, rate, beta2, 1)
	p.Arms = []option.Arm{{Law: option.Bernoulli, Mean: 0.9}, {Law: option.Bernoulli, Mean: 0.2}}
	p = p.checked()
	l, _, because := NewEquilibrium(p).dynamicsOf(p)
	if because.Out() {
		t.Fatal(because)
	}
	if out = l.secondUnderAdam(p.Optimizer, taylor); out == nil {
		t.Fatalf("G = %d, β = %g, η = %g: no state at rest", size, beta, rate)
	}
	return p, l, out
}

// The fixed points shifted by the skewness of the force at a vanishing learning rate, the rates there over the leading ones, and E J
// at finite rates, against numbers of another program. It had 20,000 runs of J in two of the cells, with standard errors of 4e-5 and 5e-5: 0.872829 and
// 0.875073.
func TestAdamSecondKnown(t *testing.T) {
	for _, c := range []struct {
		size                               int
		beta, beta2, gap, leading, slowing float64
	}{
		{8, 0.5, 0.999, 1.2250, 4.716, 4.712},
		{8, 0.5, 0.95, 1.2266, 4.716, 4.645},
		{16, 0.2, 0.95, 3.1918, 1.664, 1.922},
		{4, 0.15, 0.98, 3.2731, 0.6790, 0.9651},
	} {
		_, l, out := twoArmAdam(t, c.size, c.beta, 1e-7, c.beta2)
		where := fmt.Sprintf("G = %d, β = %g, β2 = %g: ", c.size, c.beta, c.beta2)
		adamNear(t, where+"z", l.logits[0]-l.logits[1]+out.shift[0]*(l.q.At(0, 0)-l.q.At(1, 0)), c.gap, 1e-4)
		adamNear(t, where+"rate over the leading one", out.slowing, c.slowing/c.leading, 1e-3)
	}
	for _, c := range []struct {
		size                              int
		beta, rate, beta2, reward, within float64
	}{
		{16, .2, .01, .95, .872829, 1.2e-4}, {16, .2, .01, .999, .875073, 1.2e-4},
		{16, .2, .01, .95, .872734, 3e-5}, {16, .2, .01, .999, .875091, 3e-5}, {4, .15, .005, .98, .874770, 3e-5},
	} {
		p, l, out := twoArmAdam(t, c.size, c.beta, c.rate, c.beta2)
		adamNear(t, "E J", newModel(&p).expected(l.logits)+out.reward, c.reward, c.within)
	}
}
