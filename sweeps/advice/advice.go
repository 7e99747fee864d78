package advice

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/rest"
	"grposim/rom/scope"
	"grposim/sweeps/config"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
	"grposim/sweeps/theory"
)

// Advice answers what a user of a cell's settings may choose.
type Advice struct {
	Cell       string     `json:"cell"`
	Label      string     `json:"label"`
	Units      string     `json:"units,omitempty"` // of the learning rate: config.Settings.Units
	Words      []string   `json:"answer"`          // by the theory: the way, rest, and what to do
	Lines      []Line     `json:"advice"`
	Suggestion Suggestion `json:"suggestion"` // by Suggest

	// the runs of the cell as it stands, by FromStart; nil: it has no start
	Start *Trial   `json:"start"`
	Why   string   `json:"why"`   // why they do not arrive, in words; "" if they do
	Cures []*Trial `json:"cures"` // the changes that were tried if they do not

	Located []Line `json:"-"` // of Lines, by LocateLimits
	All     bool   `json:"-"` // every kind of changes is tried; else until MostCures arrive
	Untried int    `json:"-"` // kinds of changes

	cache *theory.Cache // of Advise
}

// Line is one answer. Value is empty (NaN) where Says gives no number.
type Line struct {
	Asked   string       `json:"asked"`
	Value   store.Number `json:"value"`
	Says    string       `json:"says"`    // the answer in words, with its unit
	Kind    rom.Kind     `json:"kind"`    // of the prediction; "" where there is none
	Assumes string       `json:"assumes"` // its formula and what it assumes

	// For the suggestion: the parameter of which the line gives the largest value known to be safe
	// (+Inf: all are; 0: none is) and the least not known to be (+Inf: none was found).
	bounds       bounded
	safe, unsafe float64
}

// Rows returns one line for each question, the safest answer.
func (advice *Advice) Rows() (rows []Line) {
	place := make(map[string]int)
	for _, line := range advice.Lines {
		if i, known := place[line.Asked]; !known {
			place[line.Asked] = len(rows)
			rows = append(rows, line)
		} else if line.largest() < rows[i].largest() {
			rows[i] = line
		}
	}
	return rows
}

// largest returns the largest value that a line knows to be safe, +Inf where it gives no number.
func (l *Line) largest() float64 {
	if x := float64(l.Value); !math.IsNaN(x) {
		return x
	}
	return math.Inf(1)
}

// bounded is a parameter of which advice gives the largest safe value.
type bounded int

const (
	ofNeither bounded = iota
	ofRate
	ofInterval
)

// Advise yields each cell of a plan, in its order, with the advice of the theory.
func Advise(p *plan.Plan) iter.Seq2[*plan.Cell, Advice] {
	return func(yield func(*plan.Cell, Advice) bool) {
		cache := theory.NewCache()
		for _, c := range p.Cells {
			a := &adviser{cache: cache, settings: c.Settings, p: cache.Predict(&c.Settings, rom.Unit)}
			a.follow()
			a.advise()
			given := Advice{Cell: c.ID, Label: c.Label(), Units: c.Settings.Units(),
				Words: a.inWords(), Lines: a.lines, cache: cache}
			if !yield(c, given) {
				return
			}
		}
	}
}

// adviser collects the advice for one cell.
type adviser struct {
	cache    *theory.Cache
	settings config.Settings
	p        *rom.Prediction
	kind     rom.Kind // of the linear dynamics
	lines    []Line
	course   *course // nil: not followed
	unstable bool    // by its spectral radius, the cell as it stands is not stable at rest
}

func (a *adviser) add(asked string, value float64, says string, kind rom.Kind, assumes string) {
	a.lines = append(a.lines, Line{Asked: asked, Value: store.Number(value), Says: says, Kind: kind, Assumes: assumes})
}

// bound says what the last line knows of a parameter.
func (a *adviser) bound(of bounded, safe, unsafe float64) {
	last := &a.lines[len(a.lines)-1]
	last.bounds, last.safe, last.unsafe = of, safe, unsafe
}

// without adds an answer without a number, with what to do about it; more follows the reason.
func (a *adviser) without(asked string, because scope.Reason, more string) {
	a.unknown(asked, because.String()+more+". To do: "+because.Try())
}

// unknown adds an answer without a number.
func (a *adviser) unknown(asked, because string) {
	a.add(asked, math.NaN(), "not available: "+because, "", "")
}

func (a *adviser) advise() {
	if a.p.FixedPoint == nil {
		if !a.unpulled() {
			a.without("stationary state", theory.MissingFixedPoint(a.p), "")
		}
		return
	}
	point := a.p.FixedPoint
	most := slices.Max(point.Policy)
	says := fmt.Sprintf("J* = %.6g, arm %d (the first is 0) with probability %.4g", point.Reward,
		slices.Index(point.Policy, most), most)
	a.add("mean reward at rest", point.Reward, says, a.p.ForceKind,
		"E[g] = 0 at the fixed point reached from the start")
	var d *rom.Dynamics
	if d, a.kind = a.p.Linear(); !d.Scope.In {
		a.without("dynamics", d.Scope.Because, "")
		return
	}
	a.unstable = d.IsUnstable()
	a.rates(d)
	a.intervals(d)
	a.noise()
}

// Questions, and words of several answers.
const (
	Way        = "90 % of the way from the start"
	NoiseFloor = "noise floor" // √Var J

	onUnitCircle    = " with a multiplier on the unit circle"
	otherwiseAsItIs = ", everything else as it is"
)

// Answer returns the first line about a question, empty where there is none.
func (advice *Advice) Answer(asked string) (of Line) {
	for _, line := range advice.Lines {
		if line.Asked == asked {
			return line
		}
	}
	return of
}

// rates adds the limits of the learning rate at the cell's refresh interval.
func (a *adviser) rates(d *rom.Dynamics) {
	say := func(rate float64) (float64, string) {
		return rate, "below " + number(rate) + timesPresent(&a.settings, rate)
	}
	asked, assumes := a.limitWords("learning rates", "η")
	critical := d.CriticalLearningRate
	if at := a.p.Adam; at != nil {
		critical = new(min(*critical, rest.LeastEscape*at.EscapeLearningRate))
	}
	a.limit(ofRate, asked, critical, d.Searched.LearningRate, say, assumes)
	if d.MeanSquareLearningRate != nil {
		a.limit(ofRate, "learning rates with a bounded variance", d.MeanSquareLearningRate, 0, say,
			"the smallest η at which the noise of random ages makes the variance infinite"+otherwiseAsItIs)
	}
	a.rule(ofRate, asked, say)
}

// limitWords returns what the limit of a parameter of the given name and symbol is asked as, and
// what it assumes. Under Adam, at a finite G, no setting is unstable.
func (a *adviser) limitWords(name, symbol string) (asked, assumes string) {
	if a.settings.Optimizer.Kind == option.Adam && a.settings.Estimator.GroupSize != option.Infinite {
		return name + " that keep Adam's spread small", "no limit of stability, as second moments grow " +
			"with the force: the smallest " + symbol + " at which held ones would be unstable, " +
			"from which on the spread is several times that of smaller steps, or runs leave for good"
	}
	return name + " that are stable at rest", "the smallest " + symbol + onUnitCircle + otherwiseAsItIs
}

// timesPresent compares a learning rate with the present one, unless that is a network's.
func timesPresent(s *config.Settings, rate float64) string {
	if s.Units() != "" {
		return ""
	}
	return fmt.Sprintf(", %s times the present one", number(rate/s.Optimizer.LearningRate))
}

// intervals adds the limits of the refresh interval at the cell's learning rate.
func (a *adviser) intervals(d *rom.Dynamics) {
	if !a.settings.Lag.Kind.Regular() {
		a.unknown("refresh intervals that are stable at rest", noInterval(a.settings))
		return
	}
	first, name := shortestLag(a.settings.Lag.Kind)
	say := func(interval float64) (float64, string) {
		last := math.Ceil(interval) - 1
		if last < first {
			return last, "none is"
		}
		if steps := a.settings.Run.Steps; last > float64(steps) {
			return last, fmt.Sprintf("all up to the run's %d steps", steps)
		}
		return last, fmt.Sprintf("up to %.0f steps", last)
	}
	asked, assumes := a.limitWords(name+"s", "interval")
	a.limit(ofInterval, asked, d.CriticalRefreshInterval, d.Searched.RefreshInterval, say, assumes)
	a.rule(ofInterval, asked, say)
}

// noInterval is the reason why nothing is said of refresh intervals unless the lag is regular.
func noInterval(s config.Settings) string { return s.Lag.Kind.String() + " ages have no interval" }

// shortestLag returns the interval without lag, and the name of its kind in the singular.
func shortestLag(kind option.LagKind) (interval float64, name string) {
	if kind == option.Delay {
		return 0, "delay"
	}
	return 1, "refresh interval"
}

// set sets the parameter that a limit is about: the learning rate, or an interval that may be.
func (of bounded) set(s *config.Settings, x float64) {
	if of == ofInterval {
		first, _ := shortestLag(s.Lag.Kind)
		s.Lag.Interval = int(min(max(x, first), 1<<53)) // the longest that a configuration may have
		return
	}
	s.Optimizer.LearningRate = x
}

// limit adds a threshold of the linear dynamics; nil: none up to searched (see rest.Limits).
func (a *adviser) limit(of bounded, asked string, threshold *float64, searched float64, say saying, assumes string) {
	within := math.Inf(1)
	if threshold != nil {
		within = *threshold
	}
	switch {
	case a.contradicts(of, within):
		a.unknown(asked, "the present one is not stable at rest")
	case within < option.SmallestNormal: // as of Adam where the noise of the logits all but vanishes
		a.unknown(asked, "the threshold leaves the range of floating point")
	case threshold != nil:
		value, says := say(*threshold)
		a.add(asked, value, says+a.beyondNoise(of, *threshold/2), a.kind, assumes)
		a.bound(of, value, *threshold)
	case math.IsInf(searched, 1):
		says, none := "all", "there is provably no threshold"
		if a.kind != rom.Exact {
			says, none = "no limit known", "there is no threshold at this order"
		}
		a.add(asked, math.NaN(), says, a.kind, none)
		a.bound(of, searched, searched)
	case searched > 0:
		says := fmt.Sprintf("all up to %.6g; not searched beyond", searched)
		a.add(asked, math.NaN(), says+a.beyondNoise(of, searched/2), a.kind, assumes)
		a.bound(of, searched, math.Inf(1))
	default:
		a.unknown(asked, "the theory has no threshold here; --simulate locates it")
	}
}

// beyondNoise returns a remark where linear theory does not hold at half of a limit, because groups
// fluctuate too much there: the limit is that of the mean dynamics.
func (a *adviser) beyondNoise(of bounded, half float64) string {
	s := a.settings
	of.set(&s, half)
	v := a.cache.Stationary(&s).Variance()
	if s.Estimator.GroupSize != option.Infinite && floorMargin.Judge(&v).Out() {
		return ", without noise"
	}
	return ""
}

// saying returns the largest safe value for a threshold, and its words.
type saying = func(threshold float64) (float64, string)

// rule adds the threshold of a parameter that is proven to be stable, if there is one.
func (a *adviser) rule(of bounded, asked string, say saying) {
	threshold := a.p.SufficientRule.Number(map[bounded]scope.Quantity{
		ofRate: scope.CriticalLearningRate, ofInterval: scope.CriticalRefreshInterval}[of])
	if threshold == nil || a.contradicts(of, *threshold) {
		return
	}
	value, says := say(*threshold)
	a.add(asked, value, "proven stable: "+says+a.beyondNoise(of, *threshold/2), rom.SufficientRule,
		"η(λ/2 + |λ_s|A) < 1 − μ in every mode, A = τ of a delay, about 2K/π of a block, "+
			"the mean of random ages: proven for the mean dynamics (theory-trainers.md §11.1)")
	a.bound(of, value, *threshold)
}

// contradicts reports whether a cell is unstable at rest although it is within a limit: rounding
// decides about a spectral radius near 1, and there can be several windows of instability.
func (a *adviser) contradicts(of bounded, threshold float64) bool {
	rate, interval := a.settings.Optimizer.LearningRate, float64(a.settings.Lag.Interval)
	return a.unstable && (of == ofRate && rate < threshold || of == ofInterval && interval < threshold)
}

func (a *adviser) noise() {
	v := a.cache.Stationary(&a.settings).Variance()
	if because := floorMargin.Judge(&v); because.Out() {
		a.without(NoiseFloor, because, a.cache.VarianceCures(&a.settings, floorMargin))
		return
	}
	deviation := math.Sqrt(v.Value)
	says := fmt.Sprintf("√Var J = %.4g ± %.1g", deviation, math.Sqrt(v.Value+v.Size())-deviation)
	a.add(NoiseFloor, deviation, says, v.Kind,
		"stationary law to second order in the noise, with the size of what it neglects")
}

// floorMargin bounds what a noise floor, which is said with it, may leave out.
var floorMargin = theory.Margin{Share: 2, Called: "twice Var J,"}
