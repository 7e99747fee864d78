package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Two checks can share a cell if they measure it in the same way.
func TestSharing(t *testing.T) {
	const (
		probe = ", displacement: 0.05, draws: 100"
		rate  = probe + ", locate: {param: optimizer.learning_rate, from: 0.1, to: 4, tolerance: " +
			"0.01}"
		interval  = probe + ", locate: {param: lag.interval, from: 0.1, to: 4, tolerance: 0.01}"
		threshold = "stability-threshold, margin: 0.1"
		safe      = "rule-is-safe, margin: 0.1"
		ringing   = "oscillation-onset, margin: 0.1"
	)
	for _, tt := range []struct {
		name   string
		checks []string
		want   string // "" where they can share the cells
	}{
		{"one event twice", []string{threshold + rate, safe + rate, threshold + rate +
			", prediction: paper-rule, expect: fails"}, ""},
		{"two events", []string{threshold + rate, ringing + rate},
			"f:16:13: checks[1].claim: got ringing in a cell that checks[0] measures with instability"},
		{"two searches", []string{safe + rate, threshold + interval},
			"f:16:87: checks[1].locate: got lag.interval from 0.1 to 4"},
		{"two searches, apart", []string{safe + rate + ", where: {optimizer.momentum: 0}", threshold +
			interval + ", where: {optimizer.momentum: 0.9}"}, ""},
		{"two stiffnesses", []string{safe + rate, strings.Replace(threshold+rate, "100", "200", 1)},
			"f:16:74: checks[1].draws: got 200 in a cell that checks[0] measures with 100"},
		{"the stiffness of a located cell", []string{"stiffness, margin: 0.1" + probe, threshold + rate},
			""},
		{"another stiffness", []string{"stiffness, margin: 0.1, displacement: 0.1, draws: 100",
			threshold + rate}, "f:16:61: checks[1].displacement: got 0.05 in a cell that checks[0] " +
			"measures with 0.1"},
		{"another stiffness, measured in another cell",
			[]string{"stiffness, margin: 0.1, displacement: 0.1, draws: 100", threshold + rate +
				", where: {optimizer.momentum: 0.9}"}, ""},
		{"another claim", []string{"fixed-point, margin: 0.1", threshold + rate},
			"f:15:13: checks[0].claim: got a cell in which checks[1] locates an event (nothing else is " +
				"simulated there), want other cells for this check"},
		{"another claim, apart", []string{"fixed-point, margin: 0.1, where: {optimizer.momentum: 0}",
			threshold + rate + ", where: {optimizer.momentum: 0.9}"}, ""},
		{"one offset", []string{"relaxation, margin: 0.1, offset: 0.1",
			"damping-ratio, margin: 0.1, offset: 0.1"}, ""},
		{"two offsets", []string{"relaxation, margin: 0.1, offset: 0.1",
			"damping-ratio, margin: 0.1, offset: 0.2"},
			"f:16:49: checks[1].offset: got 0.2 in a cell that checks[0] measures with 0.1"},
		{"a run with everything", []string{"relaxation, margin: 0.1, offset: 0.1",
			"fixed-point, margin: 0.1", "stiffness, margin: 0.1" + probe, "saturation-fit, margin: 0.1",
			"failure-mode, margin: 0.1, mode: none"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(loadMinimal, "steps: 2000", "steps: 2000, burn_in: 10, replicas: 2", 1) +
				"sweep:\n  - {param: optimizer.momentum, values: [0, 0.9]}\n\n\nchecks:\n"
			for _, check := range tt.checks {
				text += "  - {claim: " + check + "}\n"
			}
			_, err := Load("f", []byte(text))
			if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

// A key that a file gives and that has no effect in any cell gets one note, at its place.
func TestNotes(t *testing.T) {
	grpoWith := func(section string) string {
		return strings.Replace(loadMinimal, "grpo: {group_size: 16}",
			"grpo: {group_size: 16, "+section+"}", 1)
	}
	optimizerWith := func(section string) string {
		return strings.Replace(loadMinimal, "{learning_rate: 0.02}", "{learning_rate: 0.02, "+section+"}",
			1)
	}
	const never = ` has no effect: `
	for _, tt := range []struct {
		name, data string
		set        []string
		want       []string
	}{
		{"nothing given", loadMinimal, nil, nil},
		{"clip range of a ratio", grpoWith("importance: {mode: ratio, clip_low: 0.1}"), nil, []string{
			"q.yaml:7:60: grpo.importance.clip_low" + never + "grpo.importance.mode is ratio in every cell",
		}},
		{"clip in some cells", grpoWith("importance: {clip_low: 0.2}") +
			"sweep: [{param: grpo.importance.mode, values: [none, clip]}]\n", nil, nil},
		{"clip in no cell", grpoWith("importance: {clip_high: 0.3}") +
			"sweep: [{param: grpo.importance.mode, values: [none, ratio]}]\n", nil, []string{
			"q.yaml:7:48: grpo.importance.clip_high" + never +
				"grpo.importance.mode is none or ratio in every cell",
		}},
		{"momentum of adam", optimizerWith("kind: adam, momentum: 0.9, beta1: 0.8"), nil, []string{
			"q.yaml:8:56: optimizer.momentum" + never + "optimizer.kind is adam in every cell",
		}},
		{"total of a constant rate", optimizerWith("schedule: {total: 500}"), nil, []string{
			"q.yaml:8:52: optimizer.schedule.total" + never +
				"optimizer.schedule.kind is constant in every cell",
		}},
		{"override", loadMinimal, []string{"optimizer.beta2=0.9"}, []string{
			"--set: optimizer.beta2" + never + "optimizer.kind is heavy-ball in every cell",
		}},
		{"axis", loadMinimal + "sweep: [{param: optimizer.beta1, values: [0.8, 0.9]}]\n", nil, []string{
			"q.yaml:10:43: optimizer.beta1" + never + "optimizer.kind is heavy-ball in every cell",
		}},
		{"variant", loadMinimal + "variants: [{name: a}, {name: b, set: {optimizer.beta1: 0.8}}]\n", nil,
			[]string{
				"q.yaml:10:56: optimizer.beta1" + never + "optimizer.kind is heavy-ball in every cell",
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spec := must(Load("q.yaml", []byte(tt.data), tt.set...))(t)
			if diff := cmp.Diff(tt.want, spec.Notes); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A document that grposim wrote gives every key. Its defaults are no reader's choice.
func TestNotesOnDocument(t *testing.T) {
	for set, want := range map[string]int{"grpo.advantage.epsilon=0": 0, "optimizer.momentum=0.9": 1} {
		spec := must(Load("q.yaml", []byte(loadMinimal), "optimizer.kind=adam", set))(t)
		again := must(Load("document", spec.Document()))(t)
		if len(again.Notes) != want {
			t.Errorf("%s: got %d notes %q, want %d", set, len(again.Notes), again.Notes, want)
		}
	}
}
