package report

import (
	"fmt"
	"math"

	"grposim/sweeps"
)

// The figures of these tests look like those of package sweeps. Their numbers are
// formulas, so that they are the same everywhere.

var nan = math.NaN()

// wobble returns the i-th number of a fixed sequence in [−1, 1], in place of noise.
func wobble(i int) float64 { return math.Mod(0.754877666*float64(i+1), 1)*2 - 1 }

// point is a point of a figure with an interval; half is nan: without.
func point(x, y, half float64) sweeps.FigurePoint {
	return sweeps.FigurePoint{X: x, Y: y, Lo: y - half, Hi: y + half}
}

// curves returns trajectories, one for each group size.
func curves(sizes ...int) sweeps.Figure {
	f := sweeps.Figure{
		Name: "1-trajectory", Title: "Mean reward against the predicted curve",
		XLabel: "step", YLabel: "expected reward J", XScale: sweeps.LogAxis,
	}
	for g, size := range sizes {
		group := fmt.Sprintf("G=%d", size)
		measured := sweeps.FigureSeries{Name: group, Group: group, Mark: sweeps.Measured}
		predicted := sweeps.FigureSeries{Name: group + " predicted", Group: group, Mark: sweeps.Predicted}
		spread := sweeps.FigureSeries{Name: group + " 5–95 %", Group: group, Mark: sweeps.Spread}
		for i := range 160 {
			x := math.Pow(20000, float64(i)/159)
			y := 0.55 + (0.21-0.1/float64(size))*(1-math.Exp(-x*(1-0.5/float64(size))/400))
			half := 0.006 / math.Sqrt(float64(size))
			predicted.Points = append(predicted.Points, point(x, y, nan))
			spread.Points = append(spread.Points, point(x, y, 8*half))
			if i%8 == 0 {
				m := y + 0.7*half*wobble(i+g)
				measured.Points = append(measured.Points, point(x, m, half))
			}
		}
		if len(sizes) == 1 {
			f.Series = append(f.Series, spread)
		}
		f.Series = append(f.Series, predicted, measured)
	}
	return f
}

// scaling returns a variance against group size, with the slope of leading order.
func scaling() sweeps.Figure {
	f := sweeps.Figure{
		Name:   "2-fluctuation-scaling",
		Title:  "Stationary variance of the expected reward against group size",
		XLabel: "group size G", YLabel: "Var J", XScale: sweeps.LogAxis, YScale: sweeps.LogAxis,
	}
	for _, rate := range []float64{0.01, 0.1} {
		group := fmt.Sprintf("η=%g", rate)
		measured := sweeps.FigureSeries{Name: group, Group: group, Mark: sweeps.Measured}
		predicted := sweeps.FigureSeries{Name: group + " predicted", Group: group, Mark: sweeps.Predicted}
		slope := sweeps.FigureSeries{Name: "slope -1", Group: group, Mark: sweeps.Reference}
		for i := range 9 {
			x := math.Pow(2, float64(i+1))
			y := rate * 8e-3 / x * (1 + 1/x)
			m := y * (1 + 0.03*wobble(i))
			measured.Points = append(measured.Points, point(x, m, 0.05*m))
			predicted.Points = append(predicted.Points, point(x, y, nan))
			slope.Points = append(slope.Points, point(x, rate*8e-3/x, nan))
		}
		f.Series = append(f.Series, predicted, measured, slope)
	}
	return f
}

// deviations returns a dot plot of n verdicts.
func deviations(n int) sweeps.Figure {
	f := sweeps.Figure{
		Name: "3-stationary-fluctuation", Title: "stationary-fluctuation: measured / predicted",
		YLabel: "measured / predicted", Categories: []string{},
	}
	measured := sweeps.FigureSeries{Name: "measured", Group: "measured", Mark: sweeps.Measured}
	predicted := sweeps.FigureSeries{Name: "predicted ± margin", Group: "predicted",
		Mark: sweeps.Predicted}
	for i := range n {
		x, y := float64(i), 1+0.012*wobble(i)
		f.Categories = append(f.Categories,
			fmt.Sprintf("frozen G=%d η=%g K=%d", 4<<(i%3), 0.01*float64(1+i/6), 1<<(i%5)))
		measured.Points = append(measured.Points, point(x, y, 0.009))
		predicted.Points = append(predicted.Points, point(x, 1, 0.02))
	}
	f.Series = []sweeps.FigureSeries{predicted, measured}
	return f
}
