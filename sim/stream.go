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
// pure function of its arguments. They are hashed into all 128 bits of the state
// of a PCG generator (its Seed sets only 64, and small ones would give overlapping
// or correlated streams), whose first four words are the state of the generator
// that is read. The number in the text is the version of the streams: results
// of another version were drawn from other words.
func Stream(seed uint64, cell string, purpose Purpose, index int) draw.Source {
	digest := sha256.Sum256(fmt.Appendf(nil, "grposim stream 3\n%d\n%s\n%s\n%d\n", seed, cell, purpose, index))
	var seeder rand.PCGSource
	if err := seeder.UnmarshalBinary(digest[:16]); err != nil {
		panic(err) // 16 bytes are what it takes
	}
	return &draw.Xoshiro{seeder.Uint64(), seeder.Uint64(), seeder.Uint64(), seeder.Uint64()}
}
