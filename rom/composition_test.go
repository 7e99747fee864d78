package rom

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestDebugNodes(t *testing.T) {
	for _, c := range []struct {
		g    int
		arms []Arm
	}{
		{2, []Arm{{Normal, 1, 0.3}, {Normal, 0, 0.3}}},
		{16, []Arm{{Normal, 1, 0.3}, {Normal, 0, 0.3}}},
		{16, []Arm{{Normal, 1, 0.3}, {Normal, 0, 0.3}, {Normal, 0.5, 1}}},
		{999, []Arm{{Normal, 1, 0.3}, {Normal, 0, 0.3}}},
		{4, []Arm{{Normal, 1, 1e-3}, {Normal, 0, 0.3}, {Constant, 0.2, 0}, {Bernoulli, 0.3, 0}}},
		{16, []Arm{{Constant, 0, 0}, {Constant, 0.5, 0}, {Constant, 1, 0}, {Constant, 2, 0}}},
		{8, []Arm{{Constant, 0, 0}, {Constant, 0.5, 0}, {Constant, 1, 0}, {Constant, 2, 0}, {Constant, 0.1, 0}, {Constant, 0.6, 0}, {Constant, 1.1, 0}, {Constant, 2.1, 0}}},
	} {
		for _, eps := range []float64{0, 1e-6, 0.3} {
			p := Params{Arms: c.arms, GroupSize: c.g, Groups: 1, Epsilon: eps, Strength: 1, Factors: Unit, Lag: Lag{Block, 1}}
			t0 := time.Now()
			p = p.checked()
			dt := time.Since(t0)
			if p.groups == nil {
				t.Log("nil")
				continue
			}
			m := newModel(&p)
			r := rand.New(rand.NewPCG(1, 2))
			th := normals(r, len(c.arms), 0.3)
			m.set(th, th)
			f := make([]float64, len(th))
			t0 = time.Now()
			m.meanForce(f)
			df := time.Since(t0)
			t0 = time.Now()
			cov := m.covariance()
			dc := time.Since(t0)
			// Monte Carlo
			const N = 100000
			var s1, s2 float64
			n := N * 4 / c.g
			for range n {
				group := make([]sample, c.g)
				for i := range group {
					u := r.Float64()
					a := 0
					for u > m.now.probs[a] && a < len(th)-1 {
						u -= m.now.probs[a]
						a++
					}
					x := c.arms[a].Mean
					if c.arms[a].Law == Normal {
						x += c.arms[a].Std * r.NormFloat64()
					} else if c.arms[a].Law == Bernoulli {
						x = 0
						if r.Float64() < c.arms[a].Mean {
							x = 1
						}
					}
					group[i] = sample{a, x}
				}
				q := p
				q.Reference = th
				g := sampledForce(q, th, th, group)[0]
				s1 += g
				s2 += g * g
			}
			mean := s1 / float64(n)
			v := s2/float64(n) - mean*mean
			want := f[0]
			m.Strength = 0
			m.meanForce(f)
			want = f[0]
			t.Log(fmt.Sprintf("G %d eps %g comps %d table %v force %v cov %v: mean %.8g MC %.5g ± %.1g; var %.6g MC %.6g ±%.2g", c.g, eps, len(p.groups.logs), dt, df, dc, want, mean, math.Sqrt(v/float64(n)), cov.At(0, 0), v, v*math.Sqrt(3/float64(n))))
		}
	}
}
