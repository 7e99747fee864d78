package rest

import (
	"math"

	"grposim/rom/force"
	"grposim/rom/scope"
)

// expansionNeglect returns what the expansion of the force in 1/G leaves out where Var J is
// variance; zero where the force is exact. The mean force is off by a share of LeftOut², as by
// a penalty that is smaller by that share.
func (l *linearization) expansionNeglect(variance float64) scope.Sizes {
	l.model.Set(l.logits, l.logits)
	share := l.model.Law.LeftOut()
	if share == 0 {
		return scope.Sizes{}
	}
	stronger := l.folded
	stronger.KL.Coefficient /= 1 + share*share
	stronger.Entropy /= 1 + share*share
	shift := math.Inf(1)
	if logits, ok := stronger.newton(force.New(&stronger.Params), l.logits); ok {
		shift = math.Abs(l.model.Expected(logits) - l.model.Expected(l.logits))
	}
	return scope.Sizes{RewardMean: shift, RewardVariance: share * variance}
}
