// Package equivalence decides whether two things are the same within a margin: curves
// of training runs, or scores in evaluation. That no difference was found does not make
// them the same; a test of equivalence has to show it.
//
// A comparison gives an interval of the difference B − A at any confidence 1 − 2α.
// Judge takes many of them and a margin for each:
//
//   - same: the interval lies inside ±margin. These are the two one-sided tests of size
//     α of Schuirmann (J. Pharmacokinet. Biopharm. 15, 1987), TOST. A difference that is
//     not zero but smaller than the margin is the same.
//   - different: the interval lies outside ±margin, wholly above or below. A difference that
//     is certain but within the margin is the same.
//   - undecided: neither: the interval holds an end of ±margin. More data may decide.
//
// Runs compares training runs, Scores tables of evaluation scores.
package equivalence

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Verdict is the outcome of a test of equivalence.
type Verdict string

const (
	Same      Verdict = "same"      // the interval lies inside ±margin
	Different Verdict = "different" // the interval lies wholly outside ±margin
	Undecided Verdict = "undecided" // neither
)

// Interval returns an interval of a difference that misses it with probability of at most tail on
// either side, 0 < tail < ½. Those of smaller tails contain those of larger ones.
type Interval func(tail float64) (lo, hi float64)

// Row is a difference with the margin within which it counts as the same.
type Row struct {
	Interval Interval
	Margin   float64 // > 0, in the unit of the difference
}

// Claim says what is claimed of rows that are the same.
type Claim int

const (
	// EachRow: each is a claim of its own. The chance that any row is wrongly the same is at most α
	// (Holm's step-down over them).
	EachRow Claim = iota
	// AllRows: the only claim is that all rows are the same. If one is not, the chance that all are
	// called so is at most that of this one. It needs no correction (the intersection–union test of
	// Berger, Technometrics 24, 1982).
	AllRows
)

// Judgement is the verdict on a row, with the interval from which it follows.
type Judgement struct {
	Verdict    Verdict
	Lo, Hi     float64 // ±Inf where the error is not known
	Confidence float64 // of this interval alone, 1 − 2 tail
}

// Judge decides rows together, at the confidence 1 − 2α in (0, 1). If the intervals keep
// what they promise, the chance that any row whose difference is within its margin is called
// different is at most 2α (Holm, Scand. J. Statist. 6, 1979); the chance of a wrong "same" is at
// most α, of any row or of all of them as the claim says. Rows may depend on each other.
//
// The verdict of a row always follows from the interval that is returned with it.
func Judge(rows []Row, claim Claim, confidence float64) []Judgement {
	alpha := (1 - confidence) / 2
	same, different := level{alpha, alpha}, stepDown(rows, alpha, Different)
	if claim == EachRow {
		same = stepDown(rows, alpha, Same)
	}
	all := make([]Judgement, len(rows))
	for i, r := range rows {
		tail := min(same.kept, different.kept)
		if r.verdict(same.rejected) == Same {
			tail = same.rejected
		} else if r.verdict(different.rejected) == Different {
			tail = different.rejected
		}
		lo, hi := r.Interval(tail)
		all[i] = Judgement{r.verdict(tail), lo, hi, 1 - 2*tail}
	}
	return all
}

// Counts says how many rows have each verdict.
type Counts map[Verdict]int

// Together is the verdict on rows as a whole: same if every one is, different if one is, else
// undecided.
func Together(all []Judgement) (whole Verdict, count Counts) {
	count = make(Counts)
	for _, j := range all {
		count[j.Verdict]++
	}
	switch {
	case count[Different] > 0:
		return Different, count
	case count[Undecided] > 0:
		return Undecided, count
	}
	return Same, count
}

// verdict is that of a single row: both one-sided tests reject a difference of ±Margin or more, or
// one of them rejects every difference within.
func (r Row) verdict(tail float64) Verdict {
	switch lo, hi := r.Interval(tail); {
	case lo > -r.Margin && hi < r.Margin:
		return Same
	case lo > r.Margin || hi < -r.Margin:
		return Different
	}
	return Undecided
}

// level holds the tails of Holm's procedure. Rows that have a verdict have it at the first. The
// others do not even have it at the second, which is no smaller.
type level struct{ rejected, kept float64 }

// stepDown is Holm's procedure: with r rows decided of m, the next is if one more is at α/(m − r).
func stepDown(rows []Row, alpha float64, verdict Verdict) level {
	m := len(rows)
	l := level{alpha / float64(m), alpha / float64(m)}
	for r := 0; r < m; {
		l.kept = alpha / float64(m-r)
		count := 0
		for _, row := range rows {
			if row.verdict(l.kept) == verdict {
				count++
			}
		}
		if count <= r {
			break
		}
		r++
		l.rejected = l.kept
	}
	return l
}

// Student is the interval d ± t s of an estimate d with the standard error s. Its degrees of
// freedom are ≥ 1 or +Inf. Where one of them is not known (NaN, or df < 1) it is (−∞, ∞).
func Student(d, s, df float64) Interval {
	return func(tail float64) (lo, hi float64) {
		half := 0.0
		switch {
		case math.IsNaN(d) || math.IsNaN(s) || !(df >= 1):
			return math.Inf(-1), math.Inf(1)
		case s > 0 && math.IsInf(df, 1):
			half = s * distuv.UnitNormal.Quantile(1-tail)
		case s > 0:
			half = s * distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(1-tail)
		}
		return d - half, d + half
	}
}

// subtract returns the interval of b − a from those of independent a and b. It goes by the squares
// of the distances from the estimates to the ends that matter. See Newcombe, Stat. Med. 17, 1998,
// method 10; Zou and Donner, Stat. Med. 27, 2008. Exchanging a and b changes its sign and nothing
// else.
func subtract(a, b float64, ofA, ofB Interval) Interval {
	return func(tail float64) (lo, hi float64) {
		aLo, aHi := ofA(tail)
		bLo, bHi := ofB(tail)
		return b - a - math.Hypot(b-bLo, aHi-a), b - a + math.Hypot(bHi-b, a-aLo)
	}
}

// exactShare is the interval of Clopper and Pearson (Biometrika 26, 1934) for a share of n
// independent questions. p n of these were answered, not necessarily an integer.
func exactShare(p, n float64) Interval {
	const none = 1e-9 // questions: the quantiles of fewer are 0 and 1 to rounding
	return func(tail float64) (lo, hi float64) {
		hi = 1
		if p*n > none {
			lo = distuv.Beta{Alpha: p * n, Beta: n - p*n + 1}.Quantile(tail)
		}
		if n-p*n > none {
			hi = distuv.Beta{Alpha: p*n + 1, Beta: n - p*n}.Quantile(1 - tail)
		}
		return min(lo, p), max(hi, p)
	}
}

// Shares is the interval of the difference b − a of two mean scores in [0, 1], over nA and nB
// questions.
//
// It is that of two independent binomial shares, from their exact intervals. For scores
// in a table it is wider than it has to be: averages of several answers scatter less than single
// answers, and answers of two models to the same questions mostly correlate positively. It does
// not contain the scatter between training runs.
//
// Of 5 to 100 single answers, enumerated, verdicts of different are wrong no more often than
// declared, and those of same with margins up to 0.1 too; with a margin of 0.2 up to 1 % more
// often (1.01 α), and with larger ones, which MaxMargin excludes, up to several times.
func Shares(a, nA, b, nB float64) Interval {
	return subtract(a, b, exactShare(a, nA), exactShare(b, nB))
}
