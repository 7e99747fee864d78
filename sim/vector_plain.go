//go:build !goexperiment.simd || !amd64 || go1.27

package sim

import "context"

// In this build there are no vector instructions, which vectorBatch and vectorPairs need.
type (
	vectorBatch struct{}
	vectorPairs struct{}
)

const vectorBins = 1

func hasVectors(*Cell) bool { return false }

func newVectorBatches([]*replica) []*vectorBatch { return nil }

func runVectors(context.Context, []*vectorBatch, []*replica, []int) {}

func newVectorPairs(*Cell, *sampler) *vectorPairs { return nil }

func (*vectorPairs) relax(context.Context, *pairRuns, []pairFit, int, int) bool {
	return false
}

func (*vectorPairs) slopes(context.Context, *StiffnessProbe, int, int, []slopes) {}

const hasVectorRecords = false

func (record) setVectors([][][quantityCount]float64) {}

func setVectorQuantiles([][]Summary, [][][quantityCount]float64) {}
