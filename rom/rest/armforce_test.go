package rest

import (
	"math"
	"slices"
	"testing"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/fixed"
)

// The bound on the kurtosis of the force on an arm's logit is 3 + 3(1/p−1)/B, p the share of the
// groups that exert one, by enumeration of all groups: their rewards differ, and some samples are
// of the arm and not all. For 0/1 rewards and one group it is one to six times the kurtosis.
func TestKurtosisOfTheForceOnAnArm(t *testing.T) {
	mixed := []option.Arm{{Mean: 0.3}, {Law: option.Normal, Mean: 0.5, Std: 0.2}, {Mean: 0.9},
		{Mean: 0.9}}
	bernoulli := []option.Arm{{Mean: 0.3}, {Mean: 0.9}, {Mean: 0.8}}
	for name, c := range map[string]struct {
		p      cell.Params
		policy []float64
	}{
		"normal": {cell.Params{Arms: mixed, Estimator: option.Estimator{GroupsPerStep: 3}},
			[]float64{0.001, 0.599, 0.15, 0.25}},
		"0/1": {cell.Params{Arms: bernoulli, Estimator: option.Estimator{GroupsPerStep: 1}},
			[]float64{0.001, 0.599, 0.4}},
		"redrawn": {cell.Params{Arms: bernoulli,
			Estimator: option.Estimator{GroupsPerStep: 1, Filter: option.Redraw}},
			[]float64{0.01, 0.989, 0.001}},
	} {
		p := c.p
		p.GroupSize, p.Advantage.Scale, p.KL.Coefficient, p.Optimizer, p.Lag = 5, option.StdScale, 1,
			option.Optimizer{LearningRate: 0.1}, option.Lag{Kind: option.Block, Interval: 1}
		logits := make([]float64, len(c.policy))
		for a, x := range c.policy {
			logits[a] = math.Log(x)
		}
		l := newLinearization(fixed.Unmerged(p.Checked()), logits)
		largest, bounds := 0.0, l.armKurtoses()
		for arm := range p.Arms {
			share, kurtosis := forceByEnumeration(p, c.policy, arm)
			got, want := bounds[arm], 3+3*(1/share-1)/float64(p.GroupsPerStep)
			if math.Abs(got-want) > 1e-9*want {
				t.Errorf("%s, arm %d: %.10g, want %.10g", name, arm, got, want)
			}
			if name != "normal" && !(got >= kurtosis && got < 6*kurtosis) {
				t.Errorf("%s, arm %d: bound %.4g, want one to six times %.4g", name, arm, got, kurtosis)
			}
			largest = max(largest, got)
		}
		// An average over 100 forces, and gains that are almost 1/ε.
		if got := slices.Max(l.averageErrors(option.Optimizer{}, 100)); got != largest/100 {
			t.Errorf("%s: error %g, want %g", name, got, largest/100)
		}
		if got := slices.Max(l.averageErrors(option.Optimizer{Epsilon: 1e6}, 100)); !(got < 1e-6) {
			t.Errorf("%s: error %g with ε = 1e6", name, got)
		}
	}
}

// forceByEnumeration returns the probability that a group exerts a force on the logit of an arm,
// and the kurtosis E(g−Eg)⁴/Var² of that force where rewards are 0 or 1.
func forceByEnumeration(p cell.Params, policy []float64, arm int) (share, kurtosis float64) {
	total, moments := 0.0, [5]float64{}
	var add func(probability float64, arms []int, rewards []float64)
	add = func(probability float64, arms []int, rewards []float64) {
		if len(arms) < p.GroupSize {
			for a, law := range p.Arms {
				arms := append(slices.Clone(arms), a)
				if law.Law == option.Normal {
					// no two are equal
					add(probability*policy[a], arms, append(slices.Clone(rewards), float64(2+len(arms))))
					continue
				}
				add(probability*policy[a]*law.Mean, arms, append(slices.Clone(rewards), 1))
				add(probability*policy[a]*(1-law.Mean), arms, append(slices.Clone(rewards), 0))
			}
			return
		}
		mean, square, own, g := 0.0, 0.0, 0, 0.0
		for _, r := range rewards {
			mean += r / float64(len(rewards))
		}
		for _, r := range rewards {
			square += (r - mean) * (r - mean) / float64(len(rewards))
		}
		differ := slices.Min(rewards) < slices.Max(rewards)
		for i, a := range arms {
			if a == arm {
				own++
				if differ {
					g += (rewards[i] - mean) / math.Sqrt(square)
				}
			}
		}
		if !differ && p.Filter == option.Redraw {
			return
		}
		total += probability
		if differ && own > 0 && own < len(arms) {
			share += probability
		}
		for k, x := 0, probability; k < len(moments); k, x = k+1, x*g {
			moments[k] += x
		}
	}
	add(1, nil, nil)
	for k := range moments {
		moments[k] /= total
	}
	m := moments[1]
	variance := moments[2] - m*m
	return share / total, (moments[4] - 4*m*moments[3] + 6*m*m*moments[2] - 3*m*m*m*m) /
		(variance * variance)
}
