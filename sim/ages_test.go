package sim

import (
	"math"
	"testing"

	"grposim/grpo"
	"grposim/option"
)

// Ages follow their law: the counts of 100,000 are within five standard deviations of it.
func TestAgesFollowTheirLaw(t *testing.T) {
	const draws = 100_000
	table := option.Ages{Law: option.TableAges, Drawn: option.AgePerGroup}
	table.Weights = [option.MaxTableAge + 1]float64{1: 1, 8: 3}
	for _, law := range []option.Ages{
		{Law: option.UniformAges, From: 2, To: 6, Drawn: option.AgePerGroup},
		{Law: option.GeometricAges, Mean: 4, Drawn: option.AgePerStep},
		table,
	} {
		c := referenceCell()
		c.Lag = option.Lag{Kind: option.Random, Ages: law}
		a := newAges(&c)
		a.begin(&c, ForReplica, 0)
		counts := make([]float64, len(a.probabilities))
		for range draws {
			counts[a.next()]++
		}
		for age, p := range a.probabilities {
			miss := math.Abs(counts[age] - draws*p)
			if miss > 5*math.Sqrt(draws*p*(1-p))+3*float64(len(counts)/100) {
				t.Errorf("%+v: age %d came %v times, want about %v", law, age, counts[age], draws*p)
			}
		}
	}
}

// At G = ∞ the force of a step is the mean of the expected forces over the law of ages. Policies
// from before step 0 are the initial one.
func TestExpectedForceOverAges(t *testing.T) {
	c := referenceCell()
	c.Estimator.GroupSize = option.Infinite
	c.Optimizer.Momentum = 0.5
	c.Init = []float64{1, 0}
	for _, law := range []option.Ages{
		{Law: option.UniformAges, From: 1, To: 5, Drawn: option.AgePerGroup},
		{Law: option.GeometricAges, Mean: 3, Drawn: option.AgePerGroup},
	} {
		c.Lag = option.Lag{Kind: option.Random, Ages: law}
		r := newReplica(&c, []int{c.Run.Steps}, coupledLaws(&c.Bandit, &c.Estimator))
		r.values = make([]float64, r.width)
		r.begin(0)
		force, p := grpo.NewForce(c.Estimator, c.Reference), grpo.AgeProbabilities(&law)
		past, theta, velocity := []*grpo.Policy{}, []float64{1, 0}, []float64{0, 0}
		for step := range 40 {
			past = append(past, grpo.NewPolicy(append([]float64(nil), theta...)))
			for age, share := range p {
				g := make([]float64, 2)
				force.Expected(g, &c.Bandit, past[step], past[max(step-age, 0)])
				for a := range g {
					if age == 0 {
						velocity[a] *= c.Optimizer.Momentum
					}
					velocity[a] += share * g[a]
				}
			}
			for a, v := range velocity {
				theta[a] += c.Optimizer.LearningRate * v
			}
			r.step(step)
			if got := r.policy.Logits; math.Abs(got[0]-theta[0]) > 1e-13 || math.Abs(got[1]-theta[1]) > 1e-13 {
				t.Fatalf("%+v: after step %d got %v, want %v", law, step, got, theta)
			}
		}
	}
}
