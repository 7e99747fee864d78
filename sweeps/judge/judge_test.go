package judge

import (
	"math"
	"testing"

	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
)

// A prediction that may neglect half of the margin is judged, one that may neglect
// more is not, whatever was measured.
func TestNeglectedTermsAgainstTheMargin(t *testing.T) {
	f := claim.Finding{Measured: 1, Lo: 1, Hi: 1, Predicted: scope.Number{Value: 2, Kind: rom.Exact}}
	j := &judgement{claim.Question{Model: claim.Model{Check: &config.Check{Margin: 0.1}}}}
	for _, c := range []struct {
		neglected float64
		want      Ruling
	}{{0, Disagree}, {0.0999, Disagree}, {0.1001, OutOfScope}, {math.Inf(1), OutOfScope}} {
		f.Predicted.Neglected = nil
		f.Predicted.Leave(scope.HigherOrder, c.neglected)
		v := j.rule(Verdict{Expect: config.Holds}, f)
		if v.Verdict != c.want || (c.want == OutOfScope) != math.IsNaN(float64(v.Predicted)) {
			t.Errorf("neglected %g of a margin of 0.2: %v because %s", c.neglected, v.Verdict, v.Because)
		}
	}
}

// A margin is relative to |predicted|, or absolute; about an infinite prediction there is
// none, and a one-sided comparison has none.
func TestMargins(t *testing.T) {
	for _, c := range []struct {
		check     config.Check
		predicted float64
		want      float64
	}{
		{config.Check{Margin: 0.1}, -2, 0.2},
		{config.Check{AbsoluteMargin: 0.1}, -2, 0.1},
		{config.Check{Margin: 0.1}, math.Inf(1), 0},
	} {
		if got := (&claim.Question{Model: claim.Model{Check: &c.check}}).Margin(c.predicted); got != c.want {
			t.Errorf("margin %g or %g about %g: %g, want %g", c.check.Margin, c.check.AbsoluteMargin,
				c.predicted, got, c.want)
		}
	}
	j := &judgement{claim.Question{Model: claim.Model{Check: &config.Check{Margin: 0.1}}}}
	f := claim.Finding{Measured: 0.95, Lo: 0.94, Hi: 0.96, Side: claim.FromBelow,
		Predicted: scope.Number{Value: 1, Kind: rom.PaperRule}}
	if v := j.rule(Verdict{Expect: config.Holds}, f); v.Verdict != Disagree || v.Margin != 0 {
		t.Errorf("a value below its lower bound: %v with margin %g", v.Verdict, float64(v.Margin))
	}
}
