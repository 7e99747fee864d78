package fixed

import (
	"math"

	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/linear"
	"grposim/rom/scope"
)

// Folded is a bandit whose equal arms (same reward law, reference logit and start) are merged into
// classes. Params has one arm per class, which carries the probability of the whole class (logit
// θ_c + ln n_c). Each arm of class c moves by 1/n_c of the merged force, so everything that is
// symmetric under exchange of equal arms follows from the merged bandit with mobility 1/n_c.
// Measured, whose entries belong to single arms, is nil.
type Folded struct {
	cell.Params
	Count []float64 // n_c, the number of arms of each class
	Class []int     // class of each arm

	Because scope.Reason // why reached found no fixed point
}

// Fold merges the equal arms of p, in order of appearance. At least two classes
// result: if all arms are equal the first is one class and the others another.
func Fold(p cell.Params) Folded {
	f := Folded{Params: p, Class: make([]int, len(p.Arms))}
	f.Arms, f.Reference, f.Start, f.Measured, f.TrueMeans = nil, nil, nil, nil, nil
	seen := make(map[classKey]int) // never ranged over: its order is random
	for a, arm := range p.Arms {
		key := classKey{arm: arm, reference: p.Reference[a]}
		if p.Importance.Mode == option.DPPO { // whose bounds depend on the probability of one arm
			key.alone = a + 1
		}
		if p.Start != nil {
			key.start = p.Start[a]
		}
		c, known := seen[key]
		if !known {
			c = len(f.Arms)
			seen[key] = c
			f.Arms = append(f.Arms, arm)
			f.Reference = append(f.Reference, p.Reference[a])
			if p.Start != nil {
				f.Start = append(f.Start, p.Start[a])
			}
			f.Count = append(f.Count, 0)
		}
		f.Count[c]++
		f.Class[a] = c
	}
	if len(f.Arms) == 1 {
		f.Arms = append(f.Arms, f.Arms[0])
		f.Reference = append(f.Reference, f.Reference[0])
		if p.Start != nil {
			f.Start = append(f.Start, f.Start[0])
		}
		f.Count = []float64{1, f.Count[0] - 1}
		for a := 1; a < len(f.Class); a++ {
			f.Class[a] = 1
		}
	}
	if p.TrueMeans != nil {
		f.TrueMeans = make([]float64, len(f.Count))
		for a, c := range f.Class {
			f.TrueMeans[c] += p.TrueMeans[a] / f.Count[c]
		}
	}
	uniform := make([]float64, len(f.Count))
	for c, n := range f.Count {
		uniform[c] = math.Log(n)
		f.Reference[c] += math.Log(n)
	}
	f.SetUniform(uniform)
	for c := range f.Start {
		f.Start[c] += math.Log(f.Count[c])
	}
	return f
}

// classKey identifies a class: arms with the same key are equal.
type classKey struct {
	arm              option.Arm
	reference, start float64
	alone            int // arm + 1 of an arm that is not merged
}

// Unfold returns the centred logits of all arms, given those of the classes.
func (f *Folded) Unfold(merged []float64) []float64 {
	mean := 0.0
	each := make([]float64, len(merged))
	for c, x := range merged {
		each[c] = x - math.Log(f.Count[c])
		mean += f.Count[c] * each[c]
	}
	mean /= float64(len(f.Class))
	theta := make([]float64, len(f.Class))
	for a, c := range f.Class {
		theta[a] = each[c] - mean
	}
	return theta
}

// Representable reports whether log π_ref and the mean force at π_ref are finite.
func (f *Folded) Representable() bool {
	m := force.New(&f.Params)
	if !linear.IsFinite(m.LogReference...) {
		return false
	}
	m.Set(f.Reference, f.Reference)
	force := make([]float64, len(f.Arms))
	m.MeanForce(force)
	return linear.IsFinite(force...) &&
		(m.Counts != nil || m.Advantage.Scale == option.NoScale || linear.IsFinite(m.Law.Spread()))
}

// Unmerged returns p as a folded bandit with one class per arm.
func Unmerged(p cell.Params) Folded {
	f := Folded{Params: p}
	for a := range p.Arms {
		f.Count = append(f.Count, 1)
		f.Class = append(f.Class, a)
	}
	return f
}
