package group

import (
	"grposim/option"
	"grposim/rom/weight"
)

// Tables are what the exact law of a group needs for rewards of more than two values, which
// does not depend on the policy and takes long to compute. The zero value has none.
type Tables struct {
	compositions *compositions // nil: too many, or not needed
	integral     *integral     // nil: there are compositions, too much work, or not needed
}

// NewTables returns the tables for arms and a finite or infinite group.
func NewTables(arms []option.Arm, e *option.Estimator) (t Tables) {
	success, _ := TwoValued(arms)
	std := e.Advantage.Scale == option.StdScale
	switch {
	case e.GroupSize == option.Infinite:
	case e.KL.OfReward():
		if std && e.Importance.Linear() && len(arms) == 2 && arms[0].Law != option.Normal && arms[1].Law != option.Normal {
			t.compositions = newCompositions(arms, e)
		}
	case success == nil && (std || weight.BySign(&e.Importance)):
		if t = Compositions(arms, e); !t.Summed() && std {
			t = Integral(arms, e)
		}
	}
	return t
}

// Compositions returns the table of the compositions of a finite group alone, if there are not too many.
func Compositions(arms []option.Arm, e *option.Estimator) Tables {
	return Tables{compositions: newCompositions(arms, e)}
}

// Integral returns the table of the integral alone, if it does not take too much work.
func Integral(arms []option.Arm, e *option.Estimator) Tables {
	return Tables{integral: newIntegral(arms, e)}
}

// Summed reports whether the compositions of a group are summed.
func (t *Tables) Summed() bool { return t.compositions != nil }

// Smeared reports whether they are, and rewards have a density.
func (t *Tables) Smeared() bool { return t.compositions != nil && t.compositions.smeared }

// WithoutIntegral returns the tables without that of an integral, so that the law is expanded instead.
func (t Tables) WithoutIntegral() Tables { return Tables{compositions: t.compositions} }
