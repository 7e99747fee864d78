package rom

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"grposim/rom/fp"
	"grposim/rom/linear"
)

// armChain is the Markov chain of the logit z = θ_a − Σ_{b≠a} q_bθ_b of one arm and of its second moment v under Adam, q_b ∝ π_b where the law rests
// (docs/theory-neglected.md §6.8). A force g moves the logit by ηg/(√v + ε) in all, of the v that has it. The force on another arm is −c_b g + e_b, with the c_b at which e_b
// is uncorrelated with g: it moves z by the answer of its own, of v_b = c_b²v + E e_b², and by the mean and the noise of e_b. The other logits are functions of z.
// Nothing is expanded in the noise, and v need not follow the policy.
type armChain struct {
	*meanSteps
	arm     int
	weights []float64 // q
	least   float64   // z less that where the law rests, of the first node
	step    float64   // of z
	lowest  float64   // ln v of the first level
	levels  int
	nodes   []chainNode // by z
}

// chainNode holds the forces at one z, and the probability of the arm.
type chainNode struct {
	prob           float64
	law            *armLaw
	answers        []float64 // c_b
	means, squares []float64 // of e_b
	noise          *mat.Dense
}

// Limits of the grid of a chain: its width in deviations of the linear law, and in logits below and above where that rests, the cells of z, the distance in ln v, and the least |g|
// as a share of the largest; and the least probability of a force. The error of Var π is below chainError of it.
const (
	chainWidth   = 5
	chainBelow   = 6.5
	chainAbove   = 8
	chainCells   = 36
	chainMoments = 0.6
	chainDepth   = 1e-5
	chainForces  = 1e-9
	chainError   = 0.02
)

// newArmChain returns that of an arm whose linear law has the given deviation of z, with the other logits along ∂θ/∂z; nil where z has no noise.
func (d *meanSteps) newArmChain(a int, rest, along []float64, deviation float64) *armChain {
	c := &armChain{meanSteps: d, arm: a, weights: othersOf(a, rest)}
	below, above := min(chainWidth*deviation, chainBelow), min(chainWidth*deviation, chainAbove)
	c.least, c.step = -below, (below+above)/chainCells
	low, largest, logits, probs := math.Inf(1), 0.0, make([]float64, len(rest)), make([]float64, len(rest))
	for i := range chainCells + 1 {
		floats.AddScaledTo(logits, rest, c.least+c.step*float64(i), along)
		d.model.set(logits, logits)
		softmax(probs, logits)
		n := chainNode{prob: probs[a], law: newArmLaw(d.model, a).without(chainForces), answers: make([]float64, len(rest)), means: make([]float64, len(rest)),
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
		for _, g := range n.law.values {
			low, largest = min(low, math.Abs(g)), max(largest, math.Abs(g))
		}
		c.nodes = append(c.nodes, n)
	}
	c.lowest = 2 * math.Log(min(max(low, d.optimizer.Epsilon, largest*chainDepth), largest)) // ε may be above all forces
	c.levels = int((2*math.Log(largest)-c.lowest)/chainMoments) + 2
	return c
}

// without returns the law without the values of less than a probability.
func (g *armLaw) without(least float64) *armLaw {
	out := &armLaw{}
	for i, p := range g.weights {
		if p >= least {
			out.values, out.weights = append(out.values, g.values[i]), append(out.weights, p)
		}
	}
	floats.Scale(1/floats.Sum(out.weights), out.weights)
	return out
}

// othersOf returns q, 0 for the arm.
func othersOf(a int, logits []float64) []float64 {
	q := make([]float64, len(logits))
	softmax(q, logits)
	q[a] = 0
	floats.Scale(1/floats.Sum(q), q)
	return q
}

// chainMove is a move of a chain in cells of z and of ln v: its probability, its mean and the variance of z.
type chainMove struct{ p, z, noise, level float64 }

// moves returns those from a node and a level, with the forces of a law.
func (c *armChain) moves(at, level int, law *armLaw) []chainMove {
	n, o, v := c.nodes[at], c.optimizer, fp.Exp(c.lowest+chainMoments*float64(level))
	gain, out := make([]float64, len(c.weights)), make([]chainMove, len(law.values))
	for i, g := range law.values {
		next := o.Beta2*v + (1-o.Beta2)*g*g
		move := g / (math.Sqrt(next) + o.Epsilon)
		for b, q := range c.weights {
			gain[b] = q / (math.Sqrt(n.answers[b]*n.answers[b]*next+n.squares[b]) + o.Epsilon)
			move += gain[b] * (n.answers[b]*g - n.means[b])
		}
		scale := o.LearningRate / c.step
		out[i] = chainMove{law.weights[i], scale * move, scale * scale * linear.Form(gain, n.noise, gain), (math.Log(next)-c.lowest)/chainMoments - float64(level)}
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

// land visits the states in which moves from a node and a level end.
func (c *armChain) land(at, level int, moves []chainMove, visit func(state int, p float64)) {
	for _, m := range moves {
		across, over := neighbours(m.z, m.noise)
		up, among := neighbours(m.level, 0)
		for i, x := range over {
			row := min(max(at+across+i, 0), chainCells) * c.levels
			for k, y := range among {
				visit(row+min(max(level+up+k, 0), c.levels-1), m.p*x*y)
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

// law returns the probabilities of the nodes, with forces of the policy some steps earlier.
func (c *armChain) law(late float64) []float64 {
	moves, reach := make([][]chainMove, (chainCells+1)*c.levels), 0
	for state := range moves {
		at, level := state/c.levels, state%c.levels
		moves[state] = c.late(at, level, late)
		c.land(at, level, moves[state], func(to int, _ float64) { reach = max(reach, to-state, state-to) })
	}
	flow := linear.NewBand(len(moves), reach)
	for state := range moves {
		flow.Add(state, state, 1)
		c.land(state/c.levels, state%c.levels, moves[state], func(to int, p float64) { flow.Add(to, state, -p) })
	}
	out := make([]float64, chainCells+1)
	for state, p := range flow.Null() {
		out[state/c.levels] += p
	}
	floats.Scale(1/floats.Sum(out), out)
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

// byChains gives the law E J and Var J of the chains of arms, if these are found. The other logits follow an arm by the linear law in which the part of S beyond 1 is noise of each arm's own, of the covariance apart.
func (d *meanSteps) byChains(x *stepLaw, apart *mat.Dense) {
	probs, top := make([]float64, len(x.logits)), floats.MaxIdx(x.logits)
	softmax(probs, x.logits)
	logs := logPolicies(probs, apart)
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
		gain, line := d.Arms[a].Mean-d.Arms[top].Mean, othersOf(a, x.logits)
		alone, along := make([]float64, len(line)), mat.NewVecDense(len(line), nil)
		floats.Scale(-1, line)
		line[a], alone[a] = 1, 1
		variance := linear.Form(line, apart, line)
		along.MulVec(apart, mat.NewVecDense(len(line), line))
		along.ScaleVec(1/variance, along)
		c, held := d.newArmChain(a, x.logits, along.RawVector().Data, math.Sqrt(variance)), d.newArmChain(a, x.logits, alone, math.Sqrt(variance))
		if c == nil || held == nil {
			return
		}
		law := c.law(0)
		follow.read(c, law, gain)
		if len(probs) == 2 {
			x.gap, x.spread = c.gap(law, x.gap)
		}
		late.read(c, c.law(lag), gain)
		hold.read(held, held.law(0), gain)
	}
	x.growth = follow.variance(logs) / x.variance
	x.variance *= x.growth
	off := func(other float64) float64 { return math.Abs(other - x.variance) }
	x.left.RewardVariance = off(hold.variance(logs)) + off(follow.correlated(logs)) + chainError*x.variance
	x.follows = off(late.variance(logs)) + off(follow.variance(logPolicies(probs, x.cov)))
	mean := floats.Sum(follow.means)
	x.moved = d.Arms[top].Mean + mean - expected(d.Arms, probs)
	x.shift = d.Arms[top].Mean + mean - d.model.expected(d.logits)
	x.left.RewardMean = math.Abs(floats.Sum(hold.means)-mean) + math.Abs(floats.Sum(late.means)-mean) + x.size()*math.Abs(mean)
}
