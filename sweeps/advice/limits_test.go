package advice

import (
	"math"
	"strings"
	"testing"

	"grposim/rom"
	"grposim/sweeps/theory"
)

// The reference bandit without momentum: in a block with a frozen force a displacement is
// multiplied by 1 − ηλK, and grows from the exact threshold ηλK = 2 on, K = 12 at η = 1. Just past
// it runs cycle within the tenth of the range of rewards that arrival allows; half as far again
// they do not.
func TestLocateLimits(t *testing.T) {
	trials := trialsOf(t, advisedBandit, "group_size: 16", "group_size: 256", "fixed-point", "[0, 0]",
		"learning_rate: 0.05, momentum: 0.9", "learning_rate: 1", "steps: 10, replicas: 2", "steps: 800")
	lines, err := trials.LocateLimits(t.Context())
	if err != nil || len(lines) != 2 || lines[0].Kind != Simulated {
		t.Fatalf("%+v, %v", lines, err)
	}
	prediction := rom.Predict(theory.Params(&trials.cell.Settings, rom.Unit))
	exact := math.Ceil(*prediction.Exact.CriticalRefreshInterval) - 1
	found, says := float64(lines[0].Value), lines[0].Says
	if found > 1.5*exact || found < exact-1 || !strings.HasPrefix(says, "up to") {
		t.Errorf("%s, want %g to half as much again", says, exact)
	}
	if rate := float64(lines[1].Value); !(rate > 2 && rate < 1.5*2/0.167) {
		t.Errorf("%s, want about the exact threshold", lines[1].Says)
	}
	if !strings.Contains(lines[0].Assumes, "from the file's start") {
		t.Errorf("%s", lines[0].Assumes)
	}
}
