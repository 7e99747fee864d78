package theory

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"grposim/network"
)

func center(x []float64, arms int) {
	for i := 0; i < len(x); i += arms {
		m := 0.0
		for _, v := range x[i : i+arms] {
			m += v / float64(arms)
		}
		for a := range arms {
			x[i+a] -= m
		}
	}
}

// fit: Levenberg-Marquardt with the dense kernel.
func fit(net network.Network, from, target []float64) []float64 {
	arms := net.Arms()
	w := append([]float64(nil), from...)
	n := len(target)
	residual := func(w []float64) ([]float64, float64) {
		r := make([]float64, n)
		net.Logits(w, r)
		s := 0.0
		for i := range r {
			r[i] = target[i] - r[i]
		}
		center(r, arms)
		for _, x := range r {
			s += x * x
		}
		return r, s
	}
	r, s := residual(w)
	damp := 1.0
	e, g := make([]float64, n), make([]float64, len(w))
	for it := range 200 {
		if math.Sqrt(s) < 1e-13*float64(n) {
			return w
		}
		k := mat.NewSymDense(n, nil)
		q := make([]float64, n)
		for i := range n {
			clear(e)
			e[i] = 1
			center(e, arms)
			net.Pull(e, g)
			net.Push(g, q)
			center(q, arms)
			for j := i; j < n; j++ {
				k.SetSym(i, j, q[j])
			}
		}
		for {
			kd := mat.NewSymDense(n, nil)
			kd.CopySym(k)
			for i := range n {
				kd.SetSym(i, i, k.At(i, i)+damp)
			}
			var c mat.Cholesky
			y := mat.NewVecDense(n, nil)
			if c.Factorize(kd) && c.SolveVecTo(y, mat.NewVecDense(n, r)) == nil {
				net.Pull(y.RawVector().Data, g)
				next := make([]float64, len(w))
				for i := range w {
					next[i] = w[i] + g[i]
				}
				if r2, s2 := residual(next); s2 < s {
					w, r, s = next, r2, s2
					damp = max(damp/10, 1e-12)
					break
				}
			}
			net.Logits(w, q)
			if damp *= 4; damp > 1e9 {
				println("stuck", it, math.Log10(math.Sqrt(s)))
				if s < 1e-22 {
					return w
				}
				return nil
			}
		}
	}
	return nil
}
