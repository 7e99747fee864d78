package group

import (
	"math"
	"slices"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/weight"

	"gonum.org/v1/gonum/floats"
)

// LeastExpanded is the least size of a group whose rewards of many values are expanded with the std
// scale. Below it, the 1/G that is left out of a variance is above a quarter of it.
const LeastExpanded = 8

// The most compositions of a group times arms, also with densities, and the largest such group.
const (
	mostCompositions = 25_000
	mostIntegrated   = 1_500
	mostDrawn        = 16
)

// Composed is the law of a group by exact sums over its compositions, where its rewards take few
// values. A composition says how many samples have each value (docs/theory.md §2). A density
// counts as one value, and given a composition its rewards go through the nodes of two lattices.
// Where compositions are too many with the KL in rewards of two values, groups with both are
// approximated, see vary.
type Composed struct {
	Expanded               // for what does not depend on the order in 1/G
	first    []take        // of each value
	summed   [][]int       // sets of values of which all compositions are summed; two with vary
	alike    float64       // the most samples of a part; 1 with densities
	probs    [][]float64   // of the arms given the value
	weights  [3][]float64  // of the arms: w⁻, w⁺ and κ
	parts    []Part        // by value, with densities by sample, of negative, then positive advantages
	nodes    [][][]float64 // normal numbers: for Given, for moments, and half of these
	kept     [][][]float64 // moments of the compositions by place
	place    int
	sums     [][]float64 // so many means of the moments, known for π_old = of
	known    int
	of       []float64
}

// Part is the samples of a group whose rewards are equal.
type Part struct {
	Count, Advantage float64
	Arms, Weights    []float64 // probabilities of the arm of each, and the weights of the arms
}

// Compose returns that law; nil where there is none, or the expansion is exact.
func Compose(arms []option.Arm, e *option.Estimator, s *Samples) *Composed {
	exact := e.Advantage.Scale == option.NoScale && !weight.BySign(&e.Importance)
	if exact || e.GroupSize == option.Infinite {
		return nil
	}
	l := &Composed{Expanded: *NewExpanded(arms, e, s), alike: math.Inf(1)}
	sides, most := make([][]int, 3), mostCompositions/len(arms)
	success, span := TwoValued(arms)
	for _, t := range l.listed() {
		if t.value == len(l.first) {
			l.first, sides[2] = append(l.first, t), append(sides[2], t.value)
		}
		if success != nil {
			side := int(math.Round((t.reward - l.takes[0].reward) / span))
			sides[side&1] = append(sides[side&1], t.value)
		} else if t.std > 0 {
			l.alike, most = 1, mostIntegrated/len(arms)
		}
	}
	few := func(values []int) bool { return ways(l.size, len(values)) <= float64(most) }
	switch {
	case l.alike == 1 && e.GroupSize > mostDrawn:
		return nil
	case few(sides[2]):
		l.summed = sides[2:]
	case success == nil || !e.KL.OfReward() || e.GroupSize*len(arms)*len(arms) > mostCompositions,
		len(sides[1]) == 0 || !few(sides[0]) || !few(sides[1]):
		return nil
	default:
		l.summed = sides[:2]
	}
	if s != nil {
		l.lay()
	}
	return l
}

// ways returns the number of compositions of so many samples.
func ways(samples float64, values int) float64 {
	all := 1.0
	for j := range values - 1 {
		all *= (samples + float64(j+1)) / float64(j+1)
	}
	return math.Round(all)
}

func (l *Composed) Exact() bool { return len(l.summed) == 1 && l.alike > 1 }

// LeftOut has what vary leaves out where shifts differ by d of the range of the rewards: 2d² of the
// force and d of the noise. Of densities it has three times what one lattice differs from both by.
func (l *Composed) LeftOut() (mean, noise float64) {
	switch {
	case l.Exact():
		return 0, 0
	case l.alike > 1:
		_, span := TwoValued(l.arms)
		noise = (slices.Max(l.Shift) - slices.Min(l.Shift)) / span
		return 2 * noise * noise, noise
	}
	arms, largest := len(l.arms), 1e-9
	forces, noises := Zeros(2, arms), [2][][]float64{Square(arms), Square(arms)}
	for i, force := range forces {
		l.Covariance(noises[i], Square(arms), nil)
		l.Mean(force)
		l.sums[0], l.sums[1] = l.sums[1], l.sums[0]
	}
	for a, old := range l.Old {
		if of := noises[0][a][a]; of > 0 {
			mean = max(mean, math.Abs(forces[1][a]-forces[0][a])/old)
			largest = max(largest, math.Abs(forces[0][a])/old)
			noise = max(noise, math.Abs(noises[1][a][a]-of)/of)
		}
	}
	noise = 3 * max(noise, mean/largest)
	return noise, noise
}

// lay lays out the parts of a group, the nodes of densities and the moments.
func (l *Composed) lay() {
	values, layers := len(l.first), 1
	l.nodes = slices.Repeat([][][]float64{Zeros(1, values)}, 2)
	if l.alike == 1 {
		layers = int(l.size)
		few, half := lattice(31, 12, math.Sqrt2, layers), lattice(1021, 76, math.Sqrt2, layers)
		l.nodes = [][][]float64{few, append(lattice(1021, 76, math.Sqrt(3), layers), half...), half}
		if l.e.KL.OfReward() { // the moments are those of one policy
			l.nodes = [][][]float64{few, few, few[:31]}
		}
	}
	l.probs, l.weights = Zeros(values, len(l.arms)), [3][]float64{l.Down, l.Up, l.Kappa}
	for at := range 2 * layers * values {
		l.parts = append(l.parts, Part{Arms: l.probs[at%values], Weights: l.weights[at/(layers*values)]})
	}
	l.kept = make([][][]float64, int(min(ways(l.size, values), mostCompositions)))
	l.sums = Zeros(len(l.nodes)-1, 2*values*(2+3*values))
}

// lattice returns the points of a lattice with a generator, as normal numbers, and their opposites.
func lattice(points, generator int, shift float64, dimensions int) [][]float64 {
	nodes := Zeros(2*points, dimensions)
	for at := range points {
		for d, by := 0, at; d < dimensions; d, by = d+1, by*generator%points {
			_, u := math.Modf(float64(by)/float64(points) + shift*float64(d+1))
			nodes[at][d] = math.Sqrt2 * math.Erfinv(2*u-1)
			nodes[points+at][d] = -nodes[at][d]
		}
	}
	return nodes
}

// split sets the probabilities of the arms given a value, and returns those of the values.
func (l *Composed) split() []float64 {
	chances := make([]float64, len(l.first))
	for _, t := range l.listed() {
		chances[t.value] += l.Old[t.arm] * t.chance
		clear(l.probs[t.value])
	}
	for _, t := range l.listed() {
		if p := chances[t.value]; p > 0 {
			l.probs[t.value][t.arm] += l.Old[t.arm] * t.chance / p
		}
	}
	return chances
}

// Given yields the compositions with their probabilities, of densities at nodes. The next one
// overwrites it.
func (l *Composed) Given(yield func(chance float64, parts []Part) bool) {
	for chance, n := range l.compositions {
		for _, z := range l.nodes[0] {
			l.weigh(n, z)
			if !yield(chance/float64(len(l.nodes[0])), l.parts) {
				return
			}
		}
	}
}

// compositions yields the numbers of samples of each value with their probabilities. The next ones
// overwrite them. It leaves out those that are improbable beside a sample of their rarest value.
func (l *Composed) compositions(yield func(chance float64, n []float64) bool) {
	chances := l.split()
	n, power := make([]float64, len(chances)), Zeros(len(chances), int(l.size)+1)
	var fill func(values []int, left, chance, least float64) (more bool)
	fill = func(values []int, left, chance, least float64) (more bool) {
		j := values[0]
		switch all := chance * power[j][int(left)]; {
		case all <= lostMass*least:
			l.place += int(ways(left, len(values)))
			return true
		case len(values) == 1:
			n[j] = left
			l.place++
			return yield(all, n)
		}
		for k := 0.0; k <= left; k++ {
			n[j] = k
			if !fill(values[1:], left-k, chance, least) {
				return false
			}
			chance *= (left - k) / (k + 1) * chances[j]
			least = min(least, chances[j])
		}
		return true
	}
	l.place = 0
	for _, values := range l.summed {
		clear(n)
		sum := 0.0
		for _, j := range slices.Backward(values) {
			sum += chances[j]
			for k := range power[j] { // of the value and those behind it
				power[j][k] = fp.Pow(sum, float64(k))
			}
		}
		if !fill(values, l.size, 1, 1) {
			return
		}
	}
	if len(l.summed) > 1 {
		l.vary(n, chances, func(chance float64) (more bool) { return yield(chance, n) })
	}
}

// vary visits nodes for the groups with both rewards, n samples of the values with probabilities p.
// Let p of the N successes have the sum 1, and those of the failures too. Successes stay at n = Np
// while the failures go through the nodes, then the other way about:
//
//	n = (N − √N) p + √N e_k   with the weights p_k, which have the covariance of their law.
func (l *Composed) vary(n, p []float64, visit func(weight float64) (more bool)) {
	place := func(side int, total float64) (sum float64) {
		for _, v := range l.summed[side] {
			sum += p[v]
		}
		for _, v := range l.summed[side] {
			n[v] = total * p[v] / sum
		}
		return sum
	}
	law := NewBinomial(l.e.GroupSize, place(1, 1), place(0, 1), nil)
	for i, w := range law.Weights {
		counts := [2]float64{l.size - float64(law.At(i)), float64(law.At(i))}
		if w*counts[0]*counts[1] == 0 {
			continue
		}
		place(0, counts[0])
		place(1, counts[1])
		more := visit(-w)
		for side, values := range l.summed {
			root := math.Sqrt(counts[side])
			for _, k := range values {
				sum := place(side, counts[side]-root)
				n[k] += root
				more = more && visit(w*p[k]/sum)
			}
			place(side, counts[side])
		}
		if !more {
			return
		}
	}
}

// weigh sets the parts of a group with so many samples of each value, at normal numbers z.
func (l *Composed) weigh(n, z []float64) {
	mean, square, drawn, half := 0.0, 0.0, 0, len(l.parts)/2
	for at := range half {
		part, j := &l.parts[at], at%len(n)
		part.Count, part.Advantage = min(max(n[j]-float64(at/len(n)), 0), l.alike), 0
		if part.Count > 0 {
			t := &l.first[j]
			part.Advantage = t.reward + l.Shift[t.arm] + t.std*z[drawn]
			mean += part.Count / l.size * part.Advantage
			drawn++
		}
	}
	for _, part := range l.parts[:half] {
		square += part.Count / l.size * (part.Advantage - mean) * (part.Advantage - mean)
	}
	factor, _, _ := l.generalScale(square - 1e-28*mean*mean) // 0 where all are equal but for rounding
	for at := range half {
		down, up := &l.parts[at], &l.parts[at+half]
		down.Advantage, up.Count = l.baseline*factor*(down.Advantage-mean), 0
		if down.Advantage > 0 {
			up.Count, up.Advantage, down.Count = down.Count, down.Advantage, 0
		}
	}
}

// sum sets so many of the sums over the compositions.
func (l *Composed) sum(many int) {
	if l.e.KL.OfReward() {
		many = len(l.sums[0])
	}
	if slices.Equal(l.of, l.Old) && many <= l.known {
		return
	}
	l.of, l.known = slices.Clone(l.Old), many
	for _, sums := range l.sums {
		clear(sums)
	}
	for chance, n := range l.compositions {
		of := &l.kept[l.place%len(l.kept)]
		if *of == nil || l.e.KL.OfReward() {
			*of = l.moments(n)
		}
		for i, x := range *of {
			floats.AddScaled(l.sums[i][:many], chance, x[:many])
		}
	}
}

// apart returns the parts of moments: sums over the samples of a value with one sign, those of one
// sample, and products. These are with other sums and with numbers of samples.
func (l *Composed) apart(of []float64) (line, square []float64, pairs [][]float64) {
	size := 2 * len(l.first)
	return of[:size], of[size : 2*size], slices.Collect(slices.Chunk(of[2*size:], size/2*3))
}

// moments returns those of a composition, by lattice. Let t = ny/G of n samples of a value with
// advantages of one sign, mean y. They are E t and E ty/G. The products of t_j with all t_k, then
// with all n_k/G, follow, less those of one sample.
func (l *Composed) moments(n []float64) [][]float64 {
	values, half := len(n), len(l.parts)/2
	all, t := Zeros(len(l.nodes)-1, len(l.sums[0])), make([]float64, 3*values)
	floats.AddScaled(t[2*values:], 1/l.size, n)
	for i, of := range all {
		line, square, pairs := l.apart(of)
		chance := 1 / float64(len(l.nodes[i+1]))
		for _, z := range l.nodes[i+1] {
			l.weigh(n, z)
			clear(t[:2*values])
			for at, part := range l.parts {
				if part.Count > 0 {
					j, y := at/half*values+at%values, part.Count/l.size*part.Advantage
					t[j] += y
					square[j] += chance * y * part.Advantage / l.size
				}
			}
			for j, y := range t[:2*values] {
				line[j] += chance * y
				floats.AddScaled(pairs[j], chance*y, t)
			}
		}
		for j, y := range line {
			pairs[j][j] -= square[j]
			pairs[j][2*values+j%values] -= y / l.size
		}
	}
	return all
}

// Mean writes Σ_j E[t_j] v_aj, v_aj = w_a α_aj.
func (l *Composed) Mean(dst []float64) {
	l.sum(2 * len(l.first))
	clear(dst)
	for j, y := range l.sums[0][:2*len(l.first)] {
		for a, p := range l.probs[j%len(l.first)] {
			dst[a] += y * l.weights[j/len(l.first)][a] * p
		}
	}
}

// Covariance is that of Law,
//
//	E[c^R_a c^R_b] = Σ_jk E[t_j t_k] v_aj v_bk + Σ_j E[t_j y_j] v_aj (δ_ab w_b − v_bj)/G
//	E[c^R_a c^K_b] = κ_b {Σ_jk E[t_j n_k/G] v_aj α_bk + Σ_j E[t_j] v_aj (δ_ab − α_bj)/G}.
func (l *Composed) Covariance(reward, cross, _ [][]float64) {
	l.sum(len(l.sums[0]))
	mean, values := make([]float64, len(l.arms)), len(l.first)
	l.Mean(mean)
	for a, f := range mean {
		for b, g := range mean {
			reward[a][b] = -f * g
			cross[a][b] = -f * l.Kappa[b] * l.Old[b]
		}
	}
	line, square, pairs := l.apart(l.sums[0])
	for j, row := range pairs {
		for a, p := range l.probs[j%values] {
			v := l.weights[j/values][a] * p
			if v == 0 {
				continue
			}
			for k, x := range row {
				to := reward
				if k >= 2*values {
					to = cross
				}
				for b, q := range l.probs[k%values] {
					to[a][b] += x * v * l.weights[k/values][b] * q
				}
			}
			reward[a][a] += square[j] * v * l.weights[j/values][a]
			cross[a][a] += line[j] / l.size * v * l.Kappa[a]
		}
	}
}
