package config

import "grposim/option"

// Prompts holds section `bandit.prompts`.
type Prompts struct {
	Count      int // C, the number of prompts; 1: the bandit itself
	Parameters option.Parameters
	Order      option.PromptOrder
	Means      BetaLaw      // of a number by which a prompt multiplies the mean of an arm
	List       *PromptMeans // nil: none; a pointer because a plan holds this for every cell
	Start      BetaLaw      // of the probability of the first arm under the initial policy of a prompt
}

// PromptMeans lists the mean rewards of both arms by prompt, each in [0, 1].
type PromptMeans [][2]float64

// BetaLaw is the law Beta(α, β) of numbers drawn by the seed. The zero value stands for none.
type BetaLaw struct{ Alpha, Beta float64 }

// Drawn reports whether there is a law.
func (b BetaLaw) Drawn() bool { return b.Alpha > 0 && b.Beta > 0 }

// maxPrompts bounds the time of the theory, which has a fixed point for each prompt.
const maxPrompts = 4096

// promptKeys are the rows of section `bandit.prompts`.
var promptKeys = []Key{
	integerKey("bandit.prompts.count", between(1, maxPrompts), 1, "Number C of prompts, contexts with arms of their own, of which one is drawn for each group of a step; 1: there is only the bandit itself. J then is the mean over all prompts.",
		func(s *Settings) *int { return &s.Prompts.Count }).named("C", "number of prompts", ""),
	wordKey("bandit.prompts.parameters", option.ParameterKinds, "Which logits the prompts have: each its own (`tabular`; the optimizer steps all, so that with momentum a prompt coasts between its visits), or all the same (`shared`).",
		func(s *Settings) *option.Parameters { return &s.Prompts.Parameters }).idle("bandit.prompts.count", 1),
	wordKey("bandit.prompts.order", option.PromptOrders, "How prompts are drawn: each once an epoch, in a new random order (`shuffled`) or as numbered (`in-order`), or with replacement (`independent`).",
		func(s *Settings) *option.PromptOrder { return &s.Prompts.Order }).idle("bandit.prompts.count", 1),
	numberKey("bandit.prompts.means.alpha", nonNegative, 0.0, "With `beta`: in each prompt the mean of each arm is multiplied by a number from the law Beta(alpha, beta), drawn by the seed; 0 and 0: all prompts have the arms of the bandit.",
		func(s *Settings) *float64 { return &s.Prompts.Means.Alpha }).idle("bandit.prompts.count", 1),
	numberKey("bandit.prompts.means.beta", nonNegative, 0.0, "See `alpha`.",
		func(s *Settings) *float64 { return &s.Prompts.Means.Beta }).idle("bandit.prompts.count", 1),
	Key{
		Path: "bandit.prompts.means.list", Kind: MeansValue, Range: unit, Default: PromptMeans{},
		Doc: "Mean rewards of both arms for each prompt, such as `[[0.9, 0.2], [0.6, 0.5]]` for two, in the place of those of `bandit.arms` and of a law; `[]`: none.",
		get: func(s *Settings) any {
			if s.Prompts.List == nil {
				return PromptMeans{}
			}
			return *s.Prompts.List
		},
		set: func(s *Settings, v any) {
			s.Prompts.List = nil
			if list := v.(PromptMeans); len(list) > 0 {
				s.Prompts.List = &list
			}
		},
	}.idle("bandit.prompts.count", 1),
	numberKey("bandit.prompts.start.alpha", nonNegative, 0.0, "With `beta`: each prompt has its own reference policy and starts there, where the probability of the first arm is a number from the law Beta(alpha, beta), drawn by the seed; 0 and 0: `policy`. Tabular prompts only.",
		func(s *Settings) *float64 { return &s.Prompts.Start.Alpha }).idle("bandit.prompts.count", 1),
	numberKey("bandit.prompts.start.beta", nonNegative, 0.0, "See `alpha`.",
		func(s *Settings) *float64 { return &s.Prompts.Start.Beta }).idle("bandit.prompts.count", 1),
}
