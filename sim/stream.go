package sim

import (
	"crypto/sha256"
	"fmt"

	//lint:ignore SA1019 a pinned version keeps working, and this is the only file to change
	"golang.org/x/exp/rand"

	"grposim/sim/draw"
)

// Purpose is the use of a random stream. Different uses have different streams.
type Purpose string

// The purposes of random streams.
const (
	ForReplica   Purpose = "replica"   // index: of the replica, or of the pair of a relaxation probe
	ForStiffness Purpose = "stiffness" // index: of the probe and of its bin
	ForLocation  Purpose = "locate"    // index: of the pair
)

// Version names all that a measured number depends on besides its cell. The version of the streams
// is another when words differ or are read in another order. The second is that of what is
// measured. Numbers of different versions are not to be mixed.
const Version = "stream " + streamVersion + ", measuring 5"

const streamVersion = "5"

// Stream returns the source of random words for one purpose and index of one cell, a pure function
// of its arguments. These are hashed into all 128 bits of the state of a PCG generator. Its Seed
// method sets only 64 bits, and small seeds would give overlapping or correlated streams. The first
// four words of that generator are the state of the one returned.
func Stream(seed uint64, cell string, purpose Purpose, index int) *draw.Xoshiro {
	digest := sha256.Sum256(fmt.Appendf(nil, "grposim stream "+streamVersion+"\n%d\n%s\n%s\n%d\n", seed, cell, purpose, index))
	var seeder rand.PCGSource
	if err := seeder.UnmarshalBinary(digest[:16]); err != nil {
		panic(err) // unreachable: a state has 16 bytes
	}
	return &draw.Xoshiro{seeder.Uint64(), seeder.Uint64(), seeder.Uint64(), seeder.Uint64()}
}
