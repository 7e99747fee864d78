package logs

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"
)

// Trainer is a program that trains, or Plain.
type Trainer string

// Those of the table to which something else refers.
const (
	Plain   Trainer = "" // the columns of other files
	TRL     Trainer = "TRL"
	NeMoRL  Trainer = "NeMo-RL"
	Grposim Trainer = "grposim"
)

// trainer is a row of the table: a trainer with the keys that it writes.
type trainer struct {
	Name       Trainer
	Prefixes   []string    // of its keys, depending on the container
	Needs      []string    // keys without which a file is not this trainer's
	Containers []Container // that only this trainer writes
	Evaluation evaluation  // where it puts evaluation
	Row        rowMeaning  // what a row holds
	Like       Trainer     // whose keys it has after its own; "" for none
	Keys       []rule      // keys of training; of those of one quantity the first counts
	EvalKeys   []rule      `json:"evaluation_keys"` // keys of evaluation, likewise
	Unobserved string      // what its stock logs do not show, for the table of keys
	own        int         // number of Keys that are its own, which come first

	Version, Source string                                   // of Keys: REPOSITORY@COMMIT PATH
	Facts           []struct{ Version, Source, Says string } // what few would guess
}

// evaluation says which rows are rows of evaluation.
type evaluation string

const (
	evalShares evaluation = ""                // a row may hold training and evaluation
	evalOwns   evaluation = "rows of its own" // no training in them; its keys after eval_ or eval/
)

// rowMeaning says what a row of training holds.
type rowMeaning string

const (
	singleStep  rowMeaning = ""        // one optimizer step, or one update of a batch of rollouts
	stepAverage rowMeaning = "average" // the mean since the last row
	unknownRow  rowMeaning = "unknown" // either
)

// rule gives the quantity of a key.
type rule struct {
	Key       string    // without the prefix, whatever its case; a * stands for any name
	Quantity  Quantity  `json:"is"` // a * is that name; "": it tells trainer or version only
	Meaning   string    `json:"means"`
	Estimator estimator // of a divergence
	Scale     float64   `json:"times"` // factor to the unit of the quantity; 0 stands for 1
	Rest      bool      // the quantity is 1 minus the value
	With      string    // the rule applies only to files with this key, if one is given
	Without   string    // only to files without this key, in a container that has every key
}

// trainersFile is the table. Of trainers with equally many keys in a file the first counts.
//
//go:embed trainers.json
var trainersFile []byte

// trainers is the table as it is looked up. Every trainer's keys are followed by those of the
// trainer that it is like, by general names and by those of the quantities themselves. General
// names are the keys of Plain, which people give to keys of their own. It is made when a log is read:
// other commands need not wait.
var trainers = sync.OnceValue(func() (all []trainer) {
	if err := json.Unmarshal(trainersFile, &all); err != nil {
		panic(fmt.Sprintf("logs: trainers.json: %v", err))
	}
	written := make(map[Trainer][]rule)
	for _, t := range all {
		written[t.Name] = t.Keys
	}
	for i := range all {
		t := &all[i]
		t.own = len(t.Keys)
		shared := t.Keys
		if t.Like != "" {
			shared = written[t.Like]
			t.Keys = slices.Concat(t.Keys, shared)
		}
		if t.Evaluation == evalOwns {
			t.EvalKeys = evaluated(shared)
		}
		if t.Name != Plain {
			t.EvalKeys = slices.Concat(t.EvalKeys, all[0].EvalKeys)
			t.Keys = slices.Concat(t.Keys, written[Plain])
		}
		t.Keys = slices.Concat(t.Keys, names())
	}
	return all
})

const evalReward = "Mean reward in evaluation."

// countOfReward begins slime's keys of the number of groups with equal rewards, which end
// with the reward. A row has only those of rewards that occur.
const countOfReward = "rollout/zero_std/count_"

// stepKeys are the keys of the step, the first of which a file has counts. Those of
// W&B come last: they count calls that log, which other rows share.
var stepKeys = []string{"train/global_step", "global_step", "global_step/max_steps",
	"trainer/global_step", "rollout/step", "train/step", "step", "training/global_step",
	"training_step", "progress/batch", "iteration", "iter", "training_iteration", "schritt", "_step"}

// evalStepKey is the key of the step of rows of evaluation that have no other.
const evalStepKey = "eval/global_step"

var (
	// endNames are keys of the line that transformers write after the last step, which
	// repeats metrics as means over the run.
	endNames = []string{runTime, "train/" + runTime}
	// updateNames are keys that TRL and Unsloth write of updates only, never of evaluation.
	updateNames = []string{"loss", "grad_norm", "learning_rate",
		"train/loss", "train/grad_norm", "train/learning_rate"}
	// otherPrefixes are beginnings of keys that are not about the policy in training.
	otherPrefixes = []string{"eval", "val", "valid", "validation", "test", "critic", "value", "ref",
		"reference", "teacher", "old", "time", "timing", "perf", "loss", "objective", "config"}
	// splitKeys are keys of a text that says of what a row is; evalWords begin that of evaluation.
	splitKeys = []string{"split", "phase", "mode", "type", "stage"}
	evalWords = regexp.MustCompile(`(?i)^(eval|valid|val$)`)
)

// names are the rules for keys that are called as the quantities are.
func names() (rules []rule) {
	for _, d := range Quantities() {
		key := string(d.Quantity)
		if d.Quantity == RewardComponent || d.Quantity == RewardComponentStd {
			key += "/*"
		}
		rules = append(rules, rule{Key: key, Quantity: Quantity(key), Meaning: d.Text})
	}
	return rules
}

// evaluated returns the rules for keys eval_KEY, and eval/KEY as W&B has them.
func evaluated(rules []rule) []rule {
	var of []rule
	for _, prefix := range []string{"eval_", "eval/"} {
		for _, r := range rules {
			if r.Quantity == Reward {
				r.Quantity, r.Meaning = EvalScore, evalReward
			}
			r.Key = prefix + r.Key
			of = append(of, r)
		}
	}
	return of
}

type part string

const (
	training   part = "training"
	evaluating part = "evaluation"
)

// rulesPlace names the rules of a trainer for a part.
type rulesPlace struct {
	trainer int
	of      part
}

func (t *trainer) rules(of part) []rule {
	if of == evaluating {
		return t.EvalKeys
	}
	return t.Keys
}

// match is a rule for a key, with the place where it stands in the table.
type match struct {
	rulesPlace
	order int // in which rules of the trainer are tried: by prefix, then by position
	rule  *rule
	name  string // that stands for the rule's *
}

// pattern is a key with a *.
type pattern struct {
	before, after string // the *
	match
}

// index finds the rules of a name: whole names in a map, those with a * one after another.
type index struct {
	whole    map[string][]match
	patterns []pattern
}

// rulesOf is the index of the table.
var rulesOf = sync.OnceValue(func() *index {
	x := &index{whole: make(map[string][]match)}
	add := func(key string, at match) {
		key = strings.ToLower(tidy(key))
		if before, after, star := strings.Cut(key, "*"); star {
			x.patterns = append(x.patterns, pattern{before, after, at})
		} else {
			x.whole[key] = append(x.whole[key], at)
		}
	}
	for i := range trainers() {
		t := &trainers()[i]
		for p, prefix := range t.Prefixes {
			for r := range t.Keys {
				add(prefix+t.Keys[r].Key, match{rulesPlace{i, training}, p*len(t.Keys) + r, &t.Keys[r], ""})
			}
		}
		for r := range t.EvalKeys {
			add(t.EvalKeys[r].Key, match{rulesPlace{i, evaluating}, r, &t.EvalKeys[r], ""})
		}
	}
	return x
})

// find returns the rules of a tidy key, given with its name in small letters. A key without rules
// may have a general one: what stands after its first slash may be a key of any file.
func (x *index) find(key, name string) (found []match, general *rule) {
	found = slices.Clip(x.whole[name])
	before, after, ok := strings.Cut(name, "/")
	if !ok { // patterns have a slash
		return found, nil
	}
	for i := range x.patterns {
		p := &x.patterns[i]
		if len(name) > len(p.before)+len(p.after) && strings.HasPrefix(name, p.before) &&
			strings.HasSuffix(name, p.after) {
			found = append(found, p.match)
			found[len(found)-1].name = key[len(p.before) : len(key)-len(p.after)]
		}
	}
	if len(found) == 0 && !slices.Contains(otherPrefixes, before) {
		for _, m := range x.whole[after] {
			if trainers()[m.trainer].Name == Plain && m.of == training {
				general = m.rule
			}
		}
	}
	return found, general
}

// tidy returns a key with underscores for spaces, without the dots of abbreviations and the spaces
// around slashes. "rewards / f" is rewards/f, "Grad. Norm" is Grad_Norm.
func tidy(key string) string {
	words := strings.Fields(key)
	if len(words) == 1 {
		return words[0]
	}
	return tidying.Replace(strings.Join(words, " "))
}

var tidying = strings.NewReplacer(". ", "_", " / ", "/", " /", "/", "/ ", "/", " ", "_")

//go:embed keys.md.tmpl
var keysText string

// WriteKeys describes files, quantities, and the keys that each trainer has for them, in Markdown.
func WriteKeys(w io.Writer) error {
	page := template.New("keys").Funcs(template.FuncMap{"list": list, "rules": trainerKeys,
		"uncapital": uncapital})
	return template.Must(page.Parse(keysText)).Execute(w, map[string]any{
		"StepKeys": stepKeys, "Quantities": Quantities(), "Trainers": trainers(), "Own": evalOwns,
	})
}

// trainerKeys returns a trainer's keys, and those of its scores in evaluation, by quantity.
func trainerKeys(t trainer) (rows []rule) {
	for i, r := range slices.Concat(t.Keys[:t.own], t.EvalKeys) {
		isScore := r.Quantity.Family() == EvalScore && t.Like == ""
		if r.Quantity != "" && (i < t.own || isScore) {
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(x, y rule) int { return x.Quantity.rank() - y.Quantity.rank() })
	return rows
}

// list lists words that are not empty as code.
func list(words []string) string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
	if len(words) == 0 {
		return ""
	}
	return "`" + strings.Join(words, "`, `") + "`"
}

func uncapital(text string) string { return strings.ToLower(text[:1]) + text[1:] }
