package rom

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/group"
	"grposim/rom/weight"
)

// outcome is a group of equal or of different rewards: its force without a penalty whose
// gradient is exact, and its probability.
type outcome struct {
	force  []float64
	chance float64
	equal  bool
}

// outcomes lists all groups of Bernoulli arms, by their counts.
func outcomes(p Params, theta, old []float64) []outcome {
	past := make([]float64, len(theta))
	cell.Softmax(past, old)
	var atoms []sample
	var chances []float64
	for a, arm := range p.Arms {
		atoms = append(atoms, sample{a, 1}, sample{a, 0})
		chances = append(chances, past[a]*arm.Mean, past[a]*(1-arm.Mean))
	}
	if !sampledPenalty(p) {
		p.KL.Coefficient = 0
	}
	var all []outcome
	group := make([]sample, 0, p.GroupSize)
	var walk func(atom int, chance float64)
	walk = func(atom int, chance float64) {
		if len(group) == p.GroupSize {
			equal := true
			for _, s := range group {
				equal = equal && s.reward == group[0].reward
			}
			all = append(all, outcome{sampledForce(p, theta, old, group), chance, equal})
			return
		}
		if atom == len(atoms) {
			return
		}
		size := len(group)
		for n := 0; size+n <= p.GroupSize; n++ {
			if n > 0 {
				group = append(group, atoms[atom])
				chance *= chances[atom] * float64(p.GroupSize-size-n+1) / float64(n)
			}
			walk(atom+1, chance)
		}
		group = group[:size]
	}
	walk(0, 1)
	return all
}

// everyFiltered calls visit with every combination of estimator options, KL penalties and
// filters that go together, without an entropy bonus.
func everyFiltered(base Params, visit func(p Params)) {
	filtered := func(p Params) {
		p.Entropy = 0
		for _, p.Filter = range []option.Filter{option.Redraw, option.Drop} {
			if p.KL.In != option.InReward && (p.Filter == option.Redraw || !sampledPenalty(p)) {
				visit(p)
			}
		}
	}
	everyEstimator(base, filtered)
	everyPenalty(base, filtered)
}

// sampledPenalty reports whether the KL gradient is that of the samples.
func sampledPenalty(p Params) bool {
	return p.KL.In == option.InAdvantage || p.KL.Gradient != option.ExactKL
}

// The mean force and its covariance with a filter are those of all pairs of groups: without
// those of equal rewards, or with the mean over the others of each pair.
func TestFilteredForceIsTheEnumeratedOne(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, arms := range []int{2, 3} {
		base := Params{Estimator: option.Estimator{GroupSize: 5 - arms, GroupsPerStep: 2,
			Advantage:  option.Advantage{Epsilon: 0.05},
			Importance: option.Importance{ClipLow: 0.1, ClipHigh: 0.2}, KL: option.KL{Coefficient: 0.7}},
			Lag: block(1), Factors: Unit}
		everyFiltered(base, func(p Params) {
			theta, old := normals(r, arms, 1), normals(r, arms, 1)
			p.Reference, p.Arms = normals(r, arms, 1), nil
			for a := range arms {
				m := r.Float64()
				if r.IntN(3) == 0 {
					m = float64(a % 2)
				}
				p.Arms = append(p.Arms, option.Arm{Mean: m})
			}
			all := outcomes(p, theta, old)
			want, second, whole := make([]float64, arms), group.Square(arms), 0.0
			for _, x := range all {
				for _, y := range all {
					if p.Filter == option.Redraw && (x.equal || y.equal) {
						continue
					}
					chance, n, g := x.chance*y.chance, 0.0, make([]float64, arms)
					for _, o := range []outcome{x, y} {
						if !o.equal {
							n++
							for a, f := range o.force {
								g[a] += f
							}
						}
					}
					whole += chance
					for a := range g {
						g[a] /= max(n, 1)
						want[a] += chance * g[a]
					}
					for a := range g {
						for b := range g {
							second[a][b] += chance * g[a] * g[b]
						}
					}
				}
			}
			quiet := p
			quiet.KL.Coefficient = 0
			if sampledPenalty(p) {
				quiet = p
			}
			mean := make([]float64, arms)
			force.Mean(mean, quiet, theta, old)
			cov, _ := force.Covariance(p, theta, old)
			for a := range mean {
				near(t, "mean", mean[a]+1, want[a]/whole+1, 2e-13)
				for b := range mean {
					near(t, "covariance", cov.At(a, b)+1, second[a][b]/whole-want[a]*want[b]/whole/whole+1, 2e-13)
				}
			}
			if t.Failed() {
				t.Fatalf("%+v", p)
			}
		})
	}
}

// differences returns the stiffness as central differences of sixth order of the mean force.
func differences(p Params, theta []float64) (fresh, stale [][]float64) {
	arms, step := len(theta), min(0.01, weight.Range(&p.Importance)/8)
	fresh, stale = group.Square(arms), group.Square(arms)
	pushed, moved := make([]float64, arms), make([]float64, arms)
	for b := range arms {
		for i, c := range [7]float64{-1, 9, -45, 0, 45, -9, 1} {
			copy(moved, theta)
			moved[b] += float64(i-3) * step
			force.Mean(pushed, p, moved, theta)
			for a, x := range pushed {
				fresh[a][b] -= c / 60 * x / step
			}
			force.Mean(pushed, p, theta, moved)
			for a, x := range pushed {
				stale[a][b] -= c / 60 * x / step
			}
		}
	}
	return fresh, stale
}

// The stiffness with a filter is the derivative of the mean force.
func TestFilteredStiffnessIsTheDerivative(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	base := Params{Estimator: option.Estimator{GroupSize: 4, GroupsPerStep: 3,
		Importance: option.Importance{ClipLow: 0.1, ClipHigh: 0.2}, KL: option.KL{Coefficient: 0.7}},
		Arms: []option.Arm{{Mean: 0.9}, {Mean: 0.2}, {Mean: 0}}, Lag: block(1), Factors: Unit}
	everyFiltered(base, func(p Params) {
		theta := normals(r, 3, 0.7)
		p.Reference = normals(r, 3, 0.5)
		fresh, stale := force.Stiffness(p, theta)
		wantFresh, wantStale := differences(p, theta)
		for a := range 3 {
			for b := range 3 {
				near(t, "fresh", fresh.At(a, b)+1, wantFresh[a][b]+1, 1e-11)
				near(t, "stale", stale.At(a, b)+1, wantStale[a][b]+1, 1e-11)
			}
		}
		if t.Failed() {
			t.Fatalf("%+v", p)
		}
	})
}

// Mean and covariance of the tabled advantages are those of all groups, and of all pairs of
// groups where the scale is that of the step. Sums of 4096 terms of order 1 round to 5e-13.
func TestTabledForceIsTheEnumeratedOne(t *testing.T) {
	first, second := rand.New(rand.NewPCG(25, 26)), rand.New(rand.NewPCG(35, 36))
	base := Params{Estimator: option.Estimator{GroupSize: 3, GroupsPerStep: 2,
		Advantage:  option.Advantage{Epsilon: 0.05},
		Importance: option.Importance{ClipLow: 0.1, ClipHigh: 0.2}, KL: option.KL{Coefficient: 0.7}},
		Lag: block(1), Factors: Unit}
	tried := 0
	everyEstimator(base, func(p Params) {
		if tried++; Thin > 1 && tried%7 != 0 { // 7: prime to the numbers of options
			return
		}
		for scheme := range 8 {
			p, r := p, first
			if scheme > 4 { // which came later
				r = second
			}
			switch scheme {
			case 0:
				if p.Advantage.Baseline != option.MeanBaseline {
					continue
				}
				p.Advantage.Scale = option.MeanScale
			case 1:
				if p.Advantage.Baseline != option.LeaveOneOut {
					continue
				}
				p.Advantage.Scale = option.OthersStd
			case 2:
				p.Advantage.Scale = option.BatchStd
			case 3, 4:
				p.Advantage.Baseline, p.Advantage.Scale = option.SecondBest, option.Scale(scheme-3)
			case 5:
				if p.Advantage.Std != option.PopulationStd {
					continue
				}
				p.Advantage.Baseline, p.Advantage.Scale, p.Advantage.Value = option.ConstantBaseline,
					option.NoScale, []float64{0, 0.3, 1}[r.IntN(3)]
			default:
				if p.Advantage.Baseline != option.MeanBaseline {
					continue
				}
				p.Advantage.Scale = []option.Scale{option.PooledStd, option.BatchMean}[scheme-6]
			}
			theta, old := normals(r, 2, 1), normals(r, 2, 1)
			p.Reference, p.Arms = normals(r, 2, 1), []option.Arm{{Mean: r.Float64()}, {Mean: r.Float64()}}
			if tried++; tried%Thin != 0 { // of the same random cells
				continue
			}
			mean := make([]float64, 2)
			force.Mean(mean, p, theta, old)
			cov, _ := force.Covariance(p, theta, old)
			want, squares := tabledOutcomes(p, theta, old)
			for a := range mean {
				near(t, "mean", mean[a]+1, want[a]+1, 5e-13)
				for b := range mean {
					near(t, "covariance", cov.At(a, b)+1, squares[a][b]-want[a]*want[b]+1, 5e-13)
				}
			}
			fresh, stale := force.Stiffness(p, theta)
			wantFresh, wantStale := differences(p, theta)
			for a := range 2 {
				for b := range 2 {
					near(t, "fresh", fresh.At(a, b)+1, wantFresh[a][b]+1, 1e-11)
					near(t, "stale", stale.At(a, b)+1, wantStale[a][b]+1, 1e-11)
				}
			}
			if t.Failed() {
				t.Fatalf("scheme %d: %+v", scheme, p)
			}
		}
	})
}

// tabledOutcomes returns the mean of the force of two groups of two Bernoulli arms and of its
// square, over all samples of both.
func tabledOutcomes(p Params, theta, old []float64) (mean []float64, second [][]float64) {
	past := make([]float64, 2)
	cell.Softmax(past, old)
	size := p.GroupSize
	mean, second = make([]float64, 2), group.Square(2)
	for code := range 1 << (4 * size) {
		chance, all := 1.0, make([]sample, 2*size)
		for i := range all {
			arm, reward := code>>(2*i)&1, code>>(2*i+1)&1
			m := p.Arms[arm].Mean
			if reward == 0 {
				m = 1 - m
			}
			chance *= past[arm] * m
			all[i] = sample{arm, float64(reward)}
		}
		g := make([]float64, 2)
		for _, group := range [][]sample{all[:size], all[size:]} {
			for a, x := range tabledForce(p, theta, old, group, all) {
				g[a] += x / 2
			}
		}
		for a, x := range g {
			mean[a] += chance * x
			for b, y := range g {
				second[a][b] += chance * x * y
			}
		}
	}
	return mean, second
}

// tabledForce is sampledForce with the advantages of trainers, in a step of the samples all.
func tabledForce(p Params, theta, old []float64, group, all []sample) []float64 {
	deviation := func(of []sample, ddof float64) float64 {
		sum, squares, n := 0.0, 0.0, float64(len(of))
		for _, s := range of {
			sum += s.reward
		}
		for _, s := range of {
			squares += (s.reward - sum/n) * (s.reward - sum/n)
		}
		return math.Sqrt(squares / (n - ddof))
	}
	ddof := 0.0
	if p.Advantage.Std == option.SampleStd {
		ddof = 1
	}
	centred, nonzero := []sample(nil), 0.0
	for of := range slices.Chunk(all, len(group)) {
		mean := 0.0
		for _, s := range of {
			mean += s.reward / float64(len(of))
		}
		for _, s := range of {
			centred = append(centred, sample{s.arm, s.reward - mean})
			nonzero += s.reward
		}
	}
	advantages := make([]float64, len(group))
	sum := 0.0
	for _, s := range group {
		sum += s.reward
	}
	n := float64(len(group))
	for i, s := range group {
		others := append(append([]sample{}, group[:i]...), group[i+1:]...)
		best := 0.0
		for _, o := range others {
			best = max(best, o.reward)
		}
		switch {
		case p.Advantage.Baseline == option.ConstantBaseline:
			advantages[i] = s.reward - p.Advantage.Value
		case sum == 0 || sum == n:
		case p.Advantage.Baseline == option.SecondBest:
			advantages[i] = max(s.reward-best, 0)
			if p.Advantage.Scale == option.StdScale {
				advantages[i] /= deviation(group, ddof) + p.Advantage.Epsilon
			}
		case p.Advantage.Scale == option.MeanScale:
			advantages[i] = (s.reward - sum/n) / (sum / n)
		case p.Advantage.Scale == option.OthersStd:
			advantages[i] = s.reward - (sum-s.reward)/(n-1)
			if d := deviation(others, 1); d > 0 {
				advantages[i] /= d + p.Advantage.Epsilon
			}
		case p.Advantage.Scale == option.PooledStd:
			advantages[i] = (s.reward - sum/n) / (deviation(centred, ddof) + p.Advantage.Epsilon)
		case p.Advantage.Scale == option.BatchMean:
			advantages[i] = (s.reward - sum/n) * float64(len(all)) / nonzero
		case p.Advantage.Scale == option.BatchStd:
			advantages[i] = (s.reward - sum/n) / (deviation(all, ddof) + p.Advantage.Epsilon)
			if p.Advantage.Baseline == option.LeaveOneOut {
				advantages[i] *= n / (n - 1)
			}
		}
	}
	// The penalty by sampledForce of equal rewards, which have no advantage.
	level := make([]sample, len(group))
	for i, s := range group {
		level[i] = sample{s.arm, 0}
	}
	p.Advantage.Scale, p.Advantage.Baseline = option.NoScale, option.MeanBaseline
	g := sampledForce(p, theta, old, level)
	now, past := make([]float64, 2), make([]float64, 2)
	cell.Softmax(now, theta)
	cell.Softmax(past, old)
	for i, s := range group {
		weight := sampleWeight(&p, now[s.arm]/past[s.arm], advantages[i])
		for a := range g {
			e := 0.0
			if a == s.arm {
				e = 1
			}
			g[a] += weight * advantages[i] * (e - now[a]) / n
		}
	}
	return g
}
