//go:build !goexperiment.simd || !amd64 || go1.27

package sim

import "context"

// In this build there are no vector instructions, which vectorBatch needs.
type vectorBatch struct{}

func newVectorBatches([]*replica) []*vectorBatch { return nil }

func runVectors(context.Context, []*vectorBatch, []*replica, []int) {}

const hasVectorRecords = false

func (record) setVectors([][][quantityCount]float64) {}

func setVectorQuantiles([][]Summary, [][][quantityCount]float64) {}
