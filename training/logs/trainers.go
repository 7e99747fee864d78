package logs

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
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

// trainersFile is the table, in the order of precedence among trainers of which a file has
// equally many keys. The keys are those of TRL v0.14 to v1.9, Unsloth of 2026-08, verl
// v0.3 to v0.8, OpenRLHF v0.11, and NeMo-RL, slime, prime-rl, tinker-cookbook, SkyRL,
// open-instruct and mlx-lm-lora of 2026-08, AReaL of 2026-05, torchforge of 2025-11.
//
//go:embed trainers.json
var trainersFile []byte

// trainers is the table as it is looked up. Every trainer's keys are followed by those of the
// trainer that it is like, by general names and by those of the quantities themselves. General
// names are the keys of Plain, which people give to keys of their own. It panics on a table that is
// wrong. It is made when a log is read: other commands need not wait.
var trainers = sync.OnceValue(func() (all []trainer) {
	table := json.NewDecoder(bytes.NewReader(trainersFile))
	table.DisallowUnknownFields()
	if err := table.Decode(&all); err != nil {
		panic(fmt.Sprintf("logs: trainers.json: %v", err))
	}
	written := make(map[Trainer][]rule)
	for _, t := range all {
		written[t.Name] = t.Keys
		for _, r := range slices.Concat(t.Keys, t.EvalKeys) {
			if r.Key == "" || r.Quantity != "" && (r.Quantity.rank() < 0 || r.Meaning == "") {
				panic(fmt.Sprintf("logs: trainers.json: %s: got %+v, want a key with a quantity of "+
					"Quantities and what it means", t.Name, r))
			}
		}
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
		t.Keys = slices.Concat(t.Keys, names)
	}
	return all
})

const evalReward = "Mean reward in evaluation."

// countOfReward begins slime's keys of the number of groups with equal rewards, which end
// with the reward. A row has only those of rewards that occur.
const countOfReward = "rollout/zero_std/count_"

// stepKeys are the keys of the step, the first of which a file has counts. Those of
// W&B come last: they count calls that log, which other rows share.
var stepKeys = []string{
	"train/global_step", "global_step", "global_step/max_steps", "trainer/global_step", "rollout/step", "train/step", "step",
	"training/global_step", "training_step", "progress/batch", "iteration", "iter", "training_iteration", "_step",
}

// evalStepKey is the key of the step of rows of evaluation that have no other.
const evalStepKey = "eval/global_step"

var (
	stepNames = setOf(append(stepKeys, evalStepKey)...)
	// endNames are keys of the line that transformers write after the last step, which
	// repeats metrics as means over the run.
	endNames = setOf("train_runtime", "train/train_runtime")
	// updateNames are keys that TRL and Unsloth write of updates only, never of evaluation.
	updateNames = setOf("loss", "grad_norm", "learning_rate", "train/loss", "train/grad_norm",
		"train/learning_rate")
	// otherPrefixes are beginnings of keys that are not about the policy in training.
	otherPrefixes = setOf("eval", "val", "valid", "validation", "test", "critic", "value", "ref", "reference", "teacher", "old", "time", "timing", "perf", "loss", "objective", "config")
)

func setOf(words ...string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range words {
		set[w] = true
	}
	return set
}

// names are the rules for keys that are called as the quantities are.
var names = func() (rules []rule) {
	for _, d := range Quantities {
		key := string(d.Quantity)
		if d.Quantity == RewardComponent || d.Quantity == RewardComponentStd {
			key += "/*"
		}
		rules = append(rules, rule{Key: key, Quantity: Quantity(key), Meaning: d.Text})
	}
	return rules
}()

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
