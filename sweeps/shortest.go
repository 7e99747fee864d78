package sweeps

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// decimalScale multiplies by 2^−i·10^n, where n is least with 10^n ≥ 2^i: what is
// left of 2^52 ≤ c < 2^53 then has 16 or 17 digits.
type decimalScale struct {
	high, low uint64 // 10^n, shifted to 128 bits
	shift     int    // of c, so that the product's first word is its whole part
	n         int
}

// decimalScales[i] scales numbers in [2^(52−i), 2^(53−i)). All their 10^n are below
// 2^128, so products are exact.
var decimalScales = func() (table [123]decimalScale) {
	high, low, n := uint64(0), uint64(1), 0
	for i := range table {
		if high == 0 && bits.Len64(low) <= i || high > 0 && 64+bits.Len64(high) <= i {
			carry, product := bits.Mul64(low, 10)
			high, low, n = high*10+carry, product, n+1
		}
		length := bits.Len64(low)
		if high > 0 {
			length = 64 + bits.Len64(high)
		}
		s := decimalScale{high: high, low: low, shift: length - i, n: n}
		for ; length < 128; length++ {
			s.high, s.low = s.high<<1|s.low>>63, s.low<<1
		}
		table[i] = s
	}
	return table
}()

// of returns c·2^−i·10^n, rounded to an odd number where it is not whole: that
// compares with an even number as the product itself does.
func (s *decimalScale) of(c uint64) uint64 {
	c <<= s.shift
	whole, upper := bits.Mul64(s.high, c)
	middle, rest := bits.Mul64(s.low, c)
	middle, carry := bits.Add64(middle, upper, 0)
	whole += carry
	if middle|rest != 0 {
		whole |= 1
	}
	return whole
}

// shortest returns the shortest decimal that reads back as x > 0, and of those
// the nearest, as strconv does but faster: whole·10^−n, where whole has 16 or 17
// digits, zeros at its end among them. ok says whether x is a number it does:
// one from 2^−70 to 2^53 that is not a power of two.
//
// c·2^−i stands for whatever lies within half a unit of c. Scaled by 10^n that
// has room for one to nine whole numbers, and sometimes one of them ends in 0
// (R. Giulietti, The Schubfach way to render doubles, 2020).
func shortest(x float64) (whole uint64, n int, ok bool) {
	const fraction, bias = 52, 1023
	b := math.Float64bits(x)
	c := b & (1<<fraction - 1)
	i := bias + fraction - int(b>>fraction)
	if c == 0 || i < 0 || i >= len(decimalScales) {
		return 0, 0, false
	}
	c |= 1 << fraction
	s := &decimalScales[i]
	// In quarters, so that half a unit and the middle of two numbers are whole.
	lowest, middle, highest := s.of(4*c-2), s.of(4*c), s.of(4*c+2)
	if c&1 != 0 { // the ends themselves are read as the even numbers beside c
		lowest++
		highest--
	}
	whole = middle / 4
	tens := whole / 10 * 10
	switch down, up := lowest <= 4*tens, 4*(tens+10) <= highest; {
	case down:
		return tens, s.n, true
	case up:
		return tens + 10, s.n, true
	}
	down, up := lowest <= 4*whole, 4*(whole+1) <= highest
	half := 4*whole + 2
	if up && (!down || middle > half || middle == half && whole&1 != 0) {
		whole++
	}
	return whole, s.n, true
}

// appendDecimal appends whole·10^−n without the zeros at its end, where whole has
// 16 or 17 digits, in the form of encoding/json: below 10^−6 with an exponent.
func appendDecimal(text []byte, whole uint64, n int) []byte {
	const eight, zeros = 100_000_000, "0000000000000000"
	point := 16 - n // digits before it
	if whole >= eight*eight {
		point++
	}
	exponent := point - 1
	switch {
	case exponent < -6:
		point = 1
	case point <= 0:
		text = append(append(text, "0."...), zeros[:-point]...)
	}
	start := len(text)
	if whole >= eight*eight {
		text = append(text, '0'+byte(whole/(eight*eight)))
	}
	text = binary.LittleEndian.AppendUint64(text, eightDigits(whole/eight%eight))
	text = binary.LittleEndian.AppendUint64(text, eightDigits(whole%eight))
	for text[len(text)-1] == '0' {
		text = text[:len(text)-1]
	}
	if digits := len(text) - start; digits < point {
		text = append(text, zeros[:point-digits]...)
	} else if 0 < point && point < digits {
		text = slices.Insert(text, start+point, '.')
	}
	if exponent < -6 {
		text = strconv.AppendInt(append(text, 'e'), int64(exponent), 10)
	}
	return text
}

// eightDigits returns the digits of n < 10^8 as characters, the first in the
// lowest byte. Halves, quarters and bytes of a word are divided at once.
func eightDigits(n uint64) uint64 {
	n = n/10_000 | n%10_000<<32
	hundreds := n * 10_486 >> 20 & 0x7f_0000_007f
	n = hundreds | (n-100*hundreds)<<16
	tens := n * 103 >> 10 & 0xf_000f_000f_000f
	n = tens | (n-10*tens)<<8
	return n + 0x3030_3030_3030_3030
}
