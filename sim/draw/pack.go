package draw

// MaxLanes is the largest number of samples in one Pack, the bits of a word.
const MaxLanes = 64

// Pack draws up to 64 samples of a bandit with Bernoulli rewards at once, one per lane (a bit of a
// word). It draws the arm of each sample, and its reward of 0 or 1. The samples may belong to
// several groups that one policy draws.
//
// As in Lanes, each sample reads a uniform number U bit by bit until its place among the cumulative
// probabilities is decided. That takes about log₂(lanes·arms) + 1.3 bits. A second number, compared
// with the mean of the sample's arm, gives its reward. The first bits of both are read before the
// further bits that undecided lanes need. So two packs that read the same words agree in most lanes
// if their policies are close.
type Pack struct {
	Arms     []uint64 // the lanes of each arm, disjoint
	Rewarded uint64   // the lanes of reward 1

	bounds []Probability // cumulative probability up to and including each arm before last
	last   int           // the last arm of positive weight
	means  []mean        // of each arm; empty: no rewards
	late   []lateBound   // the bounds about which the first bits leave lanes undecided

	armBits, rewardBits decoded // the first bits of the two numbers of each lane

	pair  *Pair       // draws two arms with rewards; else nil
	bound Probability // of pair
}

// lateBound is a bound about which lanes are undecided after their first bits.
type lateBound struct {
	arm       int
	undecided uint64 // these lanes
	rest      uint64 // the remaining binary digits of the bound, next bit first
}

// mean is the mean reward of an arm.
type mean struct {
	expansion uint64 // its binary digits, first bit first; 0 if the mean is 1
	always    uint64 // all lanes if the mean is 1, else none
}

// NewPack returns a Pack for the given number of arms with the given mean rewards, one
// per arm, in [0, 1]. Without means it draws no rewards.
func NewPack(arms int, means []float64) *Pack {
	p := &Pack{
		Arms:   make([]uint64, arms),
		bounds: make([]Probability, 0, arms),
		late:   make([]lateBound, 0, arms),
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
	return m
}

// Aim sets the policy of the following draws. The weights, one per arm, are not negative and sum to
// 1 up to rounding. The last arm of positive weight has the probability that the others leave. It
// panics if a weight is negative or NaN, or all are 0.
func (p *Pack) Aim(weights []float64) {
	if p.pair != nil && weights[0] >= 0 && weights[1] >= 0 && weights[0]+weights[1] > 0 {
		p.bound = Bound(weights[0], weights[1])
		return
	}
	bounds, last := p.bounds[:len(weights)], -1
	sum := 0.
	for a, weight := range weights {
		if !(weight >= 0) {
			panic("draw: Pack.Aim: a weight is negative or NaN")
		}
		if weight > 0 {
			last = a
		}
		sum += weight
		// If the sum is rounded to 1, the last arm has the least probability, 2⁻⁶³.
		bounds[a] = min(NewProbability(sum), certain-1)
	}
	if last < 0 {
		panic("draw: Pack.Aim: all weights are 0")
	}
	p.bounds, p.last = bounds[:last], last
}

// Draw draws the given number of samples into the lowest lanes of p.Arms and
// p.Rewarded; the other lanes are 0. It panics unless samples is in [0, MaxLanes].
func (p *Pack) Draw(w *Words, samples int) {
	if uint(samples) > MaxLanes {
		panic("draw: Pack.Draw: samples must be in [0, 64]")
	}
	all := ^uint64(0) >> (MaxLanes - uint(samples))
	if p.pair != nil {
		first, rewarded := p.pair.Draw(w, all, p.bound)
		p.Arms[0], p.Arms[1], p.Rewarded = first, all&^first, rewarded
		return
	}
	p.armBits.set(nextBits(w, all))
	p.compareArms(all)
	if len(p.means) == 0 {
		p.finishArms(w, all)
		return
	}
	p.rewardBits.set(nextBits(w, all))
	p.finishArms(w, all)
	p.drawRewards(w)
}

// compareArms sets p.Arms to the lanes that are below each bound by their first bits,
// and p.late to the bounds about which lanes are undecided.
func (p *Pack) compareArms(all uint64) {
	p.late = p.late[:0]
	below := p.Arms[:len(p.bounds)]
	for a, probability := range p.bounds {
		expansion := uint64(probability) << 1
		high, equal := p.armBits.compareFour(0, expansion)
		low, same := p.armBits.compareFour(2, expansion<<4)
		below[a] = all & (high | equal&low)
		undecided := all & equal & same
		if rest := expansion << firstBits; undecided != 0 && rest != 0 {
			p.late = append(p.late, lateBound{a, undecided, rest})
		}
	}
}

// finishArms decides the undecided lanes and sets p.Arms to the lanes of each arm.
func (p *Pack) finishArms(w *Words, all uint64) {
	for late := p.late; len(late) > 0; {
		word, left := w.Next(), 0
		for _, x := range late {
			below := &p.Arms[x.arm]
			*below, x.undecided = compare(*below, x.undecided, word, topBit(x.rest))
			if x.rest <<= 1; x.undecided != 0 && x.rest != 0 {
				late[left] = x
				left++
			}
		}
		late = late[:left]
	}
	before := uint64(0)
	arms := p.Arms[:p.last]
	for a, below := range arms {
		arms[a] = below &^ before
		before = below
	}
	p.Arms[p.last] = all &^ before
	clear(p.Arms[p.last+1:])
}

// drawRewards compares the second number of each lane with the mean of its arm and
// sets p.Rewarded.
func (p *Pack) drawRewards(w *Words) {
	below, undecided, means := uint64(0), uint64(0), p.means[:len(p.Arms)]
	for a, lanes := range p.Arms {
		m := &means[a]
		high, equal := p.rewardBits.compareFour(0, m.expansion)
		low, same := p.rewardBits.compareFour(2, m.expansion<<4)
		below |= lanes & (m.always | high | equal&low)
		undecided |= lanes &^ m.always & equal & same
	}
	for bit := firstBits; undecided != 0 && bit < 63; bit++ {
		threshold := uint64(0)
		for a, lanes := range p.Arms {
			threshold |= lanes & topBit(means[a].expansion<<bit)
		}
		below, undecided = compare(below, undecided, w.Next(), threshold)
	}
	p.Rewarded = below
}

// MeanDigits returns the binary digits of a mean reward below 1, the first on top. Always reports
// that it is 1.
func MeanDigits(x float64) (digits uint64, always bool) {
	m := newMean(x)
	return m.expansion, m.always != 0
}
