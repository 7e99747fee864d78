//go:build long

package theory

import (
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/scope"
)

// Above mostSlid directions the law where a run starts is the leading order, and the exact kind has no variance.
func TestLongNetworkNoiseOfManyDirections(t *testing.T) {
	s, cache := settingsOf(t, withNetwork), NewCache()
	s.Contexts.Count, s.Contexts.Inputs, s.Network.Width, s.Estimator.GroupSize = mostSlid/2+2, 20, 30, 8
	s.Estimator.Importance.Mode, s.Estimator.KL = option.NoImportance, option.KL{Coefficient: 0.5, At: option.AtSnapshot}
	if s.Directions() <= mostSlid {
		t.Fatalf("%d directions", s.Directions())
	}
	p := cache.At(&s, rom.Unit, nil, rom.StationaryLaw)
	if law := p.LeadingOrder.StationaryVariance.ExpectedReward; law == nil || !(*law > 0) || p.Exact.StationaryVariance.ExpectedReward != nil || !p.Noise.Because.Is(scope.Networks) {
		t.Errorf("to leading order %v because %q", law, p.Noise.Because)
	}
}
