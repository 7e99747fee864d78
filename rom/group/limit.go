package group

// Limit is the law at G = ∞ for any rewards: the force has no noise.
type Limit struct{ base }

func (l *Limit) Factored() bool { return true }

func (l *Limit) Mean(dst []float64) {
	factor, _, _ := l.generalScale(l.Spread())
	for a, old := range l.Old {
		dst[a] = factor * old * l.states[a].weighted(1, l.Up[a], l.Down[a])
	}
}

func (l *Limit) Response(dst []float64) { l.perSample(dst, l.Mean) }

func (l *Limit) Covariance(_, _, _ [][]float64) {}
