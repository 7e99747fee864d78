package sim

import (
	"crypto/sha256"
	"fmt"

	//lint:ignore SA1019 a pinned version keeps working, and this is the only file to change
	"golang.org/x/exp/rand"

	"grposim/sim/draw"
)

// Purpose says what a random stream is for, so that no two uses share one.
type Purpose string

const (
	ForReplica   Purpose = "replica"
	ForStiffness Purpose = "stiffness"
	ForLocation  Purpose = "locate"
)

// Stream returns the source of random words for one purpose of one cell: a
// pure function of its arguments, hashed into the generator's full 128 bits.
// (A generator's seed is its state; small seeds would give overlapping or
// correlated streams.)
func Stream(seed uint64, cell string, purpose Purpose, index int) draw.Source {
	digest := sha256.Sum256(fmt.Appendf(nil, "grposim stream 1\n%d\n%s\n%s\n%d\n", seed, cell, purpose, index))
	source := new(rand.PCGSource)
	if err := source.UnmarshalBinary(digest[:16]); err != nil {
		panic(err) // 16 bytes are what it takes
	}
	return source
}
