package findings

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"grposim/training/change"
	"grposim/training/logs"
)

// around is the number of rows before and after a resume that are compared: few, so that
// training goes on along a line over them.
const around = 8

// resumeJump finds a jump where a resumed run goes on: over eight rows before and eight
// after it, at least four each, the least-squares fit of a line with a jump has a jump
// beyond Student's quantile of its error. The declared probability of a false alarm is
// shared among the resumes and quantities. A reward that falls is a failure: the run did
// not go on from the policy that it had.
//
// A learning rate has no noise: it jumps if it changes by more than ten times what it
// changes between neighbours, and by a tenth at least.
func resumeJump(l *logs.Log) (found []Finding) {
	quantities := []logs.Quantity{logs.Reward, logs.KLRef, logs.GradNorm, logs.Entropy}
	for _, step := range l.Resumes {
		f := Finding{Level: Remark, Since: step}
		var texts []string
		if rate, has := read(l, 0, math.Inf(1), logs.LR); has {
			at, _ := slices.BinarySearch(rate.steps, step)
			if at >= 2 && at+1 < len(rate.values) {
				before, after := rate.values[at-1], rate.values[at]
				usual := max(math.Abs(rate.values[at-2]-before), math.Abs(rate.values[at+1]-after))
				if jump := math.Abs(after - before); jump > 10*usual && jump > 0.1*before {
					texts = append(texts, fmt.Sprintf("%s from %s to %s", rate.key, plain(before), plain(after)))
				}
			}
		}
		for _, q := range quantities {
			s, _ := read(l, math.Inf(-1), math.Inf(1), q)
			at, _ := slices.BinarySearch(s.steps, step)
			before, after := s.values[max(0, at-around):at], s.values[at:min(len(s.values), at+around)]
			if len(before) < around/2 || len(after) < around/2 {
				continue
			}
			size, error := jump(before, after)
			alarm := change.FalseAlarm / 2 / float64(len(quantities)*len(l.Resumes))
			if math.Abs(size) <= error*(distuv.StudentsT{Sigma: 1, Nu: float64(len(before) + len(after) - 3)}).Quantile(1-alarm) {
				continue
			}
			texts = append(texts, fmt.Sprintf("%s from %s to %s", s.key, plain(before[len(before)-1]), plain(after[0])))
			if q == logs.Reward && size < 0 {
				f.Level = Failure
			}
		}
		if len(texts) > 0 {
			f.Text = fmt.Sprintf("the run jumps where it was resumed, at step %d: %s", step, join(texts))
			found = append(found, f)
		}
	}
	return found
}

// jump returns the jump between the rows before and after, with its standard error, of the
// least-squares fit of y = a + b·row, to which the jump is added from the first row after
// on: the residuals of the step function about its own line take the place of the
// regressor. What rounding leaves of a jump is 0.
func jump(before, after []float64) (size, stdErr float64) {
	y := slices.Concat(before, after)
	n := len(y)
	step := make([]float64, n)
	for i := len(before); i < n; i++ {
		step[i] = 1
	}
	y, scale := change.Detrended(change.Rows(n), y), slices.Max(append([]float64{0}, y...))
	step = change.Detrended(change.Rows(n), step)
	var xx, xy, yy float64
	for i, x := range step {
		xx, xy, yy = xx+x*x, xy+x*y[i], yy+y[i]*y[i]
	}
	if size = xy / xx; !(math.Abs(size) > 1e-9*math.Abs(scale)) {
		return 0, 0
	}
	return size, math.Sqrt(max(yy-size*xy, 0) / float64(n-3) / xx)
}

// componentsApart finds components of the reward that move in opposite directions, each
// beyond its noise (went). In a log of three to seven rows every row must say so, which
// any two series do by chance in one case of ½ (n!)², said with the finding.
func componentsApart(l *logs.Log) []Finding {
	var up, down []string
	first, fewest := math.MaxInt, math.MaxInt
	for _, c := range l.Columns {
		if !of(c, logs.RewardComponent) {
			continue
		}
		s := numbers(l, c, math.Inf(-1), math.Inf(1))
		switch s.went() {
		case 1:
			up = append(up, s.ends())
		case -1:
			down = append(down, s.ends())
		default:
			continue
		}
		first, fewest = min(first, s.steps[0]), min(fewest, len(s.values))
	}
	if len(up) == 0 || len(down) == 0 {
		return nil
	}
	verb := func(list []string, one, many string) string {
		if len(list) == 1 {
			return one
		}
		return many
	}
	text := fmt.Sprintf("%s %s while %s %s", join(up), verb(up, "rises", "rise"), join(down), verb(down, "falls", "fall"))
	if fewest < batches {
		odds := 0.5
		for i := 2; i <= fewest; i++ {
			odds *= float64(i) * float64(i)
		}
		text += fmt.Sprintf(", in every one of %d rows (of two series of chance 1 in %.0f does so)", fewest, odds)
	}
	return []Finding{{Level: Remark, Since: first, Text: text}}
}
