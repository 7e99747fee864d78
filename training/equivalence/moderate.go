package equivalence

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"grposim/rom/fp"
)

// runError is the standard error of a difference that comes from the scatter between
// training runs, with its degrees of freedom. Its zero value is that of a scatter that is
// not known, which no interval then contains.
type runError struct{ se, df float64 }

// add returns the interval of d, which has the error of `of` and, independent of it, that
// of the runs: distances from d to the ends add by their squares, as in subtract.
func (e runError) add(d float64, of Interval) Interval {
	if e.df == 0 {
		return of
	}
	return subtract(0, d, Student(0, e.se, e.df), of)
}

// moderate returns run errors that lend each other degrees of freedom: two runs a side
// alone have 2, with which a table of many rows decides nothing. It is the moderated t
// statistic of Smyth (Stat. Appl. Genet. Mol. Biol. 3, 2004). The ratios x of run to
// question variance scatter between rows as x₀ d₀/χ²(d₀) about one of their own; with the
// degrees of freedom d of the row
//
//	x̃ = (d₀ x₀ + d x)/(d₀ + d), of d₀ + d degrees of freedom.
//
// d₀ and x₀ follow from mean and variance of ln x over the rows, both lowered by what a
// χ² with d degrees of freedom contributes. The more rows differ, the smaller is d₀, and
// the less they lend. Rows without questions' error or without any scatter, which are
// rounded, do not enter the estimate; with fewer than three others nothing is lent.
func moderate(runs []runError, questions []float64) []runError {
	var logs []float64
	var chance float64 // the variance of ln x that χ² contributes, mean over the rows
	for i, r := range runs {
		if r.se > 0 && questions[i] > 0 {
			x, half := r.se*r.se/(questions[i]*questions[i]), r.df/2
			logs = append(logs, math.Log(x)-mathext.Digamma(half)+math.Log(half))
			chance += trigamma(half)
		}
	}
	moderated := append([]runError(nil), runs...)
	n := float64(len(logs))
	if n < 3 {
		return moderated
	}
	center, squares := mean(logs), 0.0
	for _, l := range logs {
		squares += (l - center) * (l - center)
	}
	lent, level := math.Inf(1), center // d₀ and ln x₀
	if between := squares/(n-1) - chance/n; between > 0 {
		lent = 2 * inverseTrigamma(between)
		level += mathext.Digamma(lent/2) - math.Log(lent/2)
	}
	for i, r := range runs {
		if r.df == 0 || questions[i] == 0 {
			continue
		}
		own, common := r.se*r.se, fp.Exp(level)*questions[i]*questions[i]
		variance := common
		if !math.IsInf(lent, 1) {
			variance = (lent*common + r.df*own) / (lent + r.df)
		}
		moderated[i] = runError{math.Sqrt(variance), lent + r.df}
	}
	return moderated
}

// trigamma is the second derivative of ln Γ at x > 0.
func trigamma(x float64) float64 { return mathext.Zeta(2, x) }

// inverseTrigamma returns the x > 0 at which trigamma, which falls from ∞ to 0, is y > 0.
func inverseTrigamma(y float64) float64 {
	low, high := 1e-8, 1e8
	for range 100 {
		if middle := math.Sqrt(low * high); trigamma(middle) > y {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Sqrt(low * high)
}
