package group

import "slices"

// Integrated is the law of a group by an integral, exact for any rewards unless a clip is in
// force, under which it is that of leading order.
type Integrated struct {
	Expanded
	integral   *integral
	shares     [][]float64 // q_aj, the probability of component j on arm a
	near, last [2]*taylor  // by moment: for use near a point, see Approach, and of the last point; nil: none
}

func (l *Integrated) Exact() bool       { return !l.bySign() }
func (l *Integrated) ClipExpands() bool { return l.Clipped() }
func (l *Integrated) Work() float64 {
	return l.integral.work(len(l.integral.values) / len(l.integral.parts))
}

func (l *Integrated) Approach() {
	if l.near[firstMoment] == nil {
		probs := l.partProbs()
		l.near = [2]*taylor{l.integral.expand(firstMoment, probs, 3), l.integral.expand(secondMoment, probs, 2)}
	}
}

func (l *Integrated) Leave() (back func()) {
	near := l.near
	l.near = [2]*taylor{}
	return func() { l.near = near }
}

func (l *Integrated) Mean(dst []float64) { l.perGroup(dst, l.Response) }

func (l *Integrated) Response(dst []float64) {
	if l.Clipped() {
		l.Expanded.Response(dst)
		return
	}
	mean, _ := l.integrated(firstMoment)
	for a, x := range mean {
		dst[a] = l.Up[a] * x
	}
}

func (l *Integrated) Covariance(reward, cross, penalty [][]float64) {
	if l.Clipped() {
		l.Expanded.Covariance(reward, cross, penalty)
		return
	}
	l.covariance(reward, cross)
}

func (l *Integrated) Stiffness(fresh, stale [][]float64) (known bool) {
	u, slope := l.slopes()
	l.addResponseStiffness(fresh, stale, u, slope)
	return true
}

// partProbs returns P_j = Σ_a π_old,a q_aj.
func (l *Integrated) partProbs() []float64 {
	probs := make([]float64, len(l.integral.parts))
	for a, old := range l.Old {
		for j, q := range l.shares[a] {
			probs[j] += old * q
		}
	}
	return probs
}

// integrated returns a moment at π_old for samples on arm a, and on arms a and b:
// Σ_j q_aj x_j and Σ_jk q_aj q_bk x_jk of the components.
func (l *Integrated) integrated(of moment) (one []float64, pairs [][]float64) {
	probs := l.partProbs()
	e := l.near[of]
	if e == nil {
		e = l.last[of]
		if e == nil || !slices.Equal(e.at, probs) {
			e = l.integral.expand(of, probs, 0)
			l.last[of] = e
		}
	}
	x, xx := e.values(probs)
	arms := len(l.shares)
	one, pairs = make([]float64, arms), Square(arms)
	half := Zeros(len(probs), arms) // Σ_k q_bk x_jk
	for j, row := range xx {
		for b, shares := range l.shares {
			for k, q := range shares {
				half[j][b] += q * row[k]
			}
		}
	}
	for a, shares := range l.shares {
		for j, q := range shares {
			one[a] += q * x[j]
			for b, v := range half[j] {
				pairs[a][b] += q * v
			}
		}
	}
	return one, pairs
}

// slopes is Composed.slope by the integral: with R_a = E[y | a]
//
//	∂R_a/∂θ_b = π_b(G−1)(E[y | a; b] − R_a)
func (l *Integrated) slopes() (u []float64, s [][]float64) {
	mean, given := l.integrated(firstMoment)
	u = make([]float64, len(mean))
	for a, p := range l.Old {
		u[a] = p * mean[a]
		for b, q := range l.Old {
			given[a][b] = p * q * (l.size - 1) * (given[a][b] - mean[a])
		}
	}
	return u, given
}

// covariance is Composed.covariance by the integral, where no clip is in force:
//
//	Cov(c_a, c_b) = (w_aw_bπ_a/G) {δ_ab E[y² | a] + π_b ((G−1) E[yy′ | a, b] − G E[y | a] E[y | b])}
//	Cov(c_a, c^K_b) = (w_aκ_bπ_a/G) {δ_ab E[y | a] + π_b ((G−1) E[y | a; b] − G E[y | a])}
func (l *Integrated) covariance(reward, cross [][]float64) {
	mean, given := l.integrated(firstMoment)
	squares, pairs := l.integrated(secondMoment)
	for a, p := range l.Old {
		w := l.Up[a] * p / l.size
		for b, q := range l.Old {
			reward[a][b] = w * l.Up[b] * q * ((l.size-1)*pairs[a][b] - l.size*mean[a]*mean[b])
			cross[a][b] = w * l.Kappa[b] * q * ((l.size-1)*given[a][b] - l.size*mean[a])
		}
		reward[a][a] += w * l.Up[a] * squares[a]
		cross[a][a] += w * l.Kappa[a] * mean[a]
	}
}
