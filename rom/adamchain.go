package rom

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"grposim/rom/fp"
	"grposim/rom/linear"
)

// armChain is the Markov chain of the logit z = θ_a − Σ_{b≠a} q_bθ_b of one arm and of its second moment v under Adam, q the weights of quietest
// (docs/theory-neglected.md §6.8). A force g moves the logit by ηg/(√v + ε) in all, of the v that has it. The force on another arm is −c_b g + e_b, with the c_b at which e_b
// is uncorrelated with g: it moves z by the answer of its own, of v_b = c_b²v + E e_b², and by the mean and the noise of e_b. The other logits are functions of z, and noise
// that is none of z's is a log-normal factor of π_a.
// Nothing is expanded in the noise, and v need not follow the policy.
type armChain struct {
	*meanSteps
	momentGrid
	arm     int
	weights []float64   // q
	least   float64     // z less that where the law rests, of the first node
	step    float64     // of z
	nodes   []chainNode // by z
	scatter float64     // variance of log π_a at a given z
}

// chainNode holds the forces at one z, and the probability of the arm.
type chainNode struct {
	prob           float64
	law            *armLaw
	answers        []float64 // c_b
	means, squares []float64 // of e_b: the mean is that by which θ_b moves as by its own mean step in all, where z stands still
	noise          *mat.Dense
}

// Limits of the grid of a chain: its width in deviations of the linear law, and in logits below and above where that rests, the cells of z, and every how many of them the means of the other
// forces are computed; the least probability of a force, and the binary digits within which forces are taken together. The error of Var π by the grid is about chainError of it, and as much is left out of what other arms beside a dominating one do to it
// (docs/theory-neglected.md §6.8, measured).
const (
	chainWidth  = 5
	chainBelow  = 6.5
	chainAbove  = 8
	chainCells  = 36
	chainStride = 4
	chainForces = 1e-9
	chainDigits = 3
	chainError  = 0.03
	chainTie    = 0.1
	chainEdge   = 0.25
)

// newArmChain returns that of an arm with the weights q whose linear law has the given deviation of z, with the other logits along ∂θ/∂z; nil where z has no noise.
func (d *meanSteps) newArmChain(a int, rest, weights, along []float64, deviation float64) *armChain {
	c := &armChain{meanSteps: d, arm: a, weights: weights}
	below, above := min(chainWidth*deviation, chainBelow), min(chainWidth*deviation, chainAbove)
	c.least, c.step = -below, (below+above)/chainCells
	low, largest, logits, probs := math.Inf(1), 0.0, make([]float64, len(rest)), make([]float64, len(rest))
	for i := range chainCells + 1 {
		floats.AddScaledTo(logits, rest, c.least+c.step*float64(i), along)
		d.model.set(logits, logits)
		softmax(probs, logits)
		n := chainNode{prob: probs[a], law: newArmLaw(d.model, a).coarse(), answers: make([]float64, len(rest)), means: make([]float64, len(rest)),
			squares: make([]float64, len(rest)), noise: mat.NewDense(len(rest), len(rest), nil)}
		d.model.meanForce(n.means)
		own, force := n.means[a], d.model.covariance()
		if !(force.At(a, a) > 0 && c.step > 0) {
			return nil
		}
		for b := range rest {
			n.answers[b] = -force.At(a, b) / force.At(a, a)
			n.means[b] += n.answers[b] * own
			for k := range b + 1 {
				x := force.At(b, k) - n.answers[b]*n.answers[k]*force.At(a, a)
				n.noise.Set(b, k, x)
				n.noise.Set(k, b, x)
			}
			n.squares[b] = n.means[b]*n.means[b] + max(n.noise.At(b, b), 0)
		}
		least, most := n.law.moduli()
		low, largest = min(low, least), max(largest, most)
		c.nodes = append(c.nodes, n)
	}
	c.momentGrid = newMomentGrid(low, largest, d.optimizer)
	for i := 0; i <= chainCells; i += chainStride {
		floats.AddScaledTo(logits, rest, c.least+c.step*float64(i), along)
		d.model.set(logits, logits)
		c.drift(i)
	}
	for i := range c.nodes { // the moments of a β2 at an end of its range leave the grid
		for _, m := range c.moves(i, 0, c.nodes[i].law) {
			if !linear.IsFinite(m.z, m.noise, m.level) {
				return nil
			}
		}
	}
	return c
}

// drift sets the mean of e_b, b with a weight, of a node whose logits the model has, and of those up to the one chainStride before.
func (c *armChain) drift(at int) {
	n, o := &c.nodes[at], c.optimizer
	law := c.stationary(n.law)
	for b, q := range c.weights {
		if q == 0 {
			continue
		}
		forces := newArmLaw(c.model, b).coarse()
		grid := c.joined(forces.grid(o))
		step := grid.mean(grid.stationary(forces), forces, func(g, v float64) float64 { return g / (math.Sqrt(v) + o.Epsilon) })
		c2 := n.answers[b] * n.answers[b]
		answer := c.mean(law, n.law, func(g, v float64) float64 { return n.answers[b] * g / (math.Sqrt(c2*v+n.squares[b]) + o.Epsilon) })
		gain := c.mean(law, n.law, func(_, v float64) float64 { return 1 / (math.Sqrt(c2*v+n.squares[b]) + o.Epsilon) })
		n.means[b] = (step + answer) / gain
		for k := 1; k < chainStride && at > 0; k++ {
			share := float64(k) / chainStride
			c.nodes[at-k].means[b] = share*c.nodes[at-chainStride].means[b] + (1-share)*n.means[b]
		}
	}
}

// coarse returns the law for a chain, in bins of chainDigits, without values of less than the probability chainForces.
func (g *armLaw) coarse() *armLaw {
	bins := forceBins{digits: chainDigits}
	for i, p := range g.weights {
		if p >= chainForces {
			bins.add(g.values[i], p)
		}
	}
	out := bins.means(1, 1)
	floats.Scale(1/floats.Sum(out.weights), out.weights)
	return out
}

// quietest returns, of the arms that have at least the probability π_a where the law rests and are drawn and come to rest no later than the arm, the weights q with the sum 1 of which
// Σ q_bθ_b has the least noise N per step, q ∝ N⁻¹1; those of the others are 0. What moves these arms against each other has come back before the arm moves, so that it
// must not count as white noise of z.
func quietest(a int, rest []float64, noise *mat.Dense) []float64 {
	var among []int
	for b, x := range rest {
		if b != a && x > rest[a]-chainTie {
			among = append(among, b)
		}
	}
	n := len(among)
	reduced, ones := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
	for i, b := range among {
		ones.SetVec(i, 1)
		for k, e := range among {
			reduced.Set(i, k, noise.At(b, e))
		}
	}
	var found mat.VecDense
	if found.SolveVec(reduced, ones) != nil {
		return nil
	}
	q := make([]float64, len(rest))
	for i, b := range among {
		q[b] = found.AtVec(i)
	}
	floats.Scale(1/floats.Sum(q), q)
	return q
}

// chainMove is a move of a chain in cells of z and of ln v: its probability, its mean and the variance of z.
type chainMove struct{ p, z, noise, level float64 }

// moves returns those from a node and a level, with the forces of a law.
func (c *armChain) moves(at, level int, law *armLaw) []chainMove {
	n, o := c.nodes[at], c.optimizer
	gain, out := make([]float64, len(c.weights)), make([]chainMove, len(law.values))
	for i, g := range law.values {
		next := c.next(level, g)
		move := g / (math.Sqrt(next) + o.Epsilon)
		for b, q := range c.weights {
			gain[b] = q / (math.Sqrt(n.answers[b]*n.answers[b]*next+n.squares[b]) + o.Epsilon)
			move += gain[b] * (n.answers[b]*g - n.means[b])
		}
		scale := o.LearningRate / c.step
		out[i] = chainMove{law.weights[i], scale * move, scale * scale * linear.Form(gain, n.noise, gain), c.rise(level, next)}
	}
	return out
}

// neighbours returns the shares in five cells, from first on, that have the moments of a move by x up to the fourth, and a variance beside.
func neighbours(x, variance float64) (first int, shares [5]float64) {
	to := math.Round(x)
	f := x - to
	a, b, c, d := f-2, f-1, f+1, f+2
	return int(to) - 2, [5]float64{a * b * f * c / 24, variance/2 - a*b*f*d/6, a*b*c*d/4 - variance, variance/2 - a*f*c*d/6, b * f * c * d / 24}
}

// land visits the nodes and levels in which moves from a node and a level end.
func (c *armChain) land(at, level int, moves []chainMove, visit func(at, level int, p float64)) {
	for _, m := range moves {
		across, over := neighbours(m.z, m.noise)
		up, among := levelsAbout(m.level)
		for i, x := range over {
			node := min(max(at+across+i, 0), chainCells)
			for k, y := range among {
				visit(node, min(max(level+up+k, 0), c.levels-1), m.p*x*y)
			}
		}
	}
}

// late returns the moves from a node and a level with forces of the policy some steps earlier on the mean way.
func (c *armChain) late(at, level int, steps float64) (moves []chainMove) {
	moves = c.moves(at, level, c.nodes[at].law)
	if steps == 0 {
		return moves
	}
	mean := 0.0
	for _, m := range moves {
		mean += m.p * m.z
	}
	moves = nil
	old := min(max(float64(at)-steps*mean, 0), chainCells-1e-9)
	for i, share := range [2]float64{1 - old + math.Floor(old), old - math.Floor(old)} {
		for _, m := range c.moves(at, level, c.nodes[int(old)+i].law) {
			m.p *= share
			moves = append(moves, m)
		}
	}
	return moves
}

// law returns the probabilities of the nodes, with forces of the policy some steps earlier; nil where the law leaves the grid: more than the share chainEdge of the time is spent in the
// first two cells of z or of ln v, or of E π² is that of the last two cells.
func (c *armChain) law(late float64) []float64 {
	states := linear.Stationary(chainCells+1, c.levels, func(at, level int, visit func(at, level int, p float64)) {
		c.land(at, level, c.late(at, level, late), visit)
	})
	out, still, whole, last := make([]float64, chainCells+1), 0.0, 0.0, 0.0
	for state, p := range states {
		at, level := state/c.levels, state%c.levels
		out[at] += p
		square := p * c.nodes[at].prob * c.nodes[at].prob
		whole += square
		if at > chainCells-2 {
			last += square
		}
		if level < 2 {
			still += p
		}
	}
	if !(still < chainEdge && out[0]+out[1] < chainEdge && last <= chainEdge*whole) {
		return nil
	}
	return out
}

// gap returns, of two arms, E(θ_0 − θ_1) less a gap, given what it is where the law rests, and its variance.
func (c *armChain) gap(law []float64, rest float64) (mean, variance float64) {
	square := 0.0
	for i, p := range law {
		z := c.least + c.step*float64(i)
		mean += p * z
		square += p * z * z
	}
	return rest + float64(1-2*c.arm)*mean, square - mean*mean
}

// chainShare is the least part of Var J, by a log-normal law, of an arm that is given a chain, and chainFrom the size of Var J of the linear law from which on chains take its place.
const (
	chainShare = 0.01
	chainFrom  = 0.25
)

// armMoments are those of π_a(r_a − r) by arm, r the reward of the arm that dominates: the deviation has the sign of r_a − r.
type armMoments struct{ means, deviations []float64 }

// read takes those of an arm, times r_a − r, from the law of its chain.
func (m *armMoments) read(c *armChain, law []float64, gain float64) {
	mean, square := 0.0, 0.0
	for i, p := range law {
		mean += p * c.nodes[i].prob
		square += p * c.nodes[i].prob * c.nodes[i].prob
	}
	square *= fp.Exp(c.scatter)
	m.means[c.arm], m.deviations[c.arm] = gain*mean, gain*math.Sqrt(max(square-mean*mean, 0))
}

// variance returns Var J where the covariance of two arms is that of log-normal probabilities of these means with the covariance logs of log π.
func (m *armMoments) variance(logs *mat.Dense) float64 {
	sum := floats.Dot(m.deviations, m.deviations)
	for a, x := range m.means {
		for b, y := range m.means[:a] {
			sum += 2 * x * y * math.Expm1(logs.At(a, b))
		}
	}
	return sum
}

// correlated returns Var J where the correlation of two arms is that of log-normal probabilities.
func (m *armMoments) correlated(logs *mat.Dense) float64 {
	sum := 0.0
	for a, x := range m.deviations {
		for b, y := range m.deviations {
			if x*y != 0 {
				sum += x * y * math.Expm1(logs.At(a, b)) / math.Sqrt(math.Expm1(logs.At(a, a))*math.Expm1(logs.At(b, b)))
			}
		}
	}
	return sum
}

// byChains gives the law E J and Var J of the chains of arms, and reports whether these are found. The other logits follow an arm by the linear law in which the part of S beyond 1 is noise of each arm's own.
func (d *meanSteps) byChains(x *stepLaw) bool {
	probs, top := make([]float64, len(x.logits)), floats.MaxIdx(x.logits)
	softmax(probs, x.logits)
	logs := logPolicies(probs, x.apart)
	log := func() *armMoments { // log-normal
		m := &armMoments{make([]float64, len(probs)), make([]float64, len(probs))}
		for a, p := range probs {
			m.means[a] = p * (d.Arms[a].Mean - d.Arms[top].Mean)
			m.deviations[a] = m.means[a] * math.Sqrt(math.Expm1(logs.At(a, a)))
		}
		return m
	}
	follow, hold, late := log(), log(), log()
	lag := linear.NewLag(&d.Lag).Age(linear.MeanAge) + 1/(1-d.optimizer.Beta1)
	for a := range probs {
		if v := follow.deviations[a]; a == top || !(v*v > chainShare*x.variance) {
			continue
		}
		gain, weights := d.Arms[a].Mean-d.Arms[top].Mean, quietest(a, x.logits, x.own)
		if weights == nil {
			return false
		}
		alone, line, along := make([]float64, len(probs)), make([]float64, len(probs)), mat.NewVecDense(len(probs), nil)
		floats.AddScaled(line, -1, weights)
		line[a], alone[a] = 1, 1
		variance := linear.Form(line, x.apart, line)
		along.MulVec(x.apart, mat.NewVecDense(len(line), line))
		along.ScaleVec(1/variance, along)
		c, held := d.newArmChain(a, x.logits, weights, along.RawVector().Data, math.Sqrt(variance)), d.newArmChain(a, x.logits, weights, alone, math.Sqrt(variance))
		if c == nil || held == nil {
			return false
		}
		with := along.AtVec(a) - floats.Dot(probs, along.RawVector().Data)
		c.scatter = max(logs.At(a, a)-with*with*variance, 0)
		law, lagged, stands := c.law(0), c.law(lag), held.law(0)
		if law == nil || lagged == nil || stands == nil {
			return false
		}
		if follow.read(c, law, gain); len(probs) == 2 {
			x.gap, x.spread = c.gap(law, x.gap)
		}
		late.read(c, lagged, gain)
		hold.read(held, stands, gain)
	}
	x.growth = follow.variance(logs) / x.variance
	x.variance *= x.growth
	off := func(other float64) float64 { return math.Abs(other - x.variance) }
	x.left.RewardVariance = off(hold.variance(logs)) + off(follow.correlated(logs)) + chainError*float64(min(len(probs)-1, 2))*x.variance
	x.follows = off(late.variance(logs)) + off(follow.variance(logPolicies(probs, x.cov)))
	mean := floats.Sum(follow.means)
	x.moved = d.Arms[top].Mean + mean - expected(d.Arms, probs)
	x.shift = d.Arms[top].Mean + mean - d.model.expected(d.logits)
	x.left.RewardMean = math.Abs(floats.Sum(hold.means)-mean) + math.Abs(floats.Sum(late.means)-mean) + x.size()*math.Abs(mean)
	return true
}
