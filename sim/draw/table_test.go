package draw

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"testing"
)

// law is a distribution over finitely many integers.
type law struct {
	low int          // the least value
	p   []*big.Float // probabilities of low, low + 1, …
}

const precision = 300

func precise(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// exactBinomial returns the binomial law for 0 < p < 1, without the values less likely
// than 2⁻²⁰⁰ times the most likely one.
func exactBinomial(n int, p float64) law {
	odds := new(big.Float).Sub(precise(1), precise(p))
	odds.Quo(precise(p), odds)
	mode := min(int(float64(n+1)*p), n)
	least := precise(0x1p-200)
	ratio := func(k int) *big.Float { // P(k)/P(k−1)
		r := precise(float64(n - k + 1))
		return r.Mul(r.Quo(r, precise(float64(k))), odds)
	}
	up := []*big.Float{precise(1)}
	for k := mode + 1; k <= n && up[len(up)-1].Cmp(least) > 0; k++ {
		up = append(up, new(big.Float).Mul(up[len(up)-1], ratio(k)))
	}
	down := []*big.Float{precise(1)}
	for k := mode; k > 0 && down[len(down)-1].Cmp(least) > 0; k-- {
		down = append(down, new(big.Float).Quo(down[len(down)-1], ratio(k)))
	}
	slices.Reverse(down)
	l := law{mode - len(down) + 1, append(down[:len(down)-1], up...)}
	sum := precise(0)
	for _, x := range l.p {
		sum.Add(sum, x)
	}
	for _, x := range l.p {
		x.Quo(x, sum)
	}
	return l
}

// law returns the law that a table encodes, by counting the words of all 2⁶⁴ that give
// each value.
func (t *aliasTable) law() law {
	l := law{t.low, make([]*big.Float, len(t.columns))}
	for i := range l.p {
		l.p[i] = precise(0)
	}
	columns := uint64(len(t.columns))
	// first returns the first word of column i whose place is at least place.
	first := func(i int, place uint64) uint64 {
		if uint64(i) == columns {
			return 0 // 2⁶⁴
		}
		word, rest := bits.Div64(uint64(i), place, columns)
		if rest > 0 {
			word++
		}
		return word
	}
	for i, c := range t.columns {
		own := first(i, uint64(c)) - first(i, 0)
		all := first(i+1, 0) - first(i, 0)
		if columns == 1 {
			own, all = math.MaxUint64, math.MaxUint64
		}
		add := func(k int, words uint64) {
			x := new(big.Float).SetPrec(precision).SetUint64(words)
			l.p[k].Add(l.p[k], x.SetMantExp(x, -64))
		}
		add(i, own)
		add(int(c&0xffff), all-own)
	}
	return l
}

// distance returns the distance in total variation.
func (l law) distance(m law) float64 {
	at := func(l law, k int) *big.Float {
		if k < l.low || k >= l.low+len(l.p) {
			return precise(0)
		}
		return l.p[k-l.low]
	}
	sum := precise(0)
	for k := min(l.low, m.low); k < max(l.low+len(l.p), m.low+len(m.p)); k++ {
		d := new(big.Float).Sub(at(l, k), at(m, k))
		sum.Add(sum, d.Abs(d))
	}
	half, _ := sum.Float64()
	return half / 2
}

// tabulated are numbers of trials for a single alias table, around the limits of base-64
// digits and between them.
var tabulated = []int{1, 2, 16, 31, 32, 63, 64, 31 * 32, 1024, 31 * 1024, 63 * 64, 4096, 1 << 15, 3 << 15, 31 * 4096, 1 << 17}

// The law that a table encodes, counted over all words, is the binomial law up to one or two
// roundings per value. It is so over some 10 standard deviations to either side.
func TestAliasTableLaw(t *testing.T) {
	worst := 0.
	for i, n := range tabulated {
		if i%thin != 0 {
			continue
		}
		for _, p := range append([]float64{5e-324, 0x1p-1022, 1e-9, 0x1p-17, 1. / 3}, probabilities...) {
			low, weights := binomialWeights(n, p)
			table := newAliasTable(low, weights)
			if p == 0 || p == 1 {
				if certainty := n * int(p); len(table.columns) != 1 || table.low != certainty {
					t.Errorf("n = %d, p = %v: %d values from %d", n, p, len(table.columns), table.low)
				}
				continue
			}
			encoded, exact := table.law(), exactBinomial(n, p)
			distance := encoded.distance(exact)
			if distance > 0x1p-44 {
				t.Errorf("n = %d, p = %v: 2^%.1f off", n, p, math.Log2(distance))
			}
			worst = max(worst, distance)
			total, outside := precise(0), precise(0)
			for k, x := range exact.p {
				if k += exact.low; k < low || k >= low+len(weights) {
					outside.Add(outside, x)
				}
			}
			for _, x := range encoded.p {
				total.Add(total, x)
			}
			if x, _ := outside.Float64(); x > 1e-20 {
				t.Errorf("n = %d, p = %v: %g of the law is missing", n, p, x)
			}
			if x, _ := total.Sub(total, precise(1)).Float64(); math.Abs(x) > 0x1p-64 {
				t.Errorf("n = %d, p = %v: columns add up to 1 %+g", n, p, x)
			}
		}
	}
	t.Logf("at most 2^%.1f off", math.Log2(worst))
}

// A word gives the value for which law counts it: tested at the first and last words of
// both parts of each column.
func TestAliasTableWords(t *testing.T) {
	for _, n := range []int{1, 31, 32 * 5, 1024 * 3} {
		table := newAliasTable(binomialWeights(n, 0.2))
		columns := uint64(len(table.columns))
		for i, c := range table.columns {
			// Words whose place is next to an end of the column or to the threshold.
			for _, place := range []uint64{0, uint64(c), math.MaxUint64 - columns + 1} {
				word, _ := bits.Div64(uint64(i), place, columns)
				for _, word := range []uint64{word - 1, word, word + 1, word + 2} {
					column, at := bits.Mul64(word, columns)
					want := int(column)
					if at >= uint64(table.columns[column]) {
						want = int(table.columns[column] & 0xffff)
					}
					if got := table.at(word); got != table.low+want {
						t.Fatalf("n = %d: word %#x gives %d, want %d", n, word, got, table.low+want)
					}
				}
			}
		}
	}
}

// tableTrials are numbers of trials around the limits of base-64 digits, and others.
var tableTrials = []int{0, 1, 16, 17, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 4095, 4096, 4097,
	1<<15 - 1, 1<<15 + 1, 1<<17 - 1, 1 << 17}

func TestBinomialTable(t *testing.T) {
	for j, p := range probabilities {
		table := NewBinomialTable(MaxTabulated, p)
		for i, n := range tableTrials {
			if (i+j)%thin != 0 {
				continue
			}
			w := words(uint64(100*i + j))
			histogram := sample(draws, func() int { return table.Draw(w, n) })
			passes(t, fmt.Sprintf("n = %d, p = %v", n, p), testBinomial(histogram, n, p))
		}
	}
}

// The draws of n trials do not depend on the limit of the table, and a draw takes one
// word per digit of the limit.
func TestBinomialTableLimits(t *testing.T) {
	largest := NewBinomialTable(MaxTabulated, 0.3)
	for _, limit := range tableTrials {
		table := NewBinomialTable(limit, 0.3)
		parts := uint64(1)
		for rest := limit; rest >= digits; rest /= digits {
			parts++
		}
		for _, n := range append([]int{limit - limit%digits, limit / 2}, tableTrials...) {
			if n > limit {
				continue
			}
			w := words(uint64(n))
			for i := range uint64(20) {
				x := words(uint64(n))
				for range i * parts {
					x.Next()
				}
				if got, want := table.Draw(w, n), largest.Draw(x, n); got != want {
					t.Fatalf("limit %d, n = %d: %d, want %d", limit, n, got, want)
				}
			}
			if got := w.taken(); got != 20*parts {
				t.Errorf("limit %d, n = %d: %d words in 20 draws of %d parts", limit, n, got, parts)
			}
		}
	}
}
