package advice

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"gonum.org/v1/gonum/stat"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/rest"
	"grposim/rom/scope"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// Simulated is the kind of advice that comes from simulation.
const Simulated rom.Kind = "simulated"

// Trial says how the runs of some settings end that start where their cell starts.
type Trial struct {
	// what differs from the cell, as --set takes it; "": nothing
	Set     string   `json:"set,omitempty"`
	Outcome Outcome  `json:"outcome"`
	Runs    int      `json:"runs"`
	Steps   int      `json:"steps"` // of a run
	Arrived RunShare `json:"arrived"`
	Endings []Ending `json:"endings"` // how they end, those that arrive first, then by number

	settings config.Settings
	target   theory.Target
	ended    []sim.End // of all runs
	steps    []int     // that are recorded
	rise     []float64 // mean of J there over the runs that arrive; nil: none does
	end      float64   // the same over the last quarter of the run
}

// Outcome says how a trial judges the share of runs that arrive.
type Outcome string

const (
	Arrives Outcome = "arrives" // the interval of the share lies above wantedShare
	// it lies below, but above for the runs that arrive or are too deep
	Holds     Outcome = "holds"
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
	How theory.How `json:"how"`
	// the most probable one at the end, from 0, if they are too deep or on a wrong arm; else −1
	Arm  int `json:"arm"`
	Runs int `json:"runs"` // the number that end so
	// of those that are not there: most of them still move toward the goal
	Moves bool `json:"moves"`
	// median of the recorded steps from which on J stays within a tenth of the range of rewards from
	// where it ends, or the policy is out of range
	Since store.Number `json:"since"`

	// Medians; empty where there is no policy at the end.
	Reward  store.Number `json:"reward"`   // J in the mean over the last quarter of the run
	Last    store.Number `json:"last"`     // J at the last step
	LogOdds store.Number `json:"log_odds"` // of the most probable arm
	// expected number of samples of other arms in a run of as many steps
	Rare store.Number `json:"rare"`
}

// What decides a trial. With 128 runs none may fail, with 256 three, with 512 twelve: a setting
// of which 3 % of the runs fail passes by 256 runs with probability 0.06.
const (
	wantedShare     = 0.95
	shareConfidence = 0.99
	presentRuns     = 256 // that show how the cell as it stands fails
	mostRuns        = 512
)

// trialRuns are the numbers of runs after which a trial may end. Its setting is judged once, so
// that what is suggested and a row of changes never judge it by different runs.
var trialRuns = []int{32, 128, presentRuns, mostRuns}

// Trials simulates changes of one cell from its own start. Equal settings are simulated once.
type Trials struct {
	Workers  int
	Progress func(what string, done, all int) // is told how many of all parts of some work are done

	cell  *plan.Cell
	cache *theory.Cache
	known map[string]*Trial
}

// NewTrials returns the trials of a cell of a plan whose advice is given.
func NewTrials(cell *plan.Cell, advice *Advice, workers int, progress func(string, int, int)) *Trials {
	return &Trials{workers, progress, cell, advice.cache, make(map[string]*Trial)}
}

// noStart is the reason why settings are not simulated.
var noStart = scope.NotReached.Because().String()

// Present simulates the cell as it stands, with presentRuns runs, fewer if all end alike, and more if
// these do not decide it. The trial is nil if it has no start.
func (t *Trials) Present(ctx context.Context) (*Trial, error) {
	t.Progress("runs as it stands", 0, 1)
	return t.decide(ctx, t.cell.Settings, presentRuns)
}

// Of simulates the cell with changes until its outcome is decided, with mostRuns runs at most. The
// trial is nil if the changes are not possible together, or leave no start.
func (t *Trials) Of(ctx context.Context, set ...config.Assignment) (*Trial, error) {
	s, broken := config.Change(t.cell.Settings, set...)
	if broken != "" {
		return nil, nil
	}
	trial, err := t.decide(ctx, s, 0)
	if err != nil || trial == nil {
		return nil, err
	}
	changed := new(*trial)
	says := func(a config.Assignment) string { return a.Param + "=" + config.Format(a.Value) }
	changed.Set = strings.Join(config.Each(set, says), " ")
	return changed, nil
}

// decide simulates settings until they arrive, or are decided by at least so many runs.
func (t *Trials) decide(ctx context.Context, s config.Settings, n int) (trial *Trial, err error) {
	for _, runs := range trialRuns {
		trial, err = t.simulate(ctx, s, runs)
		if err != nil || trial == nil || trial.Outcome == Arrives ||
			trial.Outcome != Undecided && (trial.Runs >= n || len(trial.Endings) == 1) {
			break
		}
	}
	return trial, err
}

// simulate simulates so many runs of settings, one if all are equal. Their streams are those of
// a cell with these settings, so that a sweep repeats them.
func (t *Trials) simulate(ctx context.Context, s config.Settings, runs int) (*Trial, error) {
	c := plan.NewCell(s, t.cache)
	known := cmp.Or(t.known[c.ID], new(Trial))
	if known.Runs >= runs || known.Runs == 1 {
		return known, nil
	}
	if c.Status != store.CellOK {
		return nil, nil
	}
	in := c.Sim().Cell
	in.First, in.Ends, in.Run.Replicas = known.Runs, runs, runs-known.Runs
	in.Run.BurnIn = s.Run.Steps - max(s.Run.Steps/4, 1)
	target := theory.NewTarget(&s, in.Init, t.cache.At(&s, rom.Unit, nil, rest.RulesAlone))
	trial := &Trial{settings: s, Steps: s.Run.Steps, target: target}
	err := sim.Simulate(ctx, []sim.Cell{in}, t.Workers, func(_ int, r sim.Result) error {
		trial.count(slices.Concat(known.ended, r.Ends), sim.RecordedSteps(s.Run.Steps, s.Lag))
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.known[c.ID] = trial
	return trial, nil
}

// way is how a run ends, and on which arm, as in Ending.
type way struct {
	how   theory.How
	arm   int
	moves bool
}

// count sets the trial's counts to those of the ends of runs, recorded at the given steps.
func (t *Trial) count(ends []sim.End, steps []int) {
	type group struct {
		since, reward, last, odds, rare []float64
	}
	groups := make(map[way]*group)
	var order []way
	t.Runs, t.Endings, t.steps, t.ended = len(ends), nil, steps, ends
	samples, arrived := theory.Samples(&t.settings), 0
	for i, w := range t.ways(ends, samples) {
		e := &ends[i]
		if w.how == theory.AtTarget {
			arrived++
			t.follow(e, arrived)
		}
		g := groups[w]
		if g == nil {
			g = new(group)
			groups[w], order = g, append(order, w)
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
	middle := func(of []float64) store.Number { return store.Number(measure.Median(of)) }
	for _, w := range order {
		g := groups[w]
		t.Endings = append(t.Endings, Ending{w.how, w.arm, len(g.since), w.moves, middle(g.since),
			middle(g.reward), middle(g.last), middle(g.odds), middle(g.rare)})
	}
	first := map[theory.How]int{theory.AtTarget: 1}
	slices.SortStableFunc(t.Endings, func(a, b Ending) int {
		return cmp.Or(first[b.How]-first[a.How], b.Runs-a.Runs)
	})
	held := t.share(arrived+t.Count(theory.TooDeep), t.Runs)
	t.Arrived = t.share(arrived, t.Runs)
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

// ways returns how each run ends. Whether runs that are not there still move toward the goal is
// told for all of them together that stand on the same arm, since one alone fluctuates. Those that
// stand on a wrong arm and do not move are there for good, even where it was that of the start.
func (t *Trial) ways(ends []sim.End, samples float64) []way {
	all := make([]way, len(ends))
	runs, moved := make(map[way]int), make(map[way]int)
	for i := range ends {
		e := &ends[i]
		w := way{how: t.target.How(e, t.steps, samples), arm: -1}
		if e.Logits != nil && (w.how == theory.TooDeep || w.how == theory.Elsewhere ||
			w.how == theory.NotYet && t.target.Wrong(e.Logits)) {
			w.arm = slices.Index(e.Logits, slices.Max(e.Logits))
			w.arm = slices.Index(t.target.Means, t.target.Means[w.arm]) // the first of equal ones
		}
		all[i] = w
		if runs[w]++; w.how == theory.NotYet && t.moved(e, w.arm) {
			moved[w]++
		}
	}
	network := t.settings.Units() != "" // its rate moves the logits too little to tell
	for i, w := range all {
		switch {
		case w.how != theory.NotYet:
		case network || w.arm < 0 && 2*moved[w] > runs[w] || t.share(moved[w], runs[w]).Lo > 0.5:
			all[i] = way{theory.NotYet, -1, true}
		case w.arm >= 0:
			all[i].how = theory.Elsewhere
		}
	}
	return all
}

// leastMove is the share of its distance from the goal, or from the arm on which it stands, by
// which a run on the way moves in a quarter of its length: others take some hundred times as long.
// clearMove is the number of standard errors, as of independent records, by which it must move.
const leastMove, clearMove = 0.01, 3

// moved reports whether J of a run moves toward the goal from the third quarter of its steps to the
// last. arm is that on which it stands, or −1.
func (t *Trial) moved(e *sim.End, arm int) bool {
	last := t.steps[len(t.steps)-1]
	from, to := sort.SearchInts(t.steps, last/2), sort.SearchInts(t.steps, last-last/4)
	if from = min(from, to-1); from < 0 {
		return false
	}
	rewards, goal := e.Rewards, t.target.Reward
	if arm < 0 && math.Abs(rewards[len(rewards)-1]-goal) <= theory.NearAtEnd*t.target.Span {
		return true // it has just come
	}
	before, earlier := stat.PopMeanStdDev(rewards[from:to], nil)
	after, later := stat.PopMeanStdDev(rewards[to:], nil)
	gap := math.Abs(before - goal)
	least := gap
	if arm >= 0 {
		least = min(least, math.Abs(before-t.target.Means[arm]))
	}
	noise := math.Hypot(earlier/math.Sqrt(float64(to-from)), later/math.Sqrt(float64(len(rewards)-to)))
	return gap-math.Abs(after-goal) > max(leastMove*least+1e-3*t.target.Rounding(), clearMove*noise)
}

// follow adds a run to the means over the n that arrive.
func (t *Trial) follow(e *sim.End, n int) {
	if n == 1 {
		t.rise, t.end = make([]float64, len(t.steps)), 0
	}
	t.end += (e.Mean - t.end) / float64(n)
	for i, reward := range e.Rewards {
		t.rise[i] += (reward - t.rise[i]) / float64(n)
	}
}

// reaches returns the step at which the mean of J over the runs that arrive has gone 95 % of the
// way that it goes in another trial: +Inf if it never does, ok false where that starts at its end.
func (t *Trial) reaches(other *Trial) (step float64, ok bool) {
	start, gain := other.rise[0], other.end-other.rise[0]
	if math.Abs(gain) <= theory.NearInMean*other.target.Span+other.target.Rounding() {
		return 0, false
	}
	return theory.Reaches(t.steps, t.rise, start+theory.WayMade*gain, gain > 0), true
}

// share returns a number of runs as a share of others. That of the only run without noise is exact.
func (t *Trial) share(runs, of int) RunShare {
	mean := float64(runs) / float64(of)
	e := measure.Certain(mean)
	if t.settings.Estimator.GroupSize != option.Infinite {
		e = measure.Estimate{Mean: mean, StdErr: math.Sqrt(mean * (1 - mean) / float64(of)), DF: of - 1}
	}
	lo, hi := e.Share(float64(of), shareConfidence)
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
func (t *Trial) late() bool { return t.most(t.onTheWay()) }

// onTheWay returns the number of runs that still move toward the goal.
func (t *Trial) onTheWay() (n int) {
	for _, e := range t.Endings {
		if e.Moves {
			n += e.Runs
		}
	}
	return n
}

// most reports whether a number of runs is more than half of those that do not arrive.
func (t *Trial) most(runs int) bool { return 2*runs > t.Runs-t.Count(theory.AtTarget) }

// FromStart simulates the cell as it stands and, if runs do not arrive, says why and tries cures.
func (advice *Advice) FromStart(ctx context.Context, t *Trials) error {
	present, err := t.Present(ctx)
	if advice.Start = present; err != nil || present == nil || present.Outcome == Arrives {
		return err
	}
	if advice.Why, err = t.why(ctx, present); err != nil {
		return err
	}
	return advice.cure(ctx, t, present)
}

// why says what a run without the noise of sampling tells of runs that do not arrive. The
// changes that were tried, and arrive, tell more.
func (t *Trials) why(ctx context.Context, present *Trial) (string, error) {
	s := &t.cell.Settings
	if present.late() && s.Units() != "" {
		return fmt.Sprintf("a network's rate moves the logits too little in %d steps", s.Run.Steps), nil
	}
	mean, err := t.Of(ctx, withoutNoise)
	if err != nil {
		return "", err
	}
	var says []string
	if present.late() {
		says = append(says, fmt.Sprintf("most of the runs that do not arrive are on the way: "+
			"%d steps are few for this learning rate", s.Run.Steps))
	}
	for i := range present.Endings {
		if e := &present.Endings[i]; says == nil && e.How == theory.Elsewhere && present.most(e.Runs) {
			says = append(says, "most of the runs that do not arrive stand on "+present.arm(e.Arm))
		}
	}
	if mean != nil {
		how := "does not arrive either: " + strings.Join(mean.Says(), "; ")
		switch {
		case mean.Outcome == Arrives:
			how = "arrives"
		case mean.Count(theory.TooDeep) > 0:
			how = "is too deep on the right arm as well, and returns slowly"
		case mean.late():
			how = "is on the way"
		}
		says = append(says, "without the noise of sampling (grpo.group_size=inf) the run "+how)
	}
	return cmp.Or(strings.Join(says, "; "), "not known: these settings have no run without noise"), nil
}
