package config

// networkRate is the learning rate below which a rate is taken for that of a network. The
// force on a logit is of order 1 at most, and a step of Adam moves it by about the rate, so
// that below 1e-4 a logit changes by 1 in 10,000 steps at best: more than trainers' runs
// have. Their rates are lower because each weight moves the logits of many tokens: 1e-6 by
// default in TRL (configs/presets/trl.yaml). The smallest rate of a built-in experiment is
// 1.8e-4.
const networkRate = 1e-4

// onLogits says how to find a learning rate.
const onLogits = "rates act on logits here and do not carry over from a network: grposim advise --fit LOG shows how to find one's own (docs/trainers.md)"

// Units says in a sentence what a reader has to know of the unit of the learning rate, and of
// all steps and rates that follow from it; "" where it is one of logits.
func (s *Settings) Units() string {
	if s.Optimizer.LearningRate >= networkRate {
		return ""
	}
	return LearningRateKey + " " + Format(s.Optimizer.LearningRate) + " is that of a network, and numbers of steps follow from it; " + onLogits
}
