package deep

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The variance of mode amplitudes and Var J of sampled runs, group by group and sample by sample, are those of the linear law. The force
// is that of places["whole"], written out. The statement fails by chance once in 10⁴ runs with other seeds: 4.9
// standard errors of 40 parts of the run for 3 numbers, Student's t. The two stiffest modes come to rest in a small share of a part. Second-order terms are of the order of the variance of a logit, 1e-2.
func TestLawOfSampledRuns(t *testing.T) {
	const (
		contexts, arms, weights   = 2, 3, 6
		size, interval            = 16, 4
		rate, mu, beta            = 0.1, 0.5, 0.4
		parts, steps, errors, off = 40, 20000, 4.9, 1e-2
	)
	j := randomMatrix(contexts, arms, weights, 4)
	all := someContexts(contexts, arms, places["whole"])
	p := fixedPoint(t, all)
	d := NewRange(j).Dynamics(p, update(rate, mu, block(interval)))
	modes := d.Modes()
	law, err := d.Law(modes, Window{})
	if err != nil {
		t.Fatal(err)
	}
	modes = modes[:2] // Var J is due to all
	random := rand.New(rand.NewPCG(1, 1))
	w, v, gradient := make([]float64, weights), make([]float64, weights), make([]float64, weights)
	logits, u := make([]float64, contexts*arms), make([]float64, contexts*arms)
	old := make([][]float64, contexts)
	sums := mat.NewDense(parts, len(modes)+1, nil)
	for step := -steps / 4; step < parts*steps; step++ {
		j.Push(w, logits)
		reward, row := 0.0, max(step/steps, 0)
		if step%interval == 0 {
			for x := range all {
				at := make([]float64, arms)
				for a := range at {
					at[a] = p.Logits[x*arms+a] + logits[x*arms+a]
				}
				old[x], _ = expected(&all[x], at)
			}
		}
		for a := range logits {
			reward += p.Slope[a] * logits[a]
		}
		if step >= 0 {
			for i := range modes {
				amplitude := mat.Dot(mat.NewVecDense(len(logits), modes[i].Covector), mat.NewVecDense(len(logits), logits))
				sums.Set(row, i, sums.At(row, i)+amplitude*amplitude/steps)
			}
			sums.Set(row, len(modes), sums.At(row, len(modes))+reward*reward/steps)
		}
		for x := range all {
			sampledForce(u[x*arms:(x+1)*arms], random, old[x], all[x].Reference, x%arms, size, beta)
		}
		j.Pull(u, gradient)
		for i := range w {
			v[i] = mu*v[i] + gradient[i]/contexts
			w[i] += rate * v[i]
		}
	}
	for i := range len(modes) + 1 {
		mean, square := 0.0, 0.0
		for part := range parts {
			mean += sums.At(part, i) / parts
			square += sums.At(part, i) * sums.At(part, i) / parts
		}
		want := law.Reward
		if i < len(modes) {
			want = law.Modes[i]
		}
		deviation := math.Sqrt((square - mean*mean) / (parts - 1))
		t.Logf("%d: measured %.4g ± %.2g, want %.4g: %.2f standard errors", i, mean, deviation, want, (mean-want)/deviation)
		if math.Abs(mean-want) > errors*deviation+off*want {
			t.Errorf("number %d: measured %v ± %v, want %v", i, mean, deviation, want)
		}
	}
}

// sampledForce writes the force of one group of samples of a policy, advantage r less the group's mean, and of the exact KL gradient
// at that policy; the good arm has the mean 0.9, the others 0.2.
func sampledForce(u []float64, random *rand.Rand, policy, reference []float64, good, size int, beta float64) {
	rewards, drawn, mean := make([]float64, size), make([]int, size), 0.0
	for i := range drawn {
		for x := random.Float64(); drawn[i] < len(policy)-1 && x >= policy[drawn[i]]; drawn[i]++ {
			x -= policy[drawn[i]]
		}
		if chance := 0.2; random.Float64() < chance || drawn[i] == good && random.Float64() < (0.9-chance)/(1-chance) {
			rewards[i] = 1
		}
		mean += rewards[i] / float64(size)
	}
	clear(u)
	for i, a := range drawn {
		u[a] += (rewards[i] - mean) / float64(size) // the advantages sum to 0, so that −π takes nothing
	}
	divergence, ratio := 0.0, make([]float64, len(policy))
	normal := 0.0
	for _, l := range reference {
		normal += math.Exp(l)
	}
	for a, q := range policy {
		ratio[a] = math.Log(q) - reference[a] + math.Log(normal)
		divergence += q * ratio[a]
	}
	for a, q := range policy {
		u[a] -= beta * q * (ratio[a] - divergence)
	}
}
