package rom

import (
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"

	"gonum.org/v1/gonum/floats"
)

// meanNorm returns E ‖g‖ of a step by drawing steps, and its standard error.
func meanNorm(p Params, theta, old []float64, draws int, r *rand.Rand) (mean, stderr float64) {
	probs := make([]float64, len(p.Arms))
	softmax(probs, old)
	sum, squares := 0.0, 0.0
	group := make([]sample, p.GroupSize)
	for range draws {
		g := make([]float64, len(theta))
		for range p.GroupsPerStep {
			for i := range group {
				u, a := r.Float64(), 0
				for a < len(probs)-1 && u > probs[a] {
					u -= probs[a]
					a++
				}
				group[i] = sample{arm: a}
				if r.Float64() < p.Arms[a].Mean {
					group[i].reward = 1
				}
			}
			floats.AddScaled(g, 1/float64(p.GroupsPerStep), sampledForce(p, theta, old, group))
		}
		norm := floats.Norm(g, 2)
		sum += norm
		squares += norm * norm
	}
	mean = sum / float64(draws)
	return mean, math.Sqrt((squares/float64(draws) - mean*mean) / float64(draws))
}

// predictedNorm returns E ‖g‖ and the size of what it leaves out.
func predictedNorm(p Params, theta, old []float64) (mean, size float64) {
	p = p.checked()
	m := newModel(&p)
	mean, size = normFactor(m, theta, old)
	root := math.Sqrt(gradientSquare(m))
	return root * mean, root * size
}

// A group of two samples of two arms exerts a force only if one of either arm is drawn and one of the two succeeds: then its norm is (A₁ − A₂)/2 · √2/2 = √2/4 without a
// scale at equal policies, since the sample of the other arm fails.
func TestNormOfTwoSamples(t *testing.T) {
	p := Params{Arms: []option.Arm{{Mean: 0.3}, {Mean: 0.9}}}
	p.GroupSize, p.GroupsPerStep, p.Advantage.Scale, p.Optimizer.LearningRate = 2, 1, option.NoScale, 0.1
	mean, size := predictedNorm(p, []float64{0, 0}, []float64{0, 0})
	want := 0.5 * (0.3*0.1 + 0.7*0.9) * math.Sqrt2 / 4
	if math.Abs(mean-want) > 1e-15 || size != 0 {
		t.Errorf("got %v and %v, want %v and 0", mean, size, want)
	}
}

// E ‖g‖ at given policies is that of drawn steps but for its size, from even to almost pure policies: summed over all groups (few arms, one
// group), set apart by the number of successes (many arms) and by whether one group exerts a force (four groups). Five standard errors in 80 cells: a chance of 1e-4
// that one fails, or more where rare steps have all of the norm; those with an error above 2 % are not counted.
func TestNormOfDrawnSteps(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	counted, exact := 0, 0
	for i := range 80 {
		arms := []int{2, 2, 3, 4, 8}[r.IntN(5)]
		var p Params
		theta, old := make([]float64, arms), make([]float64, arms)
		sharp, moved := 1.5+3*r.Float64(), 0.2*float64(r.IntN(2))
		for a := range arms {
			p.Arms = append(p.Arms, option.Arm{Mean: r.Float64()})
			old[a] = sharp * r.NormFloat64()
			theta[a] = old[a] + moved*r.NormFloat64()
		}
		p.Reference = make([]float64, arms)
		p.GroupSize, p.GroupsPerStep = []int{4, 8, 16}[r.IntN(3)], []int{1, 1, 4}[r.IntN(3)]
		p.Advantage.Epsilon, p.Advantage.Scale = 1e-6, []option.Scale{option.NoScale, option.StdScale}[r.IntN(2)]
		p.Importance = option.Importance{Mode: []option.ImportanceMode{option.NoImportance, option.Ratio, option.Clip}[r.IntN(3)], ClipLow: 0.2, ClipHigh: 0.2}
		p.KL.Coefficient, p.KL.Gradient = 0.1*r.Float64()*float64(r.IntN(2)), []option.KLGradient{option.ExactKL, option.K3, option.K2}[r.IntN(3)]
		p.Optimizer.LearningRate, p.Lag.Interval = 0.1, 2
		mean, size := predictedNorm(p, theta, old)
		drawn, stderr := meanNorm(p, theta, old, 4000, r)
		if stderr > 0.02*drawn {
			continue
		}
		counted++
		if size == 0 {
			exact++
		}
		if math.Abs(mean-drawn) > size+5*stderr {
			t.Errorf("%d: %+v at %.3g, drawn by %.3g: predicted %.4g and leaves out %.2g, drawn %.4g (%.2g)", i, p, theta, old, mean, size, drawn, stderr)
		}
	}
	if counted < 40 || exact < 15 {
		t.Errorf("got %d cells, %d of them without a size; want at least 40 and 15", counted, exact)
	}
}
