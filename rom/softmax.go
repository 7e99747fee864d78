package rom

import (
	"cmp"
	"math"
	"slices"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/group"
)

// softmax writes π_a = e^{θ_a}/Σ_b e^{θ_b} into dst. The largest logit is
// subtracted first, so that no exponential overflows; probabilities below the
// range of floating point (about 1e-308) are 0. It returns log Σ_b e^{θ_b}.
func softmax(dst, theta []float64) (norm float64) {
	top, sum := slices.Max(theta), 0.0
	for a, x := range theta {
		dst[a] = fp.MathExp(x - top)
		sum += dst[a]
	}
	for a := range dst {
		dst[a] /= sum
	}
	return top + math.Log(sum)
}

// policyAt returns π_a by arm, a new list.
func policyAt(theta []float64) []float64 {
	probs := make([]float64, len(theta))
	softmax(probs, theta)
	return probs
}

// logSoftmax writes log π_a into dst. Unlike log(softmax) it stays finite
// where a probability underflows.
func logSoftmax(dst, theta []float64) {
	norm := softmax(dst, theta)
	for a, x := range theta {
		dst[a] = x - norm
	}
}

// ExpectedReward returns J(θ) = Σ_a π_a m_a, where π = softmax(θ) and m_a is the
// mean reward of arm a. theta has one logit per arm. Of prompts with a policy each it is the
// mean of J at their starts.
func ExpectedReward(p Params, theta []float64) float64 {
	must((&option.Bandit{Arms: p.Arms}).Check)
	checkLogits("theta", theta, len(p.Arms))
	if p.tabular() {
		sum := 0.0
		for x := range p.Prompts.First {
			one, start := p.prompt(x, theta)
			sum += expected(one.Arms, policyAt(start)) / float64(len(p.Prompts.First))
		}
		return sum
	}
	return expected(p.Arms, policyAt(theta))
}

// BestReward returns the largest expected reward of any policy: the mean of the best arm or, of
// prompts with a policy each, the mean over the prompts of that.
func BestReward(p Params) float64 {
	must((&option.Bandit{Arms: p.Arms}).Check)
	best := func(arms []option.Arm) float64 {
		return slices.MaxFunc(arms, func(a, b option.Arm) int { return cmp.Compare(a.Mean, b.Mean) }).Mean
	}
	if !p.tabular() {
		return best(p.Arms)
	}
	sum := 0.0
	for x := range p.Prompts.First {
		one, _ := p.prompt(x, nil)
		sum += best(one.Arms) / float64(len(p.Prompts.First))
	}
	return sum
}

// RewardVariance returns the variance of one sampled reward, Σ_a π_a (m_a² + s_a²) − J²,
// where π = softmax(θ) and s_a² is the variance of the rewards of arm a. theta has one
// logit per arm.
func RewardVariance(p Params, theta []float64) float64 {
	must((&option.Bandit{Arms: p.Arms}).Check)
	checkLogits("theta", theta, len(p.Arms))
	probs := policyAt(theta)
	j, sum := expected(p.Arms, probs), 0.0
	for a, p_a := range probs {
		sum += p_a * group.SecondMoment(p.Arms[a], j)
	}
	return sum
}

// expected returns Σ_a π_a m_a.
func expected(arms []option.Arm, probs []float64) float64 {
	sum := 0.0
	for a, p := range probs {
		sum += p * arms[a].Mean
	}
	return sum
}
