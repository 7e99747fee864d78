//go:build goexperiment.simd && go1.27 && (amd64 || arm64)

package lanes

import (
	"simd"

	"grposim/sim/draw"
)

// draws says how groups are drawn and counted, as draw.Pack does.
type draws struct {
	together int           // groups of a draw; 0: the Sampler draws
	samples  []simd.Int16s // of a draw
	last     simd.Int16s   // all bits of the samples of the last vector
	full     words         // counts of all samples, before groups are joined
	tops     words         // the top bits of samples
	shares   []bounds      // by arm

	scale, half3, nearest floats // of bounds: 2¹⁵; 3/2; what rounds, with a top bit
}

// bounds are those of an arm, or the shares that their intervals have of it, as in draw.Pack.
type bounds struct{ first, second floats }

func (k *runner) setDraws() {
	if k.Sampler != nil {
		return
	}
	groups, n, last := draw.PackLayout(k.Estimator.GroupSize, k.PerPolicy)
	k.together, k.samples = groups, make([]simd.Int16s, n)
	k.last = shortsOf(wordsOf(last * 0xffff))
	k.full = wordsOf(uint64(n-1)*draw.PackLow + last)
	for a, mean := range k.Means {
		share := bounds{floatsOf(mean), floatsOf(1 - mean)}
		if a&1 == 1 {
			share.first, share.second = share.second, share.first
		}
		k.shares = append(k.shares, share)
	}
	k.tops, k.half3 = wordsOf(draw.PackTop), floatsOf(1.5)
	k.scale, k.nearest = floatsOf(draw.PackScale), floatsOf(draw.ToInteger+draw.PackScale)
}

func (k *runner) countsOf(i int) []counts { return k.counts[i*k.arms:][:k.arms] }

// aim sets the bounds of the snapshots, as draw.Pack.Aim.
func (k *runner) aim() {
	k.left = 0
	if k.together == 0 {
		k.aimSampler()
		return
	}
	one, scale, shares := k.c.one, k.scale, k.shares
	for i := k.first; i < k.end; i++ {
		old, b := k.oldOf(i), k.bounds[i*k.arms:][:len(shares)]
		sum := floats{}
		for a := range b {
			sum = sum.Add(old[a].prob.Mul(shares[a].first))
			b[a].first = sum.Min(one).Mul(scale)
		}
		for a := len(b) - 1; a >= 0; a-- {
			sum = sum.Add(old[a].prob.Mul(shares[a].second))
			b[a].second = sum.Min(one).Mul(scale)
		}
	}
}

// drawGroup draws a group for every team and adds it to the sums. The first of a step begins them.
func (k *runner) drawGroup(first bool) {
	k.group++
	if k.left == 0 {
		k.left, k.group = k.together, 0
		for i := k.first; i < k.end; i++ {
			k.fill(i)
		}
		for g, n := 0, len(k.scalars); g < k.left; g++ {
			k.lookUp(g*n+k.first*k.w, g*n+k.end*k.w)
		}
	}
	k.left--
	if !k.fused {
		k.add(first)
		k.shift()
	}
}

// fill draws the groups of a team, and notes the rewards of 1 in each, as draw.Pack.Draw.
func (k *runner) fill(i int) {
	shift := k.take(&k.teams[i])
	b, counted := k.bounds[i*k.arms:][:k.arms], k.countsOf(i)
	for a := range counted {
		counted[a].rewarded, counted[a].others = k.below(b[a].first.Add(shift), b[a].second.Add(shift))
	}
	counted[0].others = k.full
	total, before := words{}, counted[len(counted)-1].rewarded
	for a := len(counted) - 1; a >= 0; a-- {
		y, under := &counted[a], words{}
		if a > 0 {
			under = counted[a-1].rewarded
		}
		first, second := k.joined(y.rewarded.Sub(under)), k.joined(y.others.Sub(before))
		before = y.others
		if a&1 == 1 {
			first, second = second, first
		}
		y.rewarded, y.others = first, second
		total = total.Add(first)
	}
	to, n := i*k.w, len(k.scalars)
	for g := 0; g < k.left; g++ {
		total.And(k.c.low).Store(k.ups[to:])
		total = total.ShiftAllRight(16)
		to += n
	}
}

// joined adds up the counts of the parts of each group.
func (k *runner) joined(n simd.Uint64s) simd.Uint64s {
	if k.together < 4 {
		n = n.Add(n.ShiftAllRight(32))
	}
	if k.together == 1 {
		n = n.Add(n.ShiftAllRight(16))
	}
	return n
}

// take takes the words of a draw. It returns the number by which bounds are rounded.
func (k *runner) take(x *team) (shift floats) {
	samples, tops := k.samples, k.tops
	word, s0, s1, s2, s3 := next(x.s0, x.s1, x.s2, x.s3)
	shift = word.ShiftAllRight(12).Or(k.c.one.ToBits()).BitsToFloat64().Sub(k.half3)
	for j := range samples {
		word, s0, s1, s2, s3 = next(s0, s1, s2, s3)
		samples[j] = shortsOf(word.Or(tops))
	}
	x.s0, x.s1, x.s2, x.s3 = s0, s1, s2, s3
	return shift
}

// below returns how many samples of each group are below each of two bounds, rounded.
func (k *runner) below(one, other simd.Float64s) (simd.Uint64s, simd.Uint64s) {
	s, t := k.threshold(one), k.threshold(other)
	m, n := simd.Int16s{}, simd.Int16s{}
	last := len(k.samples) - 1
	samples := k.samples[:last]
	for j := range samples {
		m = m.Sub(s.Greater(samples[j]).ToInt16s())
		n = n.Sub(t.Greater(samples[j]).ToInt16s())
	}
	m = m.Sub(s.Greater(k.samples[last]).ToInt16s().And(k.last))
	n = n.Sub(t.Greater(k.samples[last]).ToInt16s().And(k.last))
	return m.ToBits().ReshapeToUint64s(), n.ToBits().ReshapeToUint64s()
}

// threshold returns a rounded bound beside each sample. Their top bits make both negative or 0.
func (k *runner) threshold(bound floats) simd.Int16s {
	t := bound.Add(k.nearest).ToBits().ShiftAllLeft(48)
	t = t.Or(t.ShiftAllRight(16))
	return shortsOf(t.Or(t.ShiftAllRight(32)))
}

// lookUp turns totals into advantages.
func (k *runner) lookUp(from, to int) {
	ups, downs, table := k.ups[from:to], k.downs[from:to], k.table
	for i, total := range ups {
		entry := &table[uint8(total)]
		ups[i], downs[i] = entry[0], entry[1]
	}
}

// add adds a group, as grpo.ArmStatistics.AddBernoulli.
func (k *runner) add(first bool) {
	for i := k.first; i < k.end; i++ {
		x, c, sums := &k.teams[i], &k.c, k.sums[i*k.arms:][:k.arms]
		up, down := k.advantagesOf(i)
		total := floats{}
		for a := range sums {
			y := &k.counts[i*k.arms+a]
			r, others := number(y.rewarded.And(c.low)), number(y.others.And(c.low))
			total = total.Add(r)
			positive, negative := up.Mul(r), down.Mul(others)
			if !first {
				positive, negative = sums[a].positive.Add(positive), sums[a].negative.Add(negative)
			}
			sums[a].positive, sums[a].negative = positive, negative
			if len(k.tally) > 0 {
				k.addTally(&k.tally[i*k.arms+a], up, down, r, others, first)
			}
		}
		same := masked(c.one, c.mixed(total).Not())
		if !first {
			same, total = x.zero.Add(same), x.ones.Add(total)
		}
		x.zero, x.ones = same, total
	}
}

// advantagesOf returns the advantages of the current group.
func (k *runner) advantagesOf(i int) (up, down floats) {
	at := k.group*len(k.scalars) + i*k.w
	return load(k.ups[at:]).BitsToFloat64(), load(k.downs[at:]).BitsToFloat64()
}

// mixed is all ones where a number of rewards of 1 is neither 0 nor G.
func (c *constants) mixed(total floats) words {
	return differ(total, floats{}).And(differ(total, c.size))
}

// shift goes to the next group of fields.
func (k *runner) shift() {
	list := k.counts[k.first*k.arms : k.end*k.arms]
	for j := range list {
		list[j].rewarded, list[j].others = list[j].rewarded.ShiftAllRight(16), list[j].others.ShiftAllRight(16)
	}
}

// addTally adds numbers of samples of an arm.
func (k *runner) addTally(y *tally, up, down, rewarded, others floats, first bool) {
	all := rewarded.Add(others)
	positives, negatives := masked(rewarded, below(floats{}, up)), masked(others, below(down, floats{}))
	if !first {
		all, positives, negatives = y.drawn.Add(all), y.positives.Add(positives), y.negatives.Add(negatives)
	}
	y.drawn, y.positives, y.negatives = all, positives, negatives
}
