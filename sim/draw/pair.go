package draw

// Pair draws samples of two Bernoulli arms. It gives the same lanes from the same words as a Pack,
// without loops over arms or bits. It is read-only and may be shared.
//
// A value by the arm of a lane is stored as that of the second arm and its difference (exclusive
// or) from the first. For the lanes first of the first arm it is second ^ first&differs.
type Pair struct {
	means  [2]mean
	always struct{ second, differs uint64 }            // mean.always
	wide   [firstBits]struct{ second, differs uint64 } // first bits of the mean, in every lane
	narrow [2]struct{ second, differs uint64 }         // for 16 lanes, in the layout of narrowCompare
	few    [2]struct{ second, differs uint64 }         // 16 bits for 8 lanes, of fewCompare
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
	p.few[0].second, p.few[1].second = fewBits(other)
	p.few[0].differs, p.few[1].differs = fewBits(one ^ other)
	return p
}

// Bound returns the probability of the first of two arms as Draw needs it, given the weights of
// both. They are not negative and sum to 1 up to rounding. It is certain only if the second weight
// is 0.
func Bound(first, second float64) Probability {
	if bound := NewProbability(first); bound < certain || second == 0 {
		return bound
	}
	return certain - 1
}

// Draw draws one sample in each lane of all, which are the lowest bits of a word. It
// returns the lanes of the first arm, whose probability is bound (see Bound), and the
// lanes of reward 1.
func (p *Pair) Draw(w *Words, all uint64, bound Probability) (first, rewarded uint64) {
	if all < 1<<Narrow {
		return p.drawNarrow(w, all, bound)
	}
	rest := uint64(bound) << 1
	first, late := compareFirst(w.nextEight(), all, rest)
	b := w.nextEight()
	if late != 0 {
		kept := *b // finish may overwrite them
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
		rewarded = p.finish(w, first, rewarded, undecided, firstBits)
	}
	return first, rewarded
}

// drawNarrow is Draw for at most 16 lanes.
func (p *Pair) drawNarrow(w *Words, all uint64, bound Probability) (first, rewarded uint64) {
	b := w.peekFour()
	w.next += 4
	b2, b3 := b[2], b[3] // finish may overwrite them
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
		rewarded = p.finish(w, first, rewarded, undecided, firstBits)
	}
	return first, rewarded
}

// DrawGroup is Draw for a group by itself, whose other lanes have no use. Of at most eight samples
// the four words give sixteen bits each. So hardly any group needs more words.
func (p *Pair) DrawGroup(w *Words, all uint64, bound Probability) (first, rewarded uint64) {
	if all >= 1<<few {
		return p.Draw(w, all, bound)
	}
	b := w.peekFour()
	w.next += 4
	b2, b3 := b[2], b[3] // finish may overwrite them
	rest := uint64(bound) << 1
	a0, a1 := fewBits(rest)
	first, late := fewCompare(b[0], b[1], a0, a1)
	first &= all
	if late &= all; late != 0 {
		first = finish(w, first, late, rest<<firstBits)
	}
	if bound == certain {
		first = all
	}
	always := all & (p.always.second ^ first&p.always.differs)
	t, everywhere := &p.few, first*0x0101010101010101
	rewarded, undecided := fewCompare(b2, b3, t[0].second^everywhere&t[0].differs, t[1].second^everywhere&t[1].differs)
	rewarded = rewarded&all | always
	if undecided &= all &^ always; undecided != 0 {
		rewarded = p.finish(w, first, rewarded, undecided, 2*firstBits)
	}
	return first, rewarded
}

// finish returns the lanes of reward 1, given the lanes that have it by their first bits. Given is
// also the number of these bits, and the lanes that they leave undecided.
func (p *Pair) finish(w *Words, first, rewarded, undecided uint64, bits int) uint64 {
	for bit := bits; undecided != 0 && bit < 63; bit++ {
		one, other := topBit(p.means[0].expansion<<bit), topBit(p.means[1].expansion<<bit)
		rewarded, undecided = compare(rewarded, undecided, w.Next(), other^first&(one^other))
	}
	return rewarded
}

// narrowBits returns the first bits of an expansion for 16 lanes. a and b have four fields of 16
// lanes each. Field f of a holds bit 2f, field f of b bit 2f + 1.
func narrowBits(expansion uint64) (a, b uint64) {
	x := &narrowed[expansion>>56]
	return x[0], x[1]
}

// narrowed holds the results of narrowBits, by the first eight bits of the expansion.
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

// narrowCompare is compareFirst for 16 lanes, with the bits and thresholds laid out as by
// narrowBits. It compares all bits at once, and then combines the fields. The lowest that differs
// from its threshold decides.
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

// fewBits returns the first 16 bits of an expansion for 8 lanes. Those of lane n are as narrowBits
// has eight bits of lane n, and the next eight as of lane n + 8.
func fewBits(expansion uint64) (a, b uint64) {
	const lowest = 0x00ff00ff00ff00ff
	x, y := &narrowed[expansion>>56], &narrowed[expansion>>48&0xff]
	return x[0]&lowest | y[0]&^lowest, x[1]&lowest | y[1]&^lowest
}

// fewCompare is narrowCompare for 8 lanes, with the bits and thresholds laid out as by fewBits.
func fewCompare(a, b, thresholdA, thresholdB uint64) (below, undecided uint64) {
	below, undecided = narrowCompare(a, b, thresholdA, thresholdB)
	return below | undecided&(below>>8), undecided & (undecided >> 8)
}
