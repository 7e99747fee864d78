package draw

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// The seeds are fixed, so a test passes always or never. For random seeds a correct sampler fails
// any statistical test of the package with probability familyFailure, and a single one with
// failure.
const (
	familyFailure    = 1e-9
	statisticalTests = 4000 // largest number of tests
	failure          = familyFailure / statisticalTests
)

// testsRun counts the statistical tests, those of planted faults included.
var testsRun int

// TestMain fails if more than statisticalTests have been run.
func TestMain(m *testing.M) {
	code := m.Run()
	if testsRun > statisticalTests {
		fmt.Printf("FAIL: %d statistical tests, at most %d share the failure probability\n", testsRun, statisticalTests)
		code = 1
	}
	os.Exit(code)
}

const draws = 200_000

func words(seed uint64) *Words { return NewWords(filled{rand.NewPCG(seed, 0x9e3779b97f4a7c15)}) }

// filled is the Source of the words of another generator.
type filled struct{ source rand.Source }

func (f filled) Fill(words []uint64) {
	for i := range words {
		words[i] = f.source.Uint64()
	}
}

// passes reports the tests that fail.
func passes(t *testing.T, tested any, tests ...error) {
	t.Helper()
	for _, err := range tests {
		if err != nil {
			t.Errorf("%v: %v", tested, err)
		}
	}
}

// sample returns the number of times that each value occurs in n draws.
func sample(n int, draw func() int) map[int]int {
	histogram := map[int]int{}
	for range n {
		histogram[draw()]++
	}
	return histogram
}

// minExpected is the least expected count of a cell, large enough for the χ² statistic
// to follow its law far into the tail.
const minExpected = 100

// testPMF tests a histogram against the probabilities of the values from low to high;
// the probability of other values must be negligible. Neighbouring values are pooled
// into cells of an expected count of at least minExpected. If there is only one cell,
// the number of draws other than the most common value is tested by its Poisson tail.
// Values of probability 0 must not occur.
func testPMF(histogram map[int]int, low, high int, pmf func(int) float64) error {
	testsRun++
	n := 0
	for _, count := range histogram {
		n += count
	}
	type cell struct{ observed, expected float64 }
	var cells []cell
	var open cell
	inside := 0
	for k := low; k <= high; k++ {
		open.observed += float64(histogram[k])
		open.expected += float64(n) * pmf(k)
		inside += histogram[k]
		if histogram[k] > 0 && pmf(k) == 0 {
			return fmt.Errorf("%d draws of %d, which has probability 0", histogram[k], k)
		}
		if open.expected >= minExpected {
			cells = append(cells, open)
			open = cell{}
		}
	}
	if inside != n {
		return fmt.Errorf("%d of %d draws outside [%d, %d]", n-inside, n, low, high)
	}
	if len(cells) == 0 {
		return fmt.Errorf("no cell expects %d draws", minExpected)
	}
	last := &cells[len(cells)-1]
	if len(cells) == 1 {
		common := slices.MaxFunc(slices.Sorted(maps.Keys(histogram)),
			func(a, b int) int { return histogram[a] - histogram[b] })
		// P(more than `allowed` draws of other values) ≤ bound = rareᶜ/c!, c = allowed + 1.
		rare := float64(n) * (1 - pmf(common))
		allowed, bound := 0, rare
		for ; bound > failure; allowed++ {
			bound *= rare / float64(allowed+2)
		}
		if allowed > 2 {
			return fmt.Errorf("one cell, but %g rare draws expected: the test is too weak", rare)
		}
		if others := n - histogram[common]; others > allowed {
			return fmt.Errorf("%d draws other than %d, %g expected", others, common, rare)
		}
		return nil
	}
	last.observed += open.observed
	last.expected += open.expected
	chi2 := 0.
	for _, c := range cells {
		chi2 += (c.observed - c.expected) * (c.observed - c.expected) / c.expected
	}
	if p := (distuv.ChiSquared{K: float64(len(cells) - 1)}).Survival(chi2); p < failure {
		return fmt.Errorf("χ² = %g with %d cells: p = %g", chi2, len(cells), p)
	}
	return nil
}

// testMean tests a histogram's mean by the normal law of means.
func testMean(histogram map[int]int, mean, variance float64) error {
	testsRun++
	sum, n := 0., 0.
	for _, k := range slices.Sorted(maps.Keys(histogram)) {
		sum += (float64(k) - mean) * float64(histogram[k])
		n += float64(histogram[k])
	}
	if variance == 0 {
		if sum != 0 {
			return fmt.Errorf("mean is not %g", mean)
		}
		return nil
	}
	z := sum / math.Sqrt(n*variance)
	if p := 2 * distuv.UnitNormal.Survival(math.Abs(z)); p < failure {
		return fmt.Errorf("mean is %.2f standard errors off: p = %g", z, p)
	}
	return nil
}

// testCDF is the test of Kolmogorov and Smirnov. Its limit is valid for every n by the inequality
// of Dvoretzky, Kiefer, Wolfowitz and Massart, P(sup |F_n − F| > ε) ≤ 2 exp(−2nε²).
func testCDF(x []float64, cdf func(float64) float64) error {
	testsRun++
	slices.Sort(x)
	n := float64(len(x))
	worst := 0.
	for i, v := range x {
		f := cdf(v)
		worst = max(worst, f-float64(i)/n, float64(i+1)/n-f)
	}
	if epsilon := math.Sqrt(math.Log(2/failure) / (2 * n)); !(worst <= epsilon) {
		return fmt.Errorf("the distribution function is %g off, more than %g", worst, epsilon)
	}
	return nil
}

// testMoments tests the mean and the second moment of x about the true mean by the normal law of
// means. Given are the true mean, variance and fourth central moment.
func testMoments(x []float64, mean, variance, fourth float64) error {
	testsRun++
	first, second := 0., 0.
	for _, v := range x {
		first += v - mean
		second += (v-mean)*(v-mean) - variance
	}
	n := float64(len(x))
	limit := distuv.UnitNormal.Quantile(1 - failure/4)
	if z := first / math.Sqrt(n*variance); !(math.Abs(z) <= limit) {
		return fmt.Errorf("mean is %.2f standard errors off", z)
	}
	if z := second / math.Sqrt(n*(fourth-variance*variance)); !(math.Abs(z) <= limit) {
		return fmt.Errorf("variance is %.2f standard errors off", z)
	}
	return nil
}

// What no law has panics.
func TestPanics(t *testing.T) {
	nan := math.NaN()
	aim := func(weights ...float64) func() { return func() { NewPack(len(weights), nil, 1, 1).Aim(weights) } }
	counts := func(arms, n int, weights ...float64) func() {
		return func() { multinomial(make([]int, arms), words(1), n, weights) }
	}
	for name, draw := range map[string]func(){
		"Binomial of −1":                func() { Binomial(words(1), -1, 0.5) },
		"Binomial of 2³¹+1":             func() { Binomial(words(1), 1<<31+1, 0.5) },
		"Binomial with p NaN":           func() { Binomial(words(1), 1, nan) },
		"a large Binomial with p NaN":   func() { Binomial(words(1), 1000, nan) },
		"a table to −1":                 func() { NewBinomialTable(-1, 0.5) },
		"a table that is too long":      func() { NewBinomialTable(MaxTabulated+1, 0.5) },
		"a table with p < 0":            func() { NewBinomialTable(10, -0.1) },
		"a table with p > 1":            func() { NewBinomialTable(10, 1.1) },
		"a table with p NaN":            func() { NewBinomialTable(10, nan) },
		"too few weights":               func() { NewMultinomial(2).Set([]float64{1}) },
		"counts of weight 0":            counts(1, 1, 0),
		"counts of a negative weight":   counts(2, 1, -1, 2),
		"counts of a weight NaN":        counts(2, 1, nan, 1),
		"counts of −1":                  counts(2, -1, 0.5, 0.5),
		"a pack of weight 0":            aim(0),
		"a pack of weights 0":           aim(0, 0),
		"a pack, first weight negative": aim(-1, 2),
		"a pack, last weight negative":  aim(2, -1),
		"a pack, first weight NaN":      aim(nan, 1),
		"a pack, last weight NaN":       aim(1, nan),
		"three arms, last weight NaN":   aim(0.5, 0.5, nan),
		"three arms, one negative":      aim(0.5, -1, 0.5),
		"a pack of large groups":        func() { NewPack(1, nil, MaxPacked+1, 1) },
		"Gamma of 0":                    func() { Gamma(words(1), 0) },
		"Gamma of NaN":                  func() { Gamma(words(1), nan) },
		"Gamma of infinity":             func() { Gamma(words(1), math.Inf(1)) },
		"ChiSquare of −1":               func() { ChiSquare(words(1), -1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", name)
				}
			}()
			draw()
		}()
	}
}
