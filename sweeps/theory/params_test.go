package theory

import (
	"cmp"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grposim/option"
	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
)

// notOfTheory lists the keys that no prediction at a fixed point depends on, and why.
var notOfTheory = map[string]string{
	config.SeedKey:   "the random numbers of a run",
	config.StepsKey:  "the length of a run",
	config.BurnInKey: "the length of a run",
	"run.replicas":   "the number of runs",
	"run.record":     "only recorded",
}

// Every other key of the configuration changes the parameters of the theory, and every
// value of an enumeration gives other parameters.
func TestTranslationLeavesNothingOut(t *testing.T) {
	base := settingsOf(t, minimal)
	base.Estimator.GroupsPerStep = 2 // so that ages by group are not those by step
	// so that Nesterov's rule and reused samples act
	base.Optimizer.Momentum, base.Lag.Interval = 0.5, 4
	for _, k := range config.Keys {
		if ofNetwork(k) {
			continue
		}
		values := differentValues(t, k)
		seen := []rom.Params{}
		for _, v := range values {
			s := base
			if strings.HasPrefix(k.Path, "bandit.prompts.") {
				s.Prompts = config.Prompts{Count: 2, Parameters: option.Tabular, Order: option.InOrder,
					Means: config.BetaLaw{Alpha: 1, Beta: 1}, Start: config.BetaLaw{Alpha: 1, Beta: 1}}
			}
			if err := k.Set(&s, v); err != nil {
				t.Fatal(err)
			}
			p := Params(&s, rom.Unit)
			for i, other := range seen {
				same := reflect.DeepEqual(p, other)
				if _, exempt := notOfTheory[k.Path]; same != exempt {
					t.Errorf("%s = %s and %s: the parameters of the theory are the same: %t", k.Path,
						config.Format(v), config.Format(values[i]), same)
				}
			}
			seen = append(seen, p)
		}
	}
}

// differentValues returns at least two legal values of a key, and all of an enumeration.
func differentValues(t *testing.T, k config.Key) []any {
	t.Helper()
	switch k.Kind {
	case config.WordValue:
		var values []any
		for _, w := range k.Words {
			values = append(values, w)
		}
		return values
	case config.IntegerValue:
		values := []any{3, 4}
		if k.Path == config.GroupSizeKey {
			values = append(values, option.Infinite)
		}
		return values
	case config.SeedValue:
		return []any{uint64(3), uint64(4)}
	case config.NumberValue:
		return []any{0.3, 0.4}
	case config.WeightsValue:
		return []any{config.Weights{0, 1}, config.Weights{1, 0.5}}
	case config.RecordValue:
		return []any{config.Record{sim.PassAt(4)}, config.Record{sim.EffectiveSampleSize, sim.SamplesDrawn}}
	case config.MeansValue:
		return []any{config.PromptMeans{{0.3, 0.1}, {0.9, 0.2}, {1, 0}},
			config.PromptMeans{{0.3, 0.1}, {0.9, 0.4}, {1, 0}}}
	case config.ListValue:
		return []any{[]float64{0, 1}, []float64{1, 0}}
	case config.InitValue:
		return []any{config.Init{Kind: config.AtFixedPoint},
			config.Init{Kind: config.AtLogits, Logits: []float64{1, 0}}}
	case config.ArmsValue:
		var values []any
		for _, law := range option.Laws {
			values = append(values,
				[]config.ArmGroup{{Arm: option.Arm{Law: law, Mean: 0.5, Std: 0.1}, Count: 2}})
		}
		return append(values,
			[]config.ArmGroup{{Arm: option.Arm{Law: option.Normal, Mean: 0.5, Std: 0.2}, Count: 2}},
			[]config.ArmGroup{{Arm: option.Arm{Law: option.Normal, Mean: 0.6, Std: 0.2}, Count: 2}})
	}
	t.Fatalf("%s: no values of kind %v", k.Path, k.Kind)
	return nil
}

// A change of any field of rom.Params changes the key of the cache.
func TestEveryParameterIsInTheKey(t *testing.T) {
	s := settingsOf(t, minimal)
	s.Prompts = config.Prompts{Count: 2, Parameters: option.Tabular, Order: option.Shuffled,
		Start: config.BetaLaw{Alpha: 1, Beta: 1}}
	p := Params(&s, rom.Unit)
	p.TrueMeans, p.Others = []float64{1, 0}, [][2]float64{{1}}
	p.Measured = &rom.Measured{Fresh: mat.NewDense(1, 1, nil), Stale: mat.NewDense(1, 1, nil)}
	keys := map[string]string{keyOf(p): "unchanged"}
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				if field := v.Type().Field(i); field.IsExported() { // what rom computes from the others is not
					walk(path+"."+field.Name, v.Field(i))
				}
			}
			return
		case reflect.Slice, reflect.Array:
			walk(path+"[0]", v.Index(0))
			return
		case reflect.Pointer:
			for _, m := range []*mat.Dense{p.Measured.Fresh, p.Measured.Stale} {
				m.Set(0, 0, 1)
				if known, taken := keys[keyOf(p)]; taken {
					t.Errorf("%s has the key of %s", path, known)
				}
				keys[keyOf(p)] = path
				m.Set(0, 0, 0)
			}
			return
		case reflect.Bool:
			defer v.SetBool(v.Bool())
			v.SetBool(!v.Bool())
		case reflect.Float64:
			defer v.SetFloat(v.Float())
			v.SetFloat(v.Float() + 0.125)
		case reflect.Int:
			defer v.SetInt(v.Int())
			v.SetInt(v.Int() + 1)
		case reflect.Uint8:
			defer v.SetUint(v.Uint())
			v.SetUint(v.Uint() + 1)
		default:
			t.Fatalf("%s is a %v", path, v.Kind())
		}
		if known, taken := keys[keyOf(p)]; taken {
			t.Errorf("%s has the key of %s", path, known)
		}
		keys[keyOf(p)] = path
	}
	p.Start = []float64{0}
	keys[keyOf(p)] = "a start"
	p.Reference = []float64{0, 0}
	keys[keyOf(p)] = "two logits of the reference"
	walk("Params", reflect.ValueOf(&p).Elem())
	other := p
	if other.Optimizer.MaxNorm++; equilibriumKey(other) == equilibriumKey(p) {
		t.Error("another largest norm has the same equilibrium")
	}
}

// minimal is a configuration with the required keys only.
const minimal = `
name: minimal
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: 8}
optimizer: {learning_rate: 0.1}
run: {steps: 20}
`

// settingsOf returns the settings of the first cell of a configuration.
func settingsOf(t *testing.T, text string, set ...string) config.Settings {
	t.Helper()
	spec, err := config.Load(t.Name(), []byte(text), set...)
	if err != nil {
		t.Fatal(err)
	}
	return spec.Points()[0].Settings
}

// Options that cannot act are left out: the theory is that of the file without them.
func TestIdleOptionsAreLeftOut(t *testing.T) {
	plain := settingsOf(t, minimal)
	plain.Lag.Interval, plain.Optimizer.Momentum = 1, 0
	for name, set := range map[string]func(s *config.Settings){
		"Nesterov's rule without momentum":   func(s *config.Settings) { s.Optimizer.Kind = option.Nesterov },
		"reused samples in blocks of one":    func(s *config.Settings) { s.Estimator.Samples = option.Reused },
		"a warm-up of one step":              func(s *config.Settings) { s.Optimizer.Schedule.Warmup = 1 },
		"a clip that changes on-policy":      func(s *config.Settings) { s.Estimator.Importance.Schedule.Warmup = 9 },
		"a norm that no gradient can exceed": func(s *config.Settings) { s.Optimizer.MaxNorm = 1 },
	} {
		idle := plain
		set(&idle)
		if got, want := Params(&idle, rom.Unit), Params(&plain, rom.Unit); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

// The theory leaves out a largest norm at the bound of all gradients, and a simulated run with it
// is the one without: here 1/√2, which groups at the start reach, times what the estimator adds.
func TestNormThatNoGradientReaches(t *testing.T) {
	for _, c := range []struct {
		more  string
		bound float64
	}{
		{"", 0.70711}, {"grpo.advantage.scale=none", 0.35356}, {"grpo.advantage.std=sample", 0.66144},
		{"grpo.advantage.baseline=leave-one-out", 0.80813}, {"grpo.advantage.scale=mean", 1.41422},
		{"lag.interval=4", 0.99}, // n = exp(3√2·0.05 n)/√2 = 0.852 with ratios
	} {
		text := strings.Replace(minimal, "mean: 0.2}", "mean: 0.2}, {reward: bernoulli, mean: 0.1}", 1)
		s := settingsOf(t, text, "run.replicas=16", "optimizer.learning_rate=0.05",
			"grpo.importance.mode=ratio", cmp.Or(c.more, "seed=2"))
		end := func(norm float64) []sim.End {
			s.Optimizer.MaxNorm = norm
			return sim.Ends(Simulation(&s, "norm", []float64{0, 0, 0}), []int{20}, 0, 16)
		}
		free := end(0)
		if !reflect.DeepEqual(end(c.bound), free) || reflect.DeepEqual(end(c.bound/3), free) {
			t.Errorf("%q: a norm of %g acts, or a third of it does not", c.more, c.bound)
		}
		s.Optimizer.MaxNorm = c.bound
		if got := Params(&s, rom.Unit).Optimizer.MaxNorm; got != 0 {
			t.Errorf("%q: a norm of %g is left in the theory", c.more, got)
		}
		s.Optimizer.MaxNorm = c.bound / 3
		if Params(&s, rom.Unit).Optimizer.MaxNorm == 0 {
			t.Errorf("%q: a norm of %g, which acts, is left out", c.more, c.bound/3)
		}
	}
}

// A prediction cache keeps at most maxPredictions, and goroutines share them.
func TestPredictionsAreBounded(t *testing.T) {
	cache := NewCache()
	shared := cache.Sharing(2)
	for i := range maxPredictions + 10 {
		key := keyOf(rom.Params{Start: []float64{float64(i)}})
		shared.predictions.get(key, 1, maxPredictions, func() *rom.Prediction { return nil })
	}
	if n := len(cache.predictions.known); n != 10 {
		t.Errorf("%d predictions are kept, want 10", n)
	}
}
