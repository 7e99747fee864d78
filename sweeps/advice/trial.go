package advice

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// Simulated is the kind of advice that comes from simulation.
const Simulated rom.Kind = "simulated"

// Trial says how the runs of some settings end that start where their cell starts.
type Trial struct {
	Set     string   `json:"set,omitempty"` // what differs from the cell, as --set takes it; "": nothing
	Outcome Outcome  `json:"outcome"`
	Runs    int      `json:"runs"`
	Steps   int      `json:"steps"` // of a run
	Arrived RunShare `json:"arrived"`
	Endings []Ending `json:"endings"` // how they end, those that arrive first, then by number

	settings config.Settings
	target   theory.Target
}

// Outcome says how a trial judges the share of runs that arrive.
type Outcome string

const (
	Arrives   Outcome = "arrives"   // the interval of the share lies above wantedShare
	Holds     Outcome = "holds"     // it lies below, but above for the runs that arrive or are too deep
	Fails     Outcome = "fails"     // both lie below
	Undecided Outcome = "undecided" // neither is decided
)

// RunShare is a share of runs with Wilson's interval at shareConfidence.
type RunShare struct {
	Mean store.Number `json:"mean"`
	Lo   store.Number `json:"lo"`
	Hi   store.Number `json:"hi"`
}

// Ending is a way in which some of the runs of a trial end.
type Ending struct {
	How   theory.How   `json:"how"`
	Arm   int          `json:"arm"`   // the most probable one at the end, the first being 0, of those that are too deep or on another arm; else −1
	Runs  int          `json:"runs"`  // the number that end so
	Since store.Number `json:"since"` // median of the recorded steps from which on J stays within a tenth of the range of rewards from where it ends, or the policy is out of range

	// Medians; empty where there is no policy at the end.
	Reward  store.Number `json:"reward"`   // J in the mean over the last quarter of the run
	Last    store.Number `json:"last"`     // J at the last step
	LogOdds store.Number `json:"log_odds"` // of the most probable arm
	Rare    store.Number `json:"rare"`     // expected number of samples of other arms in a run of as many steps
}

// What decides a trial. With 128 runs none may fail, with 256 three, with 512 twelve: a setting
// of which 3 % of the runs fail passes by 256 runs with probability 0.06.
const (
	wantedShare     = 0.95
	shareConfidence = 0.99
)

// trialRuns are the numbers of runs after which a trial may end: that of a suggestion by
// suggestedRuns, that of a cure by curedRuns.
var trialRuns = []int{32, 128, suggestedRuns, curedRuns}

const (
	suggestedRuns = 256
	curedRuns     = 512
)

// Trials simulates changes of one cell from its own start. Equal settings are simulated once.
type Trials struct {
	Workers int
	Slow    func(what string, seconds float64) // is told what takes more than a second, before most of it, and about how long; nil: nobody is

	cell   *sweeps.Cell
	cache  *theory.Cache
	known  map[string]*Trial
	perRun float64 // seconds of a run of the cell as it stands
}

// NewTrials returns the trials of a cell of a plan whose advice is given.
func NewTrials(cell *sweeps.Cell, advice *Advice, workers int, slow func(what string, seconds float64)) *Trials {
	return &Trials{Workers: workers, Slow: slow, cell: cell, cache: advice.cache, known: make(map[string]*Trial)}
}

// noStart is the reason why settings are not simulated.
var noStart = scope.NoStart.Because().String()

// Present simulates the cell as it stands, with suggestedRuns runs, fewer if all arrive, and as many as decide
// a cure if these do not decide it: no cure shall win by more runs alone. The trial is
// nil if it has no start.
func (t *Trials) Present(ctx context.Context) (*Trial, error) {
	began := time.Now()
	first, err := t.simulate(ctx, t.cell.Settings, trialRuns[0])
	if err != nil || first == nil || first.Runs == 1 {
		return first, err
	}
	t.perRun = max(t.perRun, time.Since(began).Seconds()/float64(trialRuns[0]))
	t.announce("the runs from the start", suggestedRuns)
	for _, runs := range trialRuns[1:] {
		trial, err := t.simulate(ctx, t.cell.Settings, runs)
		if err != nil || trial.Outcome == Arrives || runs >= suggestedRuns && trial.Outcome != Undecided || runs == curedRuns {
			return trial, err
		}
	}
	panic("unreachable: curedRuns is one of trialRuns")
}

// announce says that so many runs like those of the cell as it stands take long, if they do.
func (t *Trials) announce(what string, runs int) {
	if seconds := t.perRun * float64(runs); seconds > 1 && t.Slow != nil {
		t.Slow(what, seconds)
	}
}

// Of simulates the cell with changes, until its outcome is decided or it has the largest of
// trialRuns that is at most most. The trial is nil if the changes are not possible together, or
// leave no start.
func (t *Trials) Of(ctx context.Context, most int, set ...config.Assignment) (*Trial, error) {
	s, broken := config.Change(t.cell.Settings, set...)
	if broken != "" {
		return nil, nil
	}
	var told *Trial
	for _, runs := range trialRuns {
		if runs > most || told != nil && told.Outcome != Undecided {
			break
		}
		trial, err := t.simulate(ctx, s, runs)
		if err != nil || trial == nil {
			return nil, err
		}
		told = new(*trial)
		told.Set = setOf(set)
	}
	return told, nil
}

// setOf writes changes as --set takes them.
func setOf(set []config.Assignment) string {
	var parts []string
	for _, a := range set {
		parts = append(parts, a.Param+"="+config.Format(a.Value))
	}
	return strings.Join(parts, " ")
}

// simulate simulates so many runs of settings, one if all are equal. Their streams are those of
// a cell with these settings, so that a sweep repeats them.
func (t *Trials) simulate(ctx context.Context, s config.Settings, runs int) (*Trial, error) {
	c := sweeps.NewCell(s, t.cache)
	if known := t.known[c.ID]; known != nil && (known.Runs >= runs || known.Runs == 1) {
		return known, nil
	}
	if c.Status != store.CellOK {
		return nil, nil
	}
	in := c.Sim()
	in.Run.Replicas, in.Ends = runs, runs
	in.Run.BurnIn = s.Run.Steps - max(s.Run.Steps/4, 1)
	trial := &Trial{settings: s, Steps: s.Run.Steps, target: theory.NewTarget(&s, in.Init, t.cache.Predict(&s, rom.Unit))}
	err := sim.Simulate(ctx, []sim.Cell{in}, t.Workers, func(_ int, r sim.Result) error {
		trial.count(r.Ends, sim.RecordedSteps(s.Run.Steps, s.Lag))
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.known[c.ID] = trial
	return trial, nil
}

// count sets the trial's counts to those of the ends of runs that are recorded at the given
// steps.
func (t *Trial) count(ends []sim.End, steps []int) {
	type way struct {
		how theory.How
		arm int
	}
	type group struct {
		since, reward, last, odds, rare []float64
	}
	ways := make(map[way]*group)
	var order []way
	samples, arrived := theory.Samples(&t.settings), 0
	for i := range ends {
		e := &ends[i]
		w := way{t.target.How(e, steps, samples), -1}
		if w.how == theory.AtTarget {
			arrived++
		}
		if e.Logits != nil && (w.how == theory.TooDeep || w.how == theory.Elsewhere) {
			w.arm = slices.Index(e.Logits, slices.Max(e.Logits))
			w.arm = slices.Index(t.target.Means, t.target.Means[w.arm]) // the first of equal ones
		}
		g := ways[w]
		if g == nil {
			g = new(group)
			ways[w], order = g, append(order, w)
		}
		g.since = append(g.since, t.since(e, steps))
		if e.DivergedAt < 0 {
			g.reward, g.last = append(g.reward, e.Mean), append(g.last, e.Rewards[len(e.Rewards)-1])
		}
		if e.Logits != nil {
			g.odds = append(g.odds, theory.LogOdds(e.Logits))
			g.rare = append(g.rare, samples*theory.Rarity(e.Logits))
		}
	}
	t.Runs, t.Endings = len(ends), nil
	for _, w := range order {
		g := ways[w]
		t.Endings = append(t.Endings, Ending{w.how, w.arm, len(g.since), middle(g.since), middle(g.reward), middle(g.last), middle(g.odds), middle(g.rare)})
	}
	slices.SortStableFunc(t.Endings, func(a, b Ending) int {
		if (a.How == theory.AtTarget) != (b.How == theory.AtTarget) {
			if a.How == theory.AtTarget {
				return -1
			}
			return 1
		}
		return b.Runs - a.Runs
	})
	held := t.share(arrived + t.Count(theory.TooDeep))
	t.Arrived = t.share(arrived)
	switch {
	case t.Arrived.Lo >= wantedShare:
		t.Outcome = Arrives
	case held.Hi < wantedShare:
		t.Outcome = Fails
	case t.Arrived.Hi < wantedShare && held.Lo >= wantedShare:
		t.Outcome = Holds
	default:
		t.Outcome = Undecided
	}
}

// share returns the share of a number of the trial's runs. That of the only run without noise is
// exact.
func (t *Trial) share(runs int) RunShare {
	mean := float64(runs) / float64(t.Runs)
	e := measure.Certain(mean)
	if t.settings.Estimator.GroupSize != option.Infinite {
		e = measure.Estimate{Mean: mean, StdErr: math.Sqrt(mean * (1 - mean) / float64(t.Runs)), DF: t.Runs - 1}
	}
	lo, hi := e.Share(float64(t.Runs), shareConfidence)
	return RunShare{store.Number(mean), store.Number(lo), store.Number(hi)}
}

// since returns the first recorded step from which on J stays within a tenth of the range of
// rewards from where the run ends, or the step at which it diverged.
func (t *Trial) since(e *sim.End, steps []int) float64 {
	if e.DivergedAt >= 0 {
		return float64(e.DivergedAt)
	}
	first := len(e.Rewards) - 1
	for ; first > 0; first-- {
		if math.Abs(e.Rewards[first-1]-e.Mean) > theory.NearAtEnd*t.target.Span+t.target.Rounding() {
			break
		}
	}
	return float64(steps[first])
}

// middle returns the median; NaN of none.
func middle(values []float64) store.Number {
	sorted, n := slices.Sorted(slices.Values(values)), len(values) // NaN first
	if n == 0 || math.IsNaN(sorted[0]) {
		return store.Number(math.NaN())
	}
	return store.Number((sorted[(n-1)/2] + sorted[n/2]) / 2)
}

// Count returns the number of runs that end in one of the given ways.
func (t *Trial) Count(ways ...theory.How) (n int) {
	for _, e := range t.Endings {
		if slices.Contains(ways, e.How) {
			n += e.Runs
		}
	}
	return n
}

// late reports whether most of a trial's runs that do not arrive are on the way.
func (t *Trial) late() bool { return t.most(theory.NotYet) }

// most reports whether most of a trial's runs that do not arrive end in one of the given ways.
func (t *Trial) most(ways ...theory.How) bool {
	return 2*t.Count(ways...) > t.Runs-t.Count(theory.AtTarget)
}

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
