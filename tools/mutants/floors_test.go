package mutants

import "gonum.org/v1/gonum/stat/distuv"

// share is a number of mutants, and of those that a test kills.
type share struct{ tried, killed int }

// measured holds the shares, of the first mutants of a package's sample, from which the
// floors come. A better share may take the place of one, never a worse one.
var measured = map[string]share{
	"grpo":                 {10, 8},
	"fp":                   {10, 10},
	"sim/draw":             {10, 10},
	"sim/measure":          {10, 6},
	"sweeps/config":        {10, 10},
	"sweeps/report":        {10, 7},
	"sweeps/store":         {10, 7},
	"sweeps/theory":        {10, 4},
	"training/change":      {10, 6},
	"training/diagnose":    {10, 9},
	"training/equivalence": {8, 7},
	"training/findings":    {10, 6},
}

// floor returns the lowest share of killed mutants that is compatible with the measured
// one, the lower end of the one-sided interval of Clopper and Pearson at 95 %.
func (s share) floor() float64 {
	if s.killed == 0 {
		return 0
	}
	return distuv.Beta{Alpha: float64(s.killed), Beta: float64(s.tried-s.killed) + 1}.Quantile(0.05)
}

// below says whether so few of the tried mutants are killed that a share of at least the
// floor explains it in less than one of 100 samples. Of a sample with equal numbers of
// several packages the floor may be that of all: unequal shares make few kills less
// likely than the binomial law says (Hoeffding 1956).
func (s share) below(floor float64) bool {
	return s.tried > 0 && distuv.Binomial{N: float64(s.tried), P: floor}.CDF(float64(s.killed)) < 0.01
}

// add counts a mutant.
func (s *share) add(o share) { s.tried, s.killed = s.tried+o.tried, s.killed+o.killed }
