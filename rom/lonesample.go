package rom

import (
	"math"

	"grposim/rom/group"

	"gonum.org/v1/gonum/floats"
)

// atoms is a law of a number with finitely many values.
type atoms struct {
	value, chance []float64
}

func (a *atoms) add(value, chance float64) {
	if chance > 0 {
		a.value, a.chance = append(a.value, value), append(a.chance, chance)
	}
}

// each calls f with every value of the sum of two independent numbers and its probability.
func (a *atoms) each(b *atoms, f func(value, chance float64)) {
	for i, x := range a.value {
		for k, y := range b.value {
			if chance := a.chance[i] * b.chance[k]; chance > rarest {
				f(x+y, chance)
			}
		}
	}
}

// rarest is the probability under which a value is left out: a run of 10⁶ steps meets it once in 10⁶ runs.
const rarest = 1e-12

// plus returns the law of the sum of two independent numbers with at most so many values, each the mean of those in an interval, all of the same width.
func (a *atoms) plus(b *atoms, values int) (sum atoms) {
	low, high, total := math.Inf(1), math.Inf(-1), 0.0
	a.each(b, func(x, chance float64) { low, high, total = min(low, x), max(high, x), total+chance })
	sums, chances, per := make([]float64, values), make([]float64, values), 0.0
	if high > low {
		per = float64(values) / (high - low)
	}
	a.each(b, func(x, chance float64) {
		k := min(int((x-low)*per), values-1)
		sums[k] += x * chance
		chances[k] += chance
	})
	for k, chance := range chances {
		if chance > 0 {
			sum.add(sums[k]/chance, chance/total)
		}
	}
	return sum
}

// loneSample are the advantages of a lone sample of one arm among G−1 of another, of rewards of two values.
type loneSample struct{ atoms }

// newLoneSample returns that of arm a among arm b.
func newLoneSample(p *Params, a, b int) (s loneSample) {
	counts := group.NewCounts(p.Arms, &p.Estimator, group.NewSamples(len(p.Arms)))
	own, others := counts.Success[a], counts.Success[b]
	law := group.NewBinomial(p.GroupSize-1, others, 1-others, nil)
	for i, chance := range law.Weights {
		n := law.At(i)
		up, _ := counts.Advantages(n + 1)
		_, down := counts.Advantages(n)
		s.add(up, chance*own)
		s.add(down, chance*(1-own))
	}
	return s
}

// mean returns E A.
func (s *loneSample) mean() float64 { return floats.Dot(s.value, s.chance) }

// at returns the advantage at a quantile of its law.
func (s *loneSample) at(quantile float64) float64 {
	for i, chance := range s.chance {
		if quantile -= chance; quantile < 0 {
			return s.value[i]
		}
	}
	return s.value[len(s.value)-1]
}

// lucky returns E[A | A > 0], 0 where no sample is.
func (s *loneSample) lucky() float64 {
	sum, chance := 0.0, 0.0
	for i, a := range s.value {
		if a > 0 {
			sum += a * s.chance[i]
			chance += s.chance[i]
		}
	}
	if chance == 0 {
		return 0
	}
	return sum / chance
}
