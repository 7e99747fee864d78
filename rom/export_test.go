package rom

import (
	"grposim/rom/path"
)

// MeanReward is Paths of J.
func MeanReward(p Params, init []float64, at []int) Path { return Paths(p, init, at, path.Reward)[0] }
