package draw

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// counted are the rewarded samples of an arm in a group, and the others.
type counted struct{ rewarded, others int }

// of returns the counts of an arm in a group of a draw.
func (p *Pack) of(a, group int) counted {
	at := 16 * group
	return counted{int(p.Rewarded[a] >> at & 0xffff), int(p.Others[a] >> at & 0xffff)}
}

// slowly returns the counts of a draw by arm and group, sample by sample, from the same words.
func slowly(b bandit, w *Words, size, groups int) [][4]counted {
	scale := big.NewFloat(PackScale)
	word := w.Next()
	shift := new(big.Float).SetMantExp(new(big.Float).SetUint64(word>>12), -52)
	counts := make([][4]counted, len(b.weights))
	for i := range groups * size {
		if i%4 == 0 {
			word = w.Next()
		}
		u := new(big.Float).SetUint64(word & 0x7fff)
		word >>= 16
		below := func(bound float64) bool { // u < ⌊2¹⁵ bound + shift⌋, the shift in [0, 1)
			x := new(big.Float).SetPrec(200).SetFloat64(min(bound, 1))
			floor, _ := x.Mul(x, scale).Add(x, shift).Int(nil)
			return u.Cmp(new(big.Float).SetInt(floor)) < 0
		}
		sum := 0.
		for n := range 2 * len(b.weights) {
			a := min(n, 2*len(b.weights)-1-n)
			mean, to := b.means[a], &counts[a][i%groups].rewarded
			if (n < len(b.weights)) == (a%2 == 1) {
				mean, to = 1-mean, &counts[a][i%groups].others
			}
			if sum += float64(b.weights[a] * mean); n == 2*len(b.weights)-1 || below(sum) {
				*to++
				break
			}
		}
	}
	return counts
}

// A draw has the counts of its samples taken one by one, of any size and number of groups.
func TestPackCounts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	w := words(5)
	for range 3000 / thin {
		b := bandit{weights: randomWeights(w, 1+random.IntN(40))}
		if slices.Max(b.weights) == 0 {
			continue
		}
		for range b.weights {
			b.means = append(b.means, anyMean(random))
		}
		size, seed := 1+random.IntN(MaxPacked), random.Uint64()
		p := b.aimed(size, []int{1, 2, 5}[random.IntN(3)])
		fast, slow := words(seed), words(seed)
		for range 3 {
			p.Draw(fast)
			want := slowly(b, slow, size, p.Groups())
			for a := range b.weights {
				for g := range p.Groups() {
					if got := p.of(a, g); got != want[a][g] {
						t.Fatalf("%v, group %d of %d samples, arm %d: %+v, want %+v", b, g, size, a, got, want[a][g])
					}
				}
			}
		}
	}
}

// The mean of a rounded bound is the bound, to 2⁻⁵², however small.
func TestPackRounding(t *testing.T) {
	p := NewPack(2, nil, 1, 1)
	for _, bound := range []float64{0x1p-30, 0x1.8p-20, 1e-6, 1e-3, 0.3, 1 - 0x1p-20} {
		p.Aim([]float64{1 - bound, bound})
		const grid = 1 << 16
		sum := 0
		for i := range grid {
			rounded := int(math.Float64bits(p.bounds[1]+PackShift(uint64(i)<<48)+ToInteger) & 0xffff)
			sum += rounded
		}
		if got, want := float64(sum)/grid, bound*PackScale; math.Abs(got-want) > 1./grid {
			t.Errorf("bound %g is rounded to %g in the mean, want %g", bound, got, want)
		}
	}
}

// Arms without weight are not drawn, and means of 0 and 1 are certain.
func TestPackCertain(t *testing.T) {
	w := words(7)
	for _, b := range bandits {
		p := b.aimed(16, 4)
		for range 2000 / thin {
			p.Draw(w)
			for a := range b.weights {
				for g := range p.Groups() {
					x := p.of(a, g)
					if b.weights[a] == 0 && x != (counted{}) || b.means[a] == 0 && x.rewarded > 0 ||
						b.means[a] == 1 && x.others > 0 {
						t.Fatalf("%v: arm %d has %+v", b, a, x)
					}
				}
			}
		}
	}
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
func (b bandit) aimed(size, groups int) *Pack {
	p := NewPack(len(b.weights), b.means, size, groups)
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

// drawCounts draws groups of n samples and returns the code of the counts of outcomes of one.
func drawCounts(p *Pack, w *Words, n, group int) int {
	p.Draw(w)
	code := 0
	for a := len(p.Others) - 1; a >= 0; a-- {
		x := p.of(a, group)
		code = code*(n+1) + x.rewarded
		code = code*(n+1) + x.others
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
		w, groups := words(uint64(i)), []int{1, 2, 4}[i%3]
		p := b.aimed(n, groups)
		codes := int(math.Pow(float64(n+1), float64(2*len(b.weights))))
		joint := sample(draws, func() int { return drawCounts(p, w, n, i%groups) })
		outcomes := make([]float64, 2*len(b.weights))
		for i := range outcomes {
			outcomes[i] = b.outcome(i)
		}
		passes(t, b, testPMF(joint, 0, codes-1, jointLaw(n, outcomes)))
	}
}
