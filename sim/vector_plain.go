//go:build !(goexperiment.simd && amd64)

package sim

import "context"

// vectorBatch needs vector instructions. In this build there is none.
type vectorBatch struct{}

func newVectorBatches([]*replica) []*vectorBatch { return nil }

func runVectors(context.Context, []*vectorBatch, []*replica, []int) {}
