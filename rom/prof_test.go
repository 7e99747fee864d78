package rom

import "testing"

func BenchmarkMeanReward(b *testing.B) {
	p := reference(GroupStd, 1.2, 64)
	p.Anchor = AtCurrent
	p.Optimizer.Rate = 0.01
	var at []int
	for t := range 300 {
		at = append(at, 10*t)
	}
	b.Run("field", func(b *testing.B) {
		for range b.N {
			MeanField(p, []float64{0, 0}, 2990, func(int, []float64) {})
		}
	})
	b.Run("reward", func(b *testing.B) {
		for range b.N {
			MeanReward(p, []float64{0, 0}, at)
		}
	})
}
