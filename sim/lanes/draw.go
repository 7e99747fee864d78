//go:build goexperiment.simd && go1.27 && (amd64 || arm64)

package lanes

import (
	"simd"

	"grposim/sim/draw"
)

// draws says how groups are drawn and counted, as sampler of package sim and draw.Pack do.
type draws struct {
	counting   counting
	size       int            // G
	samples    int            // of a full pack, or of a group that needs several
	groupLanes uint64         // lanes of the first group of a pack
	rewards    []digits       // of the arms' means
	late       []late         // by arm, scratch
	decoded    [4][4]bitPairs // as draw.decoded
	sure       armBits        // of two arms: means of 1
	bits       [8 + sureRounds]armBits
	narrow     [2]armBits // eight bits, as draw.Pair
}

// counting says what holds the numbers of samples of a group.
type counting int

const (
	byFields  counting = iota // a pack of groups of 16, which are counted at once, or of one group
	byLanes                   // a pack of other groups, each of which is counted in its step
	whole                     // several packs with one group
	bySampler                 // the Sampler, which draws
)

// digits are those of a mean reward.
type digits struct {
	expansion uint64
	always    bool     // the mean is 1
	pairs     [4]uint8 // the first eight digits, two by two
	a, b      words    // as draw.narrowBits
}

// bitPairs are the lanes whose two bits are below a value, or equal to it.
type bitPairs struct{ less, equal words }

// late is a bound about which lanes may be undecided after their first bits.
type late struct{ open, rest simd.Uint64s }

func (k *runner) setDraws() {
	k.size = k.Estimator.GroupSize
	k.samples = k.size * k.Together
	switch {
	case k.Sampler != nil:
		k.counting = bySampler
		return
	case k.size > draw.MaxLanes:
		k.counting, k.samples = whole, k.size
	case k.size == 16 || k.Together == 1:
		k.counting = byFields
	default:
		k.counting = byLanes
	}
	k.groupLanes = ^uint64(0) >> (draw.MaxLanes - min(k.size, draw.MaxLanes))
	k.late = make([]late, k.arms)
	for _, mean := range k.Means {
		d := digits{}
		d.expansion, d.always = draw.MeanDigits(mean)
		for i := range d.pairs {
			d.pairs[i] = uint8(d.expansion >> (62 - 2*i) & 3)
		}
		d.a, d.b = narrowDigits(wordsOf(d.expansion), k.c.places)
		k.rewards = append(k.rewards, d)
	}
	if k.arms == 2 {
		k.setPair()
	}
}

func (k *runner) packOf(i int) []packed { return k.pack[i*k.arms:][:k.arms] }

func (k *runner) countsOf(i int) []counts { return k.counts[i*k.arms:][:k.arms] }

// aim sets the bounds of the snapshots, as draw.Pack.Aim.
func (k *runner) aim() {
	k.left = 0
	if k.counting == bySampler {
		k.aimSampler()
		return
	}
	for i := k.first; i < k.end; i++ {
		x, old, pack := &k.teams[i], k.oldOf(i), k.packOf(i)
		sum, least := floats{}, old[0].prob
		for a := range pack {
			p := old[a].prob
			sum, least = sum.Add(p), least.Min(p)
			if a < len(pack)-1 {
				pack[a].rest = expansion(sum)
			}
		}
		x.edge = any(below(floats{}, least).Not(), &k.space)
		if x.edge {
			after := words{}
			for a := len(pack) - 1; a >= 0; a-- {
				k.always[i*k.arms+a] = after.Not()
				after = after.Or(below(floats{}, old[a].prob))
			}
		}
	}
}

// drawGroup draws a group for every team and adds it to the sums. The first of a step begins them.
func (k *runner) drawGroup(first bool) {
	k.group++
	if k.left == 0 {
		k.left, k.group = max(1, k.Together), 0
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

// lanesOf returns the lanes of a group in its pack.
func (k *runner) lanesOf(group int) words { return wordsOf(k.groupLanes << uint(k.size*group)) }

// fill draws the packs of a team, and notes the rewards of 1 in each group.
func (k *runner) fill(i int) {
	x, pack, counted, to, n := &k.teams[i], k.packOf(i), k.countsOf(i), i*k.w, len(k.scalars)
	switch k.counting {
	case byFields:
		k.drawPack(i, k.samples)
		if k.size > 16 {
			k.countAll(pack, counted, x.rewarded, to)
			return
		}
		for a := range pack {
			counted[a].n, counted[a].k = fields(pack[a].lanes), fields(pack[a].lanes.And(x.rewarded))
		}
		total := fields(x.rewarded)
		for g := 0; g < k.left; g++ {
			total.And(k.c.low).Store(k.ups[to:])
			total = total.ShiftAllRight(16)
			to += n
		}
	case byLanes:
		k.drawPack(i, k.samples)
		for g := 0; g < k.left; g++ {
			count(x.rewarded.And(k.lanesOf(g))).Store(k.ups[to:])
			to += n
		}
	default:
		total := words{}
		for a := range pack {
			counted[a].n, counted[a].k = words{}, words{}
		}
		for left := k.samples; left > 0; left -= draw.MaxLanes {
			k.drawPack(i, min(left, draw.MaxLanes))
			total = total.Add(count(x.rewarded))
			for a := range pack {
				counted[a].n = counted[a].n.Add(count(pack[a].lanes))
				counted[a].k = counted[a].k.Add(count(pack[a].lanes.And(x.rewarded)))
			}
		}
		total.Store(k.ups[to:])
	}
}

// countAll counts the samples of a pack with one group.
func (k *runner) countAll(pack []packed, counted []counts, rewarded words, to int) {
	for a := range pack {
		counted[a].n, counted[a].k = count(pack[a].lanes), count(pack[a].lanes.And(rewarded))
	}
	count(rewarded).Store(k.ups[to:])
}

// drawPack is draw.Pack.Draw.
func (k *runner) drawPack(i, samples int) {
	x, pack := &k.teams[i], k.packOf(i)
	all := wordsOf(^uint64(0) >> uint(draw.MaxLanes-samples))
	switch narrow := samples <= draw.Narrow; {
	case len(pack) == 2 && narrow:
		k.drawPairNarrow(x, pack, k.always[2*i], all)
		return
	case len(pack) == 2:
		k.drawPair(x, pack, k.always[2*i], all)
		return
	case narrow:
		k.take(x, x.armWords[:2])
		k.take(x, x.rewardWords[:2])
		k.compareNarrow(x, pack, all)
	default:
		k.skip(x, 8)
		k.take(x, x.armWords[:])
		k.skip(x, 8)
		k.take(x, x.rewardWords[:])
		k.compareWide(x, pack, all)
	}
	if x.edge {
		k.decideEdges(pack, k.always[i*k.arms:], all)
	}
	k.finishArms(x, pack, all)
	if samples <= draw.Narrow {
		k.rewardNarrow(x, pack)
	} else {
		k.rewardWide(x, pack)
	}
}

// take takes words of the streams.
func (k *runner) take(x *team, to []words) {
	s0, s1, s2, s3 := x.s0, x.s1, x.s2, x.s3
	for i := range to {
		to[i], s0, s1, s2, s3 = next(s0, s1, s2, s3)
	}
	x.s0, x.s1, x.s2, x.s3 = s0, s1, s2, s3
	x.taken = x.taken.Add(wordsOf(uint64(len(to))))
}

// takeWhere takes a word where the mask is all ones.
func (x *team) takeWhere(mask words) (word words) {
	word, x.s0, x.s1, x.s2, x.s3 = nextWhere(mask, x.s0, x.s1, x.s2, x.s3)
	x.taken = x.taken.Sub(mask)
	return word
}

// skip skips the words at the end of a buffer of draw.Words that has fewer than so many left.
func (k *runner) skip(x *team, fewest uint64) {
	for {
		ends := above(x.taken.And(wordsOf(draw.BufferSize-1)), wordsOf(draw.BufferSize-fewest))
		if !any(ends, &k.space) {
			return
		}
		x.takeWhere(ends)
	}
}

// compareWide compares the first eight bits of all lanes with the bounds.
func (k *runner) compareWide(x *team, pack []packed, all words) {
	for a := range len(pack) - 1 {
		y := &pack[a]
		rest, less, open := y.rest, words{}, all
		for b := range x.armWords {
			less, open = compare(less, open, x.armWords[b], top(rest))
			rest = rest.Add(rest)
		}
		k.decide(y, &k.late[a], less, open, rest)
	}
}

// compareNarrow is compareWide for at most 16 lanes, of which a word has four bits each.
func (k *runner) compareNarrow(x *team, pack []packed, all words) {
	w0, w1, places := x.armWords[0], x.armWords[1], k.c.places
	for a := range len(pack) - 1 {
		y := &pack[a]
		t0, t1 := narrowDigits(y.rest, places)
		less, open := narrowCompare(w0, w1, t0, t1)
		k.decide(y, &k.late[a], less.And(all), open.And(all), y.rest.ShiftAllLeft(8))
	}
}

// decide notes the lanes that are below a bound, and those that are open with a rest of its digits.
func (k *runner) decide(y *packed, l *late, less, open, rest words) {
	y.lanes, l.open, l.rest = less, open.And(ones(rest)), rest
}

// decideEdges decides the lanes of bounds beyond which no arm has a probability.
func (k *runner) decideEdges(pack []packed, always []words, all words) {
	for a := range k.late[:len(pack)-1] {
		pack[a].lanes, k.late[a].open = pack[a].lanes.Or(always[a].And(all)), k.late[a].open.AndNot(always[a])
	}
}

// finishArms decides the open lanes and sets those of each arm, as draw.Pack.
func (k *runner) finishArms(x *team, pack []packed, all words) {
	last := len(pack) - 1
	late := k.late[:last]
	for {
		open := words{}
		for a := range late {
			open = open.Or(late[a].open)
		}
		if !any(open, &k.space) {
			break
		}
		word := x.takeWhere(ones(open))
		for a := range late {
			y, l := &pack[a], &late[a]
			less, still := compare(y.lanes, l.open, word, top(l.rest))
			rest := l.rest.Add(l.rest)
			y.lanes, l.open, l.rest = less, still.And(ones(rest)), rest
		}
	}
	before := words{}
	for a := range last {
		less := pack[a].lanes
		pack[a].lanes = less.AndNot(before)
		before = less
	}
	pack[last].lanes = all.AndNot(before)
}

// rewardWide sets the lanes of reward 1.
func (k *runner) rewardWide(x *team, pack []packed) {
	for i := range k.decoded {
		high, low := x.rewardWords[2*i], x.rewardWords[2*i+1]
		or, d := high.Or(low), &k.decoded[i]
		d[0] = bitPairs{words{}, or.Not()}
		d[1] = bitPairs{or.Not(), low.AndNot(high)}
		d[2] = bitPairs{high.Not(), high.AndNot(low)}
		d[3] = bitPairs{high.And(low).Not(), high.And(low)}
	}
	rewarded, open := words{}, words{}
	for a := range pack {
		lanes, m := pack[a].lanes, &k.rewards[a]
		if m.always {
			rewarded = rewarded.Or(lanes)
			continue
		}
		d0, d1 := &k.decoded[0][m.pairs[0]&3], &k.decoded[1][m.pairs[1]&3]
		d2, d3 := &k.decoded[2][m.pairs[2]&3], &k.decoded[3][m.pairs[3]&3]
		less := d2.less.Or(d2.equal.And(d3.less))
		less = d0.less.Or(d0.equal.And(d1.less.Or(d1.equal.And(less))))
		rewarded = rewarded.Or(lanes.And(less))
		open = open.Or(lanes.And(d0.equal).And(d1.equal).And(d2.equal).And(d3.equal))
	}
	k.finishRewards(x, pack, rewarded, open, 8)
}

// rewardNarrow is rewardWide for at most 16 lanes.
func (k *runner) rewardNarrow(x *team, pack []packed) {
	rewarded, open := words{}, words{}
	for a := range pack {
		lanes, m := pack[a].lanes, &k.rewards[a]
		if m.always {
			rewarded = rewarded.Or(lanes)
			continue
		}
		less, still := narrowCompare(x.rewardWords[0], x.rewardWords[1], m.a, m.b)
		rewarded, open = rewarded.Or(lanes.And(less)), open.Or(lanes.And(still))
	}
	k.finishRewards(x, pack, rewarded, open, 8)
}

// finishRewards decides the open lanes, from a bit of the means on.
func (k *runner) finishRewards(x *team, pack []packed, rewarded, open words, bit int) {
	for ; bit < 63 && any(open, &k.space); bit++ {
		threshold := words{}
		for a := range pack {
			if k.rewards[a].expansion<<uint(bit)>>63 != 0 {
				threshold = threshold.Or(pack[a].lanes)
			}
		}
		rewarded, open = compare(rewarded, open, x.takeWhere(ones(open)), threshold)
	}
	x.rewarded = rewarded
}

// lookUp turns totals into advantages.
func (k *runner) lookUp(from, to int) {
	ups, downs, table := k.ups[from:to], k.downs[from:to], k.table
	for i, total := range ups {
		entry := &table[total]
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
			n, r := k.numbers(i, a)
			total = total.Add(r)
			positive, negative := up.Mul(r), down.Mul(n.Sub(r))
			if !first {
				positive, negative = sums[a].positive.Add(positive), sums[a].negative.Add(negative)
			}
			sums[a].positive, sums[a].negative = positive, negative
			if len(k.tally) > 0 {
				k.addTally(&k.tally[i*k.arms+a], up, down, n, r, first)
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

// numbers returns the samples of an arm in the current group, and the rewarded ones.
func (k *runner) numbers(i, a int) (n, r floats) {
	y := &k.counts[i*k.arms+a]
	if k.counting != byLanes {
		return number(y.n.And(k.c.low)), number(y.k.And(k.c.low))
	}
	lanes := k.pack[i*k.arms+a].lanes.And(k.lanesOf(k.group))
	return number(count(lanes)), number(count(lanes.And(k.teams[i].rewarded)))
}

// shift goes to the next group of fields.
func (k *runner) shift() {
	if k.counting == byLanes {
		return
	}
	list := k.counts[k.first*k.arms : k.end*k.arms]
	for j := range list {
		list[j].n, list[j].k = list[j].n.ShiftAllRight(16), list[j].k.ShiftAllRight(16)
	}
}

// addTally adds numbers of samples of an arm.
func (k *runner) addTally(y *tally, up, down, all, ones floats, first bool) {
	positives, negatives := masked(ones, below(floats{}, up)), masked(all.Sub(ones), below(down, floats{}))
	if !first {
		all, positives, negatives = y.drawn.Add(all), y.positives.Add(positives), y.negatives.Add(negatives)
	}
	y.drawn, y.positives, y.negatives = all, positives, negatives
}
