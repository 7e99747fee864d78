// Package draw holds samplers: they turn a stream of random 64-bit words into the
// counts and numbers that describe groups of samples.
//
// The draws of a sampler are a pure function of the words it takes. All arithmetic is
// rounded explicitly (see grposim/fp), so the draws are the same on every
// architecture. Drawing allocates no memory.
package draw

// Source is a stream of independent, uniformly distributed 64-bit words.
type Source interface {
	// Fill fills words with the next words of the stream.
	Fill(words []uint64)
}

// Words reads a Source through a buffer, so taking a word is an inlined load and
// increment. It is not for concurrent use.
type Words struct {
	source  Source
	refills uint64 // number of times the buffer has been filled
	next    uint8  // index of the next word; 0: the buffer is empty
	buffer  [BufferSize]uint64
	spread  [firstBits]uint64 // result of nextBits for few lanes
}

// BufferSize is the number of words that Words reads at a time. It is 256, so that the index next
// wraps to 0 at the end of the buffer.
const BufferSize = 1 << 8

// NewWords returns the words of source, which may be nil if Reset is called
// before the first word is taken.
func NewWords(source Source) *Words {
	w := new(Words)
	w.Reset(source)
	return w
}

// Reset discards the buffered words and continues with the words of source.
func (w *Words) Reset(source Source) {
	w.source = source
	w.refills = 0
	w.next = 0
}

// Align advances the one of two readers of equal sources from which fewer words have
// been taken, so both continue with the same word.
func Align(a, b *Words) {
	if a.taken() < b.taken() {
		a, b = b, a
	}
	for b.refills < a.refills {
		b.refill()
	}
	b.next = a.next
}

// taken returns the number of words taken, skipped ones included.
func (w *Words) taken() uint64 {
	return w.refills*BufferSize - uint64(-w.next) // −next mod 256: the words left in the buffer
}

// Next takes a word.
func (w *Words) Next() uint64 {
	if w.next == 0 {
		w.refill()
	}
	word := w.buffer[w.next]
	w.next++
	return word
}

// several takes as many successive words as space has. They are in space unless the buffer has them
// all, and valid until the next word is taken.
func (w *Words) several(space []uint64) []uint64 {
	if at := int(w.next); at > 0 && at+len(space) <= BufferSize {
		w.next += uint8(len(space))
		return w.buffer[at : at+len(space)]
	}
	for i := range space {
		space[i] = w.Next()
	}
	return space
}

// nextEight takes eight successive words, valid until the next word is taken. If the
// buffer holds fewer than eight, it skips them.
func (w *Words) nextEight() *[8]uint64 {
	if w.next-1 >= BufferSize-8 { // empty, or fewer than eight are left
		w.refill()
	}
	w.next += 8
	return (*[8]uint64)(w.buffer[w.next-8:])
}

// peekFour returns four successive words, and skips fewer as nextEight does. The
// caller takes one to four of them by advancing w.next.
func (w *Words) peekFour() *[4]uint64 {
	if w.next-1 >= BufferSize-4 {
		w.refill()
	}
	return (*[4]uint64)(w.buffer[w.next:])
}

// refill fills the buffer. It is not inlined, because Next then would not be.
//
//go:noinline
func (w *Words) refill() {
	w.refills++
	w.next = 0
	w.source.Fill(w.buffer[:])
}
