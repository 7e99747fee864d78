package sweeps

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sim/probe"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/training/diagnose"
)

// The interval of a difference of means is Welch's: with standard errors 1 and 2 of 4 and
// 9 degrees of freedom it has 25/(1/4 + 16/9) = 12.3, and Student's quantile for 12 is
// 2.1788. That of shares is Newcombe's: his example (Statistics in Medicine 17, 873,
// table II a) is 56 of 70 against 48 of 80.
func TestDifference(t *testing.T) {
	mean := func(mean, stdErr float64, df int, systematic float64) sample {
		e := measure.Estimate{Mean: mean, StdErr: stdErr, DF: df, Systematic: systematic}
		return sample{e, new(plan.Cell)}
	}
	share := func(events, n float64) sample {
		p := events / n
		return mean(p, 0.99*math.Sqrt(p*(1-p)/n), int(n)-1, 0)
	}
	certain := func(x float64) sample { return sample{measure.Certain(x), new(plan.Cell)} }
	ten := mean(10, 1, 4, 0)
	half := 2.178813 * math.Sqrt(5)
	for _, c := range []struct {
		name   string
		a, b   sample
		lo, hi float64
		want   Change
	}{
		{"x", ten, mean(13, 2, 9, 0), 3 - half, 3 + half, NoneFound},
		{"x", ten, mean(13, 2, 9, 0.5), 2.5 - half, 3.5 + half, NoneFound},
		{"x", ten, mean(4, 2, 9, 0), -6 - half, -6 + half, Lower},
		{"x", certain(1), certain(1), 0, 0, NoneFound},
		{"x", certain(1), certain(1.25), 0.25, 0.25, Higher},
		{"x", certain(1), mean(2, 0, 0, 0), math.Inf(-1), math.Inf(1), NotComparable},
		{plan.NamedShare(diagnose.None), share(48, 80), share(56, 70), 0.0524, 0.3339, Higher},
		{plan.NamedShare(diagnose.None), share(56, 70), share(48, 80), -0.3339, -0.0524, Lower},
	} {
		lo, hi := difference(c.name, c.a, c.b, 0.95)
		near := func(x, y float64) bool { return x == y || math.Abs(x-y) < 5e-5 }
		if change := changeOf(lo, hi); !near(lo, c.lo) || !near(hi, c.hi) || change != c.want {
			t.Errorf("%+v: [%g, %g], %s", c, lo, hi, change)
		}
	}
}

// A located event lies between the last value without it and the first with it: the
// difference of two has the interval of their extreme distances. Beyond the end of a
// search nothing can be compared.
func TestDifferenceOfLocatedEvents(t *testing.T) {
	located := func(lo, hi float64) sample {
		o := outcomeOf(exactly(probe.LocatedLow, lo), exactly(probe.LocatedEnd, 9))
		if hi <= 9 {
			o.Estimates = append(o.Estimates, exactly(probe.LocatedHigh, hi))
		}
		all, err := measuredQuantities(new(plan.Cell), &o)
		if err != nil || len(all) != 1 || all[0].Name != locatedEvent {
			t.Fatalf("%v", all)
		}
		return sample{all[0].Estimate, new(plan.Cell)}
	}
	for _, c := range []struct {
		a, b   sample
		lo, hi float64
	}{
		{located(2, 2.5), located(3, 3.25), 0.5, 1.25},
		{located(2, 3), located(2, 3), -1, 1},
		{located(2, 3), located(9, 10), math.Inf(-1), math.Inf(1)},
	} {
		if lo, hi := difference(locatedEvent, c.a, c.b, 0.99); lo != c.lo || hi != c.hi {
			t.Errorf("[%g, %g], want [%g, %g]", lo, hi, c.lo, c.hi)
		}
	}
}

// Cells are paired by the parameters that do not differ as a whole; the others are
// listed. A stronger penalty lowers the reward. Cells that two variants share are compared once.
func TestCompareFolders(t *testing.T) {
	text := strings.Replace(resting, "replicas: 10", "replicas: 100", 1) +
		"  - {claim: fixed-point, expected: 0.75, absolute_margin: 0.02}\n" + overSizes
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	twice := strings.Replace(text, "32, 64, 128", "16, 32, 64", 1) + "variants: [{name: one}, {name: two}]\n"
	runSweep(t, twice, a, 2)
	runSweep(t, strings.Replace(text, "coefficient: 0.5", "coefficient: 1", 1), b, 2)
	c := must(CompareFolders(a, b, &silent{}))
	equal(t, "differ", fmt.Sprint(c.Differing), "[{grpo.kl.coefficient 0.5 1}]")
	for _, q := range c.Quantities {
		inside := q.Lo < q.Difference && q.Difference < q.Hi && q.Hi < 0 && q.Difference == q.B-q.A
		if q.Quantity == sim.ExpectedRewardMean && (q.Verdict != Lower || !inside) {
			t.Errorf("%+v, want a lower reward", q)
		}
	}
	got := fmt.Sprint(c.Quantities[0].Cell, c.Quantities[11].Cell, c.Pairs, c.OnlyA, c.OnlyB, c.SameID)
	equal(t, "pairs, only in A, only in B, same ids", got, "one G=32one G=642 [one G=16] [G=128] 0")
	want := 1 - 0.01/22
	if c.Confidence != 0.99 || c.IntervalConfidence != want || len(c.Quantities) != 22 {
		t.Errorf("confidence %g, of each %g, want 0.99 and %g", c.Confidence, c.IntervalConfidence, want)
	}
	same := must(CompareFolders(a, a, &silent{}))
	if same.SameID != 3 || len(same.Quantities) != 33 || len(same.Differing) != 0 {
		t.Errorf("a folder with itself: %+v", same)
	}
	for _, q := range same.Quantities {
		cells := q.Cells()
		if q.Verdict != NoneFound || len(cells) != len(ComparisonColumns) ||
			cells[5] != "~ no difference found" {
			t.Errorf("%+v is shown as %q", q, cells)
		}
	}
}

// A sweep without burn-in has estimates of no stationary state: the last recorded values
// are compared, without error at G = ∞, and with one that is not known for one replica.
func TestCompareFinalValues(t *testing.T) {
	text := strings.Replace(strings.TrimSuffix(resting, "checks:\n"), ", burn_in: 100", "", 1)
	text = strings.Replace(text, "policy: {init: fixed-point}", "", 1)
	for _, c := range []struct {
		size, replicas string
		want           Change
		exact          bool
	}{{"inf", "10", Lower, true}, {"16", "10", Lower, false}, {"16", "1", NotComparable, false}} {
		text := strings.NewReplacer("size: 16", "size: "+c.size, "cas: 10", "cas: "+c.replicas).Replace(text)
		a, b := t.TempDir(), t.TempDir()
		runSweep(t, text, a, 1)
		runSweep(t, strings.Replace(text, "coefficient: 0.5", "coefficient: 1", 1), b, 1)
		compared := must(CompareFolders(a, b, &silent{}))
		q := compared.Quantities[0]
		if q.Quantity != "final_expected_reward" || q.Verdict != c.want || c.exact != (q.Lo == q.Hi) {
			t.Errorf("G = %s, %s replicas: %+v, want %s", c.size, c.replicas, q, c.want)
		}
	}
}

// Folders of results folders are compared by name; folders of results are a pair.
func TestFoldersToCompare(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"a/one", "a/two", "b/two", "b/three", "c"} {
		path = filepath.Join(dir, path)
		noError(t, os.MkdirAll(path, 0o755))
		noError(t, os.WriteFile(filepath.Join(path, store.ManifestName), nil, 0o644))
	}
	at := func(path string) string { return filepath.Join(dir, path) }
	pairs, only := FoldersToCompare(at("a"), at("b"))
	want := fmt.Sprint([][2]string{{at("a/two"), at("b/two")}}, []string{at("a/one"), at("b/three")})
	if got := fmt.Sprint(pairs, only); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, b := range []string{"c", "none"} {
		pairs, only := FoldersToCompare(at("a"), at(b))
		if !slices.Equal(pairs, [][2]string{{at("a"), at(b)}}) || only != nil {
			t.Errorf("a and %s: %v, %v", b, pairs, only)
		}
	}
}
