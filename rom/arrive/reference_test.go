package arrive

import (
	"math"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
)

// reference returns the reference bandit of docs/theory.md §5.
func reference(scale option.Scale, beta float64, size int) cell.Params {
	return cell.Params{
		Arms:      []option.Arm{{Mean: 0.9}, {Mean: 0.2}},
		Reference: []float64{0, 0},
		Estimator: option.Estimator{GroupSize: size, GroupsPerStep: 1,
			Advantage: option.Advantage{Scale: scale},
			KL:        option.KL{Coefficient: beta, At: option.AtSnapshot}},
		Lag:       option.Lag{Kind: option.Block, Interval: 1},
		Optimizer: option.Optimizer{LearningRate: 0.1},
		Factors:   cell.Unit,
	}
}

// near fails unless got agrees with want to the relative error.
func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s: got %.12g, want %.12g to %.1g", what, got, want, relative)
	}
}
