package network

import (
	"math"
	"slices"
	"testing"
)

// The first numbers of seed 1. Others would be other networks in every stored result.
func TestNormalsAreFixed(t *testing.T) {
	random := newNormals(1)
	if got, want := random.fill(nil, 3, 1), []float64{-0.8617559273559522, 0.19115045620373405,
		-1.4914093995317905}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The mean, variance and fourth moment of 100,000 normal numbers are within five standard errors of
// 0, 1 and 3. A correct generator fails with probability 2e-6.
func TestNormalsAreNormal(t *testing.T) {
	const count = 100_000
	x := newNormals(2).fill(nil, count, 1)
	for _, row := range []struct{ power, mean, variance float64 }{{1, 0, 1}, {2, 1, 2}, {4, 3, 96}} {
		total := 0.
		for _, x := range x {
			total += math.Pow(x, row.power)
		}
		near(t, row.power, total/count, row.mean, 5*math.Sqrt(row.variance/count))
	}
}

// Initial weights have the standard deviations that are documented, in the documented places.
// A sample standard deviation of n numbers errs by 1/√(2n), five of which are allowed.
func TestInitialWeights(t *testing.T) {
	deviation := func(name string, w []float64, want float64) {
		t.Helper()
		got := norm(w) / math.Sqrt(float64(len(w)))
		near(t, name, got, want, 5*want/math.Sqrt(2*float64(len(w))))
	}
	task := Addition(5, 1, 0)
	w := NewMLP(task.Inputs, []int{64}, 5, ReLU).Initial(3)
	deviation("W_1", w[:640], math.Sqrt(2./10))
	deviation("b_1", w[640:704], 0)
	deviation("W_2", w[704:704+320], math.Sqrt(1./64))
	deviation("b_2", w[1024:], 0)

	const d = 32
	n := NewTransformer(task.Tokens, task.Vocabulary, 5, Shape{d, 2, 4 * d, Untied})
	w = n.Initial(3)
	base := 1 / math.Sqrt(d)
	for _, part := range []struct {
		name      string
		size      int
		deviation float64 // about 0; γ are all 1
	}{
		{"E", 6 * d, base}, {"P", 3 * d, base}, {"γ_1", d, 1}, {"β_1", d, 0},
		{"W_qkv", 3 * d * d, base}, {"b_qkv", 3 * d, 0}, {"W_o", d * d, base / math.Sqrt2}, {"b_o", d, 0},
		{"γ_2", d, 1}, {"β_2", d, 0}, {"W_1", 4 * d * d, base}, {"b_1", 4 * d, 0},
		{"W_2", 4 * d * d, base / math.Sqrt2}, {"b_2", d, 0}, {"γ_3", d, 1}, {"β_3", d, 0}, {"U", 5 * d, base},
	} {
		deviation(part.name, w[:part.size], part.deviation)
		w = w[part.size:]
	}
	if len(w) > 0 {
		t.Errorf("%d weights more than said", len(w))
	}
}
