package draw

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// laneNumbers are the numbers that the lanes of a Pack read, as 63-bit fractions: for
// each lane one that chooses its arm and one that gives its reward.
type laneNumbers struct{ arm, reward []uint64 }

// lanes returns the lanes of each arm, whose first number is in [previous bound, bound),
// and the lanes of reward 1, whose second number is below the mean of their arm.
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

// needed returns the number of bits, at least 8, after which the arm of every lane is
// decided, for bounds that are odd in units of 2⁻⁶³.
func (f laneNumbers) needed(bounds []uint64) int {
	n := firstBits
	for _, u := range f.arm {
		for _, bound := range bounds {
			n = max(n, min(differ(u, bound), 63))
		}
	}
	return n
}

// words returns the words from which lanes read these numbers if the arms take the
// given number of bits: the first bits of both numbers come before the other bits.
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

// All cases of policies of b bits and means of c bits: if each pair of a string of b
// bits and a string of c bits is read by one lane, each arm gets exactly the lanes
// between its bounds, and exactly the lanes below its mean have reward 1, whatever bits
// follow the strings.
func TestPackExhaustively(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	sizes := []struct{ b, c int }{{2, 2}, {1, 3}, {3, 2}}
	if thin == 1 {
		sizes = append(sizes, struct{ b, c int }{3, 3})
	}
	for _, s := range sizes {
		f := laneNumbers{make([]uint64, 1<<(s.b+s.c)), make([]uint64, 1<<(s.b+s.c))}
		for i := range f.arm {
			// The eighth bit makes it differ from all bounds.
			f.arm[i] = uint64(i>>s.c)<<(63-s.b) | 1<<55 | random.Uint64N(1<<55)
			f.reward[i] = uint64(i)<<(63-s.c)&(1<<63-1) | random.Uint64N(1<<(63-s.c))
		}
		whole, steps := 1<<s.b, 1<<s.c
		dyadic := func(j int) float64 { return float64(j) / float64(steps) }
		for j := range whole + 1 {
			for m := range (steps + 1) * (steps + 1) {
				means := []float64{dyadic(m % (steps + 1)), dyadic(m / (steps + 1))}
				p := NewPack(2, means)
				p.Aim([]float64{float64(j) / float64(whole), float64(whole-j) / float64(whole)})
				if err := f.check(p, firstBits, []uint64{uint64(j) << (63 - s.b)}, means); err != nil {
					t.Fatalf("%d lanes: %v", len(f.arm), err)
				}
			}
			for k := j; k <= whole; k++ {
				for m := range (steps + 1) * (steps + 1) * (steps + 1) {
					means := []float64{dyadic(m % (steps + 1)), dyadic(m / (steps + 1) % (steps + 1)), dyadic(m / (steps + 1) / (steps + 1))}
					p := NewPack(3, means)
					p.Aim([]float64{float64(j) / float64(whole), float64(k-j) / float64(whole), float64(whole-k) / float64(whole)})
					if err := f.check(p, firstBits, []uint64{uint64(j) << (63 - s.b), uint64(k) << (63 - s.b)}, means); err != nil {
						t.Fatalf("%d lanes: %v", len(f.arm), err)
					}
				}
			}
		}
	}
}

// lateNumbers returns bounds and means for the given number of arms, and numbers that
// agree with them in many bits.
func lateNumbers(random *rand.Rand, samples, arms int) (f laneNumbers, bounds []uint64, means []float64) {
	for a := range arms {
		means = append(means, math.Ldexp(random.Float64(), -random.IntN(64)))
		switch random.IntN(8) {
		case 0:
			means[a] = 0
		case 1:
			means[a] = 1
		case 2:
			means[a] = float64(random.IntN(9)) / 8
		}
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
					t.Fatalf("%d arms, %d samples, bounds %#x: %d words, want %d", arms, samples, bounds, got, want)
				}
			}
		}
	}
}

// A bound or a mean that is wrong in any one of 63 bits is detected by lanes whose
// numbers are just below it and at it.
func TestPackCompareHasPower(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, arms := range []int{2, 3, 10} {
		for _, samples := range widths[1:] {
			for range 8 {
				f, bounds, means := lateNumbers(random, samples, arms)
				a := random.IntN(len(bounds))
				if means[a] == 0 || means[a] == 1 || a > 0 && bounds[a] == bounds[a-1] || bounds[a] == 1 {
					continue
				}
				mean := uint64(NewProbability(means[a]))
				f.arm[0], f.arm[1] = bounds[a]-1, bounds[a]
				f.reward[0], f.reward[1] = mean, mean
				p := NewPack(arms, means)
				for bit := range uint64(63) {
					wrong := slices.Clone(bounds)
					wrong[a] ^= 1 << bit
					p.aim(wrong)
					if f.check(p, f.needed(bounds), bounds, means) == nil {
						t.Fatalf("%d arms, %d samples: a bound wrong in bit %d is not detected", arms, samples, bit)
					}
				}
				f.arm[1] = f.arm[0]
				if f.reward[1]--; f.reward[0] == 0 {
					continue
				}
				for bit := range uint64(63) {
					wrong := slices.Clone(means)
					wrong[a] = float64(mean^1<<bit) * 0x1p-63
					if NewProbability(wrong[a]) != Probability(mean^1<<bit) {
						continue // no float64
					}
					p := NewPack(arms, wrong)
					p.aim(bounds)
					if f.check(p, f.needed(bounds), bounds, means) == nil {
						t.Fatalf("%d arms, %d samples: a mean wrong in bit %d is not detected", arms, samples, bit)
					}
				}
			}
		}
	}
}

// With one arm of mean 1, where nothing is to be decided, only the words of the first
// bits are taken.
func TestPackTakesNoMoreWordsThanNeeded(t *testing.T) {
	for seed := range uint64(100) {
		p, w := NewPack(1, []float64{1}), words(seed)
		p.Aim([]float64{1})
		p.Draw(w, 64)
		if got := w.taken(); got != 16 {
			t.Fatalf("64 samples: %d words", got)
		}
		p.Draw(w, 16)
		if got := w.taken(); got != 20 {
			t.Fatalf("16 samples: %d words", got-16)
		}
	}
}

// The bounds of a policy are the cumulative sums of its weights, up to rounding, and
// leave a positive probability to the last arm of positive weight.
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

// For weights over many orders of magnitude: every sample falls on one arm, none on an
// arm of weight 0; samples of arms of mean 0 and 1 have reward 0 and 1; no other lane is
// set.
func TestPackPartitions(t *testing.T) {
	w := words(7)
	for range 50_000 {
		weights := randomWeights(w, 1+Binomial(w, 8, 0.5))
		if !slices.ContainsFunc(weights, func(x float64) bool { return x > 0 }) {
			continue
		}
		means := make([]float64, len(weights))
		for a := range means {
			means[a] = float64(Binomial(w, 4, 0.5)) / 4
		}
		samples := Binomial(w, 128, 0.5) % 65
		p := NewPack(len(weights), means)
		p.Aim(weights)
		p.Draw(w, samples)
		union, number := uint64(0), 0
		for a, lanes := range p.Arms {
			union |= lanes
			number += bits.OnesCount64(lanes)
			if lanes != 0 && weights[a] == 0 || means[a] == 0 && lanes&p.Rewarded != 0 || means[a] == 1 && lanes&^p.Rewarded != 0 {
				t.Fatalf("weights %v, means %v: arm %d has lanes %b, rewarded %b", weights, means, a, lanes, p.Rewarded)
			}
		}
		if all := uint64(1)<<samples - 1; union != all || number != samples || p.Rewarded&^all != 0 {
			t.Fatalf("weights %v, %d samples: lanes %b, rewarded %b", weights, samples, p.Arms, p.Rewarded)
		}
	}
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

// outcomeOf returns the outcome 2·arm + reward of a lane.
func (p *Pack) outcomeOf(lane int) int {
	for a, lanes := range p.Arms {
		if lanes>>lane&1 == 1 {
			return 2*a + int(p.Rewarded>>lane&1)
		}
	}
	return -1 // outside every law: the test fails
}

// The number of samples of each arm, and of those with reward 1, are binomial.
func TestPackMargins(t *testing.T) {
	for i, b := range bandits {
		p := b.aimed()
		for j, samples := range []int{1, 3, 16, 17, 64} {
			if (i+j)%thin != 0 {
				continue
			}
			w := words(uint64(100*i + samples))
			arms, rewards := make([]map[int]int, len(p.Arms)), make([]map[int]int, len(p.Arms))
			for a := range p.Arms {
				arms[a], rewards[a] = map[int]int{}, map[int]int{}
			}
			for range draws / 8 {
				p.Draw(w, samples)
				for a, lanes := range p.Arms {
					arms[a][bits.OnesCount64(lanes)]++
					rewards[a][bits.OnesCount64(lanes&p.Rewarded)]++
				}
			}
			for a, weight := range b.weights {
				if err := testBinomial(arms[a], samples, weight); err != nil {
					t.Errorf("%v, %d samples, arm %d: %v", b, samples, a, err)
				}
				if err := testBinomial(rewards[a], samples, weight*b.means[a]); err != nil {
					t.Errorf("%v, %d samples, rewards of arm %d: %v", b, samples, a, err)
				}
			}
		}
	}
}

// countsLaw returns the multinomial probability of the counts of outcomes among n
// samples, as a function of the code whose digit i in base n + 1 is count i.
func (b bandit) countsLaw(n int) func(code int) float64 {
	return func(code int) float64 {
		probability, i := 1., 0
		for o := range 2 * len(b.weights) {
			for j := range code % (n + 1) {
				i++
				probability *= float64(i) / float64(j+1) * b.outcome(o)
			}
			code /= n + 1
		}
		return probability * one(i == n)
	}
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
		if err := testPMF(joint, 0, codes-1, b.countsLaw(n)); err != nil {
			t.Errorf("%v: %v", b, err)
		}
	}
}

// testLanes tests the joint law of the outcomes of some lanes: independent outcomes.
func (b bandit) testLanes(w *Words, p *Pack, samples int, lanes ...int) error {
	outcomes := 2 * len(b.weights)
	values := 1
	for range lanes {
		values *= outcomes
	}
	joint := sample(draws/4, func() int {
		p.Draw(w, samples)
		code := 0
		for _, lane := range lanes {
			code = outcomes*code + p.outcomeOf(lane)
		}
		return code
	})
	return testPMF(joint, 0, values-1, func(code int) float64 {
		probability := 1.
		for range lanes {
			probability *= b.outcome(code % outcomes)
			code /= outcomes
		}
		return probability
	})
}

// Lanes are independent of each other, and the reward of a lane depends on its arm
// only by the mean of the arm.
func TestPackLanesAreIndependent(t *testing.T) {
	for i, b := range []bandit{
		{[]float64{0.3, 0.7}, []float64{0.3, 0.3}}, // the bound is also the mean
		{[]float64{0.4, 0.6}, []float64{0.2, 0.9}},
		{[]float64{0.25, 0.35, 0.4}, []float64{0.25, 0.6, 0.35}},
	} {
		p := b.aimed()
		for j, c := range []struct {
			samples int
			lanes   []int
		}{
			{1, []int{0}}, {16, []int{15}}, {17, []int{16}}, {64, []int{63}},
			{2, []int{0, 1}}, {16, []int{0, 15}}, {16, []int{7, 8}}, {16, []int{3, 11}}, {17, []int{0, 16}},
			{64, []int{0, 1}}, {64, []int{0, 16}}, {64, []int{0, 32}}, {64, []int{15, 16}}, {64, []int{31, 32}}, {64, []int{0, 63}},
			{16, []int{0, 4, 8}}, {64, []int{0, 8, 16}}, {64, []int{20, 41, 63}},
		} {
			if err := b.testLanes(words(uint64(100*i+j)), p, c.samples, c.lanes...); err != nil {
				t.Errorf("%v, lanes %v of %d: %v", b, c.lanes, c.samples, err)
			}
		}
	}
}

// testGroups tests the joint law of the number of samples of arm 0 with reward 1 in two
// groups of a pack: binomial and independent.
func (b bandit) testGroups(w *Words, p *Pack, size, one, other int) error {
	law := distuv.Binomial{N: float64(size), P: b.outcome(1)}
	joint := sample(draws/4, func() int {
		p.Draw(w, MaxLanes/size*size)
		count := func(group int) int { return bits.OnesCount64(p.Arms[0] & p.Rewarded >> (group * size) & lowest(size)) }
		return (size+1)*count(one) + count(other)
	})
	return testPMF(joint, 0, (size+1)*(size+1)-1, func(code int) float64 {
		return law.Prob(float64(code/(size+1))) * law.Prob(float64(code%(size+1)))
	})
}

// Groups that share a pack are independent.
func TestPackGroupsAreIndependent(t *testing.T) {
	for i, b := range []bandit{bandits[2], {[]float64{0.5, 0.2, 0.3}, []float64{0.6, 0.5, 0.4}}} {
		p := b.aimed()
		for _, size := range []int{1, 2, 3, 4, 8, 16, 32} {
			last := MaxLanes/size - 1
			for _, other := range slices.Compact([]int{1, (last + 1) / 2, last}) {
				if err := b.testGroups(words(uint64(100*i+size+other)), p, size, 0, other); err != nil {
					t.Errorf("%v, groups 0 and %d of %d: %v", b, other, size, err)
				}
			}
		}
	}
}

// broken is a Source whose words are changed, eight at a time.
type broken struct {
	source Source
	change func(eight []uint64)
}

func (b *broken) Fill(words []uint64) {
	b.source.Fill(words)
	for eight := range slices.Chunk(words, 8) {
		b.change(eight)
	}
}

// Planted faults that the tests detect: a policy and a mean wrong by 12 standard errors,
// words of the arms read again for the rewards, bits shared by neighbouring lanes, bits
// shared by two groups.
func TestPackTestsHavePower(t *testing.T) {
	const samples = 64
	for _, b := range []bandit{
		{[]float64{0.3, 0.7}, []float64{0.3, 0.3}},
		{[]float64{0.3, 0.3, 0.4}, []float64{0.3, 0.3, 0.6}},
	} {
		right := b.aimed()
		off := 12 * math.Sqrt(0.3*0.7/(samples*draws/8))
		wrong := slices.Clone(b.weights)
		wrong[0] += off
		wrong[1] -= off
		p, w := b.aimed(), words(1)
		p.Aim(wrong)
		counts := sample(draws/8, func() int { p.Draw(w, samples); return bits.OnesCount64(p.Arms[0]) })
		if testBinomial(counts, samples, b.weights[0]) == nil {
			t.Errorf("%v: a wrong policy is not detected", b)
		}
		p = bandit{b.weights, append([]float64{0.3 + off/math.Sqrt(0.3)}, b.means[1:]...)}.aimed()
		counts = sample(draws/8, func() int { p.Draw(w, samples); return bits.OnesCount64(p.Arms[0] & p.Rewarded) })
		if testBinomial(counts, samples, b.weights[0]*b.means[0]) == nil {
			t.Errorf("%v: a wrong mean is not detected", b)
		}

		var arms [8]uint64
		turn := 0
		again := &broken{source: &Xoshiro{1, 2, 3, 4}, change: func(eight []uint64) {
			if turn++; turn%2 == 1 {
				copy(arms[:], eight)
			} else {
				copy(eight, arms[:])
			}
		}}
		if b.testLanes(NewWords(again), right, samples, 5) == nil {
			t.Errorf("%v: words read for both arms and rewards are not detected", b)
		}
		neighbour := &broken{source: &Xoshiro{1, 2, 3, 4}, change: func(eight []uint64) {
			for i := range eight {
				eight[i] = eight[i]&^2 | eight[i]<<1&2
			}
		}}
		if b.testLanes(NewWords(neighbour), right, samples, 0, 1) == nil {
			t.Errorf("%v: a bit shared by neighbouring lanes is not detected", b)
		}
		// In one of eight words only: a weak dependence.
		groups := &broken{source: &Xoshiro{1, 2, 3, 4}, change: func(eight []uint64) {
			eight[1] = eight[1]&^(0xffff<<48) | eight[1]<<48
		}}
		if b.testGroups(NewWords(groups), right, 16, 0, 3) == nil {
			t.Errorf("%v: groups that share a bit are not detected", b)
		}
	}
}
