package draw

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// laneNumbers are the numbers that the lanes of a Pack read, as 63-bit fractions. For each lane one
// chooses its arm and one gives its reward.
type laneNumbers struct{ arm, reward []uint64 }

// lanes returns the lanes of each arm, whose first number is in [previous bound, bound). The lanes
// of reward 1 have a second number below the mean of their arm.
func (f laneNumbers) lanes(bounds []uint64, means []float64) (arms []uint64, rewarded uint64) {
	arms = make([]uint64, len(bounds)+1)
	for i, u := range f.arm {
		a := armOf(u, bounds)
		arms[a] |= 1 << i
		if f.reward[i] < uint64(NewProbability(means[a])) {
			rewarded |= 1 << i
		}
	}
	return arms, rewarded
}

// armOf returns the arm of the number u.
func armOf(u uint64, bounds []uint64) int {
	for a, bound := range bounds {
		if u < bound {
			return a
		}
	}
	return len(bounds)
}

// needed returns the number of bits, at least 8, after which the arm of every lane is decided. The
// bounds are odd in units of 2⁻⁶³.
func (f laneNumbers) needed(bounds []uint64) int {
	n := firstBits
	for _, u := range f.arm {
		for _, bound := range bounds {
			n = max(n, min(differ(u, bound), 63))
		}
	}
	return n
}

// words returns the words from which lanes read these numbers if the arms take the given number of
// bits. The first bits of both numbers come before the other bits.
func (f laneNumbers) words(needed int) *Words {
	arm, reward := spell(f.arm, needed), spell(f.reward, 63)
	first := layoutOf(len(f.arm)).words
	return NewWords(filled{&script{words: slices.Concat(arm[:first], reward[:first], arm[first:], reward[first:])}})
}

// check draws from p and returns an error unless the lanes are those of f.lanes.
func (f laneNumbers) check(p *Pack, needed int, bounds []uint64, means []float64) error {
	p.Draw(f.words(needed), len(f.arm))
	arms, rewarded := f.lanes(bounds, means)
	for a, got := range p.Arms {
		if want := slices.Concat(arms, make([]uint64, len(p.Arms)))[a]; got != want {
			return fmt.Errorf("bounds %#x: arm %d gets lanes %b, want %b", bounds, a, got, want)
		}
	}
	if p.Rewarded != rewarded {
		return fmt.Errorf("bounds %#x, means %v: lanes %b rewarded, want %b", bounds, means, p.Rewarded, rewarded)
	}
	return nil
}

// aim sets bounds directly, also such as no float64 weights give.
func (p *Pack) aim(bounds []uint64) {
	p.bounds, p.last = p.bounds[:0], len(bounds)
	for _, b := range bounds {
		p.bounds = append(p.bounds, Probability(b))
	}
	p.bound = Probability(bounds[0])
}

// anyMean returns a random mean reward with many binary digits or few.
func anyMean(random *rand.Rand) float64 {
	switch random.IntN(8) {
	case 0:
		return 0
	case 1:
		return 1
	case 2:
		return float64(random.IntN(1025)) / 1024
	}
	return math.Ldexp(random.Float64(), -random.IntN(64))
}

// lateNumbers returns bounds and means for the given number of arms, and numbers that
// agree with them in many bits.
func lateNumbers(
	random *rand.Rand, samples, arms int,
) (f laneNumbers, bounds []uint64, means []float64) {
	for range arms {
		means = append(means, anyMean(random))
	}
	for len(bounds) < arms-1 {
		b := random.Uint64N(1<<63)>>random.IntN(63) | 1
		if len(bounds) > 0 && random.IntN(2) == 0 {
			b = near(random, bounds[0]) | 1 // close to each other
		}
		bounds = append(bounds, b)
	}
	slices.Sort(bounds)
	f = laneNumbers{make([]uint64, samples), make([]uint64, samples)}
	for i := range samples {
		f.arm[i] = near(random, bounds[random.IntN(len(bounds))])
		mean := uint64(NewProbability(means[armOf(f.arm[i], bounds)]))
		f.reward[i] = near(random, min(mean, 1<<63-1))
	}
	return f, bounds, means
}

// The lanes are right if numbers agree with bounds and means up to any of 63 bits. And
// the arms take no more words than needed to decide them.
func TestPackCompares(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, arms := range []int{2, 3, 10} {
		for _, samples := range widths {
			for range 1000 / thin {
				f, bounds, means := lateNumbers(random, samples, arms)
				p := NewPack(arms, means)
				p.aim(bounds)
				if err := f.check(p, f.needed(bounds), bounds, means); err != nil {
					t.Fatalf("%d arms, %d samples: %v", arms, samples, err)
				}
				p = NewPack(arms, nil)
				p.aim(bounds)
				w := NewWords(filled{&script{words: spell(f.arm, 63)}})
				p.Draw(w, samples)
				if got, want := w.taken(), uint64(layoutOf(samples).words+f.needed(bounds)-firstBits); got != want {
					t.Fatalf("%d arms, %d samples, bounds %#x: %d words, not %d", arms, samples, bounds, got, want)
				}
			}
		}
	}
}

// The bounds of a policy are the cumulative sums of its weights, up to rounding. They leave a
// positive probability to the last arm of positive weight.
func TestPackAim(t *testing.T) {
	w := words(3)
	for range 20_000 {
		weights := randomWeights(w, 1+Binomial(w, 12, 0.3))
		last := len(weights) - 1
		for last >= 0 && weights[last] == 0 {
			last--
		}
		if last < 0 {
			continue
		}
		p := NewPack(len(weights), nil)
		p.Aim(weights)
		if len(p.bounds) != last || p.last != last {
			t.Fatalf("weights %v: %d bounds, last arm %d", weights, len(p.bounds), p.last)
		}
		sum := new(big.Float).SetPrec(2000)
		for a, b := range p.bounds {
			sum.Add(sum, new(big.Float).SetFloat64(weights[a]))
			got := new(big.Float).SetPrec(2000).SetMantExp(new(big.Float).SetUint64(uint64(b)), -63)
			off, _ := got.Sub(got, sum).Float64()
			if math.Abs(off) > float64(a+1)*0x1p-53 || b >= certain || a > 0 && b < p.bounds[a-1] {
				t.Fatalf("weights %v: bound %d is %#x, %g off", weights, a, b, off)
			}
		}
	}
}

// randomWeights returns weights over 600 orders of magnitude that sum to 1 up to
// rounding, some of them 0; all 0 if none is positive.
func randomWeights(w *Words, arms int) []float64 {
	weights := make([]float64, arms)
	total := 0.
	for a := range weights {
		weights[a] = math.Exp(-690 * math.Pow(Uniform(w), 4))
		if Binomial(w, 1, 0.2) == 1 {
			weights[a] = 0
		}
		total += weights[a]
	}
	if total > 0 {
		for a := range weights {
			weights[a] /= total
		}
	}
	return weights
}

// bandit is a policy on arms with Bernoulli rewards.
type bandit struct{ weights, means []float64 }

var bandits = []bandit{
	{[]float64{1}, []float64{0.3}},
	{[]float64{0.5, 0.5}, []float64{0.5, 0.5}},
	{[]float64{0.3, 0.7}, []float64{0.3, 0.6}},
	{[]float64{0.7, 0.3}, []float64{0, 0.1}},
	{[]float64{0.4, 0.6}, []float64{0, 1}},
	{[]float64{0.4, 0.6}, []float64{0, 0}},
	{[]float64{0.4, 0.6}, []float64{1, 1}},
	{[]float64{0.4, 0.6}, []float64{0x1p-60, 1 - 0x1p-53}},
	{[]float64{0, 1}, []float64{0.9, 0.2}},
	{[]float64{1, 0}, []float64{0.9, 0.2}},
	{[]float64{1, 0x1p-60}, []float64{0.9, 0.2}},
	{[]float64{0x1p-60, 1}, []float64{0.9, 0.2}},
	{[]float64{0.2, 0.3, 0.5}, []float64{0.1, 0.5, 0.8}},
	{[]float64{0, 0.3, 0.7}, []float64{1, 0.5, 0.8}},
	{[]float64{0.3, 0, 0.7}, []float64{0.5, 1, 0.8}},
	{[]float64{0.3, 0.7, 0}, []float64{0.5, 0.8, 1}},
	{[]float64{0, 1, 0}, []float64{0.5, 0.3, 0.5}},
	{[]float64{0.25, 0.25, 0.5}, []float64{0, 0.5, 1}},
	{[]float64{0x1p-60, 0.5, 0.5}, []float64{0.5, 0.25, 0.75}},
	{[]float64{0.5, 0x1p-60, 0.5}, []float64{0.5, 0.25, 0.75}},
	{[]float64{1, 0x1p-60, 0}, []float64{0.3, 0.5, 0.5}},
	{slices.Repeat([]float64{0.1}, 10), []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1}},
	{[]float64{0, 0, 0.4, 0.1, 0, 0.1, 0.1, 0.3, 0, 0}, slices.Repeat([]float64{0.5, 0.1}, 5)},
	{[]float64{0.9, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.02}, slices.Repeat([]float64{0, 1}, 5)},
}

func (b bandit) String() string { return fmt.Sprintf("policy %v, means %v", b.weights, b.means) }

// aimed returns a Pack of the bandit, aimed at its policy.
func (b bandit) aimed() *Pack {
	p := NewPack(len(b.weights), b.means)
	p.Aim(b.weights)
	return p
}

// outcome returns the probability of outcome i of a sample: 2·arm + reward.
func (b bandit) outcome(i int) float64 {
	p := b.weights[i/2]
	if i%2 == 1 {
		return p * b.means[i/2]
	}
	return p * (1 - b.means[i/2])
}

// drawCounts draws n samples and returns the code of their counts of outcomes.
func drawCounts(p *Pack, w *Words, n int) int {
	p.Draw(w, n)
	code := 0
	for a := len(p.Arms) - 1; a >= 0; a-- {
		code = code*(n+1) + bits.OnesCount64(p.Arms[a]&p.Rewarded)
		code = code*(n+1) + bits.OnesCount64(p.Arms[a]&^p.Rewarded)
	}
	return code
}

// The joint law of all counts of a group is multinomial.
func TestPackJointly(t *testing.T) {
	for i, b := range bandits {
		if i%thin != 0 {
			continue
		}
		n := map[int]int{1: 16, 2: 5, 3: 3, 10: 1}[len(b.weights)]
		w, p := words(uint64(i)), b.aimed()
		codes := int(math.Pow(float64(n+1), float64(2*len(b.weights))))
		joint := sample(draws, func() int { return drawCounts(p, w, n) })
		outcomes := make([]float64, 2*len(b.weights))
		for i := range outcomes {
			outcomes[i] = b.outcome(i)
		}
		passes(t, b, testPMF(joint, 0, codes-1, jointLaw(n, outcomes)))
	}
}
