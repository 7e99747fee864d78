package fit

import (
	"math"

	"grposim/rom/fp"
)

// Predict forecasts the reward at times after the last row, increasing, without fitting
// a single law. It averages two forecasts: the mixture of growth laws (newMixture), and a
// level with a damped trend (trend), confined to two standard deviations of the growth
// that the mixture expects; and bounds the average by how far the last rows allow the
// reward to go (reach).
//
// A take-off or collapse that begins after the last row cannot be foreseen: before it
// the reward looks like that of a run without one.
func Predict(c Curve, times []float64) Forecast {
	c.check()
	unit := c.Unit()
	c = c.In(unit)
	m, r, t := newMixture(c, times), newReach(c), newTrend(c)
	mean := make([]float64, len(times))
	for i, at := range times {
		h := at - c.end()
		along := min(max(t.after(h), m.mean[i]-2*m.growth[i]), m.mean[i]+2*m.growth[i])
		lo, hi := r.after(h)
		mean[i] = min(max((m.mean[i]+along)/2, lo), hi)
	}
	return within(mean, m.sd).times(unit, 1)
}

// growth is a shape g(t) that tends to 1, with its probability before any row is seen.
type growth struct {
	prior float64
	g     func(t float64) float64
}

// The priors of the mixture. They were chosen on simulated curves and nine public logs;
// the half time is log-normal about the known length.
const (
	constantPrior = 0.2
	abruptPrior   = 0.05 // of a change within 1/40 of the known length that is over
	abruptUntil   = 0.85 // latest middle of such a change, over the known length
	halfSpread    = 0.5  // standard deviation of the logarithm of the half time
)

// drifts are the variances per block of the random walk, in units of the noise, and
// amplitudes the standard deviations of b, in those of its root.
var (
	drifts     = []float64{1e-3, 1e-2, 3e-2}
	amplitudes = []float64{1, 3}
)

// growths returns the shapes of the mixture, but for the constant, for a curve whose
// known length is given.
func growths(known float64) []growth {
	var all []growth
	const places = 40
	for k := range places {
		middle := known * abruptUntil * (float64(k) + 0.5) / places
		all = append(all, growth{abruptPrior / places, func(t float64) float64 { return sigmoid((t - middle) * places / known) }})
	}
	const halves = 14
	var half, prior [halves]float64
	var sum float64
	for i := range halves {
		half[i] = known * 0.1 * fp.Pow(40, float64(i)/(halves-1)) // 0.1 to 4 known lengths
		prior[i] = fp.Exp(-square(math.Log(half[i]/known)/halfSpread) / 2)
		sum += prior[i]
	}
	for i, half := range half {
		add := func(p float64, g func(t float64) float64) {
			all = append(all, growth{p * prior[i] / sum, g})
		}
		add(0.2, func(t float64) float64 { return -math.Expm1(-math.Ln2 * t / half) })
		add(0.2, func(t float64) float64 { return oscillator(criticalHalf*t/half, 1) })
		for _, width := range []float64{0.08, 0.15, 0.3} {
			start := sigmoid(-1 / width)
			add(0.25/3, func(t float64) float64 { return (sigmoid((t/half-1)/width) - start) / (1 - start) })
		}
		for _, exponent := range []float64{1, 2, 4} {
			add(0.15/3, func(t float64) float64 { return 1 / (1 + fp.Pow(half/t, exponent)) })
		}
	}
	return all
}

// criticalHalf is the phase at which the critically damped oscillator has half of its
// height: the root of (1 + x) e^{−x} = ½.
const criticalHalf = 1.6783469900166605

func sigmoid(x float64) float64 { return 1 / (1 + fp.Exp(-x)) }

// mixture predicts future rows.
type mixture struct {
	mean   []float64
	sd     []float64 // standard deviation of a logged row
	growth []float64 // of the growth alone, without random walk and noise
}

// newMixture predicts rows under a mixture of
//
//	y_t = a + b g(t) + u_t + e_t
//
// over the shapes g, the drifts λ and the amplitudes s: u is a random walk of variance λ v
// per block, e noise of the local variance, whose mean is v, a ~ N(early mean, v), b ~
// N(s√v/4, s² v). For each λ one Kalman filter of the local-level model whitens y, 1 and
// every g; what remains is a regression on two columns with a conjugate prior, which
// gives weights and predictions in closed form.
func newMixture(c Curve, times []float64) mixture {
	b := c.average()
	n := len(b.time)
	v := b.noise / float64(b.rows)
	unit := math.Sqrt(v)
	early := mean(b.y[:max(3, n/20)])
	y, one, relative := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range y {
		y[i], one[i], relative[i] = (b.y[i]-early)/unit, 1, b.variance[i]/v
	}
	known := c.known()
	begin := c.Time[0]
	perTime := float64(n-1) / (b.time[n-1] - b.time[0])

	type component struct {
		logWeight  float64
		regression regression
		one, g     whitened
		shape      int // of shapes, −1 for the constant
		y          whitened
		drift      float64
	}
	var all []component
	shapes := growths(known)
	g := make([]float64, n)
	for _, drift := range drifts {
		filter := filter{b.time, relative, drift * perTime}
		wy, wone := filter.whiten(y), filter.whiten(one)
		base := component{y: wy, one: wone, shape: -1, drift: drift * perTime}
		add := func(prior float64) {
			base.logWeight = math.Log(prior) + base.regression.evidence
			all = append(all, base)
		}
		base.regression = regressLevel(wy, wone)
		add(constantPrior)
		for k, s := range shapes {
			for i, t := range b.time {
				g[i] = s.g(t - begin)
			}
			base.shape, base.g = k, filter.whiten(g)
			for _, amplitude := range amplitudes {
				base.regression = regress(wy, wone, base.g, amplitude)
				add(s.prior / float64(len(amplitudes)))
			}
		}
	}
	top := math.Inf(-1)
	for _, c := range all {
		top = max(top, c.logWeight)
	}
	m := mixture{make([]float64, len(times)), make([]float64, len(times)), make([]float64, len(times))}
	ahead := make([][]float64, len(shapes)) // the shapes at the future rows, those that count
	var sum float64
	for _, k := range all {
		w := fp.Exp(k.logWeight - top)
		if w < 1e-9 {
			continue
		}
		sum += w
		if k.shape >= 0 && ahead[k.shape] == nil {
			for _, t := range times {
				ahead[k.shape] = append(ahead[k.shape], shapes[k.shape].g(t-begin))
			}
		}
		r := k.regression
		for i, t := range times {
			x1, xg := 1-k.one.last, 0.0
			if k.shape >= 0 {
				xg = ahead[k.shape][i] - k.g.last
			}
			at := k.y.last + r.a*x1 + r.b*xg
			growth := r.variance * (r.aa*x1*x1 + 2*r.ab*x1*xg + r.bb*xg*xg)
			variance := growth + r.variance*(k.y.variance+k.drift*(t-c.end())+b.last/v)
			m.growth[i] += w * (growth + at*at)
			m.mean[i] += w * at
			m.sd[i] += w * (variance + at*at)
		}
	}
	for i := range times {
		at := m.mean[i] / sum
		m.mean[i] = early + unit*at
		m.sd[i] = unit * math.Sqrt(max(0, m.sd[i]/sum-at*at))
		m.growth[i] = unit * math.Sqrt(max(0, m.growth[i]/sum-at*at))
	}
	return m
}

// filter is the Kalman filter of x = u + e, where u is a random walk that starts at 0
// and e noise of relative variance.
type filter struct {
	time, noise []float64
	drift       float64 // variance of u per unit of time
}

// whitened holds the innovations of a series, each over its standard deviation.
type whitened struct {
	innovations []float64
	logVariance float64 // Σ ln of their variances
	last        float64 // mean of u after the last row
	variance    float64 // variance of it
}

func (f filter) whiten(x []float64) whitened {
	w := whitened{innovations: make([]float64, len(x))}
	for i := range x {
		if i > 0 {
			w.variance += f.drift * (f.time[i] - f.time[i-1])
		}
		s := w.variance + f.noise[i]
		r := x[i] - w.last
		w.innovations[i] = r / math.Sqrt(s)
		w.logVariance += math.Log(s)
		w.last += w.variance / s * r
		w.variance *= 1 - w.variance/s
	}
	return w
}

// regression is the posterior of y = a·1 + b·g in units of the noise.
type regression struct {
	a, b       float64 // means
	aa, ab, bb float64 // variances and covariance, in units of variance
	variance   float64 // of the noise: mean of its inverse-gamma posterior
	evidence   float64 // ln of the probability of the rows, up to a constant
}

// noisePrior is shape and scale of the inverse-gamma prior of the noise variance, whose
// mean is 1: the noise is estimated beforehand to within a factor.
const noisePrior = 2.0

// regressLevel is the regression on 1 alone, a ~ N(0, 1).
func regressLevel(y, one whitened) regression {
	aa, ay, yy := 1.0, 0.0, 0.0
	for i, v := range y.innovations {
		x := one.innovations[i]
		aa += x * x
		ay += x * v
		yy += v * v
	}
	r := regression{a: ay / aa, aa: 1 / aa}
	r.close(y, yy-r.a*ay, -math.Log(aa))
	return r
}

// regress is the regression on 1 and g, b ~ N(s/4, s²).
func regress(y, one, g whitened, s float64) regression {
	aa, ay, yy := 1.0, 0.0, 1.0/16
	ab, bb, by := 0.0, 1/(s*s), 1/(4*s)
	for i, v := range y.innovations {
		x, z := one.innovations[i], g.innovations[i]
		aa += x * x
		ab += x * z
		bb += z * z
		ay += x * v
		by += z * v
		yy += v * v
	}
	det := aa*bb - ab*ab
	r := regression{a: (ay*bb - by*ab) / det, b: (by*aa - ay*ab) / det, aa: bb / det, ab: -ab / det, bb: aa / det}
	r.close(y, yy-r.a*ay-r.b*by, -math.Log(det*s*s))
	return r
}

// close sets variance and evidence from the remaining sum of squares and the logarithm
// of the ratio of posterior to prior determinant.
func (r *regression) close(y whitened, rest, logRatio float64) {
	half := float64(len(y.innovations)) / 2
	r.variance = (noisePrior + rest/2) / (noisePrior + half - 1)
	r.evidence = (logRatio-y.logVariance)/2 - (noisePrior+half)*math.Log(noisePrior+rest/2)
}
