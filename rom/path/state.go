package path

import (
	"slices"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/group"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// state is the normal law of the state of runs before a step, of blocks of n coordinates. They are
// the policy, what moves it, and the policies that may draw groups. It has the step's force too.
type state struct {
	*force.Model
	*snapshots
	bases // of the reduced coordinates of logits
	n     int
	// indices of the present policy, of those that are kept, and of the noise of the groups that a
	// block reuses; 0: each step draws
	present, first, reused int
	reference              int // index of π_ref; 0: it stays
	uses                   int // number of steps that use the groups of a draw
	draw                   int // index of how the prompts of a draw differ, and of its sum, see order
	epoch                  int // draws of an epoch of which the order counts; 0: of none

	mean []float64
	cov  [][]float64  // covariance
	rows [][]float64  // scratch space of takeAlong
	lost bool         // the spread is too large to be followed
	turn force.Turned // of the step

	nearBound float64 // see shifted
	visit     visit

	most    float64 // largest norm of a gradient that acts on runs, see ScaledLaw; 0: none
	limited         // where limit has set it

	// Where meanForce has set the force: both policies, and by age the mean and what limit has set.
	now         []float64
	olds, means [][]float64
	laws        []limited
	others      []limited // by age what the other groups of a step add; nil: its groups have one age
}

// limited has the law of the force of a step under a largest norm. free and noise are mean and
// covariance without the norm, scaled is the covariance with it.
type limited struct {
	free          []float64
	noise, scaled *mat.SymDense
	counted       *[4]float64 // see force.Model.LimitedStep; nil: that of a normal gradient
}

// visit compares the runs whose block draws groups of a prompt, a share p of them, with the others.
// It holds by how much their θ, m and v differ since the block began. Of the heavy ball m is the
// velocity. The former are (1−p)·moved away from the mean of all runs; weights and penalties are
// taken there. Of B groups, each with the chance p, the differences are those by one group more.
type visit struct {
	chance      float64   // p; 1: all draw
	groups      float64   // B
	force       []float64 // p times that of the block's first step
	moved, m, v []float64
}

// from returns where the groups of a prompt act, given the mean of all runs.
func (v *visit) from(mean []float64) []float64 {
	return floats.AddScaledTo(make([]float64, len(mean)), mean, 1-v.chance, v.moved)
}

// leave takes (1−p)·force·moved out of the covariance c of the reused noise with the logits. That
// is what the draw itself contributes to it.
func (v *visit) leave(c *mat.Dense) {
	n := len(v.moved)
	c.RankOne(c, v.chance-1, mat.NewVecDense(n, v.force), mat.NewVecDense(n, v.moved))
}

// beginVisit begins a block at its policy and that which draws.
func (s *state) beginVisit(now, old []float64) {
	v := &s.visit
	clear(v.moved)
	clear(v.m)
	clear(v.v)
	s.Set(now, old)
	v.chance = force.Visiting(s.Model)
}

// newModel returns the model of runs without a largest norm that acts, and that norm. How the
// prompts of an epoch differ comes to 0 in it. Where Adam or a norm divides by the root of what a
// step has, (C−B)/(C−1) of that with replacement is left.
func newModel(p *cell.Params) (m *force.Model, most float64) {
	if p.LimitedOnTheWay() {
		p, most = new(cell.WithoutNorm(*p)), p.Optimizer.MaxNorm
	}
	m = force.New(p)
	if law, ok := m.Law.(*group.Prompts); ok && p.Prompts.Order == option.Shuffled {
		if law.Between = 0; p.DrawnAsByChance() {
			law.Between = inStep(law, p)
		}
	}
	return m, most
}

func inStep(law *group.Prompts, p *cell.Params) float64 {
	return max(law.Prompts()-float64(p.GroupsPerStep), 0) / (law.Prompts() - 1)
}

// newState returns a state with so many blocks before the policies that are kept.
func newState(p *cell.Params, init []float64, steps, n, present, blocks int) state {
	arms := len(p.Arms)
	s := state{snapshots: newSnapshots(&p.Lag, init, steps).likely(),
		n: n, present: present, first: blocks * n, uses: 1}
	s.Model, s.most = newModel(p)
	s.visit = visit{1, float64(p.GroupsPerStep), make([]float64, n), make([]float64, n),
		make([]float64, n), make([]float64, n)}
	one := linear.BasisOfArms(arms)
	s.bases = bases{one, one, one, one}
	size := s.first + n*s.kept()
	if p.ReferenceUpdate.Interval > 0 {
		s.reference, size = size, size+n
	}
	if prompts := len(p.Prompts.First); p.Prompts.Order == option.Shuffled && !p.DrawnAsByChance() &&
		prompts > p.GroupsPerStep {
		s.draw, s.epoch, size = size, prompts/p.GroupsPerStep, size+2*n
	}
	if p.Samples == option.Reused && s.period > 1 {
		s.uses, s.reused, size = s.period, size, size+(blocks-1)*n
		s.visit.chance = cell.Visiting(p)
	}
	s.mean, s.cov = make([]float64, size), group.Square(size)
	s.rows = group.Zeros((blocks-1)*n, size)
	return s
}

// limit overwrites the mean of the force that is set, of the age i, with that of a limited step. It
// keeps both laws.
func (s *state) limit(i int, mean []float64) {
	if s.most == 0 {
		return
	}
	noise := s.Covariance()
	if s.others != nil {
		floats.Add(mean, s.others[i].free)
		addScaled(noise, 1, s.others[i].noise)
	}
	s.limitStep(mean, noise)
}

// limitStep is limit of a step of this mean and covariance.
func (s *state) limitStep(mean []float64, noise *mat.SymDense) {
	s.limited = limited{free: slices.Clone(mean), noise: noise,
		scaled: mat.NewSymDense(len(mean), nil)}
	if s.GroupsCounted() {
		k := force.LimitedStep(s.Model, s.most, mean[0], s.noise.At(0, 0))
		s.counted, mean[0], mean[1] = &k, k[0], -k[0]
		s.scaled = mat.NewSymDense(2, []float64{k[1], -k[1], -k[1], k[1]})
		return
	}
	s.scaled.CopySym(s.noise)
	ScaledLaw(mean, s.scaled, s.most)
}

// ofStep is Covariance where limit has set the mean.
func (s *state) ofStep() *mat.SymDense {
	if s.most > 0 {
		return s.scaled
	}
	return s.Covariance()
}

// missed returns the share of the mean force that a limit leaves out of it, given the excess of arms.
// Of B > 1 groups that are drawn with replacement it is 1/BC. With more of them of a prompt others
// have fewer, of which LimitedStep knows the first order in 1/B.
func (s *state) missed(mean, excess []float64) float64 {
	size := floats.Norm(mean, 2)
	switch {
	case s.most == 0 || size == 0:
		return 0
	case s.counted == nil:
		return LeftOut(s.free, s.noise, excess, s.GroupSize*s.GroupsPerStep, s.most) / size
	case s.Chance < 1 && s.GroupsPerStep > 1:
		return s.Chance / float64(s.GroupsPerStep)
	}
	return 0
}

// unlikely is the probability of the oldest ages below which the spread counts them as younger.
const unlikely = 1e-3

// likely leaves the oldest ages out.
func (s *snapshots) likely() *snapshots {
	n := len(s.ages) - 1
	for ; n > 0 && s.shares[n] < unlikely; n-- {
		s.shares[n-1] += s.shares[n]
	}
	s.ages, s.shares, s.ring = s.ages[:n+1], s.shares[:n+1], s.ring[:s.ages[n]+1]
	return s
}

// kept returns the number of past policies in the state of a run.
func (s *snapshots) kept() int {
	if s.onPolicy() {
		return 0
	}
	return len(s.ring)
}

// drawing returns the indices of the policies that draw the groups of step t before it.
func (s *state) drawing(t int) []int {
	at := s.inputs(t)
	for i, age := range s.ages {
		if age == 0 && s.refreshes(t) { // which comes with the step
			at[len(at)-len(s.ages)+i] = s.present
		}
	}
	return at[len(at)-len(s.ages):]
}

// inputs returns the indices of the policies that the force of step t depends on: π_ref where it
// moves, the present one and, unless it is the same, those that draw.
func (s *state) inputs(t int) []int {
	at := []int{s.reference, s.present}[1-s.before():]
	for _, age := range s.ages[:min(len(s.ages), s.kept())] {
		at = append(at, s.first+s.n*s.place(t, age))
	}
	return at
}

// before returns the number of policies that come first in inputs.
func (s *state) before() int {
	if s.reference > 0 {
		return 1
	}
	return 0
}

// moveReference moves π_ref after step t, and makes the optimizer forget its state, of coordinates
// from … to.
func (s *state) moveReference(t, from, to int) {
	u := s.ReferenceUpdate
	if !u.Moves(t) {
		return
	}
	s.scale(s.reference, s.reference+s.n, 1-u.Rate)
	s.add(s.reference, s.present, slices.Repeat([]float64{u.Rate}, s.n))
	floats.AddScaled(s.mean[s.reference:][:s.n], u.Rate, s.mean[s.present:][:s.n])
	if resets(s.Params, t) {
		s.scale(from, to, 0)
	}
}

// scale multiplies coordinates from … to by a number.
func (s *state) scale(from, to int, by float64) {
	floats.Scale(by, s.mean[from:to])
	for i, row := range s.cov {
		if floats.Scale(by, row[from:to]); from <= i && i < to {
			floats.Scale(by, row)
		}
	}
}

// refresh makes the snapshot of step t, if it takes one, the present policy.
func (s *state) refresh(t int) {
	if s.onPolicy() || !s.refreshes(t) {
		return
	}
	from, to := s.present, s.first+s.n*s.place(t, 0)
	copy(s.mean[to:to+s.n], s.mean[from:from+s.n])
	for i := range s.n {
		copy(s.cov[to+i], s.cov[from+i])
	}
	for _, row := range s.cov {
		copy(row[to:to+s.n], row[from:from+s.n])
	}
}

// renew makes the reused noise in step t, if it draws, one of a covariance given by rows. Nothing
// depends on it yet.
func (s *state) renew(t int, noise func(i int) []float64) (drawn bool) {
	if s.reused == 0 || !s.refreshes(t) {
		return false
	}
	for i, row := range s.cov {
		if clear(row[s.reused:]); i >= s.reused {
			clear(row)
			copy(row[s.reused:], noise(i-s.reused))
		}
	}
	return true
}

// block returns n rows and columns of a covariance.
func block(cov [][]float64, row, column, n int) *mat.Dense {
	out := mat.NewDense(n, n, nil)
	for i := range n {
		out.SetRow(i, cov[row+i][column:column+n])
	}
	return out
}

// policies returns mean and covariance of policies in reduced coordinates; ok is false if they are
// too large to be followed.
func (s *state) policies(at []int) (mean []float64, cov [][]float64, ok bool) {
	arms, n := s.q.Dims()
	cov, ok = group.Square(n*len(at)), isSquarable(s.mean)
	for i, from := range at {
		own := s.mean[from : from+s.n]
		if s.n == arms {
			own = linear.Reduce(s.q, own)
		}
		mean = append(mean, own...)
		for k, to := range at {
			reduced := block(s.cov, from, to, s.n)
			if s.n == arms {
				reduced = linear.Within(s.q, reduced)
			}
			for r := range n {
				copy(cov[i*n+r][k*n:], reduced.RawRowView(r))
			}
		}
	}
	for i := range cov {
		ok = ok && cov[i][i] <= maxPathVariance
	}
	return mean, cov, ok
}

// meanForce sets the state and writes the mean force. A step whose groups have ages of their own is
// limited as a whole.
func (s *state) meanForce(dst, now []float64, olds [][]float64) {
	clear(dst)
	s.now, s.olds, s.laws, s.others = now, olds, s.laws[:0], nil
	for i, old := range olds {
		if len(s.means) == i {
			s.means = append(s.means, make([]float64, len(dst)))
		}
		s.Set(now, old)
		s.MeanForce(s.means[i])
		if s.several() {
			s.scaled = s.Covariance()
		} else {
			s.limit(i, s.means[i])
		}
		s.laws = append(s.laws, s.limited)
		floats.AddScaled(dst, s.shares[i], s.means[i])
	}
	if !s.several() {
		return
	}
	whole, others := s.covariance(dst), make([]limited, len(olds))
	for i := range others {
		others[i] = limited{floats.SubTo(make([]float64, len(dst)), dst, s.means[i]),
			mat.NewSymDense(len(dst), nil), nil, nil}
		addScaled(others[i].noise, 1, whole)
		addScaled(others[i].noise, -1, s.laws[i].scaled)
	}
	s.others = others
	s.limitStep(dst, whole)
	for i := range s.laws {
		s.laws[i] = s.limited
	}
}

// several reports whether a limited step has groups of several ages.
func (s *state) several() bool { return s.most > 0 && len(s.shares) > 1 && s.AgeDraws() > 1 }

// covariance returns that of the force of a step, whose mean is given, with that of its ages.
func (s *state) covariance(mean []float64) *mat.SymDense {
	// whose step has the mean over the ages, or is limited as a whole
	if len(s.shares) == 1 || s.GroupSize == option.Infinite || s.others != nil {
		return s.ofStep()
	}
	sum, off := mat.NewSymDense(len(mean), nil), mat.NewVecDense(len(mean), nil)
	for i, share := range s.shares {
		s.setAge(i)
		addScaled(sum, share, s.ofStep())
		floats.SubTo(off.RawVector().Data, s.means[i], mean)
		sum.SymRankOne(sum, share/float64(max(s.AgeDraws(), 1)), off)
	}
	return sum
}

// setAge returns to the policies and the law of the age i where meanForce has set the force.
func (s *state) setAge(i int) {
	s.Set(s.now, s.olds[i])
	s.limited = s.laws[i]
}

// jointHere returns what force.Model.Joint does, of limited gradients as of normal ones but for the
// excess of one arm.
func (s *state) jointHere(mean []float64) (joint [][]float64, excess []float64) {
	if s.most == 0 {
		return s.Joint(mean)
	}
	if k := s.counted; k != nil {
		kurtosis := k[3] / (k[1] * k[1])
		return force.JointOf(mean, func(a, b int) (k11, k12, k22 float64) {
			side := [2]float64{1, -1}
			return side[a] * side[b] * k[1], side[a] * k[2], k[3]
		}), []float64{kurtosis, kurtosis}
	}
	_, excess = s.Joint(s.free)
	return force.JointOf(mean, func(a, b int) (k11, k12, k22 float64) {
		v := s.scaled.At(a, b)
		if a == b {
			k22 = excess[a] * v * v
		}
		return v, 0, k22
	}), excess
}

// joint is jointHere of a step of any age, with the share of the mean force that a limit leaves out.
func (s *state) joint(mean []float64) (joint [][]float64, excess []float64, missed float64) {
	if len(s.shares) == 1 {
		joint, excess = s.jointHere(mean)
		return joint, excess, s.missed(mean, excess)
	}
	joint, excess = group.Square(2*len(mean)), make([]float64, len(mean))
	all := s.covariance(mean)
	for i, row := range joint[:len(mean)] {
		mat.Row(row[:len(mean)], i, all)
	}
	for i, share := range s.shares {
		s.setAge(i)
		one, rare := s.jointHere(mean)
		missed += share * s.missed(mean, rare)
		floats.AddScaled(excess, share, rare)
		for a, row := range one {
			from := len(mean) * (1 - a/len(mean)) // the covariance of g has that of its ages
			floats.AddScaled(joint[a][from:], share, row[from:])
		}
	}
	return joint, excess, missed
}

// addScaled adds w times a matrix to sum.
func addScaled(sum *mat.SymDense, w float64, m *mat.SymDense) {
	data, more, n := sum.RawSymmetric().Data, m.RawSymmetric().Data, sum.SymmetricDim()
	for i := range n {
		floats.AddScaled(data[i*n+i:(i+1)*n], w, more[i*n+i:(i+1)*n])
	}
}
