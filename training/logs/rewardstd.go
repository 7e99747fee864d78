package logs

import (
	"math"
	"slices"
	"strings"
)

// reward_std is that within a group or that of a batch. It depends on the trainer, and on TRL's
// version, which the file does not tell. The rows of trainers.json with the key reward_std say it
// where other keys of the file do (applies). Else the column is RewardStdAmbiguous, and the values
// may tell (tellStd). What remains ambiguous is not guessed. People who know it rename the column
// to reward_std_within or reward_std_batch.

const (
	stdWithin = "Standard deviation of the rewards within a group (divisor G − 1), mean over groups."
	stdBatch  = "Standard deviation of the rewards over all samples of the batch, which includes the differences between prompts."
)

// applies reports whether the conditions of a rule hold for the file.
func (a *assembly) applies(r *rule) bool {
	if r.With != "" && !a.hasKey(a.trainer, r.With) {
		return false
	}
	complete := a.container == TrainerState || a.container == Console || a.container == TensorBoard
	return r.Without == "" || complete && !a.hasKey(a.trainer, r.Without)
}

// tellStd finds out by the values whether reward_std is that within a group or that of the batch,
// where the keys leave it open. rewards/NAME/std is that of the batch in every version. Take a
// single reward function of weight 1, whose mean is the reward. If reward_std is that within a
// group, the two differ in some row, else they agree in all. 1 % tells them apart: console output
// has four digits.
func (t *Table) tellStd() {
	std := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Quantity == RewardStdAmbiguous })
	family := func(prefix Quantity) (found []Column) {
		for _, c := range t.Columns {
			if strings.HasPrefix(string(c.Quantity), string(prefix)+"/") {
				found = append(found, c)
			}
		}
		return found
	}
	reward, ok := t.Column(Reward)
	means, stds := family(RewardComponent), family(RewardComponentStd)
	if std < 0 || !ok || len(means) != 1 || len(stds) != 1 {
		return
	}
	c := &t.Columns[std]
	rows, differ := 0, 0
	for i, x := range c.Values {
		m, r, of := means[0].Values[i], reward.Values[i], stds[0].Values[i]
		switch {
		case math.IsNaN(x + m + r + of):
			continue
		case math.Abs(m-r) > 1e-3*max(math.Abs(m), math.Abs(r)):
			return // another weight
		case math.Abs(x-of) > 0.01*max(x, of):
			differ++
		}
		if x > 0 || of > 0 {
			rows++
		}
	}
	switch {
	case differ > 0:
		c.Quantity, c.Meaning = RewardStdWithin, stdWithin+" It differs from "+stds[0].Key+", which is that of the batch."
	case rows > 0:
		c.Quantity, c.Meaning = RewardStdBatch, stdBatch+" It equals "+stds[0].Key+" in every row. If a batch is a single group, it is that within the group too."
	}
}
