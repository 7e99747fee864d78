package draw

import "math/bits"

// BinomialTable draws the number of successes in any number of trials n up to a limit, all with one
// probability p. The trials are split by the digits of n in base 64. The successes of each part are
// drawn from a table of its law. A draw takes one word per digit of the limit, and no branch
// depends on the words.
type BinomialTable struct {
	limit int
	parts [][digits]aliasTable // [position][digit]: the law of digit·64^position trials
}

const (
	digitBits = 6
	digits    = 1 << digitBits
)

// MaxTabulated is the largest limit of a BinomialTable, whose tables then take about a megabyte.
const MaxTabulated = 1 << 17

// NewBinomialTable returns the tables for up to limit trials with probability p in
// [0, 1]. It panics if limit is not in [0, MaxTabulated] or p is not a probability.
func NewBinomialTable(limit int, p float64) *BinomialTable {
	if limit < 0 || limit > MaxTabulated || !(p >= 0 && p <= 1) {
		panic("draw: NewBinomialTable: limit must be in [0, 131072] and p in [0, 1]")
	}
	t := &BinomialTable{limit: limit}
	for position := 0; position == 0 || limit>>position > 0; position += digitBits {
		var part [digits]aliasTable
		for digit := 0; digit < digits && digit<<position <= limit; digit++ {
			part[digit] = newAliasTable(binomialWeights(digit<<position, p))
		}
		t.parts = append(t.parts, part)
	}
	return t
}

// Draw returns a draw of the number of successes in n trials. It panics unless n is in [0, limit].
func (t *BinomialTable) Draw(w *Words, n int) int {
	if uint(n) > uint(t.limit) {
		panic("draw: BinomialTable.Draw: n must be in [0, limit]")
	}
	successes, words := 0, w.peekFour()
	w.next += uint8(len(t.parts)) // at most 3
	for i := range t.parts {
		successes += t.parts[i][n&(digits-1)].at(words[i&3])
		n >>= digitBits
	}
	return successes
}

// binomialWeights returns numbers proportional to the probabilities of low, low + 1, … successes.
// The values left out have less than 10⁻²⁰ of the law. They are computed from the most likely
// number of successes down to low, and from there upwards, with one or two roundings per step.
//
//	P(k)/P(k−1) = (n−k+1)/k · p/(1−p).
func binomialWeights(n int, p float64) (low int, weights []float64) {
	const negligible = 0x1p-80 // relative to the largest; reached at 10 standard deviations or more
	mode := min(int(float64(n+1)*p), n)
	odds := p / (1 - p)
	weight := 1.
	for low = mode; low > 0; low-- {
		next := weight * (float64(low) / (float64(n-low+1) * odds))
		if next < negligible {
			break
		}
		weight = next
	}
	for k := low; k <= n && (k <= mode || weight >= negligible); k++ {
		weights = append(weights, weight)
		weight *= float64(n-k) / float64(k+1) * odds
	}
	return low, weights
}

// aliasTable draws from a law of finitely many values by the alias method. The form is M. D.
// Vose's, IEEE Transactions on Software Engineering 17 (1991) 972–975. There are as many equal
// columns as values, and each column is shared by at most two values.
type aliasTable struct {
	low     int           // the least value
	columns []aliasColumn // column i belongs to the value low + i
}

// aliasColumn gives the column's own value below a threshold and another value from
// there on. Its high 48 bits are the threshold in units of 2⁻⁴⁸ of the column, its low
// 16 bits the other value less the least one.
type aliasColumn uint64

func newAliasColumn(filled float64, other int) aliasColumn {
	return aliasColumn(filled*0x1p48)<<16 | aliasColumn(other)
}

// newAliasTable returns the table of the law of low, low + 1, … with the given weights.
func newAliasTable(low int, weights []float64) aliasTable {
	sum := 0.
	for _, weight := range weights {
		sum += weight
	}
	t := aliasTable{low: low, columns: make([]aliasColumn, len(weights))}
	filled := make([]float64, len(weights)) // part of each column that its own value needs
	var under, over []int                   // the columns with filled < 1, and the others
	for i, weight := range weights {
		filled[i] = weight / sum * float64(len(weights))
		t.columns[i] = newAliasColumn(0, i)
		if filled[i] < 1 {
			under = append(under, i)
		} else {
			over = append(over, i)
		}
	}
	for len(under) > 0 && len(over) > 0 {
		i, j := under[len(under)-1], over[len(over)-1]
		under = under[:len(under)-1]
		t.columns[i] = newAliasColumn(filled[i], j)
		filled[j] -= 1 - filled[i]
		if filled[j] < 1 {
			over = over[:len(over)-1]
			under = append(under, j)
		}
	}
	return t // the columns left in under or over are full, up to rounding
}

// at returns the value of a word. The integer part of word/2⁶⁴ times the number of columns is the
// column, the fraction is the place in it. Each column has at least 2⁴⁰ equally likely places.
func (t *aliasTable) at(word uint64) int {
	i, place := bits.Mul64(word, uint64(len(t.columns)))
	column := uint64(t.columns[i])
	value := column & (1<<16 - 1)
	if place < column { // compiled to a conditional move: a branch would be unpredictable
		value = i
	}
	return t.low + int(value)
}
