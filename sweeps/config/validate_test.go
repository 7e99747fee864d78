package config

import (
	"strings"
	"testing"
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
