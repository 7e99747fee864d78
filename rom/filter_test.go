package rom

import (
	"math"
	"math/rand/v2"
	"testing"
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
	softmax(past, old)
	var atoms []sample
	var chances []float64
	for a, arm := range p.Arms {
		atoms = append(atoms, sample{a, 1}, sample{a, 0})
		chances = append(chances, past[a]*arm.Mean, past[a]*(1-arm.Mean))
	}
	if p.KLEstimator == ExactKL {
		p.Strength = 0
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

// The mean force and its covariance with a filter are those of all pairs of groups: without
// those of equal rewards, or with the mean over the others of each pair.
func TestFilteredForceIsTheEnumeratedOne(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, arms := range []int{2, 3} {
		base := Params{GroupSize: 5 - arms, Groups: 2, Epsilon: 0.05, ClipLow: 0.1, ClipHigh: 0.2, Strength: 0.7, Lag: Lag{Block, 1}, Factors: Unit}
		everyEstimator(base, func(p Params) {
			for _, p.Filter = range []Filter{Redraw, Drop} {
				if p.Filter == Drop && p.KLEstimator != ExactKL {
					continue
				}
				theta, old := normals(r, arms, 1), normals(r, arms, 1)
				p.Reference, p.Arms = normals(r, arms, 1), nil
				for a := range arms {
					m := r.Float64()
					if r.IntN(3) == 0 {
						m = float64(a % 2)
					}
					p.Arms = append(p.Arms, Arm{Mean: m})
				}
				all := outcomes(p, theta, old)
				want, second, whole := make([]float64, arms), square(arms), 0.0
				for _, x := range all {
					for _, y := range all {
						if p.Filter == Redraw && (x.equal || y.equal) {
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
				quiet.Strength = 0
				if p.KLEstimator != ExactKL {
					quiet = p
				}
				mean := make([]float64, arms)
				MeanForce(mean, quiet, theta, old)
				cov, _ := ForceCovariance(p, theta, old)
				for a := range mean {
					near(t, "mean", mean[a]+1, want[a]/whole+1, 2e-13)
					for b := range mean {
						near(t, "covariance", cov.At(a, b)+1, second[a][b]/whole-want[a]*want[b]/whole/whole+1, 2e-13)
					}
				}
				if t.Failed() {
					t.Fatalf("%+v", p)
				}
			}
		})
	}
}

// The stiffness with a filter is the derivative of the mean force.
func TestFilteredStiffnessIsTheDerivative(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	base := Params{GroupSize: 4, Groups: 3, ClipLow: 0.1, ClipHigh: 0.2, Strength: 0.7, Arms: []Arm{{Mean: 0.9}, {Mean: 0.2}, {Mean: 0}}, Lag: Lag{Block, 1}, Factors: Unit}
	everyEstimator(base, func(p Params) {
		for _, p.Filter = range []Filter{Redraw, Drop} {
			if p.Filter == Drop && p.KLEstimator != ExactKL {
				continue
			}
			theta := normals(r, 3, 0.7)
			p.Reference = normals(r, 3, 0.5)
			fresh, stale := StiffnessAt(p, theta)
			q := p.checked()
			m := newModel(&q)
			wantFresh, wantStale := square(3), square(3)
			m.differencedStiffness(wantFresh, wantStale, theta, m.meanForce)
			for a := range 3 {
				for b := range 3 {
					near(t, "fresh", fresh.At(a, b)+1, wantFresh[a][b]+1, 1e-11)
					near(t, "stale", stale.At(a, b)+1, wantStale[a][b]+1, 1e-11)
				}
			}
			if t.Failed() {
				t.Fatalf("%+v", p)
			}
		}
	})
}

// Near J = 0 and 1 one sample of a redrawn group has the rarer reward: φ/P q is (G−1)/G² without
// scale and √(G−1)/G with it.
func TestRedrawnForceInTheLimits(t *testing.T) {
	for _, size := range []int{2, 4, 16} {
		g := float64(size)
		for _, p := range []Params{{Scale: Unscaled}, {Scale: GroupStd}} {
			p.Arms, p.GroupSize, p.Groups, p.Filter = []Arm{{Mean: 1}, {Mean: 0}}, size, 1, Redraw
			p = p.checked()
			m := newModel(&p)
			want := (g - 1) / g / g
			if p.Scale == GroupStd {
				want = math.Sqrt(g-1) / g
			}
			for _, rest := range []float64{1e-12, 1e-200} {
				near(t, "h at J → 1", m.phi(1-rest, rest)*rest, want, 1e-10)
				near(t, "h at J → 0", m.phi(rest, 1-rest)*rest, want, 1e-10)
			}
		}
	}
}
