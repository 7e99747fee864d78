//go:build goexperiment.simd && amd64 && !go1.27

package draw

import (
	"simd/archsimd"

	"grposim/fp"
)

// Width is the number of streams that Streams reads at once: the 64-bit elements of a
// vector register.
const Width = 8

// Vector has an element for each of the streams.
type Vector = [Width]uint64

type (
	vector = archsimd.Uint64x8
	reals  = archsimd.Float64x8
	mask   = archsimd.Mask64x8
)

// Streams are eight readers of random words like Words, one in each element of a vector.
// A stream advances only when a word is taken from it, so that what is drawn from it does
// not depend on the others. Streams needs AVX-512. It must be allocated by itself: memory
// without pointers is aligned to cache lines, as fast access to vectors requires.
type Streams struct {
	states [4]Vector // of the generators, see Xoshiro
	taken  Vector    // words taken from each, skipped ones included
}

// Start sets stream i.
func (s *Streams) Start(i int, stream *Xoshiro) {
	for n := range stream {
		s.states[n][i] = stream[n]
	}
	s.taken[i] = 0
}

// Copy sets stream i to that of t.
func (s *Streams) Copy(i int, t *Streams) {
	for n := range s.states {
		s.states[n][i] = t.states[n][i]
	}
	s.taken[i] = t.taken[i]
}

// AlignStreams advances, of each two streams that started equal, the one from which fewer
// words have been taken, as Align.
func AlignStreams(s, t *Streams) {
	a, b := archsimd.LoadUint64x8(&s.taken), archsimd.LoadUint64x8(&t.taken)
	behind := ones(a.Less(b))
	a = choose(behind, b, a)
	a.Store(&s.taken)
	a.Store(&t.taken)
	for n := range s.states {
		a := choose(behind, archsimd.LoadUint64x8(&t.states[n]), archsimd.LoadUint64x8(&s.states[n]))
		a.Store(&s.states[n])
		a.Store(&t.states[n])
	}
}

// set sets all streams to those of t.
func (s *Streams) set(t *Streams) {
	s.store(t.load())
	archsimd.LoadUint64x8(&t.taken).Store(&s.taken)
}

// skip skips the words at the end of a buffer of Words, where fewer than n are left.
func (s *Streams) skip(n uint64) { s.skipWhere(n, archsimd.Mask64x8FromBits(0xff)) }

// skipWhere is skip for the given streams.
func (s *Streams) skipWhere(n uint64, where mask) {
	last, place := fp.Integers(bufferSize-n), fp.Integers(bufferSize-1)
	taken := archsimd.LoadUint64x8(&s.taken)
	late := taken.And(place).Greater(last).And(where)
	if late.ToBits() == 0 {
		return
	}
	s0, s1, s2, s3 := s.load()
	for range n - 1 {
		skipped := ones(late)
		_, s0, s1, s2, s3 = nextWhere(skipped, s0, s1, s2, s3)
		taken = taken.Sub(skipped)
		late = taken.And(place).Greater(last).And(where)
	}
	s.store(s0, s1, s2, s3)
	taken.Store(&s.taken)
}

// next returns the next word of every stream, and the streams' states after it.
func next(s0, s1, s2, s3 vector) (word, t0, t1, t2, t3 vector) {
	word = s0.Add(s3).RotateAllLeft(23).Add(s0)
	t := s1.ShiftAllLeft(17)
	s2 = s2.Xor(s0)
	s3 = s3.Xor(s1)
	s1 = s1.Xor(s2)
	s0 = s0.Xor(s3)
	return word, s0, s1, s2.Xor(t), s3.RotateAllLeft(45)
}

// nextWhere returns the next word of every stream. With it are the states after it, of the streams
// where w is all ones; where it is 0 the states stay.
func nextWhere(w, s0, s1, s2, s3 vector) (word, t0, t1, t2, t3 vector) {
	word = s0.Add(s3).RotateAllLeft(23).Add(s0)
	x, y := s2.Xor(s0), s3.Xor(s1)
	t2 = s2.Xor(s0.Xor(s1.ShiftAllLeft(17)).And(w))
	return word, s0.Xor(y.And(w)), s1.Xor(x.And(w)), t2, choose(w, y.RotateAllLeft(45), s3)
}

// load returns the states.
func (s *Streams) load() (s0, s1, s2, s3 vector) {
	return archsimd.LoadUint64x8(&s.states[0]), archsimd.LoadUint64x8(&s.states[1]), archsimd.LoadUint64x8(&s.states[2]), archsimd.LoadUint64x8(&s.states[3])
}

// store sets the states.
func (s *Streams) store(s0, s1, s2, s3 vector) {
	s0.Store(&s.states[0])
	s1.Store(&s.states[1])
	s2.Store(&s.states[2])
	s3.Store(&s.states[3])
}

// take takes a word from every stream for each of the first bits of the lanes.
func (s *Streams) take(words *[firstBits]Vector) {
	s0, s1, s2, s3 := s.load()
	for i := range words {
		var word vector
		word, s0, s1, s2, s3 = next(s0, s1, s2, s3)
		word.Store(&words[i])
	}
	s.store(s0, s1, s2, s3)
	s.count(fp.Integers(firstBits))
}

// Next takes a word from every stream.
func (s *Streams) Next() archsimd.Uint64x8 {
	s0, s1, s2, s3 := s.load()
	word, s0, s1, s2, s3 := next(s0, s1, s2, s3)
	s.store(s0, s1, s2, s3)
	s.count(fp.Integers(1))
	return word
}

// nextFour takes four words from every stream.
func (s *Streams) nextFour() (a, b, c, d vector) {
	s0, s1, s2, s3 := s.load()
	a, s0, s1, s2, s3 = next(s0, s1, s2, s3)
	b, s0, s1, s2, s3 = next(s0, s1, s2, s3)
	c, s0, s1, s2, s3 = next(s0, s1, s2, s3)
	d, s0, s1, s2, s3 = next(s0, s1, s2, s3)
	s.store(s0, s1, s2, s3)
	s.count(fp.Integers(4))
	return a, b, c, d
}

// NextWhere takes a word from the given streams. The other words are arbitrary.
func (s *Streams) NextWhere(where mask) vector {
	s0, s1, s2, s3 := s.load()
	w := ones(where)
	word, s0, s1, s2, s3 := nextWhere(w, s0, s1, s2, s3)
	s.store(s0, s1, s2, s3)
	archsimd.LoadUint64x8(&s.taken).Sub(w).Store(&s.taken)
	return word
}

// ones returns all ones where where is set, and 0 elsewhere.
func ones(where mask) vector { return where.ToInt64x8().AsUint64x8() }

// choose returns the elements of yes where where is all ones, and those of no where it is
// 0. Go 1.26 does not compile Merge for all operands.
func choose(where, yes, no vector) vector { return no.Xor(yes.Xor(no).And(where)) }

// count adds to the number of words taken.
func (s *Streams) count(words vector) {
	archsimd.LoadUint64x8(&s.taken).Add(words).Store(&s.taken)
}

// hasOnesCount reports whether the processor counts the bits of vector elements, which
// not every processor with AVX-512 does.
var hasOnesCount = archsimd.X86.AVX512VPOPCNTDQ()

// OnesCount returns the number of bits that are 1, for every element.
func OnesCount(x archsimd.Uint64x8) archsimd.Uint64x8 {
	if hasOnesCount {
		return x.OnesCount()
	}
	return onesCountByTable(x)
}

// nibbleCounts holds the numbers of bits of 0 … 15, in bytes, for each 128 bits.
var nibbleCounts = [8]uint64{
	0x0302020102010100, 0x0403030203020201, 0x0302020102010100, 0x0403030203020201,
	0x0302020102010100, 0x0403030203020201, 0x0302020102010100, 0x0403030203020201,
}

// onesCountByTable is OnesCount on any processor with AVX-512: it looks up the count of
// each four bits and sums over bytes.
func onesCountByTable(x vector) vector {
	table, nibble := archsimd.LoadUint64x8(&nibbleCounts).AsUint8x64(), fp.Integers(0x0f0f0f0f0f0f0f0f)
	low := table.PermuteOrZeroGrouped(x.And(nibble).AsInt8x64())
	high := table.PermuteOrZeroGrouped(x.ShiftAllRight(4).And(nibble).AsInt8x64())
	return low.Add(high).SumAbsDiff(archsimd.BroadcastUint8x64(0)).AsUint64x8()
}
