//go:build goexperiment.simd && go1.27 && (amd64 || arm64)

package lanes

import "simd"

// Functions of this file are the ways of two arms. What differs by the arm of a sample is that of the
// second arm, and its difference (exclusive or) from that of the first, as in draw.Pair.

// armBits are a bit of both means, or what takes its place.
type armBits struct{ second, differs simd.Uint64s }

// of returns the bits of all lanes, of which those of first have the first arm.
func (b *armBits) of(first words) words { return b.second.Xor(first.And(b.differs)) }

// bitsOf returns all ones for each arm that has the value.
func bitsOf(first, second bool) armBits {
	one, other := uint64(0), uint64(0)
	if first {
		one = ^one
	}
	if second {
		other = ^other
	}
	return armBits{wordsOf(other), wordsOf(one ^ other)}
}

// sureRounds is the number of words that are taken for open lanes before a test whether there are any.
const sureRounds = 3

// setPair sets the bits of the means.
func (k *runner) setPair() {
	one, other := &k.rewards[0], &k.rewards[1]
	k.sure = bitsOf(one.always, other.always)
	k.narrow = [2]armBits{{other.a, one.a.Xor(other.a)}, {other.b, one.b.Xor(other.b)}}
	for i := range k.bits {
		k.bits[i] = bitsOf(one.expansion<<uint(i)>>63 != 0, other.expansion<<uint(i)>>63 != 0)
	}
}

// drawPair is draw.Pair.Draw of more than 16 lanes.
func (k *runner) drawPair(x *team, pack []packed, always, all words) {
	k.skip(x, 8)
	s0, s1, s2, s3, taken := x.s0, x.s1, x.s2, x.s3, x.taken
	rest, first, open := pack[0].rest, words{}, all
	var word words
	for b := 0; b < 8; b++ {
		word, s0, s1, s2, s3 = next(s0, s1, s2, s3)
		first, open = compare(first, open, word, top(rest))
		rest = rest.Add(rest)
	}
	if x.edge {
		first, open = first.Or(always.And(all)), open.AndNot(always)
	}
	x.s0, x.s1, x.s2, x.s3, x.taken = s0, s1, s2, s3, taken.Add(wordsOf(8))
	k.skip(x, 8)
	s0, s1, s2, s3, taken = x.s0, x.s1, x.s2, x.s3, x.taken
	for b := range x.rewardWords {
		x.rewardWords[b], s0, s1, s2, s3 = next(s0, s1, s2, s3)
	}
	taken = taken.Add(wordsOf(8))
	open = open.And(ones(rest))
	for b := 0; b < sureRounds; b++ {
		mask := ones(open)
		word, s0, s1, s2, s3 = nextWhere(mask, s0, s1, s2, s3)
		taken = taken.Sub(mask)
		first, open = compare(first, open, word, top(rest))
		rest = rest.Add(rest)
		open = open.And(ones(rest))
	}
	x.s0, x.s1, x.s2, x.s3, x.taken = s0, s1, s2, s3, taken
	if any(open, &k.space) {
		first = k.finishPair(x, first, open, rest)
	}
	rewarded := all.And(k.sure.of(first))
	open = all.Xor(rewarded)
	for b := range x.rewardWords {
		rewarded, open = compare(rewarded, open, x.rewardWords[b], k.bits[b].of(first))
	}
	s0, s1, s2, s3, taken = x.s0, x.s1, x.s2, x.s3, x.taken
	for b := 8; b < 8+sureRounds; b++ {
		mask := ones(open)
		word, s0, s1, s2, s3 = nextWhere(mask, s0, s1, s2, s3)
		taken = taken.Sub(mask)
		rewarded, open = compare(rewarded, open, word, k.bits[b].of(first))
	}
	x.s0, x.s1, x.s2, x.s3, x.taken = s0, s1, s2, s3, taken
	pack[0].lanes, pack[1].lanes = first, all.AndNot(first)
	k.finishRewards(x, pack, rewarded, open, 8+sureRounds)
}

// drawPairNarrow is drawPair of at most 16 lanes, of which a word has four bits each.
func (k *runner) drawPairNarrow(x *team, pack []packed, always, all words) {
	k.skip(x, 4)
	w0, s0, s1, s2, s3 := next(x.s0, x.s1, x.s2, x.s3)
	w1, s0, s1, s2, s3 := next(s0, s1, s2, s3)
	w2, s0, s1, s2, s3 := next(s0, s1, s2, s3)
	w3, s0, s1, s2, s3 := next(s0, s1, s2, s3)
	x.s0, x.s1, x.s2, x.s3, x.taken = s0, s1, s2, s3, x.taken.Add(wordsOf(4))
	t0, t1 := narrowDigits(pack[0].rest, k.c.places)
	first, open := narrowCompare(w0, w1, t0, t1)
	if x.edge {
		first, open = first.Or(always), open.AndNot(always)
	}
	rest := pack[0].rest.ShiftAllLeft(8)
	first, open = first.And(all), open.And(all).And(ones(rest))
	if any(open, &k.space) {
		first = k.finishPair(x, first, open, rest)
	}
	everywhere := first.Or(first.ShiftAllLeft(16))
	everywhere = everywhere.Or(everywhere.ShiftAllLeft(32))
	sure := all.And(k.sure.of(first))
	rewarded, open := narrowCompare(w2, w3, k.narrow[0].of(everywhere), k.narrow[1].of(everywhere))
	pack[0].lanes, pack[1].lanes = first, all.AndNot(first)
	k.finishRewards(x, pack, rewarded.And(all).Or(sure), open.And(all).AndNot(sure), 8)
}

// finishPair decides the open lanes of the first arm.
func (k *runner) finishPair(x *team, first, open, rest words) words {
	for any(open, &k.space) {
		first, open = compare(first, open, x.takeWhere(ones(open)), top(rest))
		rest = rest.Add(rest)
		open = open.And(ones(rest))
	}
	return first
}

// movePairs is moveFused of two arms.
func (k *runner) movePairs(n *stepNumbers, weighted, counts, averages bool) {
	c, exact, rate := &k.c, k.exact, wordsOf(n.rate).BitsToFloat64()
	fielded, low := k.counting != byLanes, c.low
	e := k.exp.list[:k.end-k.first]
	for j := range e {
		i := k.first + j
		x, now, old, arms := &k.teams[i], k.now[i*2:][:2], k.old[i*2:][:2], k.state[i*2:][:2]
		up, down := k.advantagesOf(i)
		var n0, r0, r1 floats
		if fielded {
			y := k.counts[2*i:][:2]
			n, r, s := y[0].n, y[0].k, y[1].k
			y[0].n, y[0].k = n.ShiftAllRight(16), r.ShiftAllRight(16)
			y[1].n, y[1].k = y[1].n.ShiftAllRight(16), s.ShiftAllRight(16)
			n0, r0, r1 = number(n.And(low)), number(r.And(low)), number(s.And(low))
		} else {
			n0, r0 = k.numbers(i, 0)
			_, r1 = k.numbers(i, 1)
		}
		total := r0.Add(r1)
		p0, p1, l0, l1 := now[0].prob, now[1].prob, now[0].logit, now[1].logit
		if counts {
			peaks := k.peaks[i*2:][:2]
			peaks[0], peaks[1] = peaks[0].Max(p0), peaks[1].Max(p1)
		}
		if averages {
			d := p0.Mul(k.mean[0]).Add(p1.Mul(k.mean[1])).Sub(c.reward0)
			z := l0.Sub(l1).Sub(c.gap0)
			x.reward, x.square = x.reward.Add(d), x.square.Add(d.Mul(d))
			x.gap, x.gapSquare = x.gap.Add(z), x.gapSquare.Add(z.Mul(z))
			x.zeros = x.zeros.Add(masked(c.one, c.mixed(total).Not()))
		}
		positive0, negative0 := up.Mul(r0), down.Mul(n0.Sub(r0))
		positive1, negative1 := up.Mul(r1), down.Mul(c.size.Sub(n0).Sub(r1))
		if weighted {
			w0, w1 := ratio(p0, old[0].prob), ratio(p1, old[1].prob)
			positive0, negative0 = w0.Mul(positive0), w0.Mul(negative0)
			positive1, negative1 = w1.Mul(positive1), w1.Mul(negative1)
		}
		f0, f1 := x.share.Mul(positive0.Add(negative0)), x.share.Mul(positive1.Add(negative1))
		sum := f0.Add(f1)
		g0, g1 := f0.Sub(p0.Mul(sum)), f1.Sub(p1.Mul(sum))
		if exact {
			q0, q1, at0, at1 := p0, p1, l0, l1
			if k.atSnapshot {
				q0, q1, at0, at1 = old[0].prob, old[1].prob, old[0].logit, old[1].logit
			}
			at0, at1 = at0.Sub(k.reference[0]), at1.Sub(k.reference[1])
			pull := q0.Mul(at0).Add(q1.Mul(at1))
			g0 = g0.Sub(c.beta.Mul(q0.Mul(at0.Sub(pull))))
			g1 = g1.Sub(c.beta.Mul(q1.Mul(at1.Sub(pull))))
		}
		v0, v1 := c.momentum.Mul(arms[0].velocity).Add(g0), c.momentum.Mul(arms[1].velocity).Add(g1)
		arms[0].velocity, arms[1].velocity = v0, v1
		l0, l1 = l0.Add(rate.Mul(v0)), l1.Add(rate.Mul(v1))
		now[0].logit, now[1].logit = l0, l1
		e[j].x = excessOf(l0, l1)
	}
}

// excessOf returns −|θ_0 − θ_1|. Equal logits have none even if infinite.
func excessOf(l0, l1 floats) floats { return masked(l0.Sub(l1).Abs().Neg(), differ(l0, l1)) }

// takeExcess sets the arguments of the exponentials of pairSoftmax.
func (k *runner) takeExcess() {
	e := k.exp.list[:k.end-k.first]
	for j := range e {
		now := k.now[(k.first+j)*k.stride:][:2]
		e[j].x = excessOf(now[0].logit, now[1].logit)
	}
}

// pairSoftmax is softmax, whose exponential of −|θ_0 − θ_1| is to be taken.
func (k *runner) pairSoftmax() {
	e, one := k.exp.list[:k.end-k.first], k.c.one
	k.exp.replace(len(e))
	for j := range e {
		x, now := &k.teams[k.first+j], k.now[(k.first+j)*k.stride:][:2]
		norm := one.Add(e[j].x)
		likely := one.Div(norm)
		other := e[j].x.Mul(likely)
		l0, l1 := now[0].logit, now[1].logit
		now[0].prob, now[1].prob = where(l0, l1, other, likely), where(l0, l1, likely, other)
		x.finish(norm)
	}
}
