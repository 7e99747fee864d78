package draw

// pairMeans are the first bits of two arms' mean rewards, laid out as nextBits lays
// out the lanes: the second arm's bit in every lane, and where the first arm's is
// another.
type pairMeans struct {
	wide   [firstBits]struct{ second, differs uint64 }
	narrow [2]struct{ second, differs uint64 }
}

func newPairMeans(means []mean) *pairMeans {
	p := new(pairMeans)
	one, other := means[0].expansion, means[1].expansion
	for bit := range p.wide {
		p.wide[bit].second, p.wide[bit].differs = topBit(other<<bit), topBit((one^other)<<bit)
	}
	p.narrow[0].second, p.narrow[1].second = narrowBits(other)
	p.narrow[0].differs, p.narrow[1].differs = narrowBits(one ^ other)
	return p
}

// narrowBits returns the first bits of an expansion for 16 lanes: in the four
// fields of the two words every other bit.
func narrowBits(expansion uint64) (a, b uint64) {
	const lowest = 1 | 1<<16 | 1<<32 | 1<<48
	pairs := expansion>>62 | expansion>>60&3<<16 | expansion>>58&3<<32 | expansion>>56&3<<48
	a, b = pairs>>1&lowest, pairs&lowest
	return a<<16 - a, b<<16 - b
}

// narrowCompare is compareFirst of 16 lanes, whose bits are in the fields of two
// words: it compares all bits at once, and folds the fields, of which the lower
// decides.
func narrowCompare(a, b, thresholdA, thresholdB uint64) (below, undecided uint64) {
	differsA, differsB := a^thresholdA, b^thresholdB
	below = differsA&thresholdA | differsB&thresholdB&^differsA
	undecided = ^(differsA | differsB)
	below |= undecided & (below >> 16)
	undecided &= undecided >> 16
	below |= undecided & (below >> 32)
	undecided &= undecided >> 32
	return below, undecided
}

// drawPair is what Draw does, for two arms of which the second is not impossible and
// none is always rewarded, in a straight line: the same lanes from the same words.
func (p *Pack) drawPair(w *Words, all uint64) {
	if all < 1<<narrow {
		p.drawNarrowPair(w, all)
		return
	}
	rest := uint64(p.bounds[0].probability) << 1
	first, late := compareFirst(w.nextEight(), all, rest)
	b := w.nextEight()
	if late != 0 {
		kept := *b // finishing may overwrite them
		b = &kept
		first = finish(w, first, late, rest)
	}
	t := &p.pair.wide
	rewarded, undecided := compare(0, all, b[0], t[0].second^first&t[0].differs)
	rewarded, undecided = compare(rewarded, undecided, b[1], t[1].second^first&t[1].differs)
	rewarded, undecided = compare(rewarded, undecided, b[2], t[2].second^first&t[2].differs)
	rewarded, undecided = compare(rewarded, undecided, b[3], t[3].second^first&t[3].differs)
	rewarded, undecided = compare(rewarded, undecided, b[4], t[4].second^first&t[4].differs)
	rewarded, undecided = compare(rewarded, undecided, b[5], t[5].second^first&t[5].differs)
	rewarded, undecided = compare(rewarded, undecided, b[6], t[6].second^first&t[6].differs)
	rewarded, undecided = compare(rewarded, undecided, b[7], t[7].second^first&t[7].differs)
	p.finishPair(w, all, first, rewarded, undecided)
}

// drawNarrowPair is drawPair of at most 16 lanes.
func (p *Pack) drawNarrowPair(w *Words, all uint64) {
	rest := uint64(p.bounds[0].probability) << 1
	a, b := narrowBits(rest)
	first, late := narrowCompare(w.Next(), w.Next(), a, b)
	c, d := w.Next(), w.Next()
	first &= all
	if late &= all; late != 0 {
		first = finish(w, first, late, rest)
	}
	t, everywhere := &p.pair.narrow, first|first<<16
	everywhere |= everywhere << 32
	rewarded, undecided := narrowCompare(c, d, t[0].second^everywhere&t[0].differs, t[1].second^everywhere&t[1].differs)
	p.finishPair(w, all, first, rewarded&all, undecided&all)
}

// finishPair decides what is undecided of the rewards and sets the lanes.
func (p *Pack) finishPair(w *Words, all, first, rewarded, undecided uint64) {
	for bit := firstBits; undecided != 0 && bit < 63; bit++ {
		one, other := topBit(p.means[0].expansion<<bit), topBit(p.means[1].expansion<<bit)
		rewarded, undecided = compare(rewarded, undecided, w.Next(), other^first&(one^other))
	}
	p.Arms[0], p.Arms[1], p.Rewarded = first, all&^first, rewarded
}
