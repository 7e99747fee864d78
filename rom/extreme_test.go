package rom

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"grposim/option"
	"grposim/rom/paper"

	"pgregory.net/rapid"
)

// numbers calls visit with the name and the value of every floating-point number in
// v, following pointers.
func numbers(v reflect.Value, name string, visit func(name string, x float64)) {
	switch v.Kind() {
	case reflect.Float64:
		visit(name, v.Float())
	case reflect.Pointer:
		if !v.IsNil() {
			numbers(v.Elem(), name, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			numbers(v.Field(i), name+"."+v.Type().Field(i).Name, visit)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			numbers(v.Index(i), fmt.Sprintf("%s[%d]", name, i), visit)
		}
	}
}

// faults lists what is wrong with a prediction: numbers that are not finite, a limit
// that contradicts its threshold, and a scope that is out without a reason.
func faults(p Prediction) (all []string) {
	numbers(reflect.ValueOf(p), "", func(name string, x float64) {
		// may be +Inf: none, and not known
		limit := strings.Contains(name, ".Searched.") || strings.Contains(name, ".Neglected.")
		if math.IsNaN(x) || math.IsInf(x, 0) && !limit || limit && x < 0 {
			all = append(all, fmt.Sprintf("%s is %v", name, x))
		}
	})
	for _, d := range []Dynamics{p.Exact, p.LeadingOrder} {
		for _, c := range []struct {
			value *float64
			limit float64
		}{
			{d.CriticalLearningRate, d.Searched.LearningRate}, {d.CriticalRefreshInterval, d.Searched.RefreshInterval},
			{d.OscillationLearningRate, d.Searched.Onset},
		} {
			if c.value != nil && *c.value != c.limit {
				all = append(all, fmt.Sprintf("none up to %v, but at %v", c.limit, *c.value))
			}
		}
	}
	if _, err := json.Marshal(p); err != nil {
		all = append(all, err.Error())
	}
	for _, s := range []Scope{p.Exact.Scope, p.LeadingOrder.Scope, p.Noise} {
		if s.In == (s.Because.Out()) {
			all = append(all, fmt.Sprintf("scope %+v", s))
		}
	}
	for _, r := range []paper.Rule{p.PaperRule, p.RuleAtStiffness, p.RuleAtLargestAge, p.SufficientRule} {
		if (r.CriticalLearningRate == nil) != r.Because.Out() {
			all = append(all, fmt.Sprintf("rule %+v", r))
		}
	}
	if m := p.Moments; p.Noise.In && (m.RewardVariance == nil || (m.RewardShift == nil || m.ZeroVariance == nil) != m.Because.Out()) {
		all = append(all, fmt.Sprintf("moments %+v", m))
	}
	return all
}

// extreme pushes one setting to the edge of its valid range.
type extreme struct {
	name string
	push func(p *Params)
}

var extremes = []extreme{
	{"rate 1e300", func(p *Params) { p.Optimizer.LearningRate = 1e300 }},
	{"rate 1e-300", func(p *Params) { p.Optimizer.LearningRate = 1e-300 }},
	{"strength 1e300", func(p *Params) { p.KL.Coefficient = 1e300 }},
	{"strength 1e-300", func(p *Params) { p.KL.Coefficient = 1e-300 }},
	{"means 1e200", func(p *Params) {
		p.Arms = []option.Arm{{Law: option.Constant, Mean: 1e200}, {Law: option.Constant, Mean: -1e200}}
	}},
	{"normal means 1e200", func(p *Params) {
		p.Arms = []option.Arm{{Law: option.Normal, Mean: 1e200, Std: 1}, {Law: option.Normal, Mean: -1e200, Std: 1e100}}
	}},
	{"normal means 1e100", func(p *Params) {
		p.Arms = []option.Arm{{Law: option.Normal, Mean: 1e100, Std: 1e-100}, {Law: option.Normal, Mean: -1e100, Std: 1}}
	}},
	{"rewards over the range", func(p *Params) {
		p.Arms = []option.Arm{{Law: option.Constant, Mean: math.MaxFloat64}, {Law: option.Constant, Mean: -math.MaxFloat64}}
	}},
	{"rewards 2e-308 apart", func(p *Params) {
		p.Arms = []option.Arm{{Law: option.Constant, Mean: option.SmallestNormal}, {Law: option.Constant}}
	}},
	{"a constant among densities", func(p *Params) {
		p.Arms = []option.Arm{{Law: option.Constant, Mean: 1e200}, {Law: option.Normal, Std: 1e-200}, {Law: option.Bernoulli, Mean: 0.5}}
		p.Reference = append(p.Reference[:2:2], 0)
	}},
	{"references ±1e6", func(p *Params) { p.Reference[0], p.Reference[1] = 1e6, -1e6 }},
	{"references ∓1e6", func(p *Params) { p.Reference[0], p.Reference[1] = -1e6, 1e6 }},
	{"references ±1e308", func(p *Params) { p.Reference[0], p.Reference[1] = -1e308, 1e308 }},
	{"momentum 1-1e-16", func(p *Params) { p.Optimizer.Momentum, p.Optimizer.Beta1 = 1-1e-16, 1-1e-16 }},
	{"momentum 0", func(p *Params) { p.Optimizer.Momentum, p.Optimizer.Beta1 = 0, 0 }},
	{"epsilon 1e300", func(p *Params) { p.Advantage.Epsilon, p.Optimizer.Epsilon = 1e300, 1e300 }},
	{"epsilon 0", func(p *Params) { p.Advantage.Epsilon, p.Optimizer.Epsilon = 0, 0 }},
	{"G = 2^31", func(p *Params) { p.GroupSize = 1 << 31 }},
	{"G = ∞", func(p *Params) { p.GroupSize = option.Infinite }},
	{"G = 2", func(p *Params) { p.GroupSize = 2 }},
	{"B = 2^53", func(p *Params) { p.GroupsPerStep = 1 << 53 }},
	{"delay 2^53", func(p *Params) { p.Lag = option.Lag{Kind: option.Delay, Interval: 1 << 53} }},
	{"delay 300", func(p *Params) { p.Lag = option.Lag{Kind: option.Delay, Interval: 300} }},
	{"delay 78", func(p *Params) { p.Lag = option.Lag{Kind: option.Delay, Interval: 78} }},
	{"block 2^53", func(p *Params) { p.Lag = option.Lag{Kind: option.Block, Interval: 1 << 53} }},
	{"block 10000", func(p *Params) { p.Lag = option.Lag{Kind: option.Block, Interval: 10_000} }},
	{"current penalty k3", func(p *Params) { p.KL.At, p.KL.Gradient = option.AtCurrent, option.K3 }},
	{"current penalty", func(p *Params) { p.KL.At = option.AtCurrent }},
	{"ratio", func(p *Params) { p.Importance.Mode = option.Ratio }},
	{"a clip of 1e-300", func(p *Params) {
		p.Importance.Mode, p.Importance.ClipLow, p.Importance.ClipHigh = option.Clip, 1e-300, 1e-300
	}},
	{"k2", func(p *Params) { p.KL.Gradient = option.K2 }},
	{"k3", func(p *Params) { p.KL.Gradient = option.K3 }},
	{"unscaled", func(p *Params) { p.Advantage.Scale = option.NoScale }},
	{"nesterov", func(p *Params) { p.Optimizer.Kind = option.Nesterov }},
	{"adam", func(p *Params) { p.Optimizer.Kind = option.Adam }},
}

// moderate is the cell to which extremes are applied.
func moderate() Params {
	p := reference(option.StdScale, 1.2, 16)
	p.Optimizer = option.Optimizer{LearningRate: 0.1, Momentum: 0.9, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
	return p
}

// With every extreme, and with every two of them together (in a fast run one pair in
// Thin), all numbers of a prediction are finite.
func TestExtremesPredictNumbers(t *testing.T) {
	for i, first := range extremes {
		for j, second := range extremes[i:] {
			if j%Thin != 0 {
				continue
			}
			p := moderate()
			first.push(&p)
			second.push(&p)
			for _, fault := range faults(Predict(p)) {
				t.Errorf("%s, %s: %s", first.name, second.name, fault)
			}
		}
	}
}

// So they are with any combination of extremes.
func TestHeapsOfExtremesPredictNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := moderate()
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(extremes)-1), 1, 8).Draw(t, "extremes") {
			extremes[i].push(&p)
			p.Reference = append(p.Reference[:2:2], make([]float64, len(p.Arms)-2)...)
		}
		if all := faults(Predict(p)); len(all) > 0 {
			t.Fatalf("%+v: %v", p, all)
		}
	})
}
