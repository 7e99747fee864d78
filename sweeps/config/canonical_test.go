package config

import (
	"reflect"
	"strings"
	"testing"

	"grposim/option"
	"grposim/sim"
)

func TestCanonical(t *testing.T) {
	const head = `{"bandit":{"arms":[{"mean":0.9,"reward":"bernoulli"},{"mean":0.2,"reward":"bernoulli"}]},"grpo":{"group_size":16},"optimizer":{"learning_rate":0.02},`
	for _, tt := range []struct {
		name, text, want string
	}{
		{"least", loadMinimal, head + `"run":{"steps":2000},"seed":1}`},
		{
			"defaults given",
			strings.NewReplacer(
				"{group_size: 16}", "{group_size: 16, groups_per_step: 1, advantage: {baseline: mean, scale: "+
					"std, std: population, epsilon: 0}, importance: {mode: none, clip_low: 0.2, clip_high: "+
					"0.2}, kl: {coefficient: 0, gradient: exact, at: current}}",
				"{learning_rate: 0.02}", "{kind: heavy-ball, learning_rate: 2e-2, momentum: 0, beta1: 0.9, "+
					"beta2: 0.999, epsilon: 1e-8, schedule: {kind: constant, warmup: 0, total: 2000}}",
				"{steps: 2000}", "{steps: 2000, burn_in: 0, replicas: 1}",
			).Replace(loadMinimal) + "lag: {kind: block, interval: 1}\npolicy: {init: [0, -0.0], " +
				"reference: [0, 0]}\n",
			head + `"run":{"steps":2000},"seed":1}`,
		},
		{"no offset", loadMinimal + "policy: {init: {fixed_point_offset: 0}}\n", head +
			`"policy":{"init":"fixed-point"},"run":{"steps":2000},"seed":1}`},
		{
			"counted arms", strings.Replace(loadMinimal,
				"    - {reward: bernoulli, mean: 0.9}\n    - {reward: bernoulli, mean: 0.2}\n",
				"    - {reward: normal, mean: 0, std: 0.5, count: 2}\n", 1),
			`{"bandit":{"arms":[{"mean":0,"reward":"normal","std":0.5},{"mean":0,"reward":"normal","std":0.5}]},"grpo":{"group_size":16},"optimizer":{"learning_rate":0.02},"run":{"steps":2000},"seed":1}`,
		},
		{
			"expected gradient", strings.Replace(loadMinimal, "16", "inf", 1),
			strings.Replace(head, "16", `"inf"`, 1) + `"run":{"steps":2000},"seed":1}`,
		},
	} {
		points := loadPoints(t, tt.text)
		if got := string(Canonical(points[0].Settings)); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// The canonical form shows every setting of a cell: each field of Settings is changed
// in turn, and the form must change.
func TestCanonicalShowsEveryField(t *testing.T) {
	base := func() *Settings {
		return &Settings{
			Bandit: option.Bandit{
				Arms: []option.Arm{{Law: option.Normal, Mean: 0.25, Std: 0.125},
					{Law: option.Normal, Mean: 0.75, Std: 0.5}},
				TrueMeans: []float64{3, 4},
			},
			Prompts:   Prompts{List: &PromptMeans{{0.25, 0.5}}},
			Policy:    Policy{Init: Init{Logits: []float64{1, 2}}, Reference: []float64{3, 4}},
			Optimizer: option.Optimizer{Schedule: option.Schedule{Total: 7}},
			Run:       sim.Run{Steps: 9},
		}
	}
	before := string(Canonical(*base()))
	changed := 0
	// walk changes one leaf of the value, number *leaf in depth-first order, and
	// returns its path.
	var walk func(v reflect.Value, path string, leaf *int) string
	walk = func(v reflect.Value, path string, leaf *int) string {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				if p := walk(v.Field(i), path+"."+v.Type().Field(i).Name, leaf); p != "" {
					return p
				}
			}
			return ""
		case reflect.Pointer:
			return walk(v.Elem(), path, leaf)
		case reflect.Slice, reflect.Array:
			for i := range v.Len() {
				if p := walk(v.Index(i), path+"[]", leaf); p != "" {
					return p
				}
			}
			return ""
		}
		if *leaf--; *leaf >= 0 {
			return ""
		}
		switch v.Kind() {
		case reflect.Int:
			v.SetInt(v.Int() + 1)
		case reflect.Uint64:
			v.SetUint(v.Uint() + 1)
		case reflect.Uint8:
			v.SetUint(v.Uint() ^ 1)
		case reflect.Float64:
			v.SetFloat(v.Float() + 0.5)
		case reflect.String:
			v.SetString("another")
		default:
			t.Fatalf("%s: cannot change a %s", path, v.Kind())
		}
		return path
	}
	for i := 0; ; i++ {
		s := base()
		leaf := i
		path := walk(reflect.ValueOf(s).Elem(), "Settings", &leaf)
		if path == "" {
			break
		}
		unchanged := before
		if path == "Settings.Policy.Init.Offset" { // only a start at the fixed point has one
			at := base()
			at.Policy.Init.Kind, s.Policy.Init.Kind = AtFixedPoint, AtFixedPoint
			unchanged = string(Canonical(*at))
		}
		if string(Canonical(*s)) == unchanged {
			t.Errorf("%s does not appear in the canonical form", path)
		}
		changed++
	}
	if changed < len(Keys) {
		t.Errorf("changed %d fields, and there are %d keys", changed, len(Keys))
	}
}
