// Package draw is words in, counts out: samplers that turn a stream of random
// words into the counts and numbers a group of samples consists of.
//
// A sampler's draws are a pure function of the words it takes. All arithmetic is
// rounded explicitly (see grposim/grpo/fp), so they are the same on every
// architecture. Nothing is allocated while drawing.
package draw

// Source is a stream of independent, uniformly distributed 64-bit words.
type Source interface {
	// Fill fills words with the next words of the stream.
	Fill(words []uint64)
}

// Words reads a Source through a buffer, so that taking a word is a load and
// an increment that the compiler inlines. It is not for concurrent use.
type Words struct {
	source  Source
	refills uint64
	next    uint8 // index of the next word; 0: the buffer is used up
	buffer  [bufferSize]uint64
	spread  [firstBits]uint64 // see nextBits
}

// bufferSize is 256, where an index of a byte begins again.
const bufferSize = 1 << 8

// NewWords returns the words of source, which may be nil if Reset is called
// before the first word is taken.
func NewWords(source Source) *Words {
	w := new(Words)
	w.Reset(source)
	return w
}

// Reset drops what is buffered and goes on with the words of source.
func (w *Words) Reset(source Source) {
	w.source = source
	w.refills = 0
	w.next = 0
}

// Align moves forward the words of the two that have been taken less far, so
// that both, which read equal sources, go on with the same word.
func Align(a, b *Words) {
	if a.taken() < b.taken() {
		a, b = b, a
	}
	for b.refills < a.refills {
		b.refill()
	}
	b.next = a.next
}

// taken returns how many words have been taken.
func (w *Words) taken() uint64 {
	return w.refills*bufferSize - uint64(-w.next) // −next: what is left in the buffer
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

// nextEight takes eight successive words, valid until the next is taken. Of a
// buffer that holds fewer it drops the rest.
func (w *Words) nextEight() *[8]uint64 {
	if w.next-1 >= bufferSize-8 { // used up, or fewer than eight are left
		w.refill()
	}
	w.next += 8
	return (*[8]uint64)(w.buffer[w.next-8:])
}

// peekFour returns four successive words, as nextEight, of which the caller takes one
// to four by moving w.next.
func (w *Words) peekFour() *[4]uint64 {
	if w.next-1 >= bufferSize-4 {
		w.refill()
	}
	return (*[4]uint64)(w.buffer[w.next:])
}

// refill is kept out of Next, which would not be inlined with it.
//
//go:noinline
func (w *Words) refill() {
	w.refills++
	w.next = 0
	w.source.Fill(w.buffer[:])
}
