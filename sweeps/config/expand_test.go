package config

import (
	"math"
	"slices"
	"strings"
	"testing"

	"grposim/option"
	"grposim/sim"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// loadPoints loads a valid file and expands it.
func loadPoints(t *testing.T, text string) []Point {
	t.Helper()
	spec := must(Load("f", []byte(text)))(t)
	return spec.Points()
}

// axisOf lists the values of a key over points, as tables show them, with spaces between.
func axisOf(points []Point, key string) string {
	k, _ := LookupKey(key)
	return strings.Join(Each(points, func(p Point) string { return Format(k.Get(&p.Settings)) }), " ")
}

func TestAxisForms(t *testing.T) {
	for _, tt := range []struct{ axis, key, want string }{
		{"log: {from: 0.01, to: 1, points: 9}", LearningRateKey, "0.01 0.0177827941004 0.0316227766017 " +
			"0.056234132519 0.1 0.177827941004 0.316227766017 0.56234132519 1"},
		{"log: {from: 2, to: 1024, points: 10}", GroupSizeKey, "2 4 8 16 32 64 128 256 512 1024"},
		{"range: {from: 0.1, to: 0.7, step: 0.1}", MomentumKey, "0.1 0.2 0.3 0.4 0.5 0.6 0.7"},
		{"range: {from: 5, to: 5, step: 1}", LagIntervalKey, "5"},
		{"range: {from: 1, to: 3, step: 1}", SeedKey, "1 2 3"},
		{"values: [7, 18446744073709551615]", SeedKey, "7 18446744073709551615"},
		{"values: [0.12345678901264, 1]", "optimizer.epsilon", "0.123456789013 1"},
		{"values: [fixed-point, [1, -1], {fixed_point_offset: 0.5}]", InitKey,
			"fixed-point [1, -1] {fixed_point_offset: 0.5}"},
		{"values: [[{reward: constant, mean: 1}, {reward: constant, mean: 0}], " +
			"[{reward: constant, mean: 1, count: 3}]]", TrueMeansKey, "[1, 0] [1, 1, 1]"},
	} {
		param := tt.key
		if param == TrueMeansKey {
			param = ArmsKey
		}
		got := axisOf(loadPoints(t, loadMinimal+"sweep: [{param: "+param+", "+tt.axis+"}]\n"), tt.key)
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.axis, got, tt.want)
		}
	}
}

// A default that depends on other keys is computed in every cell; a value that the file
// gives is kept.
func TestDefaultsFollow(t *testing.T) {
	const sweep = "sweep: [{param: run.steps, values: [1000, 3000]}]\n"
	for set, want := range map[string]string{
		"seed=1": "1000 3000", ScheduleTotalKey + "=0": "1000 3000", ScheduleTotalKey + "=2000": "2000 2000",
	} {
		spec := must(Load("f", []byte(loadMinimal+sweep), set))(t)
		if got := axisOf(spec.Points(), ScheduleTotalKey); got != want {
			t.Errorf("%s: %v, want %v", set, got, want)
		}
	}

	points := loadPoints(t, loadMinimal+`
policy: {reference: [0, 1]}
variants:
  - {name: base}
  - {name: counted, set: {bandit.arms: [{reward: constant, mean: 1, count: 2}, {reward: constant, mean: 0, count: 3}]}}
`)
	for key, want := range map[string]string{
		"policy.reference": "[0, 1] [0, 0, 1, 1, 1]", InitKey: "[0, 0] [0, 0, 0, 0, 0]",
		TrueMeansKey: "[0.9, 0.2] [1, 1, 0, 0, 0]",
	} {
		if got := axisOf(points, key); got != want {
			t.Errorf("%s %v, want %v", key, got, want)
		}
	}
}

// A Spec made by hand expands from its Base.
func TestPointsOfHandMadeSpec(t *testing.T) {
	loaded := must(Load("f", []byte(loadMinimal)))(t)
	spec := &Spec{Base: loaded.Base,
		Sweep: []Axis{{Params: []string{GroupSizeKey}, Points: [][]any{{4}, {8}}}}}
	points := spec.Points()
	if got := axisOf(points, GroupSizeKey); got != "4 8" {
		t.Errorf("got %v", got)
	}
	points[0].Settings.Estimator.GroupSize = loaded.Base.Estimator.GroupSize
	if diff := cmp.Diff(loaded.Base, points[0].Settings); diff != "" {
		t.Error(diff)
	}
}

func TestSelectsToTwelveDigits(t *testing.T) {
	spec := must(Load("f", []byte(loadMinimal+`
sweep: [{param: optimizer.learning_rate, log: {from: 0.01, to: 1, points: 5}}]
checks:
  - {claim: stiffness, displacement: 0.1, draws: 10, margin: 0.1, where: {optimizer.learning_rate: [0.0316227766017, 0.31622776601683794]}}
`)))(t)
	var got []string
	for _, p := range spec.Points() {
		if spec.Checks[0].Selects(&p) {
			got = append(got, Format(p.Settings.Optimizer.LearningRate))
		}
	}
	if want := []string{"0.0316227766017", "0.316227766017"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestRound12(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-1e300, 1e300).Draw(t, "x")
		r := Round(x)
		if r != Round(r) {
			t.Errorf("%v rounds to %v and then to %v", x, r, Round(r))
		}
		// half a unit of the 12th digit, and the rounding of the result itself
		if bound := math.Abs(x)*(0.5e-11+0x1p-52) + math.SmallestNonzeroFloat64; math.Abs(r-x) > bound {
			t.Errorf("%v rounds to %v", x, r)
		}
	})
	if zero := Round(math.Copysign(0, -1)); math.Signbit(zero) {
		t.Error("−0 stays −0")
	}
}

// For every key, the loader reads what Format writes as the same value.
func TestFormatReadsBack(t *testing.T) {
	// a file has no -0, and no number too small to be precise
	number := func(low, high float64) *rapid.Generator[float64] {
		return rapid.Map(rapid.Float64Range(low, high), func(x float64) float64 {
			if math.Abs(x) < 0x1p-1022 {
				return 0
			}
			return x
		})
	}
	arm := rapid.Custom(func(t *rapid.T) ArmGroup {
		g := ArmGroup{Arm: option.Arm{Law: rapid.SampledFrom(option.Laws).Draw(t, "law"),
			Mean: number(0, 1).Draw(t, "mean")}, Count: rapid.IntRange(1, 9).Draw(t, "count")}
		if g.Arm.Law == option.Normal {
			g.Arm.Std = number(0, 9).Draw(t, "std")
		}
		return g
	})
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom(Keys).Draw(t, "key")
		var v any
		switch k.Kind {
		case IntegerValue:
			v = rapid.IntRange(int(k.Range.Low), int(min(k.Range.High, maxInteger))).Draw(t, "v")
			if k.Path == GroupSizeKey && rapid.Bool().Draw(t, "infinite") {
				v = option.Infinite
			}
		case SeedValue:
			v = rapid.Uint64().Draw(t, "v")
		case NumberValue:
			x := number(max(k.Range.Low, -1e6), min(k.Range.High, 1e6)).Draw(t, "v")
			if !k.Range.Contains(x) {
				return
			}
			v = x
		case WordValue:
			v = rapid.SampledFrom(k.Words).Draw(t, "v")
		case WeightsValue:
			v = Weights(rapid.SliceOfN(number(0, 9), 1, 5).Draw(t, "v"))
		case RecordValue:
			v = Record{sim.PassAt(rapid.IntRange(1, maxPass).Draw(t, "k")), sim.SamplesDrawn,
				sim.EffectiveSampleSize, sim.Strata}[rapid.IntRange(0, 3).Draw(t, "from"):]
		case MeansValue:
			var pairs PromptMeans
			for range rapid.IntRange(1, 4).Draw(t, "n") {
				pairs = append(pairs, [2]float64(rapid.SliceOfN(number(0, 1), 2, 2).Draw(t, "v")))
			}
			v = pairs
		case ListValue:
			v = rapid.SliceOfN(number(-1e6, 1e6), 1, 5).Draw(t, "v")
		case InitValue:
			v = Init{Kind: AtFixedPoint, Offset: number(-1e6, 1e6).Draw(t, "offset")}
			if rapid.Bool().Draw(t, "logits") {
				v = Init{Kind: AtLogits, Logits: rapid.SliceOfN(number(-1e6, 1e6), 1, 5).Draw(t, "v")}
			}
		case ArmsValue:
			v = rapid.SliceOfN(arm, 2, 5).Draw(t, "v")
		}
		n, problems := parseYAML(override, k.Path, []byte(Format(v)))
		l := newReader(problems)
		got, _ := l.value(k, n, k.Path)
		if diff := cmp.Diff(v, got); diff != "" || len(l.problems) > 0 {
			t.Errorf("%s: %s reads as %v: %v", k.Path, Format(v), got, l.problems)
		}
	})
}
