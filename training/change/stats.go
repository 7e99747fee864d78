package change

import (
	"math"
	"slices"
)

// Statistics of noisy values that packages diagnose, findings and fit share.

// FalseAlarm is the one-sided probability with which chance alone may pass as a change, a
// trend or an oscillation.
const FalseAlarm = 1e-3

// Mean sums deviations from the first value, so that the mean of equal values is exact. x has
// at least one value.
func Mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v - x[0]
	}
	return x[0] + sum/float64(len(x))
}

// Dot returns Σ x_i y_i, summed in this order.
func Dot(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// Median returns the mean of the two middle values, of an odd number the middle one.
func Median(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	return sorted[(len(sorted)-1)/2]/2 + sorted[len(sorted)/2]/2
}

// Noise returns the standard deviation of single values, from the differences of
// neighbours: a slow change of the mean does not count.
func Noise(x []float64) float64 {
	sum := 0.0
	for i := 1; i < len(x); i++ {
		sum += (x[i] - x[i-1]) * (x[i] - x[i-1])
	}
	return math.Sqrt(sum / 2 / float64(max(len(x)-1, 1)))
}

// Batches returns the means of n batches of successive values, of at least n values.
func Batches(x []float64, n int) []float64 {
	means := make([]float64, n)
	for i := range means {
		means[i] = Mean(x[i*len(x)/n : (i+1)*len(x)/n])
	}
	return means
}

// Line fits y = a + slope·x by least squares to at least three points and returns the slope
// with its standard error.
func Line(x, y []float64) (slope, stdErr float64) {
	mx, my := Mean(x), Mean(y)
	var xx, xy, yy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xx += dx * dx
		xy += dx * dy
		yy += dy * dy
	}
	slope = xy / xx
	return slope, math.Sqrt(max(yy-slope*xy, 0) / float64(len(x)-2) / xx)
}

// Detrended returns y minus its least-squares line in x.
func Detrended(x, y []float64) []float64 {
	slope, _ := Line(x, y)
	mx, my := Mean(x), Mean(y)
	rest := make([]float64, len(y))
	for i := range y {
		rest[i] = y[i] - my - slope*(x[i]-mx)
	}
	return rest
}

// Rows returns the times 0, 1, … of n rows.
func Rows(n int) []float64 {
	at := make([]float64, n)
	for i := range at {
		at[i] = float64(i)
	}
	return at
}

// Onset returns the row since which n distances from a threshold are on the far side for good:
// where their sum turns (Page's cumulative sum). It is the most likely row of one change in
// normal noise between levels at equal distances from the threshold.
func Onset(n int, distance func(i int) float64) (first int) {
	sum, least := 0.0, 0.0
	for i := range n {
		if sum += distance(i); sum < least && i+1 < n {
			least, first = sum, i+1
		}
	}
	return first
}

// Swings counts how often values fall by a distance from where they rose to, and rise by it again.
func Swings(x []float64, distance float64) (n int) {
	falling, turn := true, math.Inf(-1) // the extreme since the last turn
	for _, v := range x {
		switch {
		case falling && v <= turn-distance:
			falling, turn = false, v
		case !falling && v >= turn+distance:
			n++
			falling, turn = true, v
		case falling:
			turn = max(turn, v)
		default:
			turn = min(turn, v)
		}
	}
	return n
}

// Independent is the number of independent values per value of a first-order autoregression
// of correlation ρ (Bayley and Hammersley, J. Roy. Stat. Soc. Suppl. 8, 1946).
func Independent(rho float64) float64 { return (1 - rho) / (1 + rho) }

// Unbiased corrects the correlation of n successive residuals for what a fit of k parameters takes
// from it, (k + (k + 2)ρ)/n. See Kendall, and Marriott and Pope, Biometrika 41, 1954.
func Unbiased(rho, n, k float64) float64 { return (rho + k/n) / (1 - (k+2)/n) }
