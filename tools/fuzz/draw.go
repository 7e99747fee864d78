package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"grposim/option"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
)

// class is a kind of draw: what its configurations measure. It is the file's name.
type class string

const (
	rest    class = "rest"    // starts at the fixed point; its stationary state is measured
	path    class = "path"    // starts elsewhere; its mean reward is followed
	linear  class = "linear"  // a small deviation from the fixed point is followed
	located class = "located" // an event is located along a parameter
	scaling class = "scaling" // a number is followed over the group size
)

// classes lists the classes, each as often as it is drawn in 20.
var classes = slices.Concat(
	slices.Repeat([]class{rest}, 9), slices.Repeat([]class{path}, 5), slices.Repeat([]class{linear}, 3),
	slices.Repeat([]class{located}, 2), []class{scaling},
)

// exempt lists the claims that are not drawn, with the reason.
var exempt = map[string]string{
	"rule-is-safe":         "its first verdict judges the paper's rule, which is not always safe; stability-threshold judges the exact theory on the same event",
	"recurrence":           "holds where blocks are long enough to converge, which its scope leaves to the reader",
	"failure-mode":         "the theory predicts no mode: the file names it",
	"arrival":              "not every way in which runs fail to arrive is known",
	"visible-frontier":     "it judges the paper's line, and theory predicts no visible frontier",
	"frontier-above-onset": "as visible-frontier",
	"median-frontier":      "as visible-frontier",
	"frontier-gap":         "as visible-frontier",
	"frontier-ratio":       "as visible-frontier",
	"frontier-constant":    "as visible-frontier",
	"class-occurs":         "the theory predicts no class: the file names it",
	"class-throughout":     "as class-occurs",
	"model-amplitude":      "it judges the paper's oscillator, which need not hold",
	"edge-of-stability":    "it is of a network, of which none is drawn",
	"rate-over-threshold":  "it is of a network, of which none is drawn",
	"law-forecast":         "there is no exact prediction of a forecast",
}

// classOf returns the class in which a claim is drawn, by what it needs.
func classOf(c *config.Claim) class {
	switch {
	case exempt[c.Name] != "":
		return ""
	case c.Per == config.AcrossCells:
		return scaling
	case c.Has(config.NeedsLocation):
		return located
	case c.Has(config.NeedsOffset), c.Has(config.NeedsDisplacement):
		return linear
	case c.Has(config.NeedsDistance):
		return path
	}
	return rest
}

// margins are the relative margins of claims; those with an absolute margin have
// absoluteMargin, and the others defaultMargin.
var margins = map[string]float64{
	"fixed-point": 0.02, "relaxation": 0.05,
	"damping-ratio": 0.02, "oscillation-onset": 0.02, "stability-threshold": 0.02, "stiffness": 0.02,
}

const (
	defaultMargin  = 0.1
	absoluteMargin = 0.03
)

// edges are the numbers at which formulas change or lose their digits.
var edges = []float64{0, 1, -1, 0.5, 1e-6, 0.999999, 1e-9, 1e3, 1e6, 1e15, 1e-200, 1e200, math.Nextafter(1, 0)}

// shareOfEdges lists the shares of edges among the numbers of a configuration, each as
// often as it is drawn in ten.
var shareOfEdges = []float64{0, 0, 0, 0, 0, 0, 0.02, 0.02, 0.05, 0.25}

// drawing draws one configuration.
type drawing struct {
	*rand.Rand
	file  file
	arms  int
	edges float64 // probability of an edge in the place of a number
}

// draw returns the configuration with an index under a seed, which determine it. It
// is a valid file without its run's length: see prepare.
func draw(seed, index uint64) file {
	r := rand.New(rand.NewPCG(seed, index))
	class, edges := classes[r.IntN(len(classes))], shareOfEdges[r.IntN(len(shareOfEdges))]
	for {
		d := &drawing{Rand: r, file: file{}, edges: edges}
		if f, valid := d.configuration(class); valid {
			return f
		}
	}
}

// configuration draws a value for every key of the key table, and the checks of a class.
// Checks that the drawn cells do not allow are left out. The configuration is not valid
// if none is left, or only one of another class, or if a rule between keys is broken.
func (d *drawing) configuration(class class) (f file, valid bool) {
	d.file["name"], d.file["seed"], d.file["confidence"] = string(class), d.Uint64()>>1, confidence
	for _, k := range config.Keys {
		if v := d.value(k, class); v != nil {
			d.file.set(k.Path, v)
		}
	}
	if class == scaling {
		var sizes []any
		for size := 2 + d.IntN(31); len(sizes) < 3+d.IntN(2); size *= 2 + d.IntN(3) {
			sizes = append(sizes, size)
		}
		d.file["sweep"] = []any{map[string]any{"param": config.GroupSizeKey, "values": sizes}}
	}
	var checks []any
	search := d.search()
	for _, c := range config.Claims {
		if in := classOf(c); in != class && !(class == located && c.Per == config.PerForce) {
			continue
		}
		check := d.check(c, search)
		d.file["checks"] = append(slices.Clone(checks), check)
		if _, err := d.file.clone().load(); err == nil {
			checks = append(checks, check)
		}
	}
	d.file["checks"] = checks
	f = d.file.clone()
	_, err := f.load()
	onlyStiffness := class == located && !slices.ContainsFunc(checks, func(c any) bool { return c.(map[string]any)["locate"] != nil })
	return f, err == nil && len(checks) > 0 && !onlyStiffness
}

// search draws the search that the claims of a located cell share.
func (d *drawing) search() map[string]any {
	params := []string{config.LearningRateKey, config.LagIntervalKey}
	return map[string]any{"param": params[d.IntN(2)], "from": rounded(d.log(0.02, 0.5)), "to": rounded(d.log(2, 16)), "tolerance": 0.002}
}

// check draws a check of a claim.
func (d *drawing) check(c *config.Claim, search map[string]any) map[string]any {
	check := map[string]any{"claim": c.Name}
	margin, known := margins[c.Name]
	switch {
	case c.Has(config.NeedsAbsolute):
		check["absolute_margin"] = absoluteMargin
	case known:
		check["margin"] = margin
	default:
		check["margin"] = defaultMargin
	}
	if c == config.Trajectory && d.IntN(2) == 0 {
		quantities := sim.Quantities(d.arms)
		check["quantity"] = string(quantities[d.IntN(len(quantities))])
	}
	if c.Has(config.NeedsThreeValues) {
		check["over"] = config.GroupSizeKey
	}
	if c.Has(config.NeedsDisplacement) {
		check["displacement"], check["draws"] = []float64{1e-3, 1e-4}[d.IntN(2)], 20_000
	}
	if c.Has(config.NeedsLaw) {
		check["law"] = string(measure.Laws[d.IntN(len(measure.Laws))])
	}
	if c.Has(config.NeedsOffset) {
		check["offset"] = []float64{1e-3, 1e-4, 1e-5}[d.IntN(3)]
	}
	if c.Has(config.NeedsLocation) {
		check["locate"] = search
		check["displacement"], check["draws"] = 1e-4, 20_000
	}
	return check
}

// ofNetwork reports whether a key describes a network, of which none is drawn: few claims can be
// made of one.
func ofNetwork(key string) bool {
	return strings.HasPrefix(key, "bandit.contexts.") || strings.HasPrefix(key, "policy.network.")
}

// value draws the value of a key as JSON, nil for its default. Required keys always get
// a value.
func (d *drawing) value(k config.Key, c class) any {
	if ofNetwork(k.Path) {
		return nil
	}
	if k.Sparse() && !strings.HasPrefix(k.Path, "bandit.prompts.") && (d.file.get("bandit.prompts.count") != nil || d.IntN(4) > 0) {
		return nil // most options of trainers are refused beside many prompts, and some beside each other
	}
	if draw := usual[k.Path]; draw != nil {
		return draw(d, k, c)
	}
	if !k.Required() && d.IntN(2) == 0 {
		return nil
	}
	switch k.Kind {
	case config.WordValue:
		return word(d, k, c)
	case config.IntegerValue:
		return d.integer(k.Range, 32)
	case config.NumberValue:
		return d.number(k.Range)
	case config.ListValue:
		return list(d, k, c)
	}
	return nil // a test reports a key of another kind that is never varied
}

// log draws a log-uniform number in [low, high].
func (d *drawing) log(low, high float64) float64 {
	return low * math.Exp(d.Float64()*math.Log(high/low))
}

// rounded returns a number with four significant digits, as people write them.
func rounded(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 3, 64), 64)
	if err != nil || math.IsInf(y, 0) {
		return x
	}
	return y
}

// number draws a number of a range: mostly of order 1, near the ends of a bounded range,
// or an edge.
func (d *drawing) number(r config.Range) float64 { return d.around(r, 1e-3, 10) }

// around draws a log-uniform number between two sizes that lies in the range, or an
// edge. In a range that ends at 1 it is uniform, or near 1.
func (d *drawing) around(r config.Range, low, high float64) float64 {
	for {
		x := d.log(low, high)
		switch {
		case d.Float64() < d.edges:
			x = edges[d.IntN(len(edges))]
		case r.High == 1 && d.IntN(2) == 0:
			x = 1 - d.log(1e-3, 1)
		case r.High == 1:
			x = d.Float64()
		case r.Low < 0 && d.IntN(2) == 0:
			x = -x
		}
		if d.edges < 0.1 || math.Abs(x-1) > 1e-4 {
			x = rounded(x)
		}
		if r.Contains(x) {
			return x
		}
	}
}

// integer draws a log-uniform integer of a range, from its lower end to limit or its
// upper end.
func (d *drawing) integer(r config.Range, limit float64) int {
	low := r.Low
	n := int(d.log(low+1, min(limit, r.High)+2)-1+1e-9) + 0
	return max(int(low), min(n, int(min(limit, r.High))))
}

// list draws a list with one number per arm.
func (d *drawing) list(r config.Range) []any {
	var list []any
	for range d.arms {
		list = append(list, d.around(r, 0.05, 3))
	}
	return list
}

// drawer draws the value of a key, nil for its default.
type drawer func(d *drawing, k config.Key, c class) any

func word(d *drawing, k config.Key, _ class) any { return k.Words[d.IntN(len(k.Words))] }

// list draws a number for each arm.
func list(d *drawing, k config.Key, _ class) any { return d.list(k.Range) }

// upTo draws an integer.
func upTo(limit float64) drawer {
	return func(d *drawing, k config.Key, _ class) any { return d.integer(k.Range, limit) }
}

// between draws a number, mostly between two sizes.
func between(low, high float64) drawer {
	return func(d *drawing, k config.Key, _ class) any { return d.around(k.Range, low, high) }
}

// always gives every configuration the same value.
func always(v any) drawer { return func(*drawing, config.Key, class) any { return v } }

// oneIn gives one configuration in n a value of the key.
func oneIn(n int, draw drawer) drawer {
	return func(d *drawing, k config.Key, c class) any {
		if d.IntN(n) > 0 {
			return nil
		}
		return draw(d, k, c)
	}
}

// usual draws the keys for which values of order 1 would be rare in use, or make most
// cells trivial. Every other key is drawn by its range or words.
var usual = map[string]drawer{
	"bandit.arms":       func(d *drawing, _ config.Key, _ class) any { return d.bandit() },
	"bandit.true_means": oneIn(10, list),
	"bandit.prompts.count": func(d *drawing, k config.Key, c class) any {
		if c == linear || c == located || d.arms != 2 || !d.bernoulli() || d.IntN(2) == 0 {
			return nil
		}
		return 2 + d.integer(k.Range, 16)
	},
	"bandit.prompts.parameters": func(d *drawing, k config.Key, c class) any {
		if d.file.get("bandit.prompts.count") != nil && (c != path || d.IntN(2) == 0) {
			return k.Words[1] // shared: others have no fixed point to start from
		}
		return nil
	},
	"bandit.prompts.order":       ofPrompts,
	"bandit.prompts.means.alpha": ofPrompts,
	"bandit.prompts.means.beta":  ofPrompts,
	"bandit.prompts.means.list": func(d *drawing, k config.Key, _ class) any {
		count, given := d.file.get("bandit.prompts.count").(int)
		if !given || d.file.get("bandit.prompts.means.alpha") != nil || d.IntN(3) > 0 {
			return nil
		}
		var list []any
		for range count {
			list = append(list, []any{d.number(k.Range), d.number(k.Range)})
		}
		return list
	},
	"bandit.prompts.start.alpha": ofPrompts,
	"bandit.prompts.start.beta":  ofPrompts,
	"policy.init": func(d *drawing, k config.Key, c class) any {
		switch {
		case d.file.get("bandit.prompts.start.alpha") != nil:
			return nil
		case c != path:
			return "fixed-point"
		case d.IntN(4) == 0:
			return map[string]any{"fixed_point_offset": rounded(d.log(0.1, 2))}
		case d.IntN(2) == 0:
			return nil
		}
		return d.list(config.Range{Low: math.Inf(-1), High: math.Inf(1)})
	},
	"policy.reference": func(d *drawing, k config.Key, _ class) any {
		if d.IntN(3) > 0 || d.file.get("bandit.prompts.start.alpha") != nil {
			return nil
		}
		return d.list(k.Range)
	},
	"grpo.group_size": func(d *drawing, k config.Key, c class) any {
		infinite := map[class]float64{rest: 0.06, path: 0.4, linear: 0.8, located: 0.9}[c]
		if d.Float64() < infinite {
			return "inf"
		}
		return d.integer(k.Range, 1025)
	},
	"grpo.groups_per_step": oneIn(5, upTo(16)),
	"grpo.filter": func(d *drawing, k config.Key, _ class) any {
		if !d.bernoulli() { // which others are refused
			return nil
		}
		return word(d, k, "")
	},
	"grpo.kl.coefficient": between(0.05, 4),
	"lag.interval": func(d *drawing, k config.Key, _ class) any {
		if d.IntN(3) == 0 {
			return nil
		}
		return d.integer(k.Range, 32)
	},
	"lag.behind":    oneIn(3, upTo(3)),
	"lag.ages.from": upTo(4),
	"lag.ages.to":   func(d *drawing, k config.Key, _ class) any { return 1 + d.integer(k.Range, 16) },
	"lag.ages.mean": func(d *drawing, k config.Key, _ class) any { return rounded(d.log(0.2, 12)) },
	"lag.ages.weights": func(d *drawing, k config.Key, _ class) any {
		weights := []any{1}
		for range d.IntN(12) {
			weights = append(weights, d.IntN(4))
		}
		return weights
	},
	"optimizer.learning_rate": between(3e-3, 1),
	"optimizer.momentum": func(d *drawing, k config.Key, _ class) any {
		if d.IntN(2) == 0 {
			return []any{nil, 0.5, 0.9, 0.95}[d.IntN(4)]
		}
		return d.number(k.Range)
	},
	"optimizer.schedule.kind":   oneIn(20, word),
	"optimizer.schedule.warmup": oneIn(20, upTo(2*shortest)),
	"optimizer.schedule.total":  oneIn(20, upTo(2*shortest)),
	"run.steps":                 always(shortest),
	"run.burn_in":               always(1),
	"run.replicas":              always(2),
}

// ofPrompts draws a key of prompts where there are some. The parameters of a law are drawn
// together or not at all.
func ofPrompts(d *drawing, k config.Key, _ class) any {
	law, second := strings.CutSuffix(k.Path, ".beta")
	switch {
	case d.file.get("bandit.prompts.count") == nil,
		strings.HasPrefix(k.Path, "bandit.prompts.start") && d.file.get("bandit.prompts.parameters") != nil:
		return nil
	case k.Kind == config.WordValue:
		return k.Words[[]int{0, 1, 2, 2, 2}[d.IntN(5)]]
	case second && d.file.get(law+".alpha") == nil, !second && d.IntN(2) == 0:
		return nil
	}
	return rounded(d.log(0.3, 10))
}

// bernoulli reports whether all arms of the drawn bandit are Bernoulli.
func (d *drawing) bernoulli() bool {
	arms, _ := d.file.get("bandit.arms").([]any)
	return !slices.ContainsFunc(arms, func(arm any) bool { return arm.(map[string]any)["reward"] != option.Bernoulli.String() })
}

// shortest is the number of steps of a configuration whose length is not known yet.
const shortest = 200

// bandit draws two to eight arms of one reward law, or of several.
func (d *drawing) bandit() []any {
	d.arms = []int{2, 2, 2, 3, 4, 5, 6, 7, 8}[d.IntN(9)]
	words := append(slices.Clone(option.Laws), option.Bernoulli)
	const several = option.Law(255)
	all := append(words, several)[d.IntN(len(words)+1)]
	var levels []float64 // of constant rewards: as a rule few values
	for range 2 + d.IntN(3)*d.IntN(2) {
		levels = append(levels, []float64{0, 0.5, 1, 2, -1, rounded(d.log(0.01, 1000))}[d.IntN(6)])
	}
	var arms []any
	for range d.arms {
		law := all
		if law == several {
			law = words[d.IntN(len(words))]
		}
		arm := map[string]any{"reward": law.String()}
		switch law {
		case option.Bernoulli:
			arm["mean"] = d.around(config.Range{Low: 0, High: 1}, 1e-3, 1)
		case option.Constant:
			arm["mean"] = levels[d.IntN(len(levels))]
		default:
			arm["mean"] = d.around(config.Range{Low: math.Inf(-1), High: math.Inf(1)}, 0.05, 3)
			arm["std"] = d.around(config.Range{Low: 0, High: math.Inf(1)}, 0.01, 2)
		}
		arms = append(arms, arm)
	}
	return arms
}
