package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
