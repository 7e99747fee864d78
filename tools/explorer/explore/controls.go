package explore

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"grposim/grpo"
	"grposim/option"
	"grposim/sweeps/config"
)

// Control is one thing that the page lets its reader change: a key of the configuration, or
// one of the controls without a key of their own, which changes several.
type Control struct {
	Key    string   `json:"key"`
	Label  string   `json:"label"`
	Symbol string   `json:"symbol,omitempty"`
	Doc    string   `json:"doc"`  // one line
	Kind   string   `json:"kind"` // number, integer or word
	Group  string   `json:"group"`
	Words  []string `json:"words,omitempty"` // of a word, in the order of the configuration
	Also   []string `json:"also,omitempty"`  // words that stand beside a number
	Min    float64  `json:"min"`             // range of the slider; the key itself can allow more
	Max    float64  `json:"max"`
	Step   float64  `json:"step,omitempty"` // on a linear scale
	Scale  string   `json:"scale,omitempty"`
	Zero   bool     `json:"zero,omitempty"` // on a logarithmic scale the lower end is exactly 0
	Unit   string   `json:"unit,omitempty"`
}

// logarithmic is a scale of sliders; the others are linear and logit, which is even in log(p/(1−p)).
const logarithmic = "log"

// The controls without a key of their own.
const (
	firstMean  = "arms.first"
	secondMean = "arms.second"
	passRate   = "start.first_arm"
)

// Keys that this package names.
const (
	agesToKey    = "lag.ages.to"
	lagKindKey   = "lag.kind"
	referenceKey = "policy.reference"
	strengthKey  = "grpo.kl.coefficient"
)

// Preset is a configuration to begin with.
type Preset struct {
	Name   string            `json:"name"`
	Title  string            `json:"title"` // short enough for a row of buttons
	Doc    string            `json:"doc"`
	Values map[string]string `json:"values"` // by key of a control
}

// Description tells the page its controls and presets before anything is asked.
type Description struct {
	Controls []Control `json:"controls"`
	Presets  []Preset  `json:"presets"`
}

//go:embed description.json
var descriptionJSON []byte

// given is the description without what config.Keys and the presets say: labels, words and values.
// Controls and presets are in the order of the page: the simplest preset first, and the group that
// the page opens, of the controls that most readers move.
var given = func() (d Description) {
	if err := json.Unmarshal(descriptionJSON, &d); err != nil {
		panic(err)
	}
	return d
}()

// described returns a control with what config.Keys says of its key.
func (c Control) described() Control {
	c.Kind = "number"
	key, known := config.LookupKey(c.Key)
	if !known {
		return c
	}
	switch key.Kind {
	case config.WordValue:
		c.Kind, c.Words = "word", key.Words
	case config.IntegerValue:
		c.Kind = "integer"
	}
	if c.Label == "" {
		c.Label = key.Noun + " " + key.Symbol
	}
	c.Symbol, c.Unit = key.Symbol, key.Unit
	return c
}

// text returns what stands at the control in a cell.
func (c Control) text(s *config.Settings) string {
	switch c.Key {
	case firstMean:
		return config.Format(s.Bandit.Arms[0].Mean)
	case secondMean:
		return config.Format(s.Bandit.Arms[1].Mean)
	case passRate:
		return strconv.FormatFloat(grpo.NewPolicy(s.Policy.Reference).Probs[0], 'g', 4, 64)
	}
	return text(s, c.Key)
}

// idle returns why the control has no effect in a cell; "" where it has.
func (c Control) idle(s *config.Settings) string {
	if c.Key == firstMean || c.Key == secondMean {
		if n := len(s.Bandit.Arms); n != 2 {
			return fmt.Sprintf("this preset has %d answers of its own", n)
		}
		return ""
	}
	key, _ := config.LookupKey(c.Key)
	if key.IdleIn(s) {
		return "no effect while " + key.Idle.Param + " is " + text(s, key.Idle.Param)
	}
	return ""
}

// values returns the text at every control.
func values(s *config.Settings) map[string]string {
	all := make(map[string]string)
	for _, c := range given.Controls {
		all[c.Key] = c.text(s)
	}
	return all
}

// Presets returns the names of the presets in the order of the page.
func Presets() []string {
	return config.Each(given.Presets, func(p Preset) string { return p.Name })
}

// Describe returns the controls and the presets.
func Describe() (*Description, error) {
	d := &Description{Controls: config.Each(given.Controls, Control.described)}
	for _, p := range given.Presets {
		spec, err := load(p.Name)
		if err != nil {
			return nil, err
		}
		p.Doc, p.Values = spec.Claim, values(&spec.Base)
		d.Presets = append(d.Presets, p)
	}
	return d, nil
}

// overrides returns the state as overrides `key=value` of its preset, in the order of config.Keys.
// The controls without a key of their own become the keys that they change. A lag that becomes
// random gets ages, and a run that becomes short half of its steps as burn-in, if none are given.
func (s State) overrides() (set []string, err error) {
	spec, err := load(s.Preset)
	if err != nil {
		return nil, err
	}
	base, problems, texts := spec.Base, config.Problems(nil), maps.Clone(s.Set)
	number := func(control string, within func(x float64) bool, want string) (float64, bool) {
		text, known := texts[control]
		delete(texts, control)
		x, err := strconv.ParseFloat(text, 64)
		if known && (err != nil || !within(x)) {
			problems = append(problems, problemOf(control, fmt.Sprintf("got %q, want %s", text, want))...)
			return 0, false
		}
		return x, known
	}
	arms := slices.Clone(base.Bandit.Arms)
	base.Bandit.Arms = arms
	isMean := func(x float64) bool { return 0 <= x && x <= 1 && len(arms) == 2 }
	for i, control := range []string{firstMean, secondMean} {
		if mean, known := number(control, isMean, "0 to 1, in a preset of two answers"); known {
			arms[i].Mean = mean
			texts[config.ArmsKey] = text(&base, config.ArmsKey)
		}
	}
	isChance := func(x float64) bool { return 0 < x && x < 1 }
	if p, known := number(passRate, isChance, "a probability above 0 and below 1"); known {
		logits := make([]float64, len(arms)) // the other arms are equally probable
		logits[0] = config.Round(math.Log(p/(1-p)) + math.Log(float64(len(logits)-1)))
		texts[config.InitKey] = config.Format(logits)
		texts[referenceKey] = texts[config.InitKey]
	}
	companion := func(key, value string) { texts[key] = cmp.Or(texts[key], value) }
	if base.Lag.Kind != option.Random && texts[lagKindKey] == option.Random.String() {
		companion(agesToKey, firstAges)
	}
	if steps, err := strconv.Atoi(texts[config.StepsKey]); err == nil && steps <= base.Run.BurnIn {
		companion(config.BurnInKey, config.Format(steps/2))
	}
	place := func(key string) int {
		return slices.IndexFunc(config.Keys, func(k config.Key) bool { return k.Path == key })
	}
	for _, key := range slices.SortedFunc(maps.Keys(texts), func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a, b))
	}) {
		set = append(set, key+"="+texts[key])
	}
	if problems != nil {
		return nil, problems
	}
	return set, nil
}

// text returns the value of a key in a cell, as --set takes it.
func text(s *config.Settings, path string) string {
	key, _ := config.LookupKey(path)
	return config.Format(key.Get(s))
}

// firstAges is the largest random age where the lag becomes random and none is given.
const firstAges = "8"
