package draw

// Pair draws samples of two Bernoulli arms as a Pack does, the same lanes from the
// same words, in a straight line. It never changes: it may be shared.
type Pair struct {
	means  [2]mean
	always struct{ second, differs uint64 }            // mean.always, laid out as the bits below
	wide   [firstBits]struct{ second, differs uint64 } // the first bits of the means: the second arm's in every lane, and where the first arm's is another
	narrow [2]struct{ second, differs uint64 }         // of the same, for 16 lanes, as narrowCompare reads them
}

// NewPair returns a Pair for two arms with the given mean rewards in [0, 1].
func NewPair(first, second float64) *Pair {
	p := &Pair{means: [2]mean{newMean(first), newMean(second)}}
	one, other := p.means[0].expansion, p.means[1].expansion
	p.always.second, p.always.differs = p.means[1].always, p.means[0].always^p.means[1].always
	for bit := range p.wide {
		p.wide[bit].second, p.wide[bit].differs = topBit(other<<bit), topBit((one^other)<<bit)
	}
	p.narrow[0].second, p.narrow[1].second = narrowBits(other)
	p.narrow[0].differs, p.narrow[1].differs = narrowBits(one ^ other)
	return p
}

// Bound returns the probability of the first of two arms that Draw compares with,
// given the weights of both, which are not negative and sum to 1 up to rounding. It
// is certain only where the second is impossible.
func Bound(first, second float64) Probability {
	if bound := NewProbability(first); bound < certain || second == 0 {
		return bound
	}
	return certain - 1
}

// Draw draws samples into the lanes of all, which are the lowest of a word: those
// that fall on the first arm, under the policy that Bound was given, and those that
// are rewarded.
func (p *Pair) Draw(w *Words, all uint64, bound Probability) (first, rewarded uint64) {
	if all < 1<<narrow {
		return p.drawNarrow(w, all, bound)
	}
	rest := uint64(bound) << 1
	first, late := compareFirst(w.nextEight(), all, rest)
	b := w.nextEight()
	if late != 0 {
		kept := *b // finishing may overwrite them
		b = &kept
		first = finish(w, first, late, rest)
	}
	if bound == certain {
		first = all
	}
	rewarded = all & (p.always.second ^ first&p.always.differs)
	undecided := all ^ rewarded
	t := &p.wide
	rewarded, undecided = compare(rewarded, undecided, b[0], t[0].second^first&t[0].differs)
	rewarded, undecided = compare(rewarded, undecided, b[1], t[1].second^first&t[1].differs)
	rewarded, undecided = compare(rewarded, undecided, b[2], t[2].second^first&t[2].differs)
	rewarded, undecided = compare(rewarded, undecided, b[3], t[3].second^first&t[3].differs)
	rewarded, undecided = compare(rewarded, undecided, b[4], t[4].second^first&t[4].differs)
	rewarded, undecided = compare(rewarded, undecided, b[5], t[5].second^first&t[5].differs)
	rewarded, undecided = compare(rewarded, undecided, b[6], t[6].second^first&t[6].differs)
	rewarded, undecided = compare(rewarded, undecided, b[7], t[7].second^first&t[7].differs)
	if undecided != 0 {
		rewarded = p.finish(w, first, rewarded, undecided)
	}
	return first, rewarded
}

// drawNarrow is Draw of at most 16 lanes.
func (p *Pair) drawNarrow(w *Words, all uint64, bound Probability) (first, rewarded uint64) {
	b := w.peekFour()
	w.next += 4
	b2, b3 := b[2], b[3] // finishing may overwrite them
	rest := uint64(bound) << 1
	a0, a1 := narrowBits(rest)
	first, late := narrowCompare(b[0], b[1], a0, a1)
	first &= all
	if late &= all; late != 0 {
		first = finish(w, first, late, rest)
	}
	if bound == certain {
		first = all
	}
	always := all & (p.always.second ^ first&p.always.differs)
	t, everywhere := &p.narrow, first|first<<16
	everywhere |= everywhere << 32
	rewarded, undecided := narrowCompare(b2, b3, t[0].second^everywhere&t[0].differs, t[1].second^everywhere&t[1].differs)
	rewarded = rewarded&all | always
	if undecided &= all &^ always; undecided != 0 {
		rewarded = p.finish(w, first, rewarded, undecided)
	}
	return first, rewarded
}

// finish returns the lanes that are rewarded, given those that are by their first
// bits and those that are undecided by them.
func (p *Pair) finish(w *Words, first, rewarded, undecided uint64) uint64 {
	for bit := firstBits; undecided != 0 && bit < 63; bit++ {
		one, other := topBit(p.means[0].expansion<<bit), topBit(p.means[1].expansion<<bit)
		rewarded, undecided = compare(rewarded, undecided, w.Next(), other^first&(one^other))
	}
	return rewarded
}

// narrowBits returns the first bits of an expansion for 16 lanes: in the four
// fields of the two words every other bit.
func narrowBits(expansion uint64) (a, b uint64) {
	x := &narrowed[expansion>>56]
	return x[0], x[1]
}

// narrowed are the narrowBits of all eight bits there are.
var narrowed = func() (table [1 << firstBits][2]uint64) {
	for first := range table {
		for bit := range firstBits {
			if first<<bit&0x80 != 0 {
				table[first][bit%2] |= 0xffff << (bit / 2 * 16)
			}
		}
	}
	return table
}()

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
