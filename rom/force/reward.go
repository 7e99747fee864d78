package force

import (
	"cmp"
	"slices"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/group"
)

// ExpectedReward returns J(θ) = Σ_a π_a m_a, where π = softmax(θ) and m_a is the
// mean reward of arm a. theta has one logit per arm. Of prompts with a policy each it is the
// mean of J at their starts.
func ExpectedReward(p cell.Params, theta []float64) float64 {
	cell.Must((&option.Bandit{Arms: p.Arms}).Check)
	cell.CheckLogits("theta", theta, len(p.Arms))
	if p.Tabular() {
		sum := 0.0
		for x := range p.Prompts.First {
			one, start := p.Prompt(x, theta)
			sum += cell.Expected(one.Arms, cell.PolicyAt(start)) / float64(len(p.Prompts.First))
		}
		return sum
	}
	return cell.Expected(p.Arms, cell.PolicyAt(theta))
}

// BestReward returns the largest expected reward of any policy: the mean of the best arm or, of
// prompts with a policy each, the mean over the prompts of that.
func BestReward(p cell.Params) float64 {
	cell.Must((&option.Bandit{Arms: p.Arms}).Check)
	best := func(arms []option.Arm) float64 {
		return slices.MaxFunc(arms, func(a, b option.Arm) int { return cmp.Compare(a.Mean, b.Mean) }).Mean
	}
	if !p.Tabular() {
		return best(p.Arms)
	}
	sum := 0.0
	for x := range p.Prompts.First {
		one, _ := p.Prompt(x, nil)
		sum += best(one.Arms) / float64(len(p.Prompts.First))
	}
	return sum
}

// RewardVariance returns the variance of one sampled reward, Σ_a π_a (m_a² + s_a²) − J²,
// where π = softmax(θ) and s_a² is the variance of the rewards of arm a. theta has one
// logit per arm.
func RewardVariance(p cell.Params, theta []float64) float64 {
	cell.Must((&option.Bandit{Arms: p.Arms}).Check)
	cell.CheckLogits("theta", theta, len(p.Arms))
	probs := cell.PolicyAt(theta)
	j, sum := cell.Expected(p.Arms, probs), 0.0
	for a, p_a := range probs {
		sum += p_a * group.SecondMoment(p.Arms[a], j)
	}
	return sum
}
