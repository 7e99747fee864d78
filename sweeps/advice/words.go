package advice

import (
	"fmt"
	"math"
	"slices"

	"grposim/sweeps/config"
	"grposim/sweeps/theory"
)

// Says returns the share and its interval in words.
func (s RunShare) Says() string {
	return fmt.Sprintf("%s [%s, %s]", percent(s.Mean), percent(s.Lo), percent(s.Hi))
}

func percent[F ~float64](share F) string {
	x := float64(share)
	if x > 0.99 && x < 1 || x > 0 && x < 0.01 {
		return fmt.Sprintf("%.1f %%", min(100*x, 99.9)) // 100 % is all
	}
	return fmt.Sprintf("%.0f %%", 100*x)
}

// where says where a trial's runs should end.
func where(g *theory.Target) string {
	if g.AtRest {
		return fmt.Sprintf("at J* = %.4g", g.Reward)
	}
	return fmt.Sprintf("at the best mean reward, %.4g", g.Reward)
}

// Says returns the counts in words, one item for each ending.
func (t *Trial) Says() (says []string) {
	if t.Runs == 1 {
		return []string{t.ends(&t.Endings[0], "it ends")}
	}
	arrive := fmt.Sprintf("%s arrive %s", t.Arrived.Says(), where(&t.target))
	if t.Endings[0].How == theory.AtTarget {
		arrive += fmt.Sprintf("; half of them are within %.2g of their end from step %.0f on",
			theory.NearAtEnd*t.target.Span, t.Endings[0].Since)
	}
	says = append(says, arrive)
	const most = 5 // items before the rest is added up
	more := 0
	for i := range t.Endings {
		switch e := &t.Endings[i]; {
		case e.How == theory.AtTarget:
		case len(says) < most:
			says = append(says, t.ends(e, t.percent(e.Runs)+" end"))
		default:
			more += e.Runs
		}
	}
	if more > 0 {
		says = append(says, t.percent(more)+" end in other ways")
	}
	return says
}

// percent writes a number of runs as a share of all.
func (t *Trial) percent(runs int) string { return percent(float64(runs) / float64(t.Runs)) }

// ends describes an ending of the runs that subject names.
func (t *Trial) ends(e *Ending, subject string) string {
	since := fmt.Sprintf("since step %.0f", e.Since)
	if t.Runs > 1 {
		since = "half of them " + since
	}
	switch e.How {
	case theory.AtTarget:
		return fmt.Sprintf("%s %s, %s", subject, where(&t.target), since)
	case theory.Overflown:
		return fmt.Sprintf("%s out of the range of floating point, %s", subject, since)
	case theory.TooDeep:
		says := fmt.Sprintf("%s on %s as predicted, but too deep: log odds %.3g, at rest %.3g",
			subject, t.arm(e.Arm), e.LogOdds, -math.Log(t.target.Rare))
		if t.target.Front == slices.Max(t.target.Means) {
			says += ". That looks healthy, and is not the state at rest"
		}
		return says
	case theory.Elsewhere:
		subject += " on " + t.arm(e.Arm)
		return fmt.Sprintf("%s, %s: log odds %.3g", subject, since, e.LogOdds)
	}
	level := fmt.Sprintf("%s at a mean reward of %.3g over the last quarter, %.3g at the last step",
		subject, e.Reward, e.Last)
	if e.How == theory.Unsteady {
		return level + ", although J has been right before: it fluctuates"
	}
	if e.Moves {
		return fmt.Sprintf("%s: on the way after %d steps", level, t.Steps)
	}
	return fmt.Sprintf("%s: not there after %d steps, and no longer on the way", level, t.Steps)
}

// arm names the arms of the mean reward of one of them.
func (t *Trial) arm(a int) string {
	mean := t.target.Means[a]
	if n := config.Count(t.target.Means, func(m float64) bool { return m == mean }); n > 1 {
		return fmt.Sprintf("one of %d arms of mean reward %.3g", n, mean)
	}
	return fmt.Sprintf("arm %d (mean reward %.3g; the first arm is 0)", a, mean)
}
