package diagnose

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"grposim/training/change"
)

// sampledRinging is rewardRinging for Samples, whose runs can be long, noisy, and shorter
// than four periods. Beside the oscillations of minCycles or more in the last half it finds
// slower ones with as many cycles in the whole run, if they explain most of the last half's
// variance too. A curve that never falls, or never rises, and is as close is no oscillation.
//
// The error is the largest amplitude, of half a cycle or more in the last half, that is left
// to an oscillation that does not count: the noise hides it, or it has fewer cycles than
// the test needs. It is divided by half the range of the first half less what the noise of
// rows adds to that, at least the error of its mean.
func sampledRinging(r *run, name string) Evidence {
	x := r.columns[0]
	first := x[:r.late]
	early, rows := extent(first)/2, float64(max(2, len(first)))
	say := func(o oscillation, wide float64) Evidence {
		return measured(name, DynamicalInstability, o.amplitude/early, wide, AtLeast, minAmplitudeRatio, o.since(r))
	}
	late := newPeriodogram(r.at[r.late:], x[r.late:])
	if !(math.Sqrt(late.total/float64(len(late.y))) > roundOff*largest(x)) {
		return say(oscillation{}, 0)
	}
	regular, top := late.fast()
	coarse := late.coarse()
	if regular.amplitude == 0 {
		regular = slowRinging(newPeriodogram(r.at, x).coarse(), coarse)
	}
	noise := change.Noise(first)
	curve := max(early-noise*distuv.UnitNormal.Quantile(1-1/rows), noise/math.Sqrt(rows))
	if ratio := regular.amplitude / early; ratio >= minAmplitudeRatio {
		return say(regular, 0)
	} else if regular.amplitude > 0 {
		return say(regular, regular.amplitude/curve-ratio)
	}
	slow := coarse.best(cycleStep, minCycles-cycleStep)
	hidden, bends := max(top, coarse.amplitude(slow)), coarse.closer(slow)
	if !bends { // what is left beside a monotone curve
		flat := newPeriodogram(late.at, late.aboutMonotone())
		_, hidden = flat.fast()
		flat = flat.coarse()
		hidden = max(hidden, flat.amplitude(flat.best(cycleStep, minCycles-cycleStep)))
	}
	e := say(oscillation{}, hidden/curve)
	if slow.explained > coarse.total/2 && bends {
		e.hidden = fmt.Sprintf("the reward may oscillate: the last half of the run has %.2g cycles of it, and fewer than %d are not told from noise", slow.cycles, minCycles)
	}
	return e
}

// slowRinging returns the oscillation with minCycles up to twice as many cycles in the whole
// run, with its amplitude in the last half; nothing if there is none.
func slowRinging(whole, late *periodogram) (o oscillation) {
	found := whole.best(minCycles, 2*minCycles)
	if !whole.counts(found) {
		return o
	}
	cycles := found.cycles * late.span() / whole.span()
	if there := late.best(cycles, cycles); there.explained > late.total/2 && late.closer(there) {
		return late.oscillation(there)
	}
	return o
}

// oscillation is a regular oscillation of the first column of a run; without amplitude there
// is none.
type oscillation struct{ amplitude, period float64 } // period: in steps

// oscillation is that of a sinusoid.
func (p *periodogram) oscillation(s sinusoid) oscillation {
	return oscillation{p.amplitude(s), p.span() / s.cycles}
}

// blocksOfPeriod is the number of blocks of rows in a period up to which neighbours are averaged
// to find since when there is an oscillation: a sixteenth of a period is as sharp as that needs.
const blocksOfPeriod = 16

// since returns the step since which there is an oscillation: its amplitude in minCycles
// periods about a step is at least half of what it is late in the run, for good
// (change.Onset). It is that of the last half if there is none.
func (o oscillation) since(r *run) int {
	if o.amplitude == 0 {
		return int(r.at[r.late])
	}
	p := newPeriodogram(r.at, r.columns[0])
	for o.period*float64(len(p.at)) > blocksOfPeriod*p.span() {
		p = p.halved()
	}
	from, to := 0, 0 // rows about a step
	return int(p.at[change.Onset(len(p.at), func(i int) float64 {
		for p.at[from] < p.at[i]-minCycles/2*o.period {
			from++
		}
		for to < len(p.at) && p.at[to] <= p.at[i]+minCycles/2*o.period {
			to++
		}
		if to-from <= minCycles { // a line and a sinusoid fit them
			return 0
		}
		part := newPeriodogram(p.at[from:to], p.raw[from:to])
		cycles := part.span() / o.period
		return part.amplitude(part.best(cycles, cycles)) - o.amplitude/2
	})])
}

// mostRows is the largest number of rows of a periodogram, whose time grows with the
// square of it. Of more rows, blocks are searched for slow oscillations, and the last
// mostRows rows for fast ones. A block of two rows reads the fastest oscillation that is
// sought in it, of four blocks a period, by sin(π/4)/(π/4), 10 %, too low.
const mostRows = 512

// periodogram fits sinusoids to values about a straight line.
type periodogram struct {
	at, raw []float64 // times and values
	y       []float64 // values about the line
	total   float64   // Σ y²
}

func newPeriodogram(at, values []float64) *periodogram {
	p := &periodogram{at: at, raw: values, y: change.Detrended(at, values)}
	p.total = change.Dot(p.y, p.y)
	return p
}

func (p *periodogram) span() float64 { return p.at[len(p.at)-1] - p.at[0] }

// sinusoid is the best of some trials.
type sinusoid struct{ cycles, explained, trials float64 } // explained: part of Σ y²

// counts reports whether the best of some trials is an oscillation.
func (p *periodogram) counts(s sinusoid) bool {
	return s.explained/p.total > chanceShare(s.trials, float64(len(p.y))) && p.closer(s)
}

// closer reports whether the line and the sinusoid are closer to the values than any curve
// that never falls, and any that never rises.
func (p *periodogram) closer(s sinusoid) bool {
	rest := p.aboutMonotone()
	return p.total-s.explained < change.Dot(rest, rest)
}

// aboutMonotone returns the values about the closest curve that never falls, or never
// rises.
func (p *periodogram) aboutMonotone() []float64 {
	turned := make([]float64, len(p.raw))
	for i, v := range p.raw {
		turned[i] = -v
	}
	up, down := aboutRise(p.raw), aboutRise(turned)
	if change.Dot(up, up) < change.Dot(down, down) {
		return up
	}
	return down
}

// amplitude is that of a sinusoid.
func (p *periodogram) amplitude(s sinusoid) float64 {
	return math.Sqrt(2 * s.explained / float64(len(p.y)))
}

// fast returns the largest amplitude of the best sinusoids of minCycles or more, and the
// largest oscillation among those that count.
func (p *periodogram) fast() (regular oscillation, largest float64) {
	averaged := false
	for {
		n := float64(len(p.y))
		part, from, to := p, float64(minCycles), n/2
		if len(p.y) > mostRows {
			part = newPeriodogram(p.at[len(p.at)-mostRows:], p.raw[len(p.raw)-mostRows:])
			from, to = mostRows/8, mostRows/2
		}
		if averaged {
			to = float64(len(part.y)) / 4
		}
		found := part.best(from, to)
		largest = max(largest, part.amplitude(found))
		if o := part.oscillation(found); o.amplitude > regular.amplitude && part.counts(found) {
			regular = o
		}
		if part == p {
			return regular, largest
		}
		p, averaged = p.halved(), true
	}
}

// halved averages pairs of rows; a last one without partner is left out.
func (p *periodogram) halved() *periodogram {
	at, values := make([]float64, len(p.at)/2), make([]float64, len(p.at)/2)
	for i := range at {
		at[i], values[i] = (p.at[2*i]+p.at[2*i+1])/2, (p.raw[2*i]+p.raw[2*i+1])/2
	}
	return newPeriodogram(at, values)
}

// coarse averages neighbours until there are at most mostRows.
func (p *periodogram) coarse() *periodogram {
	for len(p.y) > mostRows {
		p = p.halved()
	}
	return p
}

// best returns the sinusoid that explains most, with from, from + cycleStep, … up to to
// cycles over the span, beside the line. Its products with the line and the values are
// sums over rows; from one trial to the next each row's phase turns by the same angle.
func (p *periodogram) best(from, to float64) (found sinusoid) {
	n, span := float64(len(p.y)), p.span()
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
			found.cycles, found.explained = cycles, part
		}
	}
	return found
}

// aboutRise returns values less the closest curve that never falls (pool adjacent
// violators: Ayer et al., Ann. Math. Stat. 26, 1955).
func aboutRise(x []float64) []float64 {
	type block struct {
		mean float64
		rows int
	}
	var blocks []block
	for _, v := range x {
		blocks = append(blocks, block{v, 1})
		for n := len(blocks); n > 1 && blocks[n-2].mean >= blocks[n-1].mean; n = len(blocks) {
			b, last := &blocks[n-2], blocks[n-1]
			b.rows += last.rows
			b.mean += (last.mean - b.mean) * float64(last.rows) / float64(b.rows)
			blocks = blocks[:n-1]
		}
	}
	rest := make([]float64, 0, len(x))
	for _, b := range blocks {
		for range b.rows {
			rest = append(rest, x[len(rest)]-b.mean)
		}
	}
	return rest
}
