package findings

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"grposim/training/logs"
)

// around is the number of rows before and after a resume that are compared: few, so that training
// itself changes little over them.
const around = 8

// resumeJump finds a jump where a resumed run goes on: the mean of up to eight rows after it differs from that of eight
// before by more than the noise of single rows explains, whose deviation is that of the differences of
// neighbours on either side. The declared probability of a false alarm is shared among the resumes and
// quantities. A reward that falls is a failure: the run did not go on from the policy that it had.
//
// A learning rate has no noise: it jumps if it changes by more than ten times what it changes between neighbours, and
// by a tenth at least.
func resumeJump(l *logs.Log) (found []Finding) {
	quantities := []logs.Quantity{logs.Reward, logs.KLRef, logs.GradNorm, logs.Entropy}
	for _, step := range l.Resumes {
		f := Finding{Level: Remark, Since: step, Next: "compare the state that was loaded with the one that was saved: weights, optimizer, schedule, reference policy, seed of the data"}
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
		certain := distuv.UnitNormal.Quantile(1 - falseAlarm/2/float64(len(quantities)*len(l.Resumes)))
		for _, q := range quantities {
			s, has := read(l, math.Inf(-1), math.Inf(1), q)
			if !has {
				continue
			}
			at, _ := slices.BinarySearch(s.steps, step)
			before, after := s.values[max(0, at-around):at], s.values[at:min(len(s.values), at+around)]
			if len(before) < 4 || len(after) < 4 {
				continue
			}
			mean := func(x []float64) (m float64) {
				for _, v := range x {
					m += v / float64(len(x))
				}
				return m
			}
			sum, n := 0.0, 0
			for _, part := range [][]float64{s.values[:at], s.values[at:]} {
				for i := 1; i < len(part); i++ {
					sum, n = sum+(part[i]-part[i-1])*(part[i]-part[i-1]), n+1
				}
			}
			noise := math.Sqrt(sum / 2 / float64(n) * (1/float64(len(before)) + 1/float64(len(after))))
			jump := mean(after) - mean(before)
			if math.Abs(jump) <= certain*noise {
				continue
			}
			texts = append(texts, fmt.Sprintf("%s from %s to %s", s.key, plain(mean(before)), plain(mean(after))))
			if q == logs.Reward && jump < 0 {
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

// componentsApart finds components of the reward that move in opposite directions, each beyond its
// noise (trend). In a log of three to seven rows every row must say so, which any two series do by chance in
// one case of ½ (n!)², said with the finding.
func componentsApart(l *logs.Log) []Finding {
	var up, down []string
	first, fewest := math.MaxInt, math.MaxInt
	for _, c := range l.Columns {
		if !of(c, logs.RewardComponent) {
			continue
		}
		s := numbers(l, c, math.Inf(-1), math.Inf(1))
		switch s.trend() {
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
	return []Finding{{Level: Remark, Since: first, Text: text,
		Next: "see whether the one that rises pays for what the other one should: lower its weight, or pay it only where the answer is right"}}
}
