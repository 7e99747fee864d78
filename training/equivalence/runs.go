package equivalence

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"grposim/rom/fp"
	"grposim/training/change"
	"grposim/training/fit"
)

// RunsComparison says whether two training runs, or two sets of repeated runs, have the
// same mean curve over the times that all of them have.
//
// The curve is divided into segments of equal length. The value of a run in a segment is
// that of a least-squares line through its rows, at the middle of the segment. The
// verdict is that on all segments together with the mean over them: same if every one
// is, different if one of them is, else undecided (Judge, AllRows). Start, plateau and
// half-time say in what the curves differ; the verdict does not depend on them. They are
// averages over laws of growth (fit.Growth), each run with its own weights, so that their
// intervals hold what the laws disagree about. All rows share one chance of a wrong
// "different".
type RunsComparison struct {
	Verdict    Verdict
	Confidence float64 // 1 − 2α: see Judge
	From, To   float64 // the common times
	Range      float64 // of A's values in the segments: largest less smallest
	Margin     float64 // of a difference of rewards: as declared, or DefaultMargin × Range
	SameFrom   float64 // the smallest margin at which the verdict would be same; +Inf: none
	Noise      Noise
	Curve      []Compared // the mean over the run, and the segments
	Parameters []Compared // start, plateau and half-time
	Law        fit.Name   // of the largest weight, summed over all runs
	Notes      []string   // on runs that were given more than once
}

// Noise is the source of the errors.
type Noise string

const (
	// BetweenRuns: the scatter between repeated runs, taken to be the same in A and B.
	// The verdict is about the recipes.
	BetweenRuns Noise = "between-runs"
	// WithinRuns: the residuals of the one run of each side, with their autocorrelation.
	// The verdict is about these two runs; how far runs of one recipe differ is not
	// observable.
	WithinRuns Noise = "within-runs"
)

// DefaultMargin is the share of the range of A's curve that is the margin where none is
// declared. It is ours: a difference of less than a twentieth of what a run has learnt
// hardly changes the choice between two recipes.
const DefaultMargin = 0.05

// Compared is a quantity of A and B.
type Compared struct {
	Name     string  // of the quantity
	From, To float64 // the times that it is of
	A, B     float64 // its values, means over repeated runs; NaN where a run does not identify it
	By       By
	// Change from A to B, the ends of the interval that decided, and the largest change
	// that counts as the same: of B − A, or of the ratio B/A, whose smallest one is then
	// 1/Margin.
	Change, Lo, Hi, Margin float64
	Confidence             float64 // of the interval alone
	Verdict                Verdict
	Reason                 string // why it is undecided whatever the noise, and what would decide it; "": it is not
}

// By says how two values are compared.
type By string

const (
	Subtraction By = "difference" // B − A
	Ratio       By = "ratio"      // B/A
)

const (
	maxSegments = 10
	leastRows   = 8 // rows of every run in every segment
)

// Runs compares the runs a with the runs b, at least one each, at the confidence 1 − 2α.
// The margin is > 0, or 0 for the default; the reward of any step is at most largest, +Inf
// if that is not known. The error says what cannot be compared.
//
// With one run on each side the variance of its value in a segment is that of the line,
// times (1 + r)/(1 − r) for the correlation r of noise at successive rows, that of residuals
// (fit.Growth) or the largest that windows of the run allow, and the degrees of freedom are
// divided by the same. With more runs both come from the scatter of the runs about their
// means, as in the t test with equal variances, which is no smaller than the noise within runs
// makes it. Runs of a side with the same rows are one run: a copy is no second observation.
func Runs(a, b []fit.Curve, margin, confidence, largest float64) (*RunsComparison, error) {
	if len(a) == 0 || len(b) == 0 {
		panic(fmt.Sprintf("equivalence: Runs: %d runs a and %d runs b, want at least one each", len(a), len(b)))
	}
	if !(margin >= 0) || math.IsInf(margin, 1) {
		panic(fmt.Sprintf("equivalence: Runs: margin = %g, want one ≥ 0", margin))
	}
	c := &RunsComparison{Confidence: confidence, From: math.Inf(-1), To: math.Inf(1), Noise: WithinRuns}
	unit := 0.0 // of rewards, until the end
	for _, curve := range slices.Concat(a, b) {
		c.From, c.To = max(c.From, curve.Time[0]), min(c.To, curve.Time[len(curve.Time)-1])
		unit = max(unit, curve.Unit())
	}
	c.Margin, largest = margin/unit, largest/unit
	var sides [2]side
	for i, curves := range [][]fit.Curve{a, b} {
		for n, curve := range curves {
			r := run{name: fmt.Sprintf("run %d of %c", n+1, 'A'+i)}
			first, end := rows(curve, c.From, math.Nextafter(c.To, math.Inf(1)))
			if end-first < fit.MinRows {
				return nil, fmt.Errorf("%s has %d rows in the times that all runs have, %g to %g, want at least %d", r.name, max(0, end-first), c.From, c.To, fit.MinRows)
			}
			r.curve, _ = fit.Curve{Time: curve.Time[first:end], Reward: curve.Reward[first:end]}.In(unit).Thin()
			copyOf := func(other run) bool {
				return slices.Equal(r.curve.Time, other.curve.Time) && slices.Equal(r.curve.Reward, other.curve.Reward)
			}
			if k := slices.IndexFunc(sides[i].runs, copyOf); k >= 0 {
				c.Notes = append(c.Notes, fmt.Sprintf("%s has the same rows as %s: they count as one run, since a copy shows no scatter", r.name, sides[i].runs[k].name))
				continue
			}
			if k := slices.IndexFunc(sides[0].runs, copyOf); k >= 0 {
				c.Notes = append(c.Notes, fmt.Sprintf("%s has the same rows as %s: their difference is 0 whatever the recipes are, and the intervals, which take them for independent runs, say nothing", r.name, sides[0].runs[k].name))
			}
			growth := fit.Grow(r.curve, largest)
			r.growth, r.correlation = growth, growth.Correlation
			sides[i].runs = append(sides[i].runs, r)
		}
	}
	if len(sides[0].runs)+len(sides[1].runs) > 2 {
		c.Noise = BetweenRuns
	}
	tests, err := c.compareCurves(sides)
	if err != nil {
		return nil, err
	}
	c.judge(append(tests, c.compareParameters(sides)...))
	ofReward := []*float64{&c.Range, &c.Margin, &c.SameFrom}
	for _, all := range [][]Compared{c.Curve, c.Parameters} {
		for i := range all {
			if q := &all[i]; q.By == Subtraction {
				ofReward = append(ofReward, &q.A, &q.B, &q.Change, &q.Lo, &q.Hi, &q.Margin)
			}
		}
	}
	for _, x := range ofReward {
		*x *= unit
	}
	return c, nil
}

// compareCurves measures the mean over the run and the segments, and returns their tests.
// The error is that the margin is 0.
func (c *RunsComparison) compareCurves(sides [2]side) ([]Row, error) {
	segments := c.segments(sides, leastRows)
	for i := range sides {
		for n := range sides[i].runs {
			r := &sides[i].runs[n]
			r.correlation = largestCorrelation(r.curve, c.segments([2]side{{runs: []run{*r}}}, windowRows), r.correlation)
			r.measure(segments)
		}
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for s := range segments {
		v := mean(sides[0].values(func(r run) float64 { return r.values[s].value }))
		lo, hi = min(lo, v), max(hi, v)
	}
	c.Range = hi - lo
	if c.Margin == 0 {
		if c.Margin = DefaultMargin * c.Range; c.Margin == 0 {
			return nil, fmt.Errorf("the curve of A does not change, so no margin follows from its range: declare one")
		}
	}
	var tests []Row
	add := func(name string, from, to float64, of func(run) estimate) {
		d, interval := c.compare(name, sides, of)
		if c.Noise == WithinRuns {
			x, y := of(sides[0].runs[0]), of(sides[1].runs[0])
			half := average([]estimate{x, y}) // its variance is a quarter of that of y − x
			interval = Student(y.value-x.value, 2*math.Sqrt(half.variance), half.df)
			if half.df < 1 {
				d.Reason = remembers(sides)
			}
		}
		d.From, d.To = from, to
		c.Curve, tests = append(c.Curve, d), append(tests, Row{interval, c.Margin, AllRows})
	}
	add("mean over the run", c.From, c.To, func(r run) estimate { return average(r.values) })
	for i, s := range segments {
		add(fmt.Sprintf("segment %d", i+1), s.from, min(s.to, c.To), func(r run) estimate { return r.values[i] })
	}
	return tests, nil
}

// remembers says that the noise of the run with the longer memory has no independent rows.
func remembers(sides [2]side) string {
	longest := sides[0].runs[0]
	if r := sides[1].runs[0]; r.correlation > longest.correlation {
		longest = r
	}
	return fmt.Sprintf("successive rows of %s differ from their mean curve alike (correlation %.2g), so that a segment has less than one independent row. A longer log would decide", longest.name, longest.correlation)
}

// judge decides every row, and by those of the curve the verdict.
func (c *RunsComparison) judge(tests []Row) {
	judgements := Judge(tests, c.Confidence)
	set := func(all []Compared, judgements []Judgement) {
		for i, j := range judgements {
			all[i].Lo, all[i].Hi, all[i].Confidence, all[i].Verdict = j.Lo, j.Hi, j.Confidence, j.Verdict
		}
	}
	n := len(c.Curve)
	set(c.Curve, judgements[:n])
	set(c.Parameters, judgements[n:])
	c.Verdict = Same
	for i, q := range c.Curve {
		lo, hi := tests[i].Interval((1 - c.Confidence) / 2)
		c.SameFrom = max(c.SameFrom, -lo, hi)
		switch {
		case q.Verdict == Different:
			c.Verdict = Different
		case q.Verdict == Undecided && c.Verdict == Same:
			c.Verdict = Undecided
		}
	}
	for i := range c.Parameters {
		if p := &c.Parameters[i]; p.By == Ratio {
			for _, x := range []*float64{&p.A, &p.B, &p.Change, &p.Lo, &p.Hi, &p.Margin} {
				*x = fp.Exp(*x)
			}
		}
	}
}

// segment is an interval of time, without its end.
type segment struct{ from, to float64 }

// rows returns the rows of a curve in from ≤ t < to: first, and one after the last.
func rows(c fit.Curve, from, to float64) (first, end int) {
	first, _ = slices.BinarySearch(c.Time, from)
	end, _ = slices.BinarySearch(c.Time, to)
	return first, end
}

// segments divides the common times into as many equal segments as have enough rows of
// every run, at least one.
func (c *RunsComparison) segments(sides [2]side, least int) []segment {
	for n := maxSegments; ; n-- {
		all, enough := make([]segment, n), true
		at := func(i int) float64 { return c.From + (c.To-c.From)*float64(i)/float64(n) }
		for i := range all {
			all[i] = segment{at(i), at(i + 1)}
		}
		all[n-1].to = math.Nextafter(c.To, math.Inf(1))
		for _, s := range all {
			for _, side := range sides {
				for _, r := range side.runs {
					first, end := rows(r.curve, s.from, s.to)
					enough = enough && end-first >= least
				}
			}
		}
		if enough || n == 1 {
			return all
		}
	}
}

// side is one of the two sets of runs.
type side struct{ runs []run }

// run is a curve with what was measured of it.
type run struct {
	name        string
	curve       fit.Curve
	growth      *fit.Growth
	correlation float64    // of noise at successive rows
	values      []estimate // by segment
}

// values returns a number of every run.
func (s side) values(of func(run) float64) []float64 {
	var all []float64
	for _, r := range s.runs {
		all = append(all, of(r))
	}
	return all
}

func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// estimate is a value with the variance of its error, and the degrees of freedom of
// that.
type estimate struct{ value, variance, df float64 }

// measure sets the values of a run in the segments.
func (r *run) measure(segments []segment) {
	for _, s := range segments {
		first, end := rows(r.curve, s.from, s.to)
		r.values = append(r.values, lineAt((s.from+s.to)/2, r.curve.Time[first:end], r.curve.Reward[first:end], r.correlation))
	}
}

// lineAt returns the value at a time of the least-squares line through n ≥ 3 rows, whose
// errors have the correlation r^k over k rows. Its variance is that with independent
// errors times (1 + r)/(1 − r). Of the variance of such errors a line leaves
// n − Σ_ij h_ij r^|i−j| in the sum of squared residuals, with h_ij = 1/n + t_i t_j/Σt²
// over times from their mean, in the place of n − 2: it follows them as far as it can.
func lineAt(at float64, t, y []float64, r float64) estimate {
	line := fit.FitLine(t, y)
	value, variance := line.At(at)
	n := float64(len(t))
	var spread float64
	for _, x := range t {
		spread += (x - line.Middle) * (x - line.Middle)
	}
	left := n
	for i, x := range t {
		for j, z := range t {
			left -= (1/n + (x-line.Middle)*(z-line.Middle)/spread) * fp.Pow(r, math.Abs(float64(i-j)))
		}
	}
	widen := (1 + r) / (1 - r)
	return estimate{value, variance * widen * (n - 2) / left, (n - 2) / widen}
}

// average returns the mean of independent estimates, with the degrees of freedom of
// Welch and Satterthwaite.
func average(all []estimate) estimate {
	n := float64(len(all))
	var sum, squares float64
	var e estimate
	for _, x := range all {
		e.value += x.value / n
		sum += x.variance
		squares += x.variance * x.variance / x.df
	}
	e.variance, e.df = sum/(n*n), sum*sum/squares
	if sum == 0 {
		e.df = math.Inf(1) // no noise
	}
	return e
}

// compare returns a quantity of the runs of A and B with its interval by the scatter
// between runs.
func (c *RunsComparison) compare(name string, sides [2]side, of func(run) estimate) (Compared, Interval) {
	var values [2][]float64
	var within float64 // mean variance of the error of a run
	for i, s := range sides {
		values[i] = s.values(func(r run) float64 { return of(r).value })
		within += mean(s.values(func(r run) float64 { return of(r).variance })) / 2
	}
	d := Compared{Name: name, From: c.From, To: c.To, A: mean(values[0]), B: mean(values[1]), By: Subtraction, Margin: c.Margin}
	d.Change = d.B - d.A
	return d, scatter(values[0], values[1], within)
}

// scatter is the interval of the difference of the means of b and a, with the same
// variance on both sides, of at least the given one: two runs that happen to agree do not
// show that runs do.
func scatter(a, b []float64, least float64) Interval {
	squares := func(values []float64) (sum float64) {
		for _, v := range values {
			sum += (v - mean(values)) * (v - mean(values))
		}
		return sum
	}
	nA, nB := float64(len(a)), float64(len(b))
	df := nA + nB - 2
	return Student(mean(b)-mean(a), math.Sqrt(max(least, (squares(a)+squares(b))/df)*(1/nA+1/nB)), df)
}

// MostMissing is the share of its rise that a run may still have to make for its plateau
// and half-time to be compared: the upper end of the 90 % interval of fit.Growth.Missing.
// Beyond it the plateau is an extrapolation that depends on the law, and the laws fit
// equally well while most of the rise is to come.
const MostMissing = 0.1

// compareParameters measures start, plateau and half-time, and returns their tests.
func (c *RunsComparison) compareParameters(sides [2]side) []Row {
	c.Law = commonLaw(sides)
	open := func(float64) (lo, hi float64) { return math.Inf(-1), math.Inf(1) }
	var tests []Row
	for _, q := range []struct {
		name   string
		of     func(*fit.Growth) fit.Averaged
		by     By
		margin float64
		lacks  func(run) string // why a run does not have it; "": it has
	}{
		{"start", (*fit.Growth).Start, Subtraction, c.Margin, run.notFollowed},
		{"plateau", (*fit.Growth).Plateau, Subtraction, c.Margin, c.notFlattened},
		{"half-time", (*fit.Growth).LogHalfTime, Ratio, c.halfTimeMargin(sides), c.notFlattened},
	} {
		d, interval := c.compare(q.name, sides, func(r run) estimate {
			a := q.of(r.growth)
			return estimate{value: a.Median(), variance: a.Error() * a.Error()}
		})
		var reasons []string
		for i, value := range []*float64{&d.A, &d.B} {
			for _, r := range sides[i].runs {
				if reason := q.lacks(r); reason != "" {
					reasons, *value, d.Change = append(reasons, reason), math.NaN(), math.NaN()
					break
				}
			}
		}
		switch {
		case len(reasons) > 0:
			d.Reason, interval = strings.Join(reasons, "; "), open
		case c.Noise == WithinRuns:
			interval = subtract(d.A, d.B, q.of(sides[0].runs[0].growth).Interval, q.of(sides[1].runs[0].growth).Interval)
		}
		d.By, d.Margin = q.by, q.margin
		c.Parameters, tests = append(c.Parameters, d), append(tests, Row{interval, q.margin, EachRow})
	}
	return tests
}

// leastFollowed is the share of the independent rows of a run that residuals of a law have to
// show for a law to describe it. It is ours.
const leastFollowed = 0.5

// notFollowed says that no law follows a run, if its residuals remember for longer than its noise.
func (r run) notFollowed() string {
	if change.Independent(r.growth.Correlation) >= leastFollowed*change.Independent(r.correlation) {
		return ""
	}
	return r.name + " follows no law of growth: its rows keep on the same side of every law for longer than their noise does, as after a collapse"
}

// notFlattened says why a run has no plateau, and what would show it; "" if it has one.
func (c *RunsComparison) notFlattened(r run) string {
	_, missing := r.growth.Missing.Interval(0.05)
	switch {
	case r.notFollowed() != "":
		return r.notFollowed()
	case r.growth.Flat:
		return r.name + " does not grow: no law beats a constant, and it shows no rise that could end"
	case !(missing > MostMissing):
		return ""
	}
	decides := ". A longer log or less noise would decide"
	if until := r.growth.Until(MostMissing / 2); until > c.To {
		decides = fmt.Sprintf(". By the law of most weight a log to about %.2g would decide", until)
	}
	return fmt.Sprintf("%s has not flattened at %.4g: up to %.3g %% of its rise may be to come, and the plateau depends on the law", r.name, c.To, 100*min(missing, 1)) + decides
}

// commonLaw returns the law of the largest weight over all runs.
func commonLaw(sides [2]side) fit.Name {
	best, most := fit.ConstantLaw, 0.0
	for _, name := range fit.Saturating {
		var sum float64
		for _, s := range sides {
			for _, r := range s.runs {
				sum += r.growth.Weight(name)
			}
		}
		if sum > most {
			best, most = name, sum
		}
	}
	return best
}

// halfTimeMargin is the change of the logarithm of a half-time that moves a curve by the
// margin at most, in the common times: the margin over the largest t ∂y/∂t, for t from
// the first common time on, the mean of those of A and B.
func (c *RunsComparison) halfTimeMargin(sides [2]side) float64 {
	const steps = 200
	times := make([]float64, steps+1)
	for k := range times {
		times[k] = c.From + (c.To-c.From)*float64(k)/steps
	}
	var moves float64
	for _, s := range sides {
		moves += mean(s.values(func(r run) (most float64) {
			y := r.growth.At(times)
			for k := 1; k <= steps; k++ {
				most = max(most, math.Abs(y[k]-y[k-1])*(float64(k)-0.5))
			}
			return most
		})) / 2
	}
	return c.Margin / moves
}
