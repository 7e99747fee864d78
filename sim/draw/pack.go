package draw

// MaxLanes is the number of samples a Pack can hold.
const MaxLanes = 64

// Pack draws up to 64 samples of a bandit with Bernoulli rewards at once, one a
// lane (a bit of a word): which arm each falls on, and whether it is rewarded.
// The samples may belong to several groups, as long as one policy draws them.
//
// As in Lanes each sample reads a uniform number U bit by bit, and no further
// than it takes to know where U lies among the policy's cumulative probabilities:
// some log₂(lanes·arms) + 1.3 words however large the group. A second number,
// compared with the mean of the arm the sample fell on, gives its reward. The first
// bits of both come before the few more that late lanes need, so two packs that read
// the same words agree in most lanes if their policies are close.
type Pack struct {
	Arms     []uint64 // lanes that fell on each arm
	Rewarded uint64   // lanes that were rewarded

	bounds []bound // one an arm before the last of positive weight
	last   int     // that arm
	means  []mean  // of the rewards

	pair  *Pair // of two arms with rewards, which draws them; else nil
	bound Probability
}

// bound compares all lanes with the probability of an arm and those before it.
type bound struct {
	probability      Probability
	rest             uint64 // of its binary expansion, next bit first
	below, undecided uint64
}

// mean is the mean reward of an arm.
type mean struct {
	expansion uint64            // its binary expansion; 0 for an arm that is always rewarded
	always    uint64            // all lanes for such an arm, else none
	first     [firstBits]uint64 // topBit of its first bits
}

// NewPack returns a Pack for arms with the given mean rewards in [0, 1]; without
// means it draws no rewards.
func NewPack(arms int, means []float64) *Pack {
	p := &Pack{
		Arms:   make([]uint64, arms),
		bounds: make([]bound, 0, arms),
		means:  make([]mean, len(means)),
	}
	for a, x := range means {
		p.means[a] = newMean(x)
	}
	if len(means) == 2 {
		p.pair = NewPair(means[0], means[1])
	}
	return p
}

func newMean(x float64) (m mean) {
	probability := NewProbability(x)
	if probability == certain {
		m.always = ^uint64(0)
		return m
	}
	m.expansion = uint64(probability) << 1
	for bit := range m.first {
		m.first[bit] = topBit(m.expansion << bit)
	}
	return m
}

// Aim sets the policy that the following draws are from. The weights are one an
// arm, not negative, and sum to 1 up to rounding; the last arm of positive weight
// takes what they leave. It panics if a weight is negative or NaN, or all are 0.
func (p *Pack) Aim(weights []float64) {
	if p.pair != nil && weights[0] >= 0 && weights[1] >= 0 && weights[0]+weights[1] > 0 {
		p.bound = Bound(weights[0], weights[1])
		return
	}
	p.bounds = p.bounds[:0]
	p.last = -1
	sum := 0.
	for a, weight := range weights {
		if !(weight >= 0) {
			panic("draw: a weight is negative or NaN")
		}
		if weight > 0 {
			p.last = a
		}
		sum += weight
		// A sum that is rounded to 1 leaves the last arm the least there is.
		p.bounds = append(p.bounds, bound{probability: min(NewProbability(sum), certain-1)})
	}
	if p.last < 0 {
		panic("draw: all weights are 0")
	}
	p.bounds = p.bounds[:p.last]
}

// Draw draws the given number of samples, from 0 to MaxLanes, into the lowest lanes
// of p.Arms and p.Rewarded; it panics if samples is another number.
func (p *Pack) Draw(w *Words, samples int) {
	if uint(samples) > MaxLanes {
		panic("draw: a pack holds 0 to 64 samples")
	}
	all := ^uint64(0) >> (MaxLanes - uint(samples))
	if p.pair != nil {
		first, rewarded := p.pair.Draw(w, all, p.bound)
		p.Arms[0], p.Arms[1], p.Rewarded = first, all&^first, rewarded
		return
	}
	undecided := p.compareArms(nextBits(w, all), all)
	if len(p.means) == 0 {
		p.finishArms(w, all, undecided)
		return
	}
	rewards := *nextBits(w, all)
	p.finishArms(w, all, undecided)
	p.drawRewards(w, &rewards, all)
}

// compareArms compares the first bits of the lanes with all bounds, and returns
// which lanes are undecided in any that has more to compare with.
func (p *Pack) compareArms(b *[firstBits]uint64, all uint64) (undecided uint64) {
	for i := range p.bounds {
		x := &p.bounds[i]
		x.rest = uint64(x.probability) << 1
		x.below, x.undecided = compareFirst(b, all, x.rest)
		if x.rest <<= firstBits; x.rest == 0 {
			x.undecided = 0
		}
		undecided |= x.undecided
	}
	return undecided
}

// finishArms decides what is undecided and sets p.Arms.
func (p *Pack) finishArms(w *Words, all, undecided uint64) {
	for undecided != 0 {
		undecided = 0
		word := w.Next()
		for i := range p.bounds {
			x := &p.bounds[i]
			if x.undecided == 0 {
				continue
			}
			x.below, x.undecided = compare(x.below, x.undecided, word, topBit(x.rest))
			if x.rest <<= 1; x.rest == 0 {
				x.undecided = 0
			}
			undecided |= x.undecided
		}
	}
	before := uint64(0)
	for a := range p.Arms {
		switch {
		case a < p.last:
			p.Arms[a] = p.bounds[a].below &^ before
			before |= p.bounds[a].below
		case a == p.last:
			p.Arms[a] = all &^ before
		default:
			p.Arms[a] = 0
		}
	}
}

// drawRewards sets p.Rewarded, from the first bits of the lanes and what else it
// takes.
func (p *Pack) drawRewards(w *Words, b *[firstBits]uint64, all uint64) {
	below := uint64(0)
	for a, lanes := range p.Arms {
		below |= lanes & p.means[a].always
	}
	undecided := all &^ below
	for bit := 0; bit < firstBits; bit += 4 {
		var t0, t1, t2, t3 uint64 // bits of the mean of each lane's arm
		for a, lanes := range p.Arms {
			m := p.means[a].first[bit : bit+4]
			t0 |= lanes & m[0]
			t1 |= lanes & m[1]
			t2 |= lanes & m[2]
			t3 |= lanes & m[3]
		}
		below, undecided = compare(below, undecided, b[bit], t0)
		below, undecided = compare(below, undecided, b[bit+1], t1)
		below, undecided = compare(below, undecided, b[bit+2], t2)
		below, undecided = compare(below, undecided, b[bit+3], t3)
	}
	for bit := firstBits; undecided != 0 && bit < 63; bit++ {
		threshold := uint64(0)
		for a, lanes := range p.Arms {
			threshold |= lanes & topBit(p.means[a].expansion<<bit)
		}
		below, undecided = compare(below, undecided, w.Next(), threshold)
	}
	p.Rewarded = below
}
