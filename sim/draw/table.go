package draw

import "math/bits"

// BinomialTable draws numbers of successes in any number of trials up to a limit,
// all with one probability p: the trials are split by the digits of their number
// in base 64, and each part drawn from a table of its law. That takes a word for each
// digit of the limit, and no branch that depends on chance.
type BinomialTable struct {
	limit int
	parts [][digits]aliasTable // [position][digit]
}

const (
	digitBits = 6
	digits    = 1 << digitBits
)

// MaxTabulated is the largest limit of a BinomialTable; its tables then take about a
// megabyte.
const MaxTabulated = 1 << 17

// NewBinomialTable returns the tables for up to limit trials with probability p in
// [0, 1]. It panics if limit is not in [0, MaxTabulated] or p is not a probability.
func NewBinomialTable(limit int, p float64) *BinomialTable {
	if limit < 0 || limit > MaxTabulated || !(p >= 0 && p <= 1) {
		panic("draw: no table for such a law")
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

// Draw returns a draw of the number of successes in n trials, n from 0 to the
// limit; it panics if n is another number.
func (t *BinomialTable) Draw(w *Words, n int) int {
	if uint(n) > uint(t.limit) {
		panic("draw: more trials than the table is for")
	}
	successes, words := 0, w.peekFour()
	w.next += uint8(len(t.parts)) // at most 3
	for i := range t.parts {
		successes += t.parts[i][n&(digits-1)].at(words[i&3])
		n >>= digitBits
	}
	return successes
}

// binomialWeights returns numbers proportional to the probabilities of low,
// low + 1, …, beyond which there is less than 10⁻²⁰ of the law. They follow from
// the most likely number of successes down to low, and from there upwards,
//
//	P(k)/P(k−1) = (n−k+1)/k · p/(1−p),
//
// and lose a rounding or two a step.
func binomialWeights(n int, p float64) (low int, weights []float64) {
	const negligible = 0x1p-80 // of the largest, at 10 standard deviations or more
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

// aliasTable draws from a law of finitely many values by the alias method (A. J.
// Walker 1977, in M. D. Vose's form, IEEE Transactions on Software Engineering 17
// (1991) 972–975): one of as many equal columns as there are values, each shared by
// two of them.
type aliasTable struct {
	low     int
	columns []aliasColumn
}

// aliasColumn stands for its own value below a threshold, and for another from there
// on: the threshold in units of 2⁻⁴⁸ of the column, and in the last 16 bits the other
// value.
type aliasColumn uint64

func newAliasColumn(filled float64, other int) aliasColumn {
	return aliasColumn(filled*0x1p48)<<16 | aliasColumn(other)
}

// newAliasTable returns the table of the law of low, low + 1, … with the given
// weights.
func newAliasTable(low int, weights []float64) aliasTable {
	sum := 0.
	for _, weight := range weights {
		sum += weight
	}
	t := aliasTable{low: low, columns: make([]aliasColumn, len(weights))}
	filled := make([]float64, len(weights)) // in columns
	var under, over []int                   // columns filled by less than one, and by more
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
	return t // what is left is full but for rounding
}

// at returns the value that a word stands for: its high part times the number of
// columns is the column, the low part the place in it, of which at least 2⁴⁰ are as
// likely as each other.
func (t *aliasTable) at(word uint64) int {
	i, place := bits.Mul64(word, uint64(len(t.columns)))
	column := uint64(t.columns[i])
	value := column & (1<<16 - 1)
	if place < column { // no branch, which could not be predicted: a conditional move
		value = i
	}
	return t.low + int(value)
}
