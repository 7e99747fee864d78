package fit

import (
	"cmp"
	"math"
	"slices"

	"grposim/rom/fp"
	"grposim/training/change"

	"gonum.org/v1/gonum/floats"
)

// Oscillation is the sinusoid that a curve shows best about a law without one,
//
//	e^{γt} (a cos ωt + b sin ωt),
//
// whose amplitude stays (γ = 0), falls or grows. The oscillator among the laws starts at
// rest, with the growth itself; this one need not.
type Oscillation struct {
	Found     bool    // at least three cycles, beyond what noise with any memory shows
	Suspected bool    // of any number of cycles, beyond what noise with a memory of a tenth of the rows shows
	Period    float64 // 2π/ω, in the time of the curve
	Cycles    float64 // from the first row to the last
	Amplitude float64 // the largest at any row, in the unit of the reward
	Envelope  float64 // γ times the time from the first row to the last
	Evidence  float64 // −2 ln of the ratio of likelihoods without and with it, for noise with any memory
	Needed    float64 // evidence that noise alone has in one curve of 150
	Shortest  float64 // period that is searched, in the time of the curve
	Hidden    float64 // amplitude at which three cycles are suspected in 95 % of curves
}

const (
	leastCycles = 3.0       // fewer are not told from a level that drifts
	leastPeriod = 5.0       // rows: shorter ones are those of alternating noise
	falseClaims = 1.0 / 150 // curves without an oscillation of which one is claimed

	// The likeliest noise with a sinusoid is not that without one, which adds evidence. With
	// this much more, of 400 curves each of noise with a correlation of successive rows of
	// −0.5 to 0.999, of 60 and 240 rows, none or one is said to oscillate; without it up to 50 are.
	unknownNoise = 12.0
)

// envelopes are the changes of the logarithm of an amplitude from the first row to the last.
var envelopes = []float64{0, -3, 3}

// oscillation searches the residuals of a model for a sinusoid of half a cycle to one every
// five rows. Noise is that of the rows and an autoregression of first order, whose memory
// and variance are those of the largest likelihood, both with the sinusoid and without.
// A sinusoid lowers the sum of squares of n independent residuals by a factor above x with
// the probability x^{−(n−3)/2}; this and the number of sinusoids give the evidence needed.
func (m *Model) oscillation() Oscillation {
	b := m.problem.b
	rows, known := float64(len(b.time)), b.time[len(b.time)-1]-b.time[0]
	noises := m.noises()
	likeliest, short := 0, 0 // without a sinusoid, of all and of those with a short memory
	for k, noise := range noises {
		if noise.deviance < noises[likeliest].deviance {
			likeliest = k
		}
		if noise.deviance < noises[short].deviance && noise.memory <= rows/10 {
			short = k
		}
	}
	var all []*wave
	for cycles := 0.5; cycles <= rows/leastPeriod; cycles += 0.5 {
		for _, envelope := range envelopes {
			w := newWave(b.time, cycles, envelope)
			for _, k := range []int{0, short, likeliest} {
				w.fit(&noises[k])
			}
			all = append(all, w)
		}
	}
	ofNoise := 2 * math.Log(float64(len(all))/falseClaims) // evidence that is needed if the noise is known
	slices.SortFunc(all, func(v, w *wave) int { return cmp.Compare(v.deviance, w.deviance) })
	// Of the best, with any number of cycles and with enough of them, every noise is tried.
	const refined = 5
	best := func(least float64) *wave {
		var best *wave
		tried := 0
		for _, w := range all {
			if w.cycles < least || tried == refined {
				continue
			}
			tried++
			for k := range noises {
				w.fit(&noises[k])
			}
			if best == nil || w.deviance < best.deviance {
				best = w
			}
		}
		return best
	}
	w := best(leastCycles)
	if w.noise == nil { // rows so far apart that no sinusoid moves between the others
		return Oscillation{Needed: ofNoise + unknownNoise, Hidden: math.Inf(1)}
	}
	w = w.refine(b.time)
	return Oscillation{
		Found:     noises[likeliest].deviance-w.deviance > ofNoise+unknownNoise,
		Suspected: noises[short].deviance-best(0).deviance > ofNoise,
		Period:    known / w.cycles, Cycles: w.cycles, Envelope: w.envelope, Amplitude: m.unit * w.amplitude(),
		Evidence: max(0, noises[likeliest].deviance-w.deviance), Needed: ofNoise + unknownNoise,
		Shortest: known * leastPeriod / rows, Hidden: m.unit * hidden(newWave(b.time, leastCycles, 0), noises, rows/10, ofNoise),
	}
}

// wave is a cosine and a sine with an envelope, at the times of a curve, and what the
// likeliest noise leaves when they are taken out.
type wave struct {
	cycles, envelope float64
	cosine, sine     []float64 // at most 1
	deviance         float64   // −2 ln of the largest likelihood, up to a constant
	a, b             float64   // amplitudes
	noise            *noiseModel
}

func newWave(time []float64, cycles, envelope float64) *wave {
	n := len(time)
	w := &wave{cycles: cycles, envelope: envelope, cosine: make([]float64, n), sine: make([]float64, n), deviance: math.Inf(1)}
	for i, t := range time {
		x := (t - time[0]) / (time[n-1] - time[0])
		s, c := math.Sincos(2 * math.Pi * cycles * x)
		size := fp.Exp(envelope*x - max(0, envelope))
		w.cosine[i], w.sine[i] = size*c, size*s
	}
	return w
}

// amplitude is the largest at any row, where the envelope is 1.
func (w *wave) amplitude() float64 { return math.Hypot(w.a, w.b) }

// refine returns the best wave with up to half a cycle more or less, in the same noise.
func (w *wave) refine(time []float64) *wave {
	const step = 0.02 // cycles, a twentieth of the width of a peak
	best := w
	for cycles := max(leastCycles, w.cycles-0.5); cycles < w.cycles+0.5; cycles += step {
		v := newWave(time, cycles, w.envelope)
		if v.fit(w.noise); v.deviance < best.deviance {
			best = v
		}
	}
	return best
}

// noiseModel is noise of the variance of each row with an autoregression of first order
// added, and its Kalman filter: what it makes of a constant, and of the residuals without
// their mean.
type noiseModel struct {
	memory      float64   // rows after which the autoregression has fallen by e
	stay        float64   // e^{−1/memory}
	gain, scale []float64 // by row: of the filter, and one over the deviation of an innovation
	logVariance float64   // Σ ln of the variances of innovations
	one, y      []float64 // whitened; one has the norm 1, and y is orthogonal to it
	rest        float64   // Σ y²
	deviance    float64   // without a wave
}

// noises are the models for the residuals of a model, the first without memory.
func (m *Model) noises() []noiseModel {
	b := m.problem.b
	n := len(b.time)
	fitted := m.predict(b.time)
	y, variance := make([]float64, n), make([]float64, n)
	for i := range y {
		y[i], variance[i] = b.y[i]-fitted[i], 1/m.problem.weight[i]
	}
	all := []noiseModel{newNoise(y, variance, 0, 0)}
	for memory := 1.0; memory < 4*float64(n); memory *= 2 {
		for steps := 1e-4; steps < 2e3; steps *= 4 {
			all = append(all, newNoise(y, variance, memory, steps))
		}
	}
	return all
}

// newNoise adds an autoregression whose steps have a variance in units of the mean one of
// rows.
func newNoise(y, variance []float64, memory, steps float64) noiseModel {
	n := len(y)
	k := noiseModel{memory: memory, gain: make([]float64, n), scale: make([]float64, n), one: make([]float64, n)}
	if memory > 0 {
		k.stay = fp.Exp(-1 / memory)
	}
	p := steps / (1 - k.stay*k.stay) // that of all of the past
	for i, v := range variance {
		s := p + v
		k.gain[i], k.scale[i] = p/s, 1/math.Sqrt(s)
		k.logVariance += math.Log(s)
		p = k.stay*k.stay*p*v/s + steps
	}
	for i := range k.one {
		k.one[i] = 1
	}
	k.one = k.whiten(k.one)
	floats.Scale(1/math.Sqrt(change.Dot(k.one, k.one)), k.one)
	k.y = k.without(k.whiten(y))
	k.rest = max(change.Dot(k.y, k.y), float64(n)*square(rounding))
	k.deviance = k.of(k.rest)
	return k
}

// of is the deviance of noise with a sum of squares. Level, cosine, sine, and the two
// parameters of the memory are fitted.
func (k *noiseModel) of(rest float64) float64 {
	return float64(len(k.y)-5)*math.Log(rest) + k.logVariance
}

// whiten returns the innovations of a series, each over its deviation.
func (k *noiseModel) whiten(x []float64) []float64 {
	out := make([]float64, len(x))
	expected := 0.0
	for i, v := range x {
		r := v - expected
		out[i] = r * k.scale[i]
		expected = k.stay * (expected + k.gain[i]*r)
	}
	return out
}

// without subtracts the constant from a whitened series.
func (k *noiseModel) without(x []float64) []float64 {
	floats.AddScaled(x, -change.Dot(x, k.one), k.one)
	return x
}

// fit takes the wave out of the residuals, and keeps what it is if the noise is likelier
// than those before.
func (w *wave) fit(k *noiseModel) {
	cosine, sine := k.without(k.whiten(w.cosine)), k.without(k.whiten(w.sine))
	const singular = 1e-9 // a column that the others make
	cc := change.Dot(cosine, cosine)
	if cc < singular*float64(len(cosine)) {
		return
	}
	cs := change.Dot(cosine, sine) / cc
	before := change.Dot(sine, sine)
	floats.AddScaled(sine, -cs, cosine)
	ss := change.Dot(sine, sine)
	if ss < singular*before || ss == 0 {
		return
	}
	yc, ys := change.Dot(k.y, cosine), change.Dot(k.y, sine)
	rest := max(k.rest-yc*yc/cc-ys*ys/ss, float64(len(k.y))*square(rounding))
	if d := k.of(rest); d < w.deviance {
		w.deviance, w.noise, w.b = d, k, ys/ss
		w.a = yc/cc - cs*w.b
	}
}

// hidden is the amplitude which the cosine of a wave needs to be told, in 95 % of curves,
// from noise with a memory of at most some rows, by the evidence that is needed. The root
// of the evidence has about the deviation 1. The likeliest noise takes a part of the wave.
func hidden(w *wave, noises []noiseModel, memory, needed float64) float64 {
	w.deviance = math.Inf(1)
	norm := make([]float64, len(noises)) // of the cosine
	for k := range noises {
		w.fit(&noises[k])
		cosine := noises[k].without(noises[k].whiten(w.cosine))
		norm[k] = change.Dot(cosine, cosine)
	}
	shows := func(amplitude float64) bool {
		lowest := math.Inf(1)
		for k, noise := range noises {
			if noise.memory <= memory {
				lowest = min(lowest, noise.of(noise.rest+amplitude*amplitude*norm[k]))
			}
		}
		return lowest-w.deviance > square(math.Sqrt(needed)+normal90)
	}
	lo, hi := 0.0, rounding
	for !shows(hi) {
		if lo, hi = hi, 2*hi; hi > 1e6 { // in the unit of the curve
			return math.Inf(1)
		}
	}
	for hi-lo > 1e-3*hi {
		if middle := (lo + hi) / 2; shows(middle) {
			hi = middle
		} else {
			lo = middle
		}
	}
	return hi
}
