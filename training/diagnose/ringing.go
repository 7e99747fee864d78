package diagnose

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"grposim/fp"
	"grposim/training/change"
)

const (
	// minCycles is the smallest number of cycles in the last half of a run that counts as an
	// oscillation. With fewer, up to one random walk in ten passes as an oscillation.
	minCycles = 4
	// cycleStep is the spacing of the trial frequencies, in cycles per last half of the run.
	// Frequencies closer than that are not independent.
	cycleStep = 0.5
	// minAmplitudeRatio is the ratio of amplitudes, late over early, from which an oscillation
	// counts as not decaying. A mode that loses less in half a run decays too slowly to show it.
	minAmplitudeRatio = 1 / math.E
	// roundOff is the amplitude, relative to the values, below which a variation is rounding.
	roundOff = 1e-9
	// mostRows is the largest number of rows of a log in a periodogram, whose time grows with
	// its square. Of more rows, blocks are searched, and the last mostRows rows for fast cycles.
	mostRows = 2048
)

// Ringing is the name of the diagnostic of a reward that oscillates.
const Ringing = "reward ringing"

// rewardRinging measures the amplitude of the reward's regular oscillation in the last half of a
// run, over half the range in the first half. It is about 1 for a limit cycle, more for a growing
// oscillation, and falls to 0 for a damped one.
//
// The oscillation is the sinusoid that fits best beside a straight line, at any spacing of the
// steps (a Lomb–Scargle periodogram). It counts if it explains most of the variance about the line.
// It must also explain more than the best trial in white noise, except with probability
// change.FalseAlarm.
//
// Of Samples the error is the largest amplitude of a cycle or more that does not count. It is
// divided by half the range less what the noise of rows adds to that.
func rewardRinging(t *Trace) Evidence {
	return t.evidence(Ringing, DynamicalInstability, func(r *run) reading {
		x := r.columns[0]
		first := x[:r.late]
		early := (slices.Max(first) - slices.Min(first)) / 2
		parts := []*periodogram{newPeriodogram(r.at[r.late:], x[r.late:])}
		if n := len(x); t.Origin == Samples && n-r.late > mostRows {
			parts[0] = parts[0].coarse()
			parts = append(parts, newPeriodogram(r.at[n-mostRows:], x[n-mostRows:]))
		}
		regular, hidden := 0.0, 0.0
		for _, p := range parts {
			n := float64(len(p.y))
			if !(math.Sqrt(p.total/n) > roundOff*floats.Norm(x, math.Inf(1))) {
				continue
			}
			found := p.best(minCycles, n/2)
			hidden = max(hidden, p.amplitude(found), p.amplitude(p.best(1, minCycles-cycleStep)))
			if found.explained/p.total > chanceShare(found.trials, n) {
				regular = max(regular, p.amplitude(found))
			}
		}
		wide := 0.0
		if t.Origin == Samples && regular < minAmplitudeRatio*early {
			noise, rows := change.Noise(first), float64(max(2, len(first)))
			curve := max(early-noise*distuv.UnitNormal.Quantile(1-1/rows), noise/math.Sqrt(rows))
			if hidden > 0 {
				wide = hidden/curve - regular/early
			}
		}
		return reading{regular / early, wide, AtLeast, minAmplitudeRatio, int(r.at[r.late])}
	}, t.Reward)
}

// chanceShare is the share of the variance that the best of some trial frequencies must exceed in
// n values to count. In one trial chance explains a share above c with (1−c)^((n−4)/2).
func chanceShare(trials, n float64) float64 {
	return max(1-fp.Pow(change.FalseAlarm/trials, 2/(n-4)), 0.5)
}

// entropySwings counts how often the policy concentrates and spreads again in the last half of a
// run. One swing is a fall of the entropy and a rise, each by at least half of its largest value.
// An instability far past its threshold is not regular, but grows until the softmax saturates.
//
// Of Samples fewer than minCycles leave the sign open. It is Undefined if the noise of single rows
// makes swings of that size.
func entropySwings(t *Trace) Evidence {
	return t.evidence("entropy swings", DynamicalInstability, func(r *run) reading {
		late := r.columns[0][r.late:]
		half := slices.Max(r.columns[0]) / 2
		if !(half > 0) || t.Origin == Samples && half < standardErrors*math.Sqrt2*change.Noise(late) {
			return undefined
		}
		swings, wide := float64(change.Swings(late, half)), 0.0
		if t.Origin == Samples && swings > 0 && swings < minCycles {
			wide = minCycles - swings
		}
		return reading{swings, wide, AtLeast, minCycles, int(r.at[r.late])}
	}, t.Entropy)
}

// periodogram fits sinusoids to values about a straight line.
type periodogram struct {
	at, y []float64 // times, and values about the line
	total float64   // Σ y²
}

func newPeriodogram(at, values []float64) *periodogram {
	p := &periodogram{at: at, y: change.Detrended(at, values)}
	p.total = change.Dot(p.y, p.y)
	return p
}

// sinusoid is the best of some trials.
type sinusoid struct{ explained, trials float64 } // explained: part of Σ y²

func (p *periodogram) amplitude(s sinusoid) float64 {
	return math.Sqrt(2 * s.explained / float64(len(p.y)))
}

// coarse averages neighbours until there are at most mostRows.
func (p *periodogram) coarse() *periodogram {
	for len(p.y) > mostRows {
		n := len(p.y) / 2
		p = newPeriodogram(change.Batches(p.at[:2*n], n), change.Batches(p.y[:2*n], n))
	}
	return p
}

// best returns the sinusoid that explains most, with from, from + cycleStep, … up to to cycles over
// the span, beside the line. Its products with the line and the values are sums over rows. From one
// trial to the next each row's phase turns by the same angle.
func (p *periodogram) best(from, to float64) (found sinusoid) {
	n, span := float64(len(p.y)), p.at[len(p.at)-1]-p.at[0]
	middle := change.Mean(p.at)
	type row struct{ cos, sin, turnCos, turnSin, time, value float64 }
	rows, times := make([]row, len(p.y)), 0.0
	for i, t := range p.at {
		r := &rows[i]
		r.sin, r.cos = math.Sincos(2 * math.Pi * from * (t - p.at[0]) / span)
		r.turnSin, r.turnCos = math.Sincos(2 * math.Pi * cycleStep * (t - p.at[0]) / span)
		r.time, r.value = (t-middle)/span, p.y[i]
		times += r.time * r.time
	}
	for cycles := from; cycles <= to; cycles += cycleStep {
		found.trials++
		var c, s, ct, st, cc, cs, cy, sy float64
		for i := range rows {
			r := &rows[i]
			c, s, ct, st = c+r.cos, s+r.sin, ct+r.cos*r.time, st+r.sin*r.time
			cc, cs, cy, sy = cc+r.cos*r.cos, cs+r.cos*r.sin, cy+r.cos*r.value, sy+r.sin*r.value
			r.cos, r.sin = r.cos*r.turnCos-r.sin*r.turnSin, r.sin*r.turnCos+r.cos*r.turnSin
		}
		part := explainedBy(cc-c*c/n-ct*ct/times, cs-c*s/n-ct*st/times, n-cc-s*s/n-st*st/times, cy, sy)
		if part > found.explained {
			found.explained = part
		}
	}
	return found
}

// explainedBy returns the part of the sum of squares of y that the best linear combination of u and
// v explains. It takes the products of y, u and v.
func explainedBy(uu, uv, vv, uy, vy float64) float64 {
	determinant := uu*vv - uv*uv
	switch { // u and v are linearly dependent if every step has one of two phases
	case determinant > roundOff*uu*vv:
	case uu > vv:
		return uy * uy / uu
	case vv > 0:
		return vy * vy / vv
	default:
		return 0
	}
	return (vv*uy*uy - 2*uv*uy*vy + uu*vy*vy) / determinant
}
