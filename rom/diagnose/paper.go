package diagnose

import (
	"math"
	"slices"
)

// PaperName names the mode by the four diagnostics of arXiv:2606.30789, in its
// own formulas. The paper gives no thresholds: what it says grows, or goes up
// or down, is a slope that chance explains with probability falseAlarm at most;
// between a healthy value and a failing one stands their middle. It gives no
// order either; that of Name is taken.
//
// Its rule for instability, KηK_ref > 1 − μ, is not read from logs.
func PaperName(t Trace) Diagnosis {
	ratio, u := paperCoupling(&t)
	spread := unobserved("advantage variance over group size", AdvantageDegeneracy, NotRecorded)
	silent := silence(&t)
	kl := trend(&t, "KL to the reference, trend", PolicyConcentration, t.KL, itself, atLeast)
	entropy := trend(&t, "entropy, trend", PolicyConcentration, t.Entropy, itself, atMost)
	gradient := trend(&t, "log gradient norm, trend", DynamicalInstability, t.GradientNorm, math.Log, atLeast)
	stale := trend(&t, "importance ratio, trend", DynamicalInstability, t.RatioMax, itself, atLeast)

	d := Diagnosis{Mode: None, Evidence: []Evidence{ratio, u, spread, silent, kl, entropy, gradient, stale}}
	switch {
	case gradient.speaks(), stale.speaks():
		d.Mode = DynamicalInstability
	case ratio.speaks(), u.speaks():
		d.Mode = RewardHacking
	case silent.speaks():
		d.Mode = AdvantageDegeneracy
	case kl.speaks() && entropy.speaks():
		d.Mode = PolicyConcentration
	}
	return d
}

func itself(x float64) float64 { return x }

// trend reads the slope of a series over the steps, in standard errors.
func trend(t *Trace, diagnostic string, of Mode, series []float64, scale func(float64) float64, s side) Evidence {
	scaled := make([]float64, len(series))
	for i, x := range series {
		scaled[i] = scale(x)
	}
	r, o := t.rows(scaled)
	if o != Observed {
		return unobserved(diagnostic, of, o)
	}
	slope, stdErr := line(r.at, r.columns[0])
	if slope == 0 {
		stdErr = 1 // a constant has no trend
	}
	threshold := standardErrors
	if s == atMost {
		threshold = -threshold
	}
	return observed(diagnostic, of, slope/stdErr, s, threshold)
}

// couplingWindow is the length of the paper's rolling window, as a share of the
// evaluation's span.
const couplingWindow = 0.45

// paperCoupling reads the train–evaluation coupling: the rolling ratio of rates
// ρ = λ_eval/|λ_train|, λ the slope of −log(R_∞ − R), in its last window that
// has one, and u = (R − R_0)/(R_∞ − R_0) of the evaluation over that of training,
// late in the run. Healthy is 1, failing 0. R_∞ is the largest value of the
// series; how the paper takes it is not stated.
//
// Near saturation λ_train is lost in its own error and ρ is undefined; so it is
// while the training reward falls.
func paperCoupling(t *Trace) (ratio, u Evidence) {
	const rates, levels = "rate of evaluation over training", "evaluation against training reward"
	r, o := t.rows(t.Reward, t.TrueReward)
	if o != Observed {
		return unobserved(rates, RewardHacking, o), unobserved(levels, RewardHacking, o)
	}
	var plateau [2]float64
	for n, c := range r.columns {
		plateau[n] = slices.Max(c)
	}

	rho := math.NaN()
	last := len(r.at) - 1
	window := couplingWindow * (r.at[last] - r.at[0])
	to := 0
	for from := range r.at {
		for to <= last && r.at[to] <= r.at[from]+window {
			to++
		}
		if r.at[from]+window > r.at[last] {
			break
		}
		train, trainError := r.rate(0, plateau[0], from, to)
		eval, _ := r.rate(1, plateau[1], from, to)
		if train > standardErrors*trainError && !math.IsNaN(eval) {
			rho = eval / train
		}
	}
	start, end := [2]float64{r.columns[0][0], r.columns[1][0]}, r.end()
	normalised := func(n int) float64 { return (end[n] - start[n]) / (plateau[n] - start[n]) }
	return observed(rates, RewardHacking, rho, atMost, 0.5),
		observed(levels, RewardHacking, normalised(1)/normalised(0), atMost, 0.5)
}

// rate returns the slope of −log(plateau − x) over some rows, with its standard
// error; NaN where fewer than three of them are below the plateau.
func (r *run) rate(column int, plateau float64, from, to int) (slope, stdErr float64) {
	var at, y []float64
	for i := from; i < to; i++ {
		if below := plateau - r.columns[column][i]; below > 0 {
			at = append(at, r.at[i])
			y = append(y, -math.Log(below))
		}
	}
	if len(at) < 3 {
		return math.NaN(), math.NaN()
	}
	return line(at, y)
}
