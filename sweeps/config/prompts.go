package config

import (
	"fmt"
	"slices"

	"grposim/option"
)

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

// Paths of the keys of prompts.
const (
	promptsKey          = "bandit.prompts.count"
	promptParametersKey = "bandit.prompts.parameters"
	promptOrderKey      = "bandit.prompts.order"
	meansAlphaKey       = "bandit.prompts.means.alpha"
	meansBetaKey        = "bandit.prompts.means.beta"
	meansListKey        = "bandit.prompts.means.list"
	startAlphaKey       = "bandit.prompts.start.alpha"
	startBetaKey        = "bandit.prompts.start.beta"
)

// maxPrompts bounds the time of the theory, which has a fixed point for each prompt.
const maxPrompts = 4096

// promptKeys are the rows of section `bandit.prompts`.
var promptKeys = []Key{
	integerKey(promptsKey, between(1, maxPrompts), 1, "Number C of prompts, contexts with arms of their own, of which one is drawn for each group of a step; 1: there is only the bandit itself. J then is the mean over all prompts.",
		func(s *Settings) *int { return &s.Prompts.Count }).named("C", "number of prompts", ""),
	wordKey(promptParametersKey, option.ParameterKinds, option.Tabular, "Which logits the prompts have: each its own (`tabular`; the optimizer steps all, so that with momentum a prompt coasts between its visits), or all the same (`shared`).",
		func(s *Settings) *option.Parameters { return &s.Prompts.Parameters }).idle(promptsKey, 1),
	wordKey(promptOrderKey, option.PromptOrders, option.Shuffled, "How prompts are drawn: each once an epoch, in a new random order (`shuffled`) or as numbered (`in-order`), or with replacement (`independent`).",
		func(s *Settings) *option.PromptOrder { return &s.Prompts.Order }).idle(promptsKey, 1),
	numberKey(meansAlphaKey, nonNegative, 0.0, "With `beta`: in each prompt the mean of each arm is multiplied by a number from the law Beta(alpha, beta), drawn by the seed; 0 and 0: all prompts have the arms of the bandit.",
		func(s *Settings) *float64 { return &s.Prompts.Means.Alpha }).idle(promptsKey, 1),
	numberKey(meansBetaKey, nonNegative, 0.0, "See `alpha`.",
		func(s *Settings) *float64 { return &s.Prompts.Means.Beta }).idle(promptsKey, 1),
	Key{
		Path: meansListKey, Kind: MeansValue, Range: unit, Default: PromptMeans{},
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
	}.idle(promptsKey, 1),
	numberKey(startAlphaKey, nonNegative, 0.0, "With `beta`: each prompt has its own reference policy and starts there, where the probability of the first arm is a number from the law Beta(alpha, beta), drawn by the seed; 0 and 0: `policy`. Tabular prompts only.",
		func(s *Settings) *float64 { return &s.Prompts.Start.Alpha }).idle(promptsKey, 1),
	numberKey(startBetaKey, nonNegative, 0.0, "See `alpha`.",
		func(s *Settings) *float64 { return &s.Prompts.Start.Beta }).idle(promptsKey, 1),
}

// promptRule is a rule between keys that holds in cells with many prompts.
func promptRule(key string, broken func(s *Settings) (got, want string), keys ...string) cellRule {
	return cellRule{key, append([]string{key, promptsKey, promptParametersKey}, keys...), func(s *Settings, _ int) (got, want string) {
		if s.Prompts.Count <= 1 {
			return "", ""
		}
		return broken(s)
	}}
}

// withoutPrompts is the rule that a key is at its default in cells with many prompts.
func withoutPrompts(key string) cellRule {
	return promptRule(key, func(s *Settings) (got, want string) {
		if k, _ := LookupKey(key); !k.AtDefault(s) {
			return Format(k.Get(s)), Format(k.Default) + " where " + promptsKey + " is more than 1"
		}
		return "", ""
	})
}

// lawRule is the rule that both parameters of a law are 0 or none.
func lawRule(key, other string, law func(*Settings) BetaLaw) cellRule {
	return promptRule(key, func(s *Settings) (got, want string) {
		if l := law(s); l.Drawn() || l == (BetaLaw{}) {
			return "", ""
		}
		return Format(law(s).Beta), "a number > 0 beside " + other + " > 0, or 0 beside 0"
	}, other)
}

// promptRules say what is possible with many prompts.
var promptRules = []cellRule{
	promptRule(ArmsKey, func(s *Settings) (got, want string) {
		if len(s.Bandit.Arms) != 2 || slices.ContainsFunc(s.Bandit.Arms, func(arm option.Arm) bool { return arm.Law != option.Bernoulli }) {
			return Format(groupArms(s.Bandit.Arms)), "2 Bernoulli arms where " + promptsKey + " is more than 1"
		}
		return "", ""
	}),
	promptRule(TrueMeansKey, func(s *Settings) (got, want string) {
		if !slices.Equal(s.Bandit.TrueMeans, armMeans(s.Bandit.Arms)) {
			return Format(s.Bandit.TrueMeans), "the arms' means where " + promptsKey + " is more than 1"
		}
		return "", ""
	}, ArmsKey),
	promptRule(GroupSizeKey, func(s *Settings) (got, want string) {
		if !sampled(s) {
			return "inf", "a finite size where " + promptsKey + " is more than 1"
		}
		return "", ""
	}),
	lawRule(meansBetaKey, meansAlphaKey, func(s *Settings) BetaLaw { return s.Prompts.Means }),
	promptRule(meansListKey, func(s *Settings) (got, want string) {
		if s.Prompts.List == nil {
			return "", ""
		}
		switch n := len(*s.Prompts.List); {
		case s.Prompts.Means != BetaLaw{}:
			return countWords(n, "pair"), "none beside " + meansAlphaKey + " and beta, or these 0"
		case n != s.Prompts.Count:
			return countWords(n, "pair"), Format(s.Prompts.Count) + ", one per prompt (" + promptsKey + ")"
		}
		return "", ""
	}, meansAlphaKey, meansBetaKey),
	lawRule(startBetaKey, startAlphaKey, func(s *Settings) BetaLaw { return s.Prompts.Start }),
	promptRule(promptParametersKey, func(s *Settings) (got, want string) {
		if s.Prompts.Start.Drawn() && s.Prompts.Parameters == option.Shared {
			return option.Shared.String(), "tabular, where bandit.prompts.start gives each prompt a start of its own"
		}
		return "", ""
	}, startAlphaKey, startBetaKey),
	promptRule(InitKey, func(s *Settings) (got, want string) {
		zeros := func(x []float64) bool { return !slices.ContainsFunc(x, func(v float64) bool { return v != 0 }) }
		switch {
		case s.Prompts.Start.Drawn() && !(zeros(s.Policy.Init.Logits) && zeros(s.Policy.Reference)):
			return "logits in section policy", "none, where bandit.prompts.start gives each prompt a start of its own"
		case s.Prompts.Parameters == option.Tabular && s.Policy.Init.Kind == AtFixedPoint:
			return Format(s.Policy.Init), "logits for tabular prompts, which have a fixed point each"
		}
		return "", ""
	}, startAlphaKey, startBetaKey, referenceKey),
	promptRule(lagKindKey, func(s *Settings) (got, want string) {
		switch shared := s.Prompts.Parameters == option.Shared; {
		case s.Lag.Kind == option.Random:
			return s.Lag.Kind.String(), "block or delay where " + promptsKey + " is more than 1"
		case !shared && s.Lag.Kind == option.Delay:
			return s.Lag.Kind.String(), "block for tabular prompts"
		}
		return "", ""
	}),
	promptRule(behindKey, func(s *Settings) (got, want string) {
		if s.Lag.Kind == option.Block && s.Lag.Behind > 0 {
			return Format(s.Lag.Behind), "0 where " + promptsKey + " is more than 1"
		}
		return "", ""
	}, lagKindKey),
	promptRule(scaleKey, func(s *Settings) (got, want string) {
		if adv := s.Estimator.Advantage; adv.Tabled() {
			return adv.Scale.String() + " with the baseline " + adv.Baseline.String(), "std or none with mean or leave-one-out where " + promptsKey + " is more than 1"
		}
		return "", ""
	}, baselineKey),
	promptRule(filterKey, func(s *Settings) (got, want string) {
		switch filter := s.Estimator.Filter; {
		case filter == option.Drop:
			return filter.String(), "none or redraw where " + promptsKey + " is more than 1"
		case filter == option.Redraw && s.Prompts.Order != option.Independent:
			return filter.String() + " with the order " + s.Prompts.Order.String(), "none, or " + promptOrderKey + " independent, where " + promptsKey + " is more than 1"
		}
		return "", ""
	}, promptOrderKey),
	withoutPrompts(placementKey),
	withoutPrompts(entropyKey),
	withoutPrompts(samplesKey),
	withoutPrompts(maxNormKey),
	withoutPrompts(updateKey),
	promptRule(modeKey, func(s *Settings) (got, want string) {
		if imp := &s.Estimator.Importance; s.Prompts.Parameters == option.Tabular && !imp.Linear() {
			return imp.Mode.String(), "none or ratio for tabular prompts"
		}
		return "", ""
	}),
}

// claimsOfPrompts are the claims that can be made about cells with many prompts: the theory
// of the others is that of one bandit.
var claimsOfPrompts = []*Claim{Trajectory, SaturationFit, StationaryFluctuation, FixedPoint, DegenerateGroups, FluctuationScaling}

// promptClaim is the rule that a claim can be made about a cell.
func promptClaim(claim *Claim, s *Settings) (got, want string) {
	if s.Prompts.Count <= 1 || slices.Contains(claimsOfPrompts, claim) {
		return "", ""
	}
	return fmt.Sprintf("a cell with %s %d", promptsKey, s.Prompts.Count), "1 for " + claim.Name
}
