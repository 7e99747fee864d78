package equivalence

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"grposim/rom/fit"
	"grposim/rom/fp"
)

// RunsComparison says whether two training runs, or two sets of repeated runs, have the
// same mean curve over the times that all of them have.
//
// The curve is divided into segments of equal length. The value of a run in a segment is
// that of a least-squares line through its rows, at the middle of the segment. The
// verdict is that on all segments together with the mean over them: same if every one
// is, different if one of them is, else undecided (Judge, AllRows). The parameters of a
// law that is fitted to every curve say in what they differ. They are a family of their
// own, and the verdict does not depend on them.
type RunsComparison struct {
	Verdict    Verdict
	Confidence float64 // 1 − 2α: see Judge
	From, To   float64 // the common times
	Range      float64 // of A's values in the segments: largest less smallest
	Margin     float64 // of a difference of rewards: as declared, or DefaultMargin × Range
	SameFrom   float64 // the smallest margin at which the verdict would be same; +Inf: none
	Noise      Noise
	Curve      []Compared // the mean over the run, and the segments
	// Law is the law of the lowest BIC, summed over all runs, among the constant, which
	// has a level, and the exponential and the three-phase law, which have a start, a
	// plateau and one timescale.
	Law        fit.Name
	Parameters []Compared
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
	A, B     float64 // its values, means over repeated runs
	By       By
	// Change from A to B, the ends of the interval that decided, and the largest change
	// that counts as the same: of B − A, or of the ratio B/A, whose smallest one is then
	// 1/Margin.
	Change, Lo, Hi, Margin float64
	Confidence             float64 // of the interval alone
	Verdict                Verdict
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
// The margin is > 0, or 0 for the default. The error says what cannot be compared.
//
// With one run on each side the variance of its value in a segment is that of the line,
// times (1 + r)/(1 − r) for the correlation r of residuals at successive rows
// (fit.Result), and the degrees of freedom are divided by the same. With more runs both
// come from the scatter of the runs about their means, as in the t test with equal
// variances.
func Runs(a, b []fit.Curve, margin, confidence float64) (*RunsComparison, error) {
	if len(a) == 0 || len(b) == 0 {
		panic(fmt.Sprintf("equivalence: Runs: %d runs a and %d runs b, want at least one each", len(a), len(b)))
	}
	if !(margin >= 0) || math.IsInf(margin, 1) {
		panic(fmt.Sprintf("equivalence: Runs: margin = %g, want one ≥ 0", margin))
	}
	c := &RunsComparison{Confidence: confidence, From: math.Inf(-1), To: math.Inf(1), Margin: margin, Noise: WithinRuns}
	for _, curve := range slices.Concat(a, b) {
		c.From, c.To = max(c.From, curve.Time[0]), min(c.To, curve.Time[len(curve.Time)-1])
	}
	var sides [2]side
	for i, curves := range [][]fit.Curve{a, b} {
		for n, curve := range curves {
			first, end := rows(curve, c.From, math.Nextafter(c.To, math.Inf(1)))
			if end-first < fit.MinRows {
				return nil, fmt.Errorf("run %d of %c has %d rows in the times that all runs have, %g to %g, want at least %d", n+1, 'A'+i, max(0, end-first), c.From, c.To, fit.MinRows)
			}
			cut, _ := fit.Curve{Time: curve.Time[first:end], Reward: curve.Reward[first:end]}.Thin()
			sides[i].runs = append(sides[i].runs, run{curve: cut, fitted: fit.Fit(cut)})
		}
	}
	if len(a)+len(b) > 2 {
		c.Noise = BetweenRuns
	}
	if err := c.compareCurves(sides); err != nil {
		return nil, err
	}
	c.compareParameters(sides)
	return c, nil
}

// compareCurves decides the mean over the run and the segments. The error is that the
// margin is 0.
func (c *RunsComparison) compareCurves(sides [2]side) error {
	segments := c.segments(sides)
	for i := range sides {
		for n := range sides[i].runs {
			sides[i].runs[n].measure(segments)
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
			return fmt.Errorf("the curve of A does not change, so no margin follows from its range: declare one")
		}
	}
	var tests []Row
	add := func(name string, from, to float64, of func(run) estimate) {
		value := func(r run) float64 { return of(r).value }
		d, test := c.compare(name, sides[0].values(value), sides[1].values(value), c.Margin)
		if c.Noise == WithinRuns {
			x, y := of(sides[0].runs[0]), of(sides[1].runs[0])
			half := average([]estimate{x, y}) // its variance is a quarter of that of y − x
			test.Interval = Student(y.value-x.value, 2*math.Sqrt(half.variance), half.df)
		}
		d.From, d.To = from, to
		c.Curve, tests = append(c.Curve, d), append(tests, test)
	}
	add("mean over the run", c.From, c.To, func(r run) estimate { return average(r.values) })
	for i, s := range segments {
		add(fmt.Sprintf("segment %d", i+1), s.from, min(s.to, c.To), func(r run) estimate { return r.values[i] })
	}
	judgements := Judge(tests, c.Confidence, AllRows)
	c.Verdict = Same
	for i, j := range judgements {
		lo, hi := tests[i].Interval((1 - c.Confidence) / 2)
		c.SameFrom = max(c.SameFrom, -lo, hi)
		c.Curve[i].Lo, c.Curve[i].Hi, c.Curve[i].Confidence, c.Curve[i].Verdict = j.Lo, j.Hi, j.Confidence, j.Verdict
		switch {
		case j.Verdict == Different:
			c.Verdict = Different
		case j.Verdict == Undecided && c.Verdict == Same:
			c.Verdict = Undecided
		}
	}
	return nil
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
func (c *RunsComparison) segments(sides [2]side) []segment {
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
					enough = enough && end-first >= leastRows
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
	curve  fit.Curve
	fitted fit.Result
	values []estimate // by segment
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
	widen := (1 + r.fitted.Correlation) / (1 - r.fitted.Correlation)
	for _, s := range segments {
		first, end := rows(r.curve, s.from, s.to)
		e := lineAt((s.from+s.to)/2, r.curve.Time[first:end], r.curve.Reward[first:end])
		r.values = append(r.values, estimate{e.value, e.variance * widen, e.df / widen})
	}
}

// lineAt returns the value at a time of the least-squares line through at least 3 rows.
func lineAt(at float64, t, y []float64) estimate {
	value, variance := fit.FitLine(t, y).At(at)
	return estimate{value, variance, float64(len(t) - 2)}
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

// compare returns a quantity of the runs of A and B with its test by the scatter between
// runs.
func (c *RunsComparison) compare(name string, a, b []float64, margin float64) (Compared, Row) {
	d := Compared{Name: name, From: c.From, To: c.To, A: mean(a), B: mean(b), By: Subtraction, Margin: margin}
	d.Change = d.B - d.A
	return d, Row{scatter(a, b), margin}
}

// scatter is the interval of the difference of the means of b and a, with the same
// variance on both sides.
func scatter(a, b []float64) Interval {
	squares := func(values []float64) (sum float64) {
		for _, v := range values {
			sum += (v - mean(values)) * (v - mean(values))
		}
		return sum
	}
	nA, nB := float64(len(a)), float64(len(b))
	df := nA + nB - 2
	return Student(mean(b)-mean(a), math.Sqrt((squares(a)+squares(b))/df*(1/nA+1/nB)), df)
}

// compareParameters decides the parameters of the law.
func (c *RunsComparison) compareParameters(sides [2]side) {
	c.Law = commonLaw(sides)
	var fitted [2][][]fit.Parameter // by side, run and parameter
	for i, s := range sides {
		for _, r := range s.runs {
			fitted[i] = append(fitted[i], c.parameters(r))
		}
	}
	var tests []Row
	for k, p := range fitted[0][0] {
		var values [2][]float64
		for i := range fitted {
			for _, parameters := range fitted[i] {
				values[i] = append(values[i], parameters[k].Value)
			}
		}
		margin := c.Margin
		if p.Name == logTimescale {
			margin = c.timescaleMargin(fitted)
		}
		d, test := c.compare(p.Name, values[0], values[1], margin)
		if c.Noise == WithinRuns {
			test.Interval = subtract(d.A, d.B, profile(fitted[0][0][k]), profile(fitted[1][0][k]))
		}
		c.Parameters, tests = append(c.Parameters, d), append(tests, test)
	}
	for i, j := range Judge(tests, c.Confidence, EachRow) {
		p := &c.Parameters[i]
		p.Lo, p.Hi, p.Confidence, p.Verdict = j.Lo, j.Hi, j.Confidence, j.Verdict
		if p.Name == logTimescale {
			p.Name, p.By = "timescale", Ratio
			for _, x := range []*float64{&p.A, &p.B, &p.Change, &p.Lo, &p.Hi, &p.Margin} {
				*x = fp.Exp(*x)
			}
		}
	}
}

// logTimescale is the name of the logarithm of the one shape of a law, as a time.
const logTimescale = "log timescale"

// parameters returns the parameters of the law fitted to a run, with the logarithm of
// the timescale, 1/ω for the three-phase law, in place of the shape.
func (c *RunsComparison) parameters(r run) []fit.Parameter {
	all := r.fitted.Model(c.Law).Parameters()
	if c.Law == fit.ConstantLaw {
		return all
	}
	p := &all[2]
	p.Name, p.Value, p.Lo, p.Hi = logTimescale, math.Log(p.Value), math.Log(p.Lo), math.Log(p.Hi)
	if c.Law == fit.ThreePhase {
		p.Value, p.Lo, p.Hi = -p.Value, -p.Hi, -p.Lo
	}
	return all
}

// commonLaw returns the law of the lowest BIC over all runs.
func commonLaw(sides [2]side) fit.Name {
	best, lowest := fit.ConstantLaw, math.Inf(1)
	for _, name := range []fit.Name{fit.ConstantLaw, fit.Exponential, fit.ThreePhase} {
		var sum [2]float64
		for i, s := range sides {
			for _, r := range s.runs {
				sum[i] += r.fitted.Model(name).BIC
			}
		}
		if total := sum[0] + sum[1]; total < lowest {
			best, lowest = name, total
		}
	}
	return best
}

// timescaleMargin is the change of the logarithm of the timescale T that moves a curve
// by the margin at most, in the common times: the margin over the largest t ∂y/∂t, the
// mean of those of A and B. It is the growth (plateau − start) times x e^{−x} for the
// exponential and x² e^{−x} for the three-phase law, at the largest x = t/T up to 1 and
// up to 2.
func (c *RunsComparison) timescaleMargin(fitted [2][][]fit.Parameter) float64 {
	power := 1.0
	if c.Law == fit.ThreePhase {
		power = 2
	}
	var moves [2]float64
	for i := range fitted {
		for _, p := range fitted[i] {
			x := min(power, c.To/fp.Exp(p[2].Value))
			moves[i] += math.Abs(p[1].Value-p[0].Value) * math.Pow(x, power) * fp.Exp(-x) / float64(len(fitted[i]))
		}
	}
	return c.Margin / ((moves[0] + moves[1]) / 2)
}

// profile is the interval of a fitted parameter at any confidence: the distances to the
// ends of its 90 % interval grow as the quantile of the normal law.
func profile(p fit.Parameter) Interval {
	const quantile90 = 1.6448536269514722
	return func(tail float64) (lo, hi float64) {
		z := distuv.UnitNormal.Quantile(1-tail) / quantile90
		return p.Value - z*(p.Value-p.Lo), p.Value + z*(p.Hi-p.Value)
	}
}
