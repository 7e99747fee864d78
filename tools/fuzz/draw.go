package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"grposim/option"
	"grposim/rom"
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
var classes = []class{
	rest, rest, rest, rest, rest, rest, rest, rest, rest, path, path, path, path, path,
	linear, linear, linear, located, located, scaling,
}

// exempt lists the claims with an exact prediction that are not drawn, with the reason.
var exempt = map[string]string{
	"recurrence":   "holds where blocks converge, which its scope leaves to the reader",
	"failure-mode": "the theory predicts no mode: the file names it",
	"arrival":      "not every way in which runs fail to arrive is known",
}

// classOf returns the class in which a claim is drawn, by what it needs; "" if it is not drawn. Not
// drawn are claims that judge the paper, or of which the theory has no exact prediction.
func classOf(c *config.Claim) class {
	switch {
	case exempt[c.Name] != "", !slices.Contains(c.Predictions, rom.Exact):
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
var edges = []float64{
	0, 1, -1, 0.5, 1e-6, 0.999999, 1e-9, 1e3, 1e6, 1e15, 1e-200, 1e200, math.Nextafter(1, 0),
}

// shareOfEdges lists the shares of edges among the numbers of a configuration, each as
// often as it is drawn in ten.
var shareOfEdges = []float64{0, 0, 0, 0, 0, 0, 0.02, 0.02, 0.05, 0.25}

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
	events := 0 // of a located cell, beside its stiffness
	params := []string{config.LearningRateKey, config.LagIntervalKey}
	search := map[string]any{ // that the claims of a located cell share
		"param": params[d.IntN(2)], "tolerance": 0.002,
		"from": rounded(d.log(0.02, 0.5)), "to": rounded(d.log(2, 16)),
	}
	for _, c := range config.Claims {
		if in := classOf(c); in != class && !(class == located && c.Per == config.PerForce) {
			continue
		}
		check := d.check(c, search)
		d.file["checks"] = append(slices.Clone(checks), check)
		if _, err := d.file.clone().load(); err == nil {
			checks = append(checks, check)
			if check["locate"] != nil {
				events++
			}
		}
	}
	d.file["checks"] = checks
	f = d.file.clone()
	_, err := f.load()
	return f, err == nil && len(checks) > 0 && (class != located || events > 0)
}

func (d *drawing) check(c *config.Claim, search map[string]any) map[string]any {
	check := map[string]any{"claim": c.Name, "margin": cmp.Or(margins[c.Name], defaultMargin)}
	if c.Has(config.NeedsAbsolute) {
		delete(check, "margin")
		check["absolute_margin"] = absoluteMargin
	}
	if c.Name == "trajectory" && d.IntN(2) == 0 {
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

// value draws the value of a key as JSON, nil for its default. Required keys always get a value.
func (d *drawing) value(k config.Key, c class) any {
	if ofNetwork(k.Path) {
		return nil
	}
	prompts := d.file.get("bandit.prompts.count") != nil
	if k.Sparse && !strings.HasPrefix(k.Path, "bandit.prompts.") && (prompts || d.IntN(4) > 0) {
		return nil // most options of trainers are refused beside prompts, and some beside each other
	}
	if draw := usual[k.Path]; draw != nil {
		return draw(d, k, c)
	}
	if !k.Required() && d.IntN(2) == 0 {
		return nil
	}
	if draw := ofKind[k.Kind]; draw != nil {
		return draw(d, k, c)
	}
	return nil // a test reports a key of another kind that is never varied
}

// log draws a log-uniform number in [low, high].
func (d *drawing) log(low, high float64) float64 {
	return low * math.Exp(d.Float64()*math.Log(high/low))
}

// rounded returns a number with four significant digits, as people write them.
func rounded(x float64) float64 {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'e', 3, 64), 64) // far below the largest
	return x
}

var anyNumber = config.Range{Low: math.Inf(-1), High: math.Inf(1)}

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

// integer draws a log-uniform integer of a range, from its lower end to limit or its upper end.
func (d *drawing) integer(r config.Range, limit float64) int {
	high := min(limit, r.High)
	n := int(d.log(r.Low+1, high+2) - 1 + 1e-9)
	return max(int(r.Low), min(n, int(high)))
}

// drawer draws the value of a key, nil for its default.
type drawer func(d *drawing, k config.Key, c class) any

// ofKind draws the keys that have no row in usual.
var ofKind = map[config.ValueKind]drawer{
	config.WordValue: word, config.IntegerValue: upTo(32), config.ListValue: list,
	config.NumberValue: func(d *drawing, k config.Key, _ class) any { return d.number(k.Range) },
}

func word(d *drawing, k config.Key, _ class) any { return k.Words[d.IntN(len(k.Words))] }

// list draws a number for each arm.
func list(d *drawing, k config.Key, _ class) any {
	var list []any
	for range d.arms {
		list = append(list, d.around(k.Range, 0.05, 3))
	}
	return list
}

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
		k.Range = anyNumber
		return list(d, k, c)
	},
	"policy.reference": oneIn(3, func(d *drawing, k config.Key, c class) any {
		if d.file.get("bandit.prompts.start.alpha") != nil {
			return nil
		}
		return list(d, k, c)
	}),
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
		d.file.get("bandit.prompts.parameters") != nil && strings.HasPrefix(law, "bandit.prompts.start"):
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
	return !slices.ContainsFunc(arms, func(arm any) bool {
		return arm.(map[string]any)["reward"] != option.Bernoulli.String()
	})
}

// shortest is the number of steps of a configuration whose length is not known yet.
const shortest = 200

// bandit draws two to eight arms of one reward law, or of several.
func (d *drawing) bandit() []any {
	d.arms = []int{2, 2, 2, 3, 4, 5, 6, 7, 8}[d.IntN(9)]
	words := append(slices.Clone(option.Laws), option.Bernoulli)
	first := d.IntN(len(words) + 1) // beyond the last: several laws
	var levels []float64            // of constant rewards: as a rule few values
	for range 2 + d.IntN(3)*d.IntN(2) {
		levels = append(levels, []float64{0, 0.5, 1, 2, -1, rounded(d.log(0.01, 1000))}[d.IntN(6)])
	}
	var arms []any
	for range d.arms {
		i := first
		if i == len(words) {
			i = d.IntN(len(words))
		}
		law := words[i]
		arm := map[string]any{"reward": law.String()}
		switch law {
		case option.Bernoulli:
			arm["mean"] = d.around(config.Range{Low: 0, High: 1}, 1e-3, 1)
		case option.Constant:
			arm["mean"] = levels[d.IntN(len(levels))]
		default:
			arm["mean"] = d.around(anyNumber, 0.05, 3)
			arm["std"] = d.around(config.Range{Low: 0, High: math.Inf(1)}, 0.01, 2)
		}
		arms = append(arms, arm)
	}
	return arms
}
