package draw

import "math"

// MaxPacked is the largest size of the groups of a Pack.
const MaxPacked = 128

// Pack draws groups of samples of a bandit with rewards of 0 or 1. It gives counts by arm, of the
// samples with reward 1 and of the others. Groups that one policy draws are drawn one, two or four
// at a time. Group i of them has bits 16i to 16i+15 of each count.
//
// A sample is a number of 15 bits. Each arm has an interval of [0, 2¹⁵) for reward 1 and one for
// reward 0. The first one of arm 0, the second one of arm 1, the first one of arm 2 and so on lie
// side by side. Then come the rest in reverse order. So two samples that are drawn by close policies
// from the same words mostly agree, or push the same way. The bounds of intervals are rounded to
// integers at random, by one number of 52 bits a draw. So the law of a sample is that of the
// weights, up to 2⁻⁵². Two samples of a draw have a covariance of at most 2⁻³².
type Pack struct {
	Rewarded, Others []uint64 // by arm

	shares []float64 // of the weight of its arm, by interval in their order
	bounds []float64 // upper ones of the intervals, in their order
	counts []uint64  // of samples, by interval
	space  []uint64  // for the words of a draw
	left   uint64    // how many numbers of the last one are no samples
	groups int       // of a draw
}

const (
	PackLow = 0x0001000100010001 // the lowest bit of each of four samples in a word
	PackTop = PackLow << 15      // the highest ones

	// PackScale is the number that bounds are multiplied by.
	PackScale = 0x1p15
	// ToInteger added to |x| < 2⁵¹ rounds x to the nearest integer and leaves it in the low bits.
	ToInteger = 0x1.8p52
)

// NewPack returns a Pack of the given number of arms for groups of a size up to MaxPacked. Their
// rewards have the given means, one per arm, in [0, 1]. Without means all rewards are 0. From
// one policy at most the given number of groups are drawn. It panics if the size is not in
// [1, MaxPacked].
func NewPack(arms int, means []float64, size, groups int) *Pack {
	if size < 1 || size > MaxPacked {
		panic("draw: NewPack: size must be in [1, MaxPacked]")
	}
	groups, words, last := PackLayout(size, groups)
	p := &Pack{Rewarded: make([]uint64, arms), Others: make([]uint64, arms),
		shares: make([]float64, 2*arms), bounds: make([]float64, 2*arms+2),
		counts: make([]uint64, 2*arms+2), space: make([]uint64, words), left: PackLow &^ last,
		groups: groups}
	for a := range arms {
		first, second := 0., 1.
		if len(means) > 0 {
			first, second = means[a], 1-means[a]
		}
		if a&1 == 1 {
			first, second = second, first
		}
		p.shares[a], p.shares[2*arms-1-a] = first, second
	}
	for i := range p.bounds { // the last interval ends here
		p.bounds[i] = PackScale
	}
	return p
}

// PackLayout returns how many of the groups of one policy a Pack draws at a time, and from how many
// words. Last has the lowest bit of each sample of the last word.
func PackLayout(size, groups int) (together, words int, last uint64) {
	switch {
	case groups >= 3:
		together = 4
	case groups == 2:
		together = 2
	default:
		together = 1
	}
	samples := together * size
	words = (samples + 3) / 4
	return together, words, PackLow >> (16 * (4*words - samples))
}

// Groups returns the number of groups of a draw.
func (p *Pack) Groups() int { return p.groups }

// Aim sets the policy of the following draws. The weights, one per arm, are not negative and sum to
// 1 up to rounding. Reward 0 of the first arm has the probability that all else leaves. It panics
// if a weight is negative or NaN, or all are 0.
func (p *Pack) Aim(weights []float64) {
	sum, all, last := 0., 0., len(p.shares)-1
	for a, weight := range weights {
		if !(weight >= 0) {
			panic("draw: Pack.Aim: a weight is negative or NaN")
		}
		all += weight
		sum += float64(weight * p.shares[a])
		p.bounds[a] = min(sum, 1) * PackScale
	}
	if all == 0 {
		panic("draw: Pack.Aim: all weights are 0")
	}
	for a := len(weights) - 1; a > 0; a-- {
		sum += float64(weights[a] * p.shares[last-a])
		p.bounds[last-a] = min(sum, 1) * PackScale
	}
}

// Draw draws the groups.
func (p *Pack) Draw(w *Words) {
	shift := PackShift(w.Next())
	words, last := w.several(p.space), 2*len(p.Others)-1
	words[len(words)-1] &= (PackLow &^ p.left) * 0xffff
	if last == 3 && p.left == 0 {
		p.countTwo(words, shift)
		return
	}
	p.count(words, shift, last)
	for i := 0; p.left != 0; i++ {
		if threshold(p.bounds[i]+shift) > 0 {
			p.counts[i] -= p.left // they are zeros
			break
		}
	}
	for a := range p.Others {
		first, second := p.counts[a], p.counts[last-a]
		if p.groups < 4 {
			first, second = p.joined(first), p.joined(second)
		}
		if a&1 == 1 {
			first, second = second, first
		}
		p.Rewarded[a], p.Others[a] = first, second
	}
}

// count counts the samples of each interval, as differences of those that are not below its bounds.
func (p *Pack) count(words []uint64, shift float64, last int) {
	before := uint64(len(words)) * PackLow
	i := 0
	for ; i < last; i += 3 {
		b, counts := (*[3]float64)(p.bounds[i:]), (*[3]uint64)(p.counts[i:])
		k, m, n := above(words, threshold(b[0]+shift), threshold(b[1]+shift), threshold(b[2]+shift))
		counts[0], counts[1], counts[2] = before-k, k-m, m-n
		before = n
	}
	p.counts[i] = before
}

// countTwo is count of two arms, and sets their counts.
func (p *Pack) countTwo(words []uint64, shift float64) {
	b := (*[3]float64)(p.bounds)
	k, m, n := above(words, threshold(b[0]+shift), threshold(b[1]+shift), threshold(b[2]+shift))
	all := uint64(len(words)) * PackLow
	if p.groups < 4 {
		k, m, n, all = p.joined(k), p.joined(m), p.joined(n), p.joined(all)
	}
	p.Rewarded[0], p.Others[1], p.Rewarded[1], p.Others[0] = all-k, k-m, m-n, n
}

// above returns the numbers of samples that are not below each of three thresholds.
func above(words []uint64, s, t, u uint64) (k, m, n uint64) {
	s, t, u = s*PackLow, t*PackLow, u*PackLow
	for _, x := range words {
		x |= PackTop
		k += (x - s) >> 15 & PackLow
		m += (x - t) >> 15 & PackLow
		n += (x - u) >> 15 & PackLow
	}
	return k, m, n
}

// threshold returns a bound, rounded.
func threshold(bound float64) uint64 { return math.Float64bits(bound+ToInteger) & 0xffff }

// PackShift returns the number in [−½, ½) of a random word, by which bounds are rounded.
func PackShift(word uint64) float64 { return math.Float64frombits(word>>12|0x3ff<<52) - 1.5 }

// joined adds up the counts of the parts of each group.
func (p *Pack) joined(n uint64) uint64 {
	n += n >> 32
	if p.groups == 1 {
		n += n >> 16
	}
	return n
}
