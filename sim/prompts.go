package sim

import (
	"math"
	"math/bits"

	"grposim/grpo"
	"grposim/option"
	"grposim/sim/draw"
)

// promptSampler chooses the prompts of a run.
type promptSampler struct {
	*Prompts
	packs   []*draw.Pack   // by prompt; none for larger groups
	order   []int          // the prompts of the present epoch
	next    int            // index in order of the next one
	sums    []float64      // of option.ByFailure
	redraws *promptRedraws // nil: groups of equal rewards stay
}

// newPromptSampler returns one for groups of a size.
func newPromptSampler(p *Prompts, size int) *promptSampler {
	n := len(p.Means)
	s := &promptSampler{Prompts: p, order: make([]int, n), sums: make([]float64, n)}
	if size > draw.MaxPacked {
		return s
	}
	for x := range p.Means {
		s.packs = append(s.packs, draw.NewPack(2, p.Means[x][:], size, 1))
	}
	return s
}

// begin sets the state before the first step.
func (s *promptSampler) begin() {
	s.next = 0
	for x := range s.order {
		s.order[x] = x
	}
}

// choose returns the prompt of the next group. A new epoch is shuffled by Fisher and Yates. all are
// the prompts with a policy each; where all succeed always, every one fails as often.
func (s *promptSampler) choose(w *draw.Words, all []promptPolicy) (prompt int) {
	below := func(n int) int {
		high, _ := bits.Mul64(w.Next(), uint64(n))
		return int(high)
	}
	switch s.Order {
	case option.ByFailure:
		accumulate(s.sums, func(x int) float64 { return max(1-all[x].reward, 0) })
		if s.sums[len(all)-1] > 0 {
			return draw.Index(w.Next(), s.sums)
		}
		fallthrough
	case option.Independent:
		return below(len(s.order))
	}
	if s.next == 0 && s.Order == option.Shuffled {
		for i := len(s.order) - 1; i > 0; i-- {
			j := below(i + 1)
			s.order[i], s.order[j] = s.order[j], s.order[i]
		}
	}
	prompt = s.order[s.next]
	s.next = (s.next + 1) % len(s.order)
	return prompt
}

// promptGroup draws a group of a prompt from behaviour and adds it to sum, and its rewards to
// s.reward. It returns the prompt of the group that it has added. If groups of equal rewards are
// redrawn, that may be another one.
func (s *sampler) promptGroup(sum *grpo.GroupStatistics, w *draw.Words, prompt int, behaviour *grpo.Policy) (added int) {
	size, count, rewarded := s.estimator.GroupSize, s.counts, s.successes
	if packs := s.prompts.packs; packs != nil {
		pack := packs[prompt]
		pack.Aim(behaviour.Probs)
		pack.Draw(w)
		readPack(pack, 0, count, rewarded)
	} else {
		count[0] = draw.Binomial(w, size, behaviour.Probs[0])
		count[1] = size - count[0]
		for a, m := range s.prompts.Means[prompt] {
			rewarded[a] = draw.Binomial(w, count[a], m)
		}
	}
	total := s.total()
	s.reward += float64(total)
	up, down := sum.OpenBernoulli(s.advantages, total)
	if redraws := s.prompts.redraws; redraws != nil && (total == 0 || total == size) {
		if other, ok := redraws.draw(w, count, rewarded); ok {
			prompt = other
			up, down = s.advantages.Of(s.total())
		}
	}
	s.addCounted(sum, up, down)
	return prompt
}

// tabular holds the policies of the prompts of a run.
type tabular struct {
	prompts []promptPolicy
	groups  []drawnGroup // of this step
	visited []int        // the prompts of this step, each once
	reward  float64      // Σ J over the prompts
	gap     float64      // Σ z
	lag     option.Lag
	ratio   float64     // largest importance ratio since the last record, see sinceRecord
	clipped meanOfSteps // of the fractions of clipped samples, the mean over the groups
}

// drawnGroup is a group of samples of a prompt.
type drawnGroup struct {
	prompt     int
	statistics grpo.GroupStatistics
}

type promptPolicy struct {
	policy    *grpo.Policy
	snapshot  *grpo.Policy // π_old; on-policy it is policy itself
	start     *grpo.Policy // at step 0
	reference *grpo.Policy // π_ref
	force     *grpo.Force
	state     *grpo.OptimizerState
	g         [2]float64 // the gradient of the step; 0 unless it visits the prompt
	visited   bool
	means     []float64
	reward    float64 // J
}

func newTabular(c *Cell) *tabular {
	p := &tabular{
		prompts: make([]promptPolicy, len(c.Prompts.Means)),
		groups:  make([]drawnGroup, c.Estimator.GroupsPerStep),
		lag:     c.Lag,
	}
	for i := range p.groups {
		p.groups[i].statistics.Arms = make([]grpo.ArmStatistics, 2)
	}
	for x := range p.prompts {
		b := &p.prompts[x]
		start, reference := c.Init, c.Reference
		if c.Prompts.Starts != nil {
			start = []float64{c.Prompts.Starts[x] / 2, -c.Prompts.Starts[x] / 2}
			reference = start
		}
		b.start, b.reference, b.force = grpo.NewPolicy(start), grpo.NewPolicy(reference), grpo.NewForce(c.Estimator, reference)
		b.policy, b.state, b.means = grpo.NewPolicy(start), grpo.NewOptimizerState(2), c.Prompts.Means[x][:]
		if b.snapshot = b.policy; c.Lag.Interval > 1 {
			b.snapshot = grpo.NewPolicy(start)
		}
	}
	return p
}

// begin sets the state at step 0.
func (p *tabular) begin() {
	p.visited, p.reward, p.gap, p.ratio, p.clipped = p.visited[:0], 0, 0, 1, meanOfSteps{}
	for x := range p.prompts {
		b := &p.prompts[x]
		b.policy.Set(b.start)
		b.state.Reset()
		b.g, b.visited, b.reward = [2]float64{}, false, b.policy.Mean(b.means)
		p.reward += b.reward
		p.gap += gap(b.policy)
	}
}

// means returns the means of J and z over the prompts.
func (p *tabular) means() (reward, z float64) {
	n := float64(len(p.prompts))
	return p.reward / n, p.gap / n
}

// draw draws the groups of step t unless it reuses those of the block, and sets the gradients of
// their prompts.
func (p *tabular) draw(r *replica, t int) {
	if lag := r.cell.Lag; lag.Refreshes(t) {
		r.sampler.prompts.redraws.refresh()
		if lag.Interval > 1 {
			for x := range p.prompts {
				p.prompts[x].snapshot.Set(p.prompts[x].policy)
			}
		}
	}
	if r.cell.Draws(t) {
		p.drawGroups(r)
	}
	share, clipped := 1/float64(len(p.groups)), 0.0
	for i := range p.groups {
		x, group := p.groups[i].prompt, &p.groups[i].statistics
		b := &p.prompts[x]
		b.force.Sampled(r.g, group, b.policy, b.snapshot)
		clipped += float64(share * b.force.ClipFraction(group))
		if !b.visited {
			b.visited, p.visited = true, append(p.visited, x)
		}
		for a, f := range r.g {
			b.g[a] += float64(share * f)
		}
	}
	p.clipped.add(clipped)
}

func (p *tabular) drawGroups(r *replica) {
	r.statistics.Reset()
	r.sampler.reward = 0
	for i := range p.groups {
		x, group := r.sampler.prompts.choose(r.words, p.prompts), &p.groups[i].statistics
		group.Reset()
		p.groups[i].prompt = r.sampler.promptGroup(group, r.words, x, p.prompts[x].snapshot)
		r.statistics.Groups++
		r.statistics.ZeroVariance += group.ZeroVariance
	}
}

// norm returns the norm of the gradient of all prompts.
func (p *tabular) norm() float64 {
	squares := 0.0
	for x := range p.prompts {
		g := &p.prompts[x].g
		squares += float64(g[0]*g[0]) + float64(g[1]*g[1])
	}
	return math.Sqrt(squares)
}

// move updates the policies by the gradients of step t, and reports whether all are
// numbers. A prompt without gradient moves only if the optimizer has a memory.
func (p *tabular) move(o *option.Optimizer, t int) (ok bool) {
	within := !p.lag.Refreshes(t + 1) // else the next step has new snapshots
	rate, memory := grpo.Rate(o, t), o.Kind == option.Adam || o.Momentum != 0
	n, factor := len(p.visited), 1.0
	if memory {
		n = len(p.prompts)
	}
	if o.MaxNorm > 0 {
		factor = min(1, o.MaxNorm/p.norm())
	}
	ok = true
	for i := range n {
		b := &p.prompts[i]
		if !memory {
			b = &p.prompts[p.visited[i]]
		}
		p.gap -= gap(b.policy)
		b.g[0], b.g[1] = float64(factor*b.g[0]), float64(factor*b.g[1])
		grpo.Step(o, b.policy.Logits, b.g[:], b.state, rate)
		b.policy.Update()
		p.gap += gap(b.policy)
		if within {
			p.ratio = max(p.ratio, b.policy.MaxRatio(b.snapshot))
		}
		reward := b.policy.Mean(b.means)
		p.reward += reward - b.reward
		b.g, b.visited, b.reward = [2]float64{}, false, reward
		ok = ok && !math.IsNaN(b.policy.Probs[0])
	}
	p.visited = p.visited[:0]
	return ok
}

// observe writes the quantities of the step into v.
func (p *tabular) observe(r *replica, v []float64) {
	clear(v)
	n := float64(len(p.prompts))
	for x := range p.prompts {
		b := &p.prompts[x]
		v[entropyIndex] += b.policy.Entropy() / n
		v[collisionIndex] += b.policy.Collision() / n
		v[klReferenceIndex] += b.policy.Divergence(b.reference) / n
	}
	v[expectedRewardIndex], v[trueRewardIndex], v[logitGapIndex] = p.reward/n, p.reward/n, p.gap/n
	v[importanceRatioMaxIndex], p.ratio = min(p.ratio, grpo.LargestRatio), 1
	v[clipFractionIndex], v[gradientNormIndex] = p.clipped.take(), p.norm()
	v[zeroVarianceFractionIndex] = float64(r.statistics.ZeroVariance) / float64(r.statistics.Groups)
}
