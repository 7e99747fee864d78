package rom

// FixedPoints returns all fixed points found, by increasing expected reward.
func FixedPoints(p Params) []FixedPoint {
	f := fold(p.checked())
	all := f.fixedPoints()
	if len(all) == 0 {
		if logits := f.reached(); logits != nil {
			all = append(all, logits)
		}
	}
	return f.points(all)
}

// MeanReward is Paths of J.
func MeanReward(p Params, init []float64, at []int) Path { return Paths(p, init, at, Reward)[0] }
