package group

// ofStep is the form of advantages that are divided by the standard deviation or the mean of
// all N = GB rewards of the step.
type ofStep struct{ ofGroup }

func newOfStep(c *Counts) advantage { return &ofStep{ofGroup{Counts: c}} }

// moments returns the moments of a step as those of one group: variances are B times as large.
// Given T successes in the step, the numbers S and F = G − S of a group are hypergeometric,
//
//	E[(S)_i (F)_k | T] = (G)_{i+k} (T)_i (N−T)_k/(N)_{i+k},
//
// (x)_i = x(x−1)…(x−i+1), and alike for two groups together.
func (a *ofStep) moments(j, rest float64) (g moments) {
	b := float64(a.e.GroupsPerStep)
	n := a.size * b
	falling := func(x float64, i int) float64 {
		p := 1.0
		for k := range i {
			p *= x - float64(k)
		}
		return p
	}
	law := a.binomial(int(n), j, rest)
	at := func(i int) (q, inverse, share, t float64) {
		t = float64(law.At(i))
		if t == 0 || t == n {
			return 0, 0, t / n, t
		}
		inverse = a.baseline * a.row.inverse(a.Counts, t/n, (n-t)/n)
		return inverse * (1 - 1/a.size) / (1 - 1/n) * (t / n) * ((n - t) / n), inverse, t / n, t
	}
	for i, w := range law.Weights {
		q, inverse, share, t := at(i)
		one := func(s, f int) float64 { // of one group
			return falling(a.size, s+f) * falling(t, s) * falling(n-t, f) / falling(n, s+f)
		}
		g.mean += w * q
		g.share += w * share
		if inverse == 0 {
			continue
		}
		size := a.size * a.size * a.size
		pair, few, many := one(1, 1), one(1, 2), one(2, 1)
		four := 0.0
		if n > 3 {
			four = one(2, 2)
		}
		g.up += w * inverse * inverse * (few + pair) / size
		g.down += w * inverse * inverse * (many + pair) / size
		// Q = mean of R(1−R) over the groups
		square := (four + few + many + pair) / b
		if a.e.GroupsPerStep > 1 {
			two := falling(a.size, 2) * falling(a.size, 2) * falling(t, 2) * falling(n-t, 2) / falling(n, 4)
			square += (1 - 1/b) * two
		}
		g.variance += w * (inverse*inverse*square/(size*a.size) - q*q)
	}
	for i, w := range law.Weights {
		q, _, share, _ := at(i)
		g.variance += w * (q - g.mean) * (q - g.mean)
		g.covariance += w * (q - g.mean) * (share - j)
	}
	g.variance *= b
	g.covariance *= b
	return g
}
