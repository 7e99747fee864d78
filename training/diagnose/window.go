package diagnose

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"grposim/training/change"
)

// minLate is the number of values that the last half of a run must have. Among eight groups, a
// share of one in ten appears as a majority less often than once in a thousand times.
const minLate = 8

// endShare: a series of a log must have a value in the last eighth of the run. That is a quarter of
// its last half, of which minLate values are two apart. Where weights become NaN a series ends
// early.
const endShare = 8

// standardErrors is the distance from its mean that a normal variable exceeds
// with probability change.FalseAlarm.
var standardErrors = distuv.UnitNormal.Quantile(1 - change.FalseAlarm)

// run holds some columns of a trace without gaps: only the rows in which each of them has a number.
type run struct {
	at      []float64   // steps, strictly increasing
	columns [][]float64 // in the order requested, one value per step
	late    int         // first row of the last half of the steps, or after a change of level (settle)
}

// rows returns the rows of a trace in which all the given columns have a number and the step
// exceeds that of the row before. It returns them if they are too few, too.
func (t *Trace) rows(columns ...[]float64) (run, Observability) {
	for _, c := range columns {
		if !slices.ContainsFunc(c, isNumber) {
			return run{}, NotRecorded
		}
	}
	r := run{columns: make([][]float64, len(columns))}
	for i, step := range t.Steps {
		at := float64(step)
		missing := slices.ContainsFunc(columns, func(c []float64) bool { return !isNumber(c[i]) })
		if missing || len(r.at) > 0 && at <= r.at[len(r.at)-1] {
			continue
		}
		r.at = append(r.at, at)
		for n, c := range columns {
			r.columns[n] = append(r.columns[n], c[i])
		}
	}
	if len(r.at) == 0 {
		return run{}, TooShort
	}
	r.late, _ = slices.BinarySearch(r.at, r.at[0]+(r.at[len(r.at)-1]-r.at[0])/2)
	if len(r.at)-r.late < minLate {
		return r, TooShort
	}
	if first, end := float64(t.Steps[0]), float64(slices.Max(t.Steps)); t.Origin == Samples && r.at[len(r.at)-1] < end-(end-first)/endShare {
		return run{}, Ended
	}
	return r, Observed
}

func isNumber(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// end returns the column means over the last half of the steps.
func (r *run) end() []float64 { return r.means(r.late, len(r.at)) }

func (r *run) means(from, to int) []float64 {
	means := make([]float64, len(r.columns))
	for n, c := range r.columns {
		means[n] = change.Mean(c[from:to])
	}
	return means
}

// studentErrors is the quantile of Student's law for a mean of minLate batches about a
// line, which has two parameters.
var studentErrors = distuv.StudentsT{Sigma: 1, Nu: minLate - 2}.Quantile(1 - change.FalseAlarm)

// lateError returns the half-width of the interval of the first column's late mean, 0 for
// Expectations. It is made of the means of minLate batches of rows about a line, so that
// the noise may be correlated over rows.
func (t *Trace) lateError(r *run) float64 {
	if t.Origin == Expectations {
		return 0
	}
	late := r.columns[0][r.late:]
	rest := change.Detrended(change.Rows(minLate), change.Batches(late, minLate))
	return studentErrors * math.Sqrt(change.Dot(rest, rest)/(minLate-2)/minLate)
}

// settle moves the beginning of the late rows of Samples to a change of the first column's level
// within them. Noise must show one as clear less often than change.FalseAlarm, and minLate rows
// must follow. The level after it is the run's, and the change is no noise.
func (t *Trace) settle(r *run) {
	late := r.columns[0][r.late:]
	if t.Origin == Expectations {
		return
	}
	if c := change.Find(late, change.Either); c.Chance <= change.FalseAlarm && len(late)-c.Index >= minLate {
		r.late += c.Index
	}
}

// onset returns the step at which the first column's level changed across a threshold for good
// (change.Onset).
func (r *run) onset(s Side, threshold float64) int {
	sign := 1.0
	if s == AtMost {
		sign = -1
	}
	return int(r.at[change.Onset(len(r.at),
		func(i int) float64 { return sign * (r.columns[0][i] - threshold) })])
}
