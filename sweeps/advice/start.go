package advice

import (
	"context"
	"fmt"
	"strings"

	"grposim/rom"
	"grposim/sweeps/theory"
)

// FromStart simulates the cell as it stands and, if its runs do not arrive, says why and tries the
// cures.
func (advice *Advice) FromStart(ctx context.Context, t *Trials) error {
	a := &adviser{settings: t.cell.Settings}
	present, err := t.Present(ctx)
	switch {
	case err != nil:
		return err
	case present == nil:
		a.unknown(fromStart, noStart)
	default:
		a.add(fromStart, float64(present.Arrived.Mean), strings.Join(present.Says(), "; "), Simulated, arrival(present))
	}
	if mean, most, ok := reuseFlag(&t.cell.Settings); ok {
		says := fmt.Sprintf("x = %.3g, at most %.3g: no single sample turns a deep policy", mean, most)
		if most >= 0.5 {
			says = fmt.Sprintf("x = %.3g on the best arm, up to %.3g where rewards are rare: single lucky samples can turn a deep policy", mean, most)
		}
		a.add("a rare sample under reuse", mean, says, rom.LeadingOrder, "x = 2ηKA/(N(1−μ)), A the advantage of a lucky sample of a rare arm, in the mean and at most √(G−1): within a block its ratio grows as dρ/dt = xρ²/K, without bound above 1; below ½ it is safe")
	}
	advice.Lines = append(a.lines, advice.Lines...)
	if advice.Start = present; present == nil || present.Outcome == Arrives {
		return nil
	}
	if advice.Cures, err = t.Cures(ctx, present); err != nil {
		return err
	}
	advice.Why, err = t.why(ctx, present, advice.Cures)
	return err
}

// fromStart names the first line of advice.
const fromStart = "runs from the file's start"

// arrival says how a trial decides which runs arrive.
func arrival(t *Trial) string {
	runs := "a run"
	if t.Runs > 1 {
		runs = fmt.Sprintf("%d runs", t.Runs)
	}
	return fmt.Sprintf("%s of %d steps from the file's start. One arrives if the mean of J over its last quarter is within %.0f %%, and J at its end within %.0f %%, of the range of mean rewards, with the right arm in front and others at least half as probable as at rest; Wilson's %.0f %% interval",
		runs, t.Steps, 100*theory.NearInMean, 100*theory.NearAtEnd, 100*shareConfidence)
}
