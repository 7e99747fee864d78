package group

import (
	"math"

	"grposim/option"
	"grposim/rom/weight"

	"gonum.org/v1/gonum/floats"
)

// Expanded is the law of a group of any rewards, to first order in 1/G; without scale and clip it
// is exact.
type Expanded struct{ base }

// NewExpanded returns that of a finite group.
func NewExpanded(arms []option.Arm, e *option.Estimator, s *Samples) *Expanded {
	return &Expanded{newBase(arms, e, s)}
}

func (l *Expanded) Factored() bool { return l.e.Advantage.Scale == option.NoScale }
func (l *Expanded) Exact() bool    { return l.Factored() && !weight.BySign(&l.e.Importance) }

// LeftOut has with the std scale the relative variance of a group's variance, (μ_4/s⁴ − 1)/G, and at
// least 1/G. A lone sample x changes that variance too: the next term of its force is ⅜x⁵/(G²s⁵),
// and the largest mean of ⅜x⁴/(G²s⁴) over an arm's rewards is a square of it at least. A clip in
// force adds 1/√G, of rewards that are near the mean of a group. The mean is off by the square.
// The noise is off by as much, or by what pairs of samples add, which is all where arms are even.
func (l *Expanded) LeftOut() (mean, noise float64) {
	if l.e.Advantage.Scale == option.StdScale {
		l.prepare()
		mu, largest := l.moments(), 0.0
		for a := range l.states {
			largest = max(largest, l.states[a].full(4))
		}
		noise = max(mu[4]/(mu[2]*mu[2])-1, 1, math.Sqrt(3./8*largest)/mu[2]) / l.size
	}
	if l.Clipped() {
		noise += 1 / math.Sqrt(l.size)
	}
	if mean = noise * noise; mean > 0 {
		arms := len(l.arms)
		alone, pairs := Square(arms), Square(arms)
		l.Covariance(alone, Square(arms), nil)
		variance := l.moments()[2]
		f, _, _ := l.generalScale(variance)
		l.addPairs(pairs, l.weighted(1), l.weighted(0), f, variance)
		single, both := 0.0, 0.0
		for a := range arms {
			single += alone[a][a]
			both += l.baseline * l.baseline / l.size * pairs[a][a]
		}
		noise = max(noise, both/single)
	}
	return mean, noise
}

// Reach is that of Law. A KL in the reward outweighs any difference beyond the span of the rewards.
func (l *Expanded) Reach(pull float64) float64 {
	if l.e.KL.OfReward() {
		low, high := math.Inf(1), math.Inf(-1)
		for _, arm := range l.arms {
			a, b, _ := Support(arm)
			low, high = min(low, a), max(high, b)
		}
		return (high - low) / l.e.KL.Coefficient
	}
	if len(l.arms) == 2 {
		return l.reachOfTwo(pull)
	}
	return l.base.Reach(pull)
}

func (l *Expanded) Stiffness(fresh, stale [][]float64) (known bool) {
	return l.Factored() && l.base.Stiffness(fresh, stale)
}

func (l *Expanded) Mean(dst []float64) {
	l.response(dst)
	floats.Mul(dst, l.Old)
}

// weighted returns E[w x^j] of every arm.
func (l *Expanded) weighted(j int) []float64 {
	means := make([]float64, len(l.arms))
	for a := range means {
		means[a] = l.states[a].weighted(j, l.Up[a], l.Down[a])
	}
	return means
}

// moments returns those of x of order 2 to 4, E x^j.
func (l *Expanded) moments() (mu [5]float64) {
	for j := 2; j <= 4; j++ {
		for a, old := range l.Old {
			mu[j] += old * l.states[a].full(j)
		}
	}
	return mu
}

// response is Response to first order in 1/G for any reward law (docs/theory.md §2), exactly
// without scale and clip. With x = r − J_old, X = w x e_a, Y = w e_a, s² = E x² it is
//
//	E[N F(V)] = F X(1−1/G) + {F′[Cov(X, x²) − s²X − μ_3 Y] + ½F″(μ_4 − s⁴)X}/G.
//
// A group has N = X̄ − x̄Ȳ and V = s² + (x²−s²)‾ − x̄²; on the right X and Y are their
// expectations. With F = 1/√V it is the formula of docs/theory.md, since E Y projects to 0. A clip
// weighs x by its sign, a kink at x = 0 that the group's mean x̄ ~ N(0, s²/G) blurs. That adds
// F(w⁺−w⁻) times the increase of E x⁺. It is of order G^{−1/2} for an atom within s/√G of 0, else
// of order 1/G.
func (l *Expanded) response(dst []float64) {
	mean := l.prepare()
	mu := l.moments()
	f, slope, curvature := l.generalScale(mu[2])
	y, cube := l.weighted(0), l.weighted(3)
	for a, x := range l.weighted(1) {
		order := slope*(cube[a]-mu[2]*x-mu[2]*x-mu[3]*y[a]) + 0.5*curvature*(mu[4]-mu[2]*mu[2])*x
		dst[a] = l.baseline * (f*x*(1-1/l.size) + order/l.size)
		if up, down := l.Up[a], l.Down[a]; up != down {
			dst[a] += l.baseline * f * (up - down) * blur(l.arms[a], mean, math.Sqrt(mu[2]/l.size))
		}
	}
}

// Covariance is that of Law to leading order in 1/G, for any reward law. Both matrices are parts of
// Cov(ψ)/G, with ψ the influence of one sample on its group's force,
//
//	ψ = F w x e_a + F′ X x² − F x Y − βκ_a e_a,   X = E[w x e_a], Y = E[w e_a].
//
// For F = 1/√V it is the ψ of docs/theory.md §2 before projection.
//
// Without scale and clip both are exact. c^R is 1 − 1/G (leave-one-out: 1) times the samples'
// covariance of u = w e_a and r. Fisher's k-statistics give
//
//	Cov = Cov(ψ^R)/G + (Cov(u_a, u_b) s² + X_a X_b)/(G(G−1))
//
// and the other matrix without a further term.
func (l *Expanded) Covariance(reward, cross, _ [][]float64) {
	l.prepare()
	arms := len(l.arms)
	mu := l.moments()
	f, slope, _ := l.generalScale(mu[2])
	line, none, square, cube := l.weighted(1), l.weighted(0), l.weighted(2), l.weighted(3)
	// ψ is the sum of an entry for the sample's own arm, of x² t and of −x y. E[·; a] is the
	// expectation over samples of arm a.
	type part struct {
		x, t, y, mean float64 // X, F′X, FY and E[ψ^R]
		square, line  float64 // E[F w x · x²; a] and E[F w x · x; a]
	}
	parts := make([]part, arms)
	for a, old := range l.Old {
		x := old * line[a]
		parts[a] = part{x, slope * x, f * old * none[a], f*x + slope*x*mu[2],
			f * old * cube[a], f * old * square[a]}
	}
	for a, p := range parts {
		for b, q := range parts {
			v := p.square*q.t + p.t*q.square - p.line*q.y - p.y*q.line +
				p.t*q.t*mu[4] - mu[3]*(p.t*q.y+p.y*q.t) + mu[2]*p.y*q.y
			reward[a][b] = v - p.mean*q.mean
			s, kappa := &l.states[b], l.Kappa[b]*l.Old[b]
			cross[a][b] = p.t*(kappa*s.full(2)) - p.y*(kappa*s.full(1)) - p.mean*kappa
		}
		up, down := l.Up[a], l.Down[a]
		reward[a][a] += f * f * l.Old[a] * l.states[a].weighted(2, up*up, down*down)
		cross[a][a] += l.Kappa[a] * f * p.x
	}
	factor := l.baseline
	if l.e.Advantage.Scale == option.NoScale && !l.Clipped() {
		factor *= 1 - 1/l.size
		l.addPairs(reward, line, none, f, mu[2])
	}
	for a := range arms {
		for b := range arms {
			reward[a][b] *= factor * factor / l.size
			cross[a][b] *= factor / l.size
		}
	}
}

// addPairs adds what pairs of samples give to G times the noise of the force,
//
//	(Cov(u_a, u_b) s² + X_a X_b)/(G − 1),
//
// times F². x and y are E[w x] and E[w] of every arm. Without a scale it is exact; std shrinks it,
// by up to ¼, as it varies with the pairs.
func (l *Expanded) addPairs(reward [][]float64, x, y []float64, f, variance float64) {
	for a, old := range l.Old {
		for b, other := range l.Old {
			reward[a][b] += f * f * old * other * (x[a]*x[b] - y[a]*y[b]*variance) / (l.size - 1)
		}
		reward[a][a] += f * f * old * l.Up[a] * l.Up[a] * variance / (l.size - 1)
	}
}

// Limit is the law at G = ∞ for any rewards: the force has no noise.
type Limit struct{ base }

func (l *Limit) Factored() bool { return true }

func (l *Limit) Mean(dst []float64) {
	factor, _, _ := l.generalScale(l.Spread())
	for a, old := range l.Old {
		dst[a] = factor * old * l.states[a].weighted(1, l.Up[a], l.Down[a])
	}
}

func (l *Limit) Covariance(_, _, _ [][]float64) {}
