package rom

import (
	"math"

	"grposim/rom/group"

	"gonum.org/v1/gonum/floats"
)

// loneSample are the advantages of a lone sample of one arm among G−1 of another, of rewards of two values.
type loneSample struct {
	value, chance []float64
}

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

func (s *loneSample) add(value, chance float64) {
	if chance > 0 {
		s.value, s.chance = append(s.value, value), append(s.chance, chance)
	}
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

// root returns κ > 0 with E e^{−κ scale A} = 1; +Inf where no advantage is negative, 0 where the mean is not above 0.
func (s *loneSample) root(scale float64) float64 {
	excess := func(k float64) (sum float64) {
		for i, a := range s.value {
			sum += s.chance[i] * math.Expm1(-k*scale*a)
		}
		return sum
	}
	switch least := min(scale*floats.Min(s.value), scale*floats.Max(s.value)); {
	case !(scale*s.mean() > 0):
		return 0
	case least >= 0:
		return math.Inf(1)
	}
	low, high := 0.0, 1.0
	for !(excess(high) > 0) {
		low, high = high, 2*high
	}
	for range 100 {
		if middle := (low + high) / 2; excess(middle) > 0 {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
