package deep

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// matrix is a Jacobian that is given entry by entry.
type matrix struct {
	j              *mat.Dense
	contexts, arms int
}

func (m matrix) Weights() int  { _, p := m.j.Dims(); return p }
func (m matrix) Contexts() int { return m.contexts }
func (m matrix) Arms() int     { return m.arms }
func (m matrix) Pull(u, gradient []float64) {
	mat.NewVecDense(len(gradient), gradient).MulVec(m.j.T(), mat.NewVecDense(len(u), u))
}
func (m matrix) Push(d, change []float64) {
	mat.NewVecDense(len(change), change).MulVec(m.j, mat.NewVecDense(len(d), d))
}

// randomMatrix returns a Jacobian of independent normal entries.
func randomMatrix(contexts, arms, weights int, seed uint64) matrix {
	r := rand.New(rand.NewPCG(seed, 1))
	j := mat.NewDense(contexts*arms, weights, nil)
	j.Apply(func(int, int, float64) float64 { return r.NormFloat64() / math.Sqrt(float64(weights)) }, j)
	return matrix{j, contexts, arms}
}

// tabular is the Jacobian of logits that are weights themselves.
func tabular(arms int) matrix { return matrix{linear.Identity(arms), 1, arms} }

// Three places of the force: wholly stale, wholly at the present policy, and the two apart.
var places = map[string]option.Estimator{
	"whole": {GroupSize: 16, Advantage: option.Advantage{Scale: option.NoScale},
		KL: option.KL{Coefficient: 0.4, At: option.AtSnapshot}},
	"ratio, k3": {GroupSize: 16, Advantage: option.Advantage{Scale: option.NoScale},
		Importance: option.Importance{Mode: option.Ratio},
		KL:         option.KL{Coefficient: 0.4, Gradient: option.K3}},
	"exact KL at the present policy": {GroupSize: 16,
		Advantage: option.Advantage{Scale: option.NoScale}, KL: option.KL{Coefficient: 0.4}},
	"k2": {GroupSize: 16, Advantage: option.Advantage{Scale: option.NoScale}, KL: option.KL{Coefficient: 0.4, Gradient: option.K2}},
}

// someContexts returns contexts with one good arm each and references that differ.
func someContexts(count, arms int, of option.Estimator) []rom.Params {
	r := rand.New(rand.NewPCG(7, 7))
	all := make([]rom.Params, count)
	for x := range all {
		all[x] = rom.Params{Estimator: of}
		for a := range arms {
			mean := 0.2
			if a == x%arms {
				mean = 0.9
			}
			all[x].Arms = append(all[x].Arms, option.Arm{Mean: mean})
			all[x].Reference = append(all[x].Reference, r.NormFloat64())
		}
	}
	return all
}

// rank returns the number of directions of weight space that move logits.
func rank(r *Range) int {
	_, rank := r.lift.Dims()
	return rank
}

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s: got %.12g, want %.12g to %.1g", what, got, want, relative)
	}
}

func update(rate, momentum float64, lag option.Lag) linear.Update {
	return linear.Update{Rate: rate, Momentum: momentum, Lag: linear.NewLag(&lag)}
}

func block(k int) option.Lag { return option.Lag{Kind: option.Block, Interval: k} }

// A policy of one context whose weights are its logits has the dynamics of package rom.
func TestTabularIsRom(t *testing.T) {
	for name, of := range places {
		for _, arms := range [][]option.Arm{{{Mean: 0.9}, {Mean: 0.2}},
			{{Mean: 0.9}, {Mean: 0.5}, {Mean: 0.2}}} {
			for _, lag := range []option.Lag{block(1), block(2), block(5), {Kind: option.Delay, Interval: 3}} {
				for _, o := range []option.Optimizer{{}, {Momentum: 0.5}, {Momentum: 0.9},
					{Kind: option.Nesterov, Momentum: 0.9}} {
					o.LearningRate = 0.05
					context := rom.Params{Arms: arms, Estimator: of, Lag: lag, Optimizer: o}
					p := FixedPoint([]rom.Params{context})
					by := update(o.LearningRate, o.Momentum, lag)
					by.Method = o.Kind
					d := NewRange(tabular(len(arms))).Dynamics(p, by)
					want := rom.Predict(context).Exact
					what := fmt.Sprintf("%s, %d arms, %v %d, %v with μ = %v: ", name, len(arms), lag.Kind,
						lag.Interval, o.Kind, o.Momentum)
					near(t, what+"radius", d.SpectralRadius(), *want.SpectralRadius, 1e-9)
					for of, value := range map[linear.Event]*float64{
						linear.CriticalRate: want.CriticalLearningRate, linear.OnsetRate: want.OscillationLearningRate, linear.CriticalInterval: want.CriticalRefreshInterval,
					} {
						got, _ := d.Threshold(of).Result()
						switch {
						case (got == nil) != (value == nil):
							t.Errorf("%sevent %v: got %v, want %v", what, of, d.Threshold(of), value)
						case got != nil:
							near(t, fmt.Sprintf("%sevent %v", what, of), *got, *value, 1e-9)
						}
					}
					law := d.Law(d.Modes(), Window{})
					near(t, what+"Var J", law.Reward, *want.StationaryVariance.ExpectedReward, 1e-9)
				}
			}
		}
	}
}

// recursion is the linear map of one period on all weights, step by step: an obvious and slow
// computation.
type recursion struct {
	fresh, stale, noise *mat.Dense // P×P
	rate, momentum      float64
	lag                 option.Lag
}

// wholeSpace returns the recursion of a Jacobian given entry by entry.
func wholeSpace(m matrix, p *Point, rate, momentum float64, lag option.Lag) *recursion {
	on := func(h []*mat.Dense, factor float64) *mat.Dense {
		n := m.contexts * m.arms
		all := mat.NewDense(n, n, nil)
		for x := range h {
			all.Slice(x*m.arms, (x+1)*m.arms, x*m.arms, (x+1)*m.arms).(*mat.Dense).Scale(factor, h[x])
		}
		return linear.Within(m.j, all)
	}
	c := 1 / float64(m.contexts)
	return &recursion{on(p.Fresh, c), on(p.Stale, c), on(p.Noise, c*c), rate, momentum, lag}
}

// period returns the map of one period on (w, ηv, past w).
func (r *recursion) period() *mat.Dense {
	p, _ := r.fresh.Dims()
	steps, stored := r.lag.Interval, 1
	if r.lag.Kind == option.Delay {
		steps, stored = 1, r.lag.Interval
	}
	size := (2 + stored) * p
	out := mat.NewDense(size, size, nil)
	for c := range size {
		w, v, past := mat.NewVecDense(p, nil), mat.NewVecDense(p, nil), make([]*mat.VecDense, stored)
		for k := range past {
			past[k] = mat.NewVecDense(p, nil)
		}
		(append([]*mat.VecDense{w, v}, past...))[c/p].SetVec(c%p, 1)
		if r.lag.Kind == option.Block {
			past[0].CopyVec(w)
		}
		for range steps {
			old := past[len(past)-1]
			var f, s mat.VecDense
			f.MulVec(r.fresh, w)
			s.MulVec(r.stale, old)
			f.AddVec(&f, &s)
			if r.lag.Kind == option.Delay {
				past = append([]*mat.VecDense{mat.VecDenseCopyOf(w)}, past[:len(past)-1]...)
			}
			v.ScaleVec(r.momentum, v)
			v.AddScaledVec(v, -r.rate, &f)
			w.AddVec(w, v)
		}
		for b, part := range append([]*mat.VecDense{w, v}, past...) {
			for i := range p {
				out.Set(b*p+i, c, part.AtVec(i))
			}
		}
	}
	return out
}

// radius returns the largest modulus of a multiplier but for those that are 1 because no logit
// moves.
func (r *recursion) radius() float64 {
	largest := 0.0
	for _, z := range linear.Multipliers(r.period()) {
		if cmplx.Abs(z-1) > 1e-9 {
			largest = max(largest, cmplx.Abs(z))
		}
	}
	return largest
}

// Radius and thresholds are those of the recursion on all weights.
func TestAgainstTheRecursion(t *testing.T) {
	const contexts, arms, weights = 3, 3, 11
	j := randomMatrix(contexts, arms, weights, 3)
	r := NewRange(j)
	if rank(r) != contexts*(arms-1) {
		t.Fatalf("rank %d, want %d", rank(r), contexts*(arms-1))
	}
	for name, of := range places {
		p := FixedPoint(someContexts(contexts, arms, of))
		for _, lag := range []option.Lag{block(1), block(2), block(3), block(8),
			{Kind: option.Delay, Interval: 1}, {Kind: option.Delay, Interval: 3}} {
			for _, mu := range []float64{0, 0.5, 0.9} {
				what := fmt.Sprintf("%s, %v, μ = %v", name, lag, mu)
				d := r.Dynamics(p, update(0.3, mu, lag))
				near(t, what+": radius", d.SpectralRadius(), wholeSpace(j, p, 0.3, mu, lag).radius(), 1e-9)
				critical := d.Threshold(linear.CriticalRate)
				if !critical.Known {
					t.Errorf("%s: the critical rate is not known", what)
					continue
				}
				below := wholeSpace(j, p, critical.At*(1-1e-6), mu, lag).radius()
				above := wholeSpace(j, p, critical.At*(1+1e-6), mu, lag).radius()
				if below >= 1 || above <= 1 {
					t.Errorf("%s: critical rate %v, but radius %v below and %v above", what, critical.At, below, above)
				}
			}
		}
	}
}

// dense returns (1/C) JᵀHJ.
func dense(m matrix, h []*mat.Dense) *mat.Dense {
	return wholeSpace(m, &Point{Fresh: h, Stale: h, Noise: h}, 0, 0, block(1)).fresh
}

// The largest eigenvalues by products are those of the dense matrices on weights and on the range,
// symmetric or not.
func TestLargest(t *testing.T) {
	const contexts, arms = 5, 4
	j := randomMatrix(contexts, arms, 40, 5)
	r := NewRange(j)
	for name, of := range places {
		p := FixedPoint(someContexts(contexts, arms, of))
		for part, h := range map[string][]*mat.Dense{"fresh": p.Fresh, "stale": p.Stale, "total": p.Total()} {
			var want []float64
			for _, z := range linear.Multipliers(dense(j, h)) {
				want = append(want, real(z))
			}
			slices.SortFunc(want, func(a, b float64) int { return -compare(a, b) })
			if want[0] < 1e-12 {
				continue
			}
			var reduced []float64
			for _, z := range linear.Multipliers(r.Reduced(h, 1.0/contexts)) {
				reduced = append(reduced, real(z))
			}
			got := Largest(j, h, 3, 1000)
			near(t, name+", "+part+" on the range", slices.Max(reduced), want[0], 1e-10)
			for i, e := range got {
				if want[i] > 1e-9 {
					near(t, fmt.Sprintf("%s, %s, eigenvalue %d", name, part, i), e.Value, want[i], 1e-9)
				}
			}
			if few := Largest(j, h, 1, 8)[0]; math.Abs(few.Value-want[0]) > few.Residual+1e-12 {
				t.Errorf("%s, %s: %v after 8 products, residual %v, want %v", name, part, few.Value,
					few.Residual, want[0])
			}
		}
	}
}

func compare(a, b float64) int {
	if a < b {
		return -1
	}
	return 1
}

// Under an even block the fresh part alone sets the threshold of the ratio with k3. Under an odd
// one it is between 2(1+μ)/λ_f and 2(1+μ)/λ, if the momentum is small. With μ = 0.9 a pair of
// multipliers leaves the unit circle before. The largest eigenvalue of Λ alone gives none of these.
func TestRatioWithK3(t *testing.T) {
	const contexts, arms = 5, 5
	j := randomMatrix(contexts, arms, 60, 9)
	r := NewRange(j)
	p := FixedPoint(someContexts(contexts, arms, places["ratio, k3"]))
	fresh, total := Largest(j, p.Fresh, 1, 100)[0].Value, Largest(j, p.Total(), 1, 100)[0].Value
	for _, mu := range []float64{0, 0.5, 0.9} {
		for k := 1; k <= 8; k++ {
			d := r.Dynamics(p, update(0.1, mu, block(k)))
			if !d.Mixed {
				t.Fatal("the modes do not mix")
			}
			got := d.Threshold(linear.CriticalRate).At
			t.Logf("μ = %v, K = %d: %.4f of 2(1+μ)/λ_f, %.4f of 2(1+μ)/λ, %.2f of one number", mu, k,
				got*fresh/(2*(1+mu)), got*total/(2*(1+mu)), got/d.OneNumber().Threshold(linear.CriticalRate).At)
			switch what := fmt.Sprintf("μ = %v, K = %d", mu, k); {
			case k%2 == 0 && mu < 0.9:
				near(t, what, got, 2*(1+mu)/fresh, 1e-9)
			case mu < 0.9:
				if !(2*(1+mu)/fresh < got && got < 2*(1+mu)/total*(1+1e-9)) {
					t.Errorf("%s: critical rate %v, want between %v and %v", what, got, 2*(1+mu)/fresh, 2*(1+mu)/total)
				}
			case k%2 == 0:
				if !(got <= 2*(1+mu)/fresh) {
					t.Errorf("%s: critical rate %v, want at most %v", what, got, 2*(1+mu)/fresh)
				}
			}
		}
	}
}

// Of more directions than are scanned finely, thresholds are still those of package linear, which
// looks at all of them on a fine grid.
func TestThresholdsOfManyDirections(t *testing.T) {
	const contexts, arms = 9, 4
	r := NewRange(randomMatrix(contexts, arms, 60, 2))
	for _, c := range []struct {
		place string
		lag   option.Lag
		mu    float64
	}{
		{"ratio, k3", block(2), 0.9}, {"ratio, k3", block(3), 0}, {"exact KL at the present policy",
			block(4), 0}, {"k2", option.Lag{Kind: option.Delay, Interval: 1}, 0.9},
	} {
		d := r.Dynamics(FixedPoint(someContexts(contexts, arms, places[c.place])),
			update(1, c.mu, c.lag))
		if !d.Mixed || rank(r) <= fineDirections {
			t.Fatalf("%s: %d directions, mixed %v", c.place, rank(r), d.Mixed)
		}
		near(t, fmt.Sprintf("%s, %v %d, μ = %v", c.place, c.lag.Kind, c.lag.Interval, c.mu),
			d.Threshold(linear.CriticalRate).At, d.Dynamics.Threshold(linear.CriticalRate).At, 1e-9)
	}
	// At these rates critical intervals are 8 to 160, where not every one is looked at.
	for _, rate := range []float64{1, 4, 20} {
		d := r.Dynamics(FixedPoint(someContexts(contexts, arms,
			places["exact KL at the present policy"])), update(rate, 0, block(2)))
		got, want := d.Threshold(linear.CriticalInterval), d.Dynamics.Threshold(linear.CriticalInterval)
		t.Logf("η = %v: critical interval %v", rate, want)
		if got != want || !got.Known || got.At < 5 {
			t.Errorf("η = %v: critical interval %v, want %v", rate, got, want)
		}
	}
}

// Without scale and with the exact KL the fixed point is log π = log π_ref + m/β; there is
// none where a context has none.
func TestFixedPoint(t *testing.T) {
	contexts := someContexts(3, 4, places["whole"])
	p := FixedPoint(contexts)
	for x := range contexts {
		for a, arm := range contexts[x].Arms {
			// φ_G = 1 − 1/G
			change := func(a int, arm option.Arm) float64 {
				return p.Logits[x*4+a] - contexts[x].Reference[a] - arm.Mean*(1-1.0/16)/0.4
			}
			near(t, fmt.Sprintf("context %d, arm %d", x, a), 1+change(a, arm),
				1+change(0, contexts[x].Arms[0]), 1e-9)
		}
	}
	contexts[1].KL = option.KL{}
	if p := FixedPoint(contexts); p != nil {
		t.Errorf("got %v where a context has none", p)
	}
}

// A Jacobian that is 0, not finite or of unfitting products is a mistake of the caller. The panic
// says which.
func TestNoRange(t *testing.T) {
	j := randomMatrix(2, 2, 5, 1)
	with := func(factor float64) matrix {
		var scaled mat.Dense
		scaled.Scale(factor, j.j)
		return matrix{&scaled, 2, 2}
	}
	none, unknown, large := with(0), with(math.NaN()), with(1e200)
	ones := []*mat.Dense{linear.Identity(2), linear.Identity(2)}
	for _, c := range []struct {
		want string
		make func()
	}{
		{"0 or not finite", func() { NewRange(none) }},
		{"0 or not finite", func() { NewRange(unknown) }},
		{"0 or not finite", func() { NewRange(large) }},
		{"0 or not finite", func() { Largest(none, ones, 1, 2) }},
		{"0 or not finite", func() { Largest(unknown, ones, 1, 2) }},
		{"Pull and Push are not adjoint", func() { NewRange(rescaled{j, []float64{1.001, 1, 1, 1}}) }},
		{"Pull and Push have opposite signs",
			func() { NewRange(rescaled{j, []float64{-1, -1, -1, -1}}) }},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, c.want) {
					t.Errorf("got the panic %q, want %q", got, c.want)
				}
			}()
			c.make()
		}()
	}
}

// rescaled is a Jacobian whose Push has each logit times a factor.
type rescaled struct {
	matrix
	factors []float64
}

func (s rescaled) Push(d, change []float64) {
	s.matrix.Push(d, change)
	floats.Mul(change, s.factors)
}

// Total returns H_f + H_s of each context.
func (p *Point) Total() []*mat.Dense {
	sums := make([]*mat.Dense, len(p.Fresh))
	for x := range sums {
		sums[x] = new(mat.Dense)
		sums[x].Add(p.Fresh[x], p.Stale[x])
	}
	return sums
}
