//go:build goexperiment.simd && go1.27 && (amd64 || arm64)

package lanes

import (
	"math"
	"simd"

	"grposim/grpo"
	"grposim/option"
	"grposim/sim/draw"
	_ "grposim/sim/lanes/wide" // before package simd
)

// runner runs replicas in teams, as many as a vector has elements. A step goes through phases, each
// over the teams first to end.
type runner struct {
	*Cell
	arms, w                   int // of the cell; elements of a vector
	c                         constants
	mean                      []floats // by arm
	reference, referenceProbs []floats
	teams                     []team
	now                       []policy // π, by team and arm, with log Σ exp θ last if stride is above arms
	stride                    int
	past                      [][]policy   // snapshots, the n-th at n mod the length; empty on-policy
	state                     []arm        // by team and arm
	squares                   []floats     // of Adam, by team and arm
	sums                      []advantages // by team and arm
	reused                    []advantages // of a block, unweighted; empty unless they are reused
	bounds                    []bounds     // by team and arm
	counts                    []counts     // by team and arm
	tally                     []tally      // by team and arm; empty unless counts are needed
	peaks                     []floats     // by team and arm; empty unless steps between records count
	exp                       *exponentials
	ups, downs                []uint64           // by group of a pack and replica: rewards of 1, then advantages
	table                     *[1 << 8][2]uint64 // of advantages, by rewards of 1
	scalars                   []float64          // by replica
	space                     [8]uint64
	options
	draws
	left             int      // groups of the draw that have not been used
	group            int      // of a draw, that of the step
	old              []policy // π_old
	fresh            bool     // it is π
	counted, skipped int      // steps since the record; 1: the present one belongs to the one before
	first, end       int      // teams that run
	steps            []stepNumbers
	from             int // the step of the first of these
	decays           decays
	given            State     // of the Sampler
	replicas         int       // that run
	aimed            []float64 // scratch of the Sampler, by arm
}

// options are those of the cell that are asked in every step.
type options struct {
	form                 grpo.WeightForm
	w0, w1               interval // of weights for A > 0 and A < 0
	weighted, drops      bool
	exact, sampled       bool
	atSnapshot, logNorms bool
	method               option.Method
	short, fused         bool // moves take the short way of move.go; they add the group too
	gradient             option.KLGradient
	groups               int
}

// team holds replicas in the elements of vectors. An arm of it, and others of its parts, are apart.
type team struct {
	s0, s1, s2, s3 words  // streams
	share          floats // 1/GB, or what takes its place
	norm           floats // of the policy: Σ exp(θ_a − max θ)
	zero, ones     floats // of the step: zero-variance groups, samples with reward 1
	most           floats // the largest logit

	reward, square, gap, gapSquare, zeros floats // sums after burn-in
	finite                                words  // steps whose policies are numbers
	largest, clipped                      floats // since the last record
}

type policy struct{ logit, prob simd.Float64s }

// arm is what moves an arm. What a phase does not need is apart, so that caches hold more arms.
type arm struct{ velocity, force floats }

// advantages are sums of advantages by sign, as in grpo.ArmStatistics.
type advantages struct{ positive, negative floats }

// counts are an arm's numbers of samples with reward 1 and of others, of each group in 16 bits.
type counts struct{ rewarded, others words }

type tally struct{ drawn, positives, negatives floats }

// constants are numbers in all elements. Instructions take them from memory.
type constants struct {
	one, four, size, share, beta, momentum floats
	most, limit, infinite                  floats // of smooth weights
	positive, negative, decay1, decay2     floats
	beta1, rest1, beta2, rest2, epsilon    floats
	entropy, norm                          floats // α, and the largest norm
	reward0, gap0, logNorm0                floats
	low                                    words // the bits of a count
}

// Bits returns the length of a vector, 0 where there are none.
func Bits() int {
	if !available() {
		return 0
	}
	return width() * 64
}

// New returns a runner of a number of replicas.
func New(cell *Cell, replicas int) Runner {
	if !available() {
		return nil
	}
	k := &runner{Cell: cell, arms: len(cell.Means), w: width()}
	e, o := cell.Estimator, cell.Optimizer
	form, up, down := grpo.FormOf(&e.Importance)
	k.form, k.w0, k.w1 = form, intervalOf(up), intervalOf(down)
	k.weighted = e.Importance.Mode != option.NoImportance && !grpo.OnPolicy(cell.Lag)
	k.drops = k.weighted && grpo.DropsSamples(&e.Importance)
	k.sampled = e.KL.Sampled()
	k.exact = e.KL.Coefficient != 0 && !k.sampled
	k.atSnapshot = e.KL.At == option.AtSnapshot
	k.logNorms = k.weighted && k.form == grpo.PowerWeight || k.sampled && e.KL.Gradient != option.K1 && e.KL.Gradient != option.K3
	k.short = o.Kind == option.HeavyBall && e.Importance.Linear() && !k.sampled && !k.logNorms &&
		e.Entropy == 0 && o.MaxNorm == 0 && e.Samples == option.Fresh
	k.method, k.gradient, k.groups = o.Kind, e.KL.Gradient, e.GroupsPerStep
	k.setConstants()
	reference := grpo.NewPolicy(cell.Reference)
	k.c.logNorm0 = floatsOf(reference.LogNorm())
	for a := range k.arms {
		k.mean = append(k.mean, floatsOf(cell.Means[a]))
		k.reference = append(k.reference, floatsOf(reference.Logits[a]))
		k.referenceProbs = append(k.referenceProbs, floatsOf(reference.Probs[a]))
	}
	n := (replicas + k.w - 1) / k.w
	k.stride = k.arms
	if k.logNorms {
		k.stride++
	}
	k.teams, k.state, k.squares = make([]team, n), make([]arm, n*k.arms), make([]floats, n*k.arms)
	k.sums, k.bounds, k.counts = make([]advantages, n*k.arms), make([]bounds, n*k.arms), make([]counts, n*k.arms)
	if e.Samples == option.Reused {
		k.reused = make([]advantages, n*k.arms)
	}
	k.now = make([]policy, n*k.stride)
	for len(k.past) < grpo.StoredPolicies(cell.Lag, cell.Steps) {
		k.past = append(k.past, make([]policy, n*k.stride))
	}
	if k.drops || k.sampled {
		k.tally = make([]tally, n*k.arms)
	}
	if cell.Lag.StepsPerSnapshot() > 1 {
		k.peaks = make([]floats, n*k.arms)
	}
	k.exp = newExponentials(n * k.arms * 2)
	k.scalars = make([]float64, n*k.w)
	if k.setDraws(); k.together > 0 {
		k.table = advantageTable(cell.Advantages, e.GroupSize)
		k.ups, k.downs = make([]uint64, n*k.w*k.together), make([]uint64, n*k.w*k.together)
	}
	k.aimed = make([]float64, k.arms)
	k.fused = k.short && k.groups == 1 && k.together > 0 && len(k.tally) == 0
	return k
}

func (k *runner) setConstants() {
	e, o := k.Estimator, k.Optimizer
	start := grpo.NewPolicy(k.Init)
	c := &k.c
	samples := float64(e.GroupSize) * float64(e.GroupsPerStep)
	c.one, c.four = floatsOf(1), floatsOf(4)
	c.most, c.limit, c.infinite = floatsOf(grpo.LargestRatio), floatsOf(grpo.LargestExponent), floatsOf(math.Inf(-1))
	imp := &e.Importance
	c.positive, c.negative = floatsOf(imp.Temperature.Positive), floatsOf(imp.Temperature.Negative)
	if k.form == grpo.PowerWeight {
		c.positive, c.negative = floatsOf(imp.Power.Positive), floatsOf(imp.Power.Negative)
		c.decay1, c.decay2 = floatsOf(imp.Decay.Positive), floatsOf(imp.Decay.Negative)
	}
	c.share, c.beta, c.momentum = floatsOf(1/samples), floatsOf(e.KL.Coefficient), floatsOf(o.Momentum)
	c.beta1, c.rest1, c.beta2, c.rest2 = floatsOf(o.Beta1), floatsOf(1-o.Beta1), floatsOf(o.Beta2), floatsOf(1-o.Beta2)
	c.epsilon, c.reward0, c.gap0 = floatsOf(o.Epsilon), floatsOf(start.Mean(k.Means)), floatsOf(k.Init[0]-k.Init[1])
	c.entropy, c.norm = floatsOf(e.Entropy), floatsOf(o.MaxNorm)
	c.size, c.low = floatsOf(float64(e.GroupSize)), wordsOf(0xffff)
}

// Begin sets the state at step 0. Elements without a replica get that of the first.
func (k *runner) Begin(streams []*draw.Xoshiro) {
	start := grpo.NewPolicy(k.Init)
	logNorm := start.LogNorm()
	words := make([]uint64, len(k.scalars)*4)
	for i := range k.scalars {
		stream := streams[0]
		if i < len(streams) {
			stream = streams[i]
		}
		for n, x := range stream {
			words[n*len(k.scalars)+i] = x
		}
	}
	for i := range k.teams {
		at := words[i*k.w:]
		s0, s1, s2, s3 := load(at), load(at[len(k.scalars):]), load(at[2*len(k.scalars):]), load(at[3*len(k.scalars):])
		k.teams[i] = team{s0: s0, s1: s1, s2: s2, s3: s3, share: k.c.share}
		for a := range k.arms {
			k.now[i*k.stride+a] = policy{floatsOf(start.Logits[a]), floatsOf(start.Probs[a])}
		}
		if k.logNorms {
			k.now[i*k.stride+k.arms].logit = floatsOf(logNorm)
		}
	}
	clear(k.state)
	clear(k.squares)
	clear(k.peaks)
	k.left, k.group, k.old, k.counted, k.skipped = 0, 0, k.now, 0, 0
	k.decays, k.replicas = decays{1, 1}, len(streams)
}

// Advance does the steps from, …, to−1.
func (k *runner) Advance(from, to int) {
	k.steps, k.from = k.decays.steps(k.steps[:0], k.Optimizer, from, to), from
	left, group, old, teams := k.left, k.group, k.old, k.teamsAtOnce()
	for first := 0; first < len(k.teams); first += teams {
		k.left, k.group, k.old = left, group, old // as they were for all teams
		k.first, k.end = first, min(first+teams, len(k.teams))
		for t := from; t < to; t++ {
			k.drawStep(t)
			k.moveStep(t)
		}
	}
	k.counted += to - from - k.skipped
	k.skipped = 0
	leave()
}

// teamsAtOnce returns the number of teams that do a phase together.
func (k *runner) teamsAtOnce() int { return max(1, min(len(k.teams), 24/k.arms)) }

// Draw takes the snapshots and draws the groups of step t.
func (k *runner) Draw(t int) {
	k.first, k.end = 0, len(k.teams)
	k.drawStep(t)
	if k.fused {
		k.add(true)
	}
	leave()
}

// Move adds step t to the averages and moves the policies.
func (k *runner) Move(t int) {
	k.steps, k.from = k.decays.steps(k.steps[:0], k.Optimizer, t, t+1), t
	k.first, k.end = 0, len(k.teams)
	k.moveStep(t)
	k.counted += 1 - k.skipped
	k.skipped = 0
	leave()
}

// Reset begins anew what is known of the steps since the last record.
func (k *runner) Reset() {
	clear(k.peaks)
	for i := range k.teams {
		k.teams[i].largest, k.teams[i].clipped = floats{}, floats{}
	}
	k.counted, k.skipped = 0, 1
}

// Read gives the state.
func (k *runner) Read(s *State) {
	n := len(k.scalars)
	s.grow(n, k.arms)
	s.Counted, s.Drawn = k.counted, k.together > 0
	for i := range k.teams {
		x, at := &k.teams[i], i*k.w
		x.ones.Store(s.Rewarded[at:])
		x.zero.Store(s.ZeroVariance[at:])
		x.reward.Store(s.Reward[at:])
		x.square.Store(s.RewardSquare[at:])
		x.gap.Store(s.Gap[at:])
		x.gapSquare.Store(s.GapSquare[at:])
		x.zeros.Store(s.Zero[at:])
		number(x.finite).Store(s.Finite[at:])
		x.largest.Store(s.LargestRatio[at:])
		x.clipped.Store(s.Clipped[at:])
		for a := range k.arms {
			j := i*k.arms + a
			k.now[i*k.stride+a].logit.Store(s.Logits[a*n+at:])
			k.old[i*k.stride+a].logit.Store(s.Behaviour[a*n+at:])
			k.sums[j].positive.Store(s.Positive[a*n+at:])
			k.sums[j].negative.Store(s.Negative[a*n+at:])
			if len(k.tally) > 0 {
				k.tally[j].drawn.Store(s.Count[a*n+at:])
				k.tally[j].positives.Store(s.PositiveCount[a*n+at:])
				k.tally[j].negatives.Store(s.NegativeCount[a*n+at:])
			}
			if len(k.peaks) > 0 {
				k.peaks[j].Store(s.Peaks[a*n+at:])
			}
		}
	}
	leave()
}
