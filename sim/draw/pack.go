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

	bounds []Probability // of each arm before the last of positive weight and those before it
	last   int           // that arm
	means  []mean        // of the rewards
	late   []lateBound

	choices, chances decoded // the first bits of the lanes' two numbers

	pair  *Pair // of two arms with rewards, which draws them; else nil
	bound Probability
}

// lateBound is the bound of an arm that some lanes are undecided about.
type lateBound struct {
	arm             int
	undecided, rest uint64 // those lanes, and the rest of its binary expansion, next bit first
}

// mean is the mean reward of an arm.
type mean struct {
	expansion uint64 // its binary expansion; 0 for an arm that is always rewarded
	always    uint64 // all lanes for such an arm, else none
}

// NewPack returns a Pack for arms with the given mean rewards in [0, 1]; without
// means it draws no rewards.
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

// Aim sets the policy that the following draws are from. The weights are one an
// arm, not negative, and sum to 1 up to rounding; the last arm of positive weight
// takes what they leave. It panics if a weight is negative or NaN, or all are 0.
func (p *Pack) Aim(weights []float64) {
	if p.pair != nil && weights[0] >= 0 && weights[1] >= 0 && weights[0]+weights[1] > 0 {
		p.bound = Bound(weights[0], weights[1])
		return
	}
	bounds, last := p.bounds[:len(weights)], -1
	sum := 0.
	for a, weight := range weights {
		if !(weight >= 0) {
			panic("draw: a weight is negative or NaN")
		}
		if weight > 0 {
			last = a
		}
		sum += weight
		// A sum that is rounded to 1 leaves the last arm the least there is.
		bounds[a] = min(NewProbability(sum), certain-1)
	}
	if last < 0 {
		panic("draw: all weights are 0")
	}
	p.bounds, p.last = bounds[:last], last
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
	p.choices.set(nextBits(w, all))
	p.compareArms(all)
	if len(p.means) == 0 {
		p.finishArms(w, all)
		return
	}
	p.chances.set(nextBits(w, all))
	p.finishArms(w, all)
	p.drawRewards(w)
}

// compareArms sets p.Arms to the lanes below each bound, and p.late where that takes
// more than the first bits.
func (p *Pack) compareArms(all uint64) {
	p.late = p.late[:0]
	below := p.Arms[:len(p.bounds)]
	for a, probability := range p.bounds {
		expansion := uint64(probability) << 1
		high, equal := p.choices.compareFour(0, expansion)
		low, same := p.choices.compareFour(2, expansion<<4)
		below[a] = all & (high | equal&low)
		undecided := all & equal & same
		if rest := expansion << firstBits; undecided != 0 && rest != 0 {
			p.late = append(p.late, lateBound{a, undecided, rest})
		}
	}
}

// finishArms decides what is undecided and sets p.Arms to the lanes of each arm.
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

// drawRewards compares the lanes with the mean of the arm each is on and sets
// p.Rewarded.
func (p *Pack) drawRewards(w *Words) {
	below, undecided, means := uint64(0), uint64(0), p.means[:len(p.Arms)]
	for a, lanes := range p.Arms {
		m := &means[a]
		high, equal := p.chances.compareFour(0, m.expansion)
		low, same := p.chances.compareFour(2, m.expansion<<4)
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
