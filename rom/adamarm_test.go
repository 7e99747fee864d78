package rom

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
)

// armAt returns the bandit 0.9/0.2 without scale at the gap z of its logits, and the law of the force on the first.
func armAt(size int, beta, beta2, gap float64) (Params, *model, *armLaw) {
	p := adamCell(option.NoScale, size, 1, beta, 0.01, beta2, 1)
	p.Arms = []option.Arm{{Law: option.Bernoulli, Mean: 0.9}, {Law: option.Bernoulli, Mean: 0.2}}
	p = p.checked()
	m := newModel(&p)
	theta := []float64{gap / 2, -gap / 2}
	m.set(theta, theta)
	return p, m, newArmLaw(m, 0)
}

// The law of a force has its mean and variance, and the mean step is that of its sums over the past, where the second moment keeps its mean and
// where it forgets between two samples.
func TestAdamMeanStep(t *testing.T) {
	for _, c := range []struct {
		size             int
		beta, beta2, gap float64
	}{
		{8, 0.5, 0.95, 1}, {16, 0.2, 0.95, 3.2}, {4, 0.15, 0.98, 3.3}, {4, 0.02, 0.95, 8},
	} {
		p, m, law := armAt(c.size, c.beta, c.beta2, c.gap)
		force := make([]float64, 2)
		m.meanForce(force)
		mean, square := 0.0, 0.0
		for i, x := range law.values {
			mean += law.weights[i] * x
			square += law.weights[i] * x * x
		}
		where := fmt.Sprintf("G = %d, β = %g, z = %g: ", c.size, c.beta, c.gap)
		adamNear(t, where+"mean", mean, force[0], 1e-9)
		adamNear(t, where+"variance", square-mean*mean, m.covariance().At(0, 0), 1e-3*square)
		adamNear(t, where+"mean step", law.meanStep(&p.Optimizer), slowMeanStep(law, &p.Optimizer), 2e-4)
	}
}

// slowMeanStep is meanStep by its sums over the steps in the past, at nodes a tenth apart.
func slowMeanStep(g *armLaw, o *option.Optimizer) float64 {
	unit, _, least, largest, _ := g.scaled()
	const step = 0.1
	sum := 0.0
	for w := -17 - 2*math.Log(largest); w < 4-2*math.Log(least); w += step {
		u, logs, r := math.Exp(w), 0.0, 0.0
		for k := 0; k < 25*int(1/(1-o.Beta2)) && logs > -40; k++ {
			s, zero, one := (1-o.Beta2)*math.Pow(o.Beta2, float64(k))*u, 0.0, 0.0
			for i, x := range unit.values {
				p := unit.weights[i] * math.Exp(-s*x*x)
				zero += p
				one += p * x
			}
			logs += math.Log(zero)
			r += (1 - o.Beta1) * math.Pow(o.Beta1, float64(k)) * one / zero
		}
		if logs > -40 {
			sum += step * math.Sqrt(u) * math.Exp(logs) * r
		}
	}
	return sum / math.Sqrt(math.Pi)
}

// A logit that does not act on its forces moves by the mean step, with the variance per step of spread: 1,000 chains of forces drawn from the law
// of an arm that is drawn less often than v forgets. Both have the error of the sample, four standard deviations, and S that of an m that forgets at once,
// (1−β2)/(1−β1).
func TestAdamSpread(t *testing.T) {
	const chains, warm, steps = 1000, 3000, 6000
	p, _, law := armAt(4, 0.02, 0.99, 8)
	o := &p.Optimizer
	mean := law.meanStep(o)
	spread, ok := law.spread(o)
	if !ok {
		t.Fatal("no spread")
	}
	if spread < 1.5 {
		t.Errorf("S = %g of rare forces, want far more than 1", spread)
	}
	r := rand.New(rand.NewPCG(5, 7))
	rare := 0 // the value without a sample of the rarer arm has nearly all of the weight
	for i, w := range law.weights {
		if w > law.weights[rare] {
			rare = i
		}
	}
	draw := func() float64 {
		u := r.Float64() - law.weights[rare]
		if u < 0 {
			return law.values[rare]
		}
		for i, w := range law.weights {
			if i == rare {
				continue
			}
			if u -= w; u < 0 {
				return law.values[i]
			}
		}
		return law.values[rare]
	}
	sum, square := 0.0, 0.0
	for range chains {
		m, v, moved := 0.0, 0.0, 0.0
		for k := range warm + steps {
			g := draw()
			m += (1 - o.Beta1) * (g - m)
			v += (1 - o.Beta2) * (g*g - v)
			if k >= warm {
				moved += m / (math.Sqrt(v) + o.Epsilon)
			}
		}
		sum += moved
		square += moved * moved
	}
	sum /= chains
	variance := square/chains - sum*sum
	adamNear(t, "mean step", mean, sum/steps, 4*math.Sqrt(variance/chains)/steps)
	adamNear(t, "S", spread, variance/steps, (4*math.Sqrt(2./chains)+0.1)*spread)
}

// Where ε is far above every force each step moves by g/ε: S is the variance of the force over ε².
func TestAdamSpreadLargeEpsilon(t *testing.T) {
	p, m, law := armAt(4, 0.02, 0.99, 8)
	for _, epsilon := range []float64{100, 1e6} {
		o := p.Optimizer
		o.Epsilon = epsilon
		got, ok := law.spread(&o)
		want := m.covariance().At(0, 0) / (epsilon * epsilon)
		if !ok || !(math.Abs(got/want-1) < 0.01+2/epsilon) {
			t.Errorf("ε = %g: S = %g, %t, want %g", epsilon, got, ok, want)
		}
	}
}
