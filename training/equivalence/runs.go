package equivalence

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"grposim/fp"
	"grposim/training/change"
	"grposim/training/fit"
)

// RunsComparison says whether two training runs, or two sets of repeated runs, have the same mean
// curve over the times that all of them have.
//
// The curve is divided into segments of equal length. The value of a run in a segment is that of a
// least-squares line through its rows, at the middle of the segment. The verdict is that on all
// segments together with the mean over them (Judge, AllRows; Together).
type RunsComparison struct {
	Verdict    Verdict
	Confidence float64 // 1 − 2α: see Judge
	From, To   float64 // the common times
	Range      float64 // of A's values in the segments: largest less smallest
	Margin     float64 // of a difference of rewards: as declared, or DefaultMargin × Range
	SameFrom   float64 // the smallest margin at which the verdict would be same; +Inf: none
	Noise      Noise
	Curve      []Compared // the mean over the run, and the segments
	Count      Counts     // of them
	Notes      []string   // on runs that were given more than once
}

// Noise is the source of the errors.
type Noise string

const (
	// BetweenRuns: the scatter between repeated runs, taken to be the same in A and B.
	// The verdict is about the recipes.
	BetweenRuns Noise = "between-runs"
	// WithinRuns: the residuals of the one run of each side, with their autocorrelation. The verdict
	// is about these two runs; how far runs of one recipe differ is not observable.
	WithinRuns Noise = "within-runs"
)

// DefaultMargin is the share of the range of A's curve that is the margin where none is
// declared. It is ours: a difference of less than a twentieth of what a run has learnt
// hardly changes the choice between two recipes.
const DefaultMargin = 0.05

// Compared is the reward of A and B, means over repeated runs.
type Compared struct {
	Name         string
	From, To     float64 // the times that it is of
	A, B, Change float64 // Change: B − A, by the interval of the judgement
	Judgement
	Reason string // why it is undecided whatever the noise, and what would decide it
}

const (
	maxSegments = 10
	leastRows   = 8  // rows of every run in every segment
	windowRows  = 25 // of a run in every window of its correlation, at least
)

// Runs compares the runs a with the runs b, at least one each, at the confidence 1 − 2α.
// The margin is > 0, or 0 for the default. The error says what cannot be compared.
//
// With one run on each side the variance of its value in a segment is that of the line,
// times (1 + r)/(1 − r). The degrees of freedom are divided by the same. The correlation r of
// noise at successive rows is the median over windows of the run. With more runs the error
// is that of the t test with equal variances, from the scatter of the runs about their
// means. It is no smaller than the noise within runs makes it. Runs of a side with the same
// rows are one run: a copy is no second observation.
func Runs(a, b []fit.Curve, margin, confidence float64) (*RunsComparison, error) {
	c := &RunsComparison{Confidence: confidence, Noise: WithinRuns}
	c.From, c.To = math.Inf(-1), math.Inf(1)
	for _, curve := range slices.Concat(a, b) {
		c.From, c.To = max(c.From, curve.Time[0]), min(c.To, curve.Time[len(curve.Time)-1])
	}
	c.Margin = margin
	var sides [2][]run
	for i, curves := range [][]fit.Curve{a, b} {
		for n, curve := range curves {
			r := run{name: fmt.Sprintf("run %d of %c", n+1, 'A'+i)}
			first, end := rows(curve, segment{c.From, math.Nextafter(c.To, math.Inf(1))})
			if end-first < fit.MinRows {
				return nil, fmt.Errorf("%s has %d rows in the times that all runs have, %g to %g, "+
					"want at least %d", r.name, max(0, end-first), c.From, c.To, fit.MinRows)
			}
			r.curve, _ = fit.Curve{Time: curve.Time[first:end],
				Reward: curve.Reward[first:end]}.Thin()
			copyOf := func(other run) bool {
				return slices.Equal(r.curve.Time, other.curve.Time) &&
					slices.Equal(r.curve.Reward, other.curve.Reward)
			}
			if k := slices.IndexFunc(sides[i], copyOf); k >= 0 {
				c.Notes = append(c.Notes, fmt.Sprintf("%s has the same rows as %s: "+
					"they count as one run, since a copy shows no scatter", r.name, sides[i][k].name))
				continue
			}
			if k := slices.IndexFunc(sides[0], copyOf); k >= 0 {
				c.Notes = append(c.Notes, fmt.Sprintf("%s has the same rows as %s: "+
					"their difference is 0 whatever the recipes are, and the intervals, "+
					"which take them for independent runs, say nothing", r.name, sides[0][k].name))
			}
			sides[i] = append(sides[i], r)
		}
	}
	if len(sides[0])+len(sides[1]) > 2 {
		c.Noise = BetweenRuns
	}
	return c, c.compareCurves(sides)
}

// compareCurves compares the mean over the run and the segments, and decides the verdict. The
// error is that the margin is 0.
func (c *RunsComparison) compareCurves(sides [2][]run) error {
	segments := c.segments(leastRows, slices.Concat(sides[0], sides[1])...)
	for _, side := range sides {
		for n := range side {
			r := &side[n]
			// A curve without noise bends within its windows, and is followed by a law.
			residuals := change.Unbiased(fit.Fit(r.curve).Correlation, float64(len(r.curve.Time)), 4)
			r.correlation = min(correlation(r.curve, c.segments(windowRows, *r)), residuals, 0.98)
			for _, s := range segments {
				first, end := rows(r.curve, s)
				r.values = append(r.values,
					lineAt((s.from+s.to)/2, r.curve.Time[first:end], r.curve.Reward[first:end], r.correlation))
			}
		}
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	var tests []Row
	add := func(name string, s segment, of func(run) estimate) {
		var values, variances [2][]float64
		for i, side := range sides {
			for _, r := range side {
				e := of(r)
				values[i], variances[i] = append(values[i], e.value), append(variances[i], e.variance)
			}
		}
		d := Compared{Name: name, From: s.from, To: min(s.to, c.To), A: change.Mean(values[0]),
			B: change.Mean(values[1])}
		d.Change = d.B - d.A
		interval := scatter(values[0], values[1], change.Mean(variances[0])/2+change.Mean(variances[1])/2)
		if c.Noise == WithinRuns {
			x, y := of(sides[0][0]), of(sides[1][0])
			half := average([]estimate{x, y}) // its variance is a quarter of that of y − x
			interval = Student(y.value-x.value, 2*math.Sqrt(half.variance), half.df)
			if half.df < 1 {
				longest := slices.MaxFunc(slices.Concat(sides[0], sides[1]),
					func(r, s run) int { return cmp.Compare(r.correlation, s.correlation) })
				d.Reason = fmt.Sprintf("successive rows of %s differ from their mean curve alike "+
					"(correlation %.2g), so that a segment has less than one independent row. "+
					"A longer log would decide", longest.name, longest.correlation)
			}
		}
		c.Curve, tests = append(c.Curve, d), append(tests, Row{Interval: interval})
	}
	add("mean over the run", segment{c.From, c.To}, func(r run) estimate { return average(r.values) })
	for i, s := range segments {
		add(fmt.Sprintf("segment %d", i+1), s, func(r run) estimate { return r.values[i] })
		lo, hi = min(lo, c.Curve[i+1].A), max(hi, c.Curve[i+1].A)
	}
	c.Range = hi - lo
	if c.Margin == 0 {
		if c.Margin = DefaultMargin * c.Range; c.Margin == 0 {
			return errors.New("the curve of A does not change, so its range gives no margin: declare one")
		}
	}
	for i := range tests {
		tests[i].Margin = c.Margin
	}
	judged := Judge(tests, AllRows, c.Confidence)
	c.Verdict, c.Count = Together(judged)
	for i, j := range judged {
		c.Curve[i].Judgement = j
		lo, hi := tests[i].Interval((1 - c.Confidence) / 2)
		c.SameFrom = max(c.SameFrom, -lo, hi)
	}
	return nil
}

// segment is an interval of time, without its end.
type segment struct{ from, to float64 }

// rows returns the rows of a curve in a segment: first, and one after the last.
func rows(c fit.Curve, s segment) (first, end int) {
	first, _ = slices.BinarySearch(c.Time, s.from)
	end, _ = slices.BinarySearch(c.Time, s.to)
	return first, end
}

// segments divides the common times into as many equal segments as have enough rows of
// every run, at least one.
func (c *RunsComparison) segments(least int, runs ...run) []segment {
	for n := maxSegments; ; n-- {
		var all []segment
		enough := true
		at := func(i int) float64 { return c.From + (c.To-c.From)*float64(i)/float64(n) }
		for i := range n {
			s := segment{at(i), at(i + 1)}
			if i == n-1 {
				s.to = math.Nextafter(c.To, math.Inf(1))
			}
			for _, r := range runs {
				first, end := rows(r.curve, s)
				enough = enough && end-first >= least
			}
			all = append(all, s)
		}
		if enough || n == 1 {
			return all
		}
	}
}

// run is a curve with what was measured of it.
type run struct {
	name        string
	curve       fit.Curve
	correlation float64    // of noise at successive rows
	values      []estimate // by segment
}

// estimate is a value with the variance of its error, and the degrees of freedom of that.
type estimate struct{ value, variance, df float64 }

// correlation is that of the noise of successive rows, at least 0. It is the median over windows of
// Σ e_i e_{i+1}/Σ e_i², with the distances e of the rows from their line. It is corrected for what
// the line takes from it. A curve that bends within its windows makes it larger. Jumps in less than
// half of them do not matter.
func correlation(c fit.Curve, windows []segment) float64 {
	var all []float64
	for _, w := range windows {
		first, end := rows(c, w)
		e := change.Detrended(c.Time[first:end], c.Reward[first:end])
		if squares := change.Dot(e, e); squares > 0 {
			all = append(all, change.Unbiased(change.Dot(e[:len(e)-1], e[1:])/squares, float64(len(e)), 2))
		}
	}
	if all == nil {
		return 0
	}
	return max(change.Median(all), 0)
}

// lineAt returns the value at a time of the least-squares line through n ≥ 3 rows, whose errors
// have the correlation r^k over k rows. Its variance is that with independent errors times (1 +
// r)/(1 − r). In the sum of squared residuals n − Σ_ij h_ij r^|i−j| takes the place of n − 2, as
// the line follows such errors. h_ij = 1/n + t_i t_j/Σt² over times from their mean.
func lineAt(at float64, t, y []float64, r float64) estimate {
	slope, err := change.Line(t, y)
	n, middle, spread := float64(len(t)), change.Mean(t), 0.0
	for _, x := range t {
		spread += (x - middle) * (x - middle)
	}
	left := n
	for i, x := range t {
		for j, z := range t {
			left -= (1/n + (x-middle)*(z-middle)/spread) * fp.Pow(r, math.Abs(float64(i-j)))
		}
	}
	widen := (1 + r) / (1 - r)
	variance := err * err * (spread/n + (at-middle)*(at-middle))
	return estimate{change.Mean(y) + slope*(at-middle), variance * widen * (n - 2) / left,
		(n - 2) / widen}
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

// scatter is the interval of the difference of the means of b and a, with the same variance on both
// sides. It is at least the given one: two runs that happen to agree do not show that runs do.
func scatter(a, b []float64, least float64) Interval {
	squares := func(values []float64) (sum float64) {
		for _, v := range values {
			sum += (v - change.Mean(values)) * (v - change.Mean(values))
		}
		return sum
	}
	nA, nB := float64(len(a)), float64(len(b))
	df := nA + nB - 2
	return Student(change.Mean(b)-change.Mean(a), math.Sqrt(max(least, (squares(a)+squares(b))/df)*(1/nA+1/nB)), df)
}
