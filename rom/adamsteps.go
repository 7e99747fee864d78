package rom

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"grposim/option"
	"grposim/rom/fp"
	"grposim/rom/linear"
	"grposim/rom/scope"
)

// stepLaw is the stationary law under Adam of logits that move by their mean steps D_a = E m_a/(√v_a + ε) at a fixed policy, whatever the law of
// the forces, and by noise of S_a per step about these (docs/theory-neglected.md §6.8). It rests where all D_a are equal, and to first order the
// covariance of the logits is that of dθ = ηD dt + η√N dW, N_ab = ρ_ab√(S_aS_b), ρ the correlation of the forces. It needs no expansion about the means of
// m and v, but logits that move far more slowly than v forgets, or S = 1. Where that leaves out much of Var J, E J and Var J are those of chains of arms.
type stepLaw struct {
	logits   []float64
	cov      *mat.Dense  // of the logits, but for a common shift
	own      *mat.Dense  // the noise per step in which the part of S beyond 1 is each arm's own
	apart    *mat.Dense  // cov of that noise
	variance float64     // Var J
	shift    float64     // E J less J at the fixed point
	moved    float64     // of chains: E J less J where the law rests
	growth   float64     // of Var J over that of the linear law
	gap      float64     // two arms: E(θ_0 − θ_1) less that at the fixed point
	spread   float64     // two arms: Var(θ_0 − θ_1)
	left     scope.Sizes // but for follows
	follows  float64     // of Var J, what the memory of v, m and the lag makes of it beyond the law
	lost     *LostArms   // nil: none
}

// LostArms are those that runs under Adam from the fixed point lose, and runs that draw them as often as the law do not.
type LostArms struct {
	Arms  []int
	Probs []float64   // π of all arms where the law rests
	Left  scope.Sizes // the distance of the law of the others from that of all
}

// keptFrom reports whether runs from the logits start draw these arms as often as the law.
func (x *LostArms) keptFrom(start []float64) bool {
	probs := policyAt(start)
	return !slices.ContainsFunc(x.Arms, func(a int) bool { return probs[a] < x.Probs[a] })
}

// From returns the prediction for runs from the logits start: without what those from the fixed point lose, if these keep it.
func (p *Prediction) From(start []float64) *Prediction {
	if p.Lost == nil || start == nil || !p.Lost.keptFrom(start) {
		return p
	}
	kept := *p
	kept.Neglected = p.Neglected.Without(scope.LostArms)
	return &kept
}

// denseMoment is the share q by which v varies below which the mean step is that of second order, whose error is q².
const denseMoment = 0.01

// Limits of the search for the mean of stepLaw: Newton steps, those with one slope, the longest in logits, and the error. ownReach is how far the logit of one arm is
// searched.
const (
	stepAttempts = 24
	stepSlopes   = 3
	stepLongest  = 1.0
	stepError    = 1e-4
	ownReach     = 64.0
	slopeStep    = 0.05
	lostRise     = 1.0 // above the fixed point, of the logit of an arm that counts as another state
)

// meanSteps computes D of all arms.
type meanSteps struct {
	*linearization
	optimizer *option.Optimizer
	dense     []bool // by second order
}

// stepLaw returns the law; nil where it is not derived or not found.
func (l *linearization) stepLaw(o *option.Optimizer) *stepLaw {
	if l.Measured != nil || l.model.counts == nil || l.GroupsPerStep != 1 || l.Filter != option.KeepAll || l.KL.Sampled() || l.KL.Outside() ||
		l.Params.notDerived(weightsAtRest, spreadOfRuns).Out() {
		return nil
	}
	defer l.model.set(l.logits, l.logits)
	d := &meanSteps{l, o, make([]bool, len(l.logits))}
	logits := d.start()
	if logits == nil {
		return nil
	}
	slope := d.settle(logits)
	if slope == nil {
		return nil
	}
	if x := d.law(logits, slope); x != nil {
		return d.losing(x)
	}
	return nil
}

// losing returns the law with what runs from the fixed point lose.
func (d *meanSteps) losing(x *stepLaw) *stepLaw {
	others, lost := d.withoutLost(x.logits)
	if others == nil {
		return x
	}
	x.lost = &LostArms{lost, policyAt(x.logits), scope.Unknown}
	if y := others.stepLaw(d.optimizer); y != nil {
		x.lost.Left = scope.Sizes{RewardMean: math.Abs(y.shift - x.shift), RewardVariance: math.Abs(y.variance - x.variance)}
	}
	return x
}

// withoutLost returns the linearization of the bandit without the arms that runs from the fixed point lose, and these; nil where there is none, or no two are left. Where ε
// is far above the penalty on an arm, D is the penalty over ε. If that is below the D of all at rest, the others leave the arm behind, and the penalty falls
// with its probability: it is never drawn again. Runs that come from a policy that draws it keep it.
func (d *meanSteps) withoutLost(rest []float64) (others *linearization, lost []int) {
	common := floats.Sum(d.at(rest)) / float64(len(rest))
	fixed, centre := d.at(d.logits), floats.Sum(rest)-floats.Sum(d.logits)
	p := d.Params
	p.Arms, p.Reference, p.Start, p.uniform = nil, nil, nil, nil
	var logits []float64
	for a, x := range d.logits {
		if d.dense[a] || fixed[a] > common || rest[a]-x-centre/float64(len(rest)) < lostRise {
			p.Arms, p.Reference, logits = append(p.Arms, d.Arms[a]), append(p.Reference, d.Reference[a]), append(logits, x)
		} else {
			lost = append(lost, a)
		}
	}
	if len(logits) < 2 || len(lost) == 0 {
		return nil, nil
	}
	others = newLinearization(unmerged(p.checked()), logits)
	others.Optimizer, others.Lag = d.linearization.Optimizer, d.Lag
	return others, lost
}

// at returns D.
func (d *meanSteps) at(logits []float64) []float64 {
	m, o := d.model, d.optimizer
	m.set(logits, logits)
	steps, mixed, squares := make([]float64, len(logits)), [][]float64(nil), [][]float64(nil)
	if slices.Contains(d.dense, true) {
		m.meanForce(steps)
		pairs := m.pairs()
		mixed, squares = pairs.squares(steps)
		c, share := (1-o.Beta1)*(1-o.Beta2)/(1-o.Beta1*o.Beta2), (1-o.Beta2)/(1+o.Beta2)
		for a, f := range steps {
			steps[a] = taylor(f, f*f+pairs.second[a][a], c*mixed[a][a], share*squares[a][a], o.Epsilon)
		}
	}
	for a := range steps {
		if !d.dense[a] {
			steps[a] = newArmLaw(m, a).meanStep(o)
		}
	}
	return steps
}

// start returns the logits of the fixed point with those of arms of rare forces where their own mean step is 0, the others at theirs; nil where there is none.
func (d *meanSteps) start() []float64 {
	m, o := d.model, d.optimizer
	m.set(d.logits, d.logits)
	force := make([]float64, len(d.logits))
	m.meanForce(force)
	_, squares := m.pairs().squares(force)
	for a, f := range force {
		mean := f*f + d.noise.At(a, a)
		d.dense[a] = (1-o.Beta2)/(1+o.Beta2)*squares[a][a] < denseMoment*mean*mean
	}
	logits, probs := slices.Clone(d.logits), policyAt(d.logits)
	for a := range logits {
		if d.dense[a] || probs[a] > 0.5 {
			continue
		}
		own := func(y float64) float64 {
			moved := slices.Clone(d.logits)
			moved[a] = y
			m.set(moved, moved)
			return newArmLaw(m, a).meanStep(o)
		}
		low, high := d.logits[a], d.logits[a]
		at := own(low)
		for step := math.Copysign(0.5, at); own(high)*at > 0; step *= 2 {
			if math.Abs(step) > ownReach {
				return nil
			}
			low, high = high, high+step
		}
		for math.Abs(high-low) > 0.1 {
			if middle := (low + high) / 2; own(middle)*at > 0 {
				low = middle
			} else {
				high = middle
			}
		}
		logits[a] = (low + high) / 2
	}
	return logits
}

// slopes returns ∂D_a/∂θ_b. D does not depend on a common shift.
func (d *meanSteps) slopes(logits []float64) *mat.Dense {
	arms := len(logits)
	slope := mat.NewDense(arms, arms, nil)
	for b := range arms - 1 {
		moved := slices.Clone(logits)
		moved[b] += slopeStep
		up := d.at(moved)
		moved[b] -= 2 * slopeStep
		down := d.at(moved)
		for a := range arms {
			x := (up[a] - down[a]) / (2 * slopeStep)
			slope.Set(a, b, x)
			slope.Set(a, arms-1, slope.At(a, arms-1)-x)
		}
	}
	return slope
}

// settle moves the logits by Newton's method to where all D are equal, and returns the slopes there; nil where they do not arrive.
func (d *meanSteps) settle(logits []float64) *mat.Dense {
	var slope, reduced *mat.Dense
	for attempt := range stepAttempts {
		if attempt%stepSlopes == 0 {
			slope = d.slopes(logits)
			reduced = linear.Within(d.q, slope)
		}
		var change, move mat.VecDense
		steps := reduce(d.q, d.at(logits))
		if change.SolveVec(reduced, mat.NewVecDense(len(steps), steps)) != nil {
			return nil
		}
		move.MulVec(d.q, &change)
		by := move.RawVector().Data
		longest := max(floats.Max(by), -floats.Min(by))
		floats.AddScaled(logits, -min(1, stepLongest/longest), by)
		if !linear.IsFinite(logits...) {
			return nil
		}
		if longest < stepError {
			return d.slopes(logits)
		}
	}
	return nil
}

// law returns the law about the logits where all D are equal; nil where it has none.
func (d *meanSteps) law(logits []float64, slope *mat.Dense) *stepLaw {
	arms, o := len(logits), d.optimizer
	d.model.set(logits, logits)
	force := d.model.covariance()
	spread := make([]float64, arms)
	for a := range spread {
		if spread[a] = 1; !d.dense[a] {
			var ok bool
			if spread[a], ok = newArmLaw(d.model, a).spread(o); !ok {
				return nil
			}
		}
	}
	var step mat.Dense
	step.Scale(o.LearningRate, linear.Within(d.q, slope))
	step.Add(&step, linear.Identity(arms-1))
	noise := func(of func(a, b int) float64) *mat.Dense {
		n := mat.NewDense(arms, arms, nil)
		for a := range arms {
			for b := range arms {
				n.Set(a, b, o.LearningRate*o.LearningRate*of(a, b)*force.At(a, b)/math.Sqrt(force.At(a, a)*force.At(b, b)))
			}
		}
		return n
	}
	covariance := func(noise *mat.Dense) *mat.Dense {
		reduced, ok := linear.Lyapunov(&step, linear.Within(d.q, noise))
		if !ok {
			return nil
		}
		return linear.Congruence(d.q, reduced)
	}
	whole := noise(func(a, b int) float64 { return math.Sqrt(spread[a] * spread[b]) })
	out := &stepLaw{logits: logits, cov: covariance(whole)}
	still := covariance(noise(func(_, _ int) float64 { return 1 }))
	out.own = noise(func(a, b int) float64 {
		if a == b {
			return spread[a]
		}
		return 1
	})
	out.apart = covariance(out.own)
	if out.cov == nil || still == nil || out.apart == nil {
		return nil
	}
	out.measure(d, whole, still)
	if out.size() > chainFrom && !d.byChains(out) {
		return nil
	}
	return out
}

// measure reads E J, Var J and what they leave out off the law. still is the covariance with S = 1. The probabilities are log-normal, of which E π is that at rest where v follows the policy, as D = 0 says, and π e^{−V/2} where v keeps
// its mean, V = Var log π.
func (x *stepLaw) measure(d *meanSteps, noise, still *mat.Dense) {
	o, probs := d.optimizer, policyAt(x.logits)
	reward := expected(d.Arms, probs)
	weights := make([]float64, len(probs)) // ∂J/∂θ
	for a, p := range probs {
		weights[a] = p * (d.Arms[a].Mean - reward)
	}
	x.variance = linear.Form(weights, x.cov, weights)
	off := func(other float64) float64 { return math.Abs(other - x.variance) }
	logs, bent, lower := logPolicies(probs, x.cov), 0.0, 0.0 // Var J of log-normal probabilities, and E J if E π = πe^{−V/2}
	for a, w := range weights {
		for b, v := range weights {
			bent += w * v * math.Expm1(logs.At(a, b))
		}
		lower += w * math.Expm1(-logs.At(a, a)/2)
	}
	x.left.RewardVariance = off(bent)
	x.shift, x.growth = reward+lower/2-d.model.expected(d.logits), 1
	x.left.RewardMean = math.Abs(lower)
	x.gap = x.logits[0] - x.logits[1] - d.logits[0] + d.logits[1]
	x.spread = x.cov.At(0, 0) + x.cov.At(1, 1) - 2*x.cov.At(0, 1)
	rate := linear.Form(weights, noise, weights) / (2 * x.variance)
	x.follows = off(linear.Form(weights, x.apart, weights)) +
		off(linear.Form(weights, still, weights))*min(1, 2*rate/(1-o.Beta2)) +
		x.variance*rate*(linear.NewLag(&d.Lag).Age(linear.MeanAge)+1/(1-o.Beta1))
}

// logPolicies returns the covariance of log π, (1 − 1πᵀ)θ, given that of θ.
func logPolicies(probs []float64, cov *mat.Dense) *mat.Dense {
	logs := linear.Identity(len(probs))
	for a := range probs {
		for b, p := range probs {
			logs.Set(a, b, logs.At(a, b)-p)
		}
	}
	return linear.Congruence(logs, cov)
}

// size returns the relative size of Var J that is left out.
func (x *stepLaw) size() float64 { return (x.left.RewardVariance + x.follows) / x.variance }

// addTo makes the law that of a prediction, and returns what it leaves out but for follows. The share of groups of equal rewards is
// s(j) = j^G + (1−j)^G, j the probability of the larger of two rewards, of which E s = s(j) + ½s″Var j;
// all of its distance from that at the fixed point counts as left out, for a run comes to rest no sooner than its rarest arm.
func (x *stepLaw) addTo(l *linearization, prediction *Prediction) (left scope.Sizes) {
	prediction.LeadingOrder.StationaryVariance.ExpectedReward = &x.variance
	prediction.Moments.RewardShift = &x.shift
	if len(x.logits) == 2 {
		prediction.Moments.LogitGapShift, prediction.LeadingOrder.StationaryVariance.LogitGap = &x.gap, &x.spread
	}
	size, counts, probs := l.model.size, l.model.counts, policyAt(x.logits)
	fixed := l.model.law.EqualRewards(policyAt(l.logits))
	j, rest := counts.Chances(probs)
	weights := make([]float64, len(probs)) // ∂j/∂θ
	for a, p := range probs {
		weights[a] = p * (counts.Success[a] - j)
	}
	slope := size * math.Abs(fp.Pow(j, size-1)-fp.Pow(rest, size-1))
	bend := size * (size - 1) * (fp.Pow(j, size-2) + fp.Pow(rest, size-2))
	variance := x.growth * linear.Form(weights, x.cov, weights)
	equal := min(1, fp.Pow(j, size)+fp.Pow(rest, size)+bend*variance/2)
	change := equal - fixed
	prediction.Moments.ZeroVariance, prediction.Moments.ZeroVarianceShift = &equal, &change
	left = x.left
	left.ZeroVariance = min(1, math.Abs(change)+slope*(left.RewardMean+math.Abs(x.moved))*math.Sqrt(variance/x.variance)+bend*variance/2*(x.size()+size*size*variance))
	return left
}
