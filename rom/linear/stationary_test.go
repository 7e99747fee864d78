package linear

import (
	"math"
	"testing"
)

// A walk on 0, …, n−1 that steps up with the probability p and down with q has the stationary law ∝ (p/q)^k.
func TestStationaryWalk(t *testing.T) {
	const n, p, q = 40, 0.2, 0.3
	x := Stationary(1, n, func(_, from int, visit func(row, to int, p float64)) {
		visit(0, min(from+1, n-1), p)
		visit(0, max(from-1, 0), q)
		visit(0, from, 1-p-q)
	})
	for k := range n {
		if want := math.Pow(p/q, float64(k-n+1)); math.Abs(x[k]-want*x[n-1]) > 1e-9*want*x[n-1] {
			t.Errorf("state %d: %g, want %g", k, x[k], want*x[n-1])
		}
	}
}

// Of two coordinates of which one steps up by one or returns to 0 with the probability r, and the other walks, each has its own law, whichever of them is
// the row, and wherever 0 is.
func TestStationaryGrid(t *testing.T) {
	const n, m, r, p, q = 30, 7, 0.25, 0.2, 0.3
	same := func(k int) int { return k }
	back := func(k int) int { return n - 1 - k }
	for _, age := range []func(int) int{same, back} {
		moves := func(k, site int, visit func(k, site int, p float64)) {
			for _, to := range []struct {
				k int
				p float64
			}{{age(0), r}, {age(min(age(k)+1, n-1)), 1 - r}} {
				visit(to.k, min(site+1, m-1), to.p*p)
				visit(to.k, max(site-1, 0), to.p*q)
				visit(to.k, site, to.p*(1-p-q))
			}
		}
		byAge := Stationary(n, m, moves)
		bySite := Stationary(m, n, func(site, k int, visit func(site, k int, p float64)) {
			moves(k, site, func(k, site int, p float64) { visit(site, k, p) })
		})
		sites := 0.0
		for k := range m {
			sites += math.Pow(p/q, float64(k))
		}
		for k := range n {
			for site := range m {
				want := math.Pow(p/q, float64(site)) / sites * math.Pow(1-r, float64(k))
				if k < n-1 {
					want *= r
				}
				for _, got := range []float64{byAge[age(k)*m+site], bySite[site*n+age(k)]} {
					if math.Abs(got-want) > 1e-12 {
						t.Errorf("age %d, site %d: %g, want %g", k, site, got, want)
					}
				}
			}
		}
	}
}
