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
