package rom

import "math"

// folded is a bandit whose equal arms (same reward law, same reference logit)
// are merged: Params has one arm a class, with the class's whole probability
// (logit θ_c + ln n_c). The class's arms move together by 1/n_c of the merged
// force, so that everything symmetric under exchange of equal arms follows
// from the merged bandit in the mobility 1/n. A measured stiffness, which is per
// arm, is left out.
type folded struct {
	Params
	count []float64 // n_c
	class []int     // class of each arm
}

func fold(p Params) folded {
	f := folded{Params: p, class: make([]int, len(p.Arms))}
	f.Arms, f.Reference, f.Measured = nil, nil, nil
	seen := make(map[classKey]int) // looked up only; classes are in order of appearance
	for a, arm := range p.Arms {
		key := classKey{arm, p.Reference[a]}
		c, known := seen[key]
		if !known {
			c = len(f.Arms)
			seen[key] = c
			f.Arms = append(f.Arms, arm)
			f.Reference = append(f.Reference, p.Reference[a])
			f.count = append(f.count, 0)
		}
		f.count[c]++
		f.class[a] = c
	}
	if len(f.Arms) == 1 {
		// All arms are equal: the first against the rest.
		f.Arms = append(f.Arms, f.Arms[0])
		f.Reference = append(f.Reference, f.Reference[0])
		f.count = []float64{1, f.count[0] - 1}
		for a := 1; a < len(f.class); a++ {
			f.class[a] = 1
		}
	}
	for c, n := range f.count {
		f.Reference[c] += math.Log(n)
	}
	return f
}

// classKey is what makes two arms equal.
type classKey struct {
	arm       Arm
	reference float64
}

// arms returns the centred logits of all arms.
func (f *folded) arms(merged []float64) []float64 {
	mean := 0.0
	each := make([]float64, len(merged))
	for c, x := range merged {
		each[c] = x - math.Log(f.count[c])
		mean += f.count[c] * each[c]
	}
	mean /= float64(len(f.class))
	theta := make([]float64, len(f.class))
	for a, c := range f.class {
		theta[a] = each[c] - mean
	}
	return theta
}
