package fixed

import (
	"math"
	"slices"

	"grposim/fp"
	"grposim/option"
	"grposim/rom/cell"
	"grposim/rom/force"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/floats"
)

// redrawnEnd is the log-odds of J up to which redrawnCurve varies, but for digits beyond those
// of floating point; redrawnLinear is that up to which it is scanned in equal steps.
const (
	redrawnEnd    = 400
	redrawnLinear = 60
)

// redrawnCurve returns log π of the only policy at which the force of redrawn groups with a sampled
// KL gradient can vanish if its expected reward is J, of log-odds s within the range of the m_a,
// and the log-odds of its own expected reward, which are s at a fixed point
// (docs/theory-trainers.md §11.3). With k_a = m_a(1−J^{G−1}) + (1−m_a)(1−(1−J)^{G−1}) the force
// vanishes if, of all arms,
//
//	φ_G (m_a − J) − βκ_a k_a − αP log π_a/n_a = C,
//
// κ = ℓ (1 − e^{−ℓ} with k3, 1 with k1, ℓ + 1 with ratio-k1), which gives π_a(C); the sum of
// all is 1 at one C.
func redrawnCurve(m *force.Model, s float64) (logs []float64, odds float64) {
	low, high := slices.Min(m.Counts.Success), slices.Max(m.Counts.Success)
	s = max(-redrawnEnd, min(s, redrawnEnd))
	up, down := 1/(1+fp.MathExp(-s)), 1/(1+fp.MathExp(s))
	j, rest := up*high+down*low, up*(1-high)+down*(1-low)
	phi := m.Counts.PhiOfAll(j, rest)
	p, _ := m.Counts.Differ(j, rest)
	success, failure := m.Counts.Kept(j, rest)
	k3 := m.KL.Gradient == option.K3 && m.KL.In == option.InLoss
	push := 0.0 // the part of κ that does not depend on π
	if m.KL.In == option.InLoss && (m.KL.Gradient == option.K1 || m.KL.Gradient == option.RatioK1) {
		push = m.KL.Coefficient
	}
	arms := len(m.Counts.Success)
	// log π_a = −(C − from_a)/slope_a; with k3 π_a = π_ref,a slope_a/(C − from_a).
	from, slope := make([]float64, arms), make([]float64, arms)
	for a, v := range m.Counts.Success {
		k := v*success + (1-v)*failure
		from[a] = phi*(v*rest-(1-v)*j) - push*k
		slope[a] = m.Restoring() * k
		if k3 {
			from[a] -= slope[a]
			continue
		}
		from[a] += slope[a] * m.LogReference[a]
		if uniform := m.Uniform(); uniform != nil {
			from[a] += m.Entropy * p * uniform[a]
		}
		slope[a] += m.Entropy * p
	}
	top := floats.MaxIdx(from)
	// Newton's method for log Σπ = 0, which is convex in C, from where top has π = 1: at
	// C = from_top + x, or with k3, of which π_ref,top may be tiny, from_top + π_ref,top slope_top x.
	logs, scratch := make([]float64, arms), make([]float64, arms)
	unit, x := 1.0, 0.0
	if k3 {
		unit, x = fp.MathExp(m.LogReference[top])*slope[top], 1
	}
	for range 100 {
		for a := range logs {
			switch gap := from[top] - from[a]; {
			case !k3:
				logs[a] = -(gap + x) / slope[a]
			case gap == 0:
				logs[a] = m.LogReference[a] - m.LogReference[top] + math.Log(slope[a]/slope[top]) - math.Log(x)
			default:
				logs[a] = m.LogReference[a] + math.Log(slope[a]) - math.Log(gap+unit*x)
			}
		}
		sum, fall := cell.Softmax(scratch, logs), 0.0
		for a, p := range scratch {
			switch gap := from[top] - from[a]; {
			case !k3:
				fall += p / slope[a]
			case gap == 0:
				fall += p / x
			default:
				fall += p * unit / (gap + unit*x)
			}
		}
		if next := x + sum/fall; sum > 0 && next > x {
			x = next
			continue
		}
		break
	}
	above, below := from, slope
	for a, v := range m.Counts.Success {
		above[a], below[a] = logs[a]+math.Log(v-low), logs[a]+math.Log(high-v)
	}
	return logs, cell.Softmax(scratch, above) - cell.Softmax(scratch, below)
}

// redrawnPoints returns the logits of all fixed points of redrawn groups with a sampled KL
// gradient, by increasing J. As the log-odds of redrawnCurve are bounded there is at least one,
// unless the KL gradient is that of k1 beside an entropy bonus.
func redrawnPoints(m *force.Model) [][]float64 {
	if slices.Min(m.Counts.Success) == slices.Max(m.Counts.Success) {
		return [][]float64{m.Target}
	}
	gap := func(s float64) float64 {
		_, odds := redrawnCurve(m, s)
		return odds - s
	}
	z := scan{f: gap}
	reach := 2.0 * redrawnEnd
	for _, end := range []float64{-redrawnEnd, redrawnEnd} {
		if _, odds := redrawnCurve(m, end); m.Restoring() > 0 {
			reach = max(reach, 2*math.Abs(odds))
		}
	}
	for s := -reach; s < reach; s += max(scanStep, (scanRatio-1)*(math.Abs(s)-redrawnLinear)) {
		z.visit(s, gap(s))
	}
	z.visit(reach, gap(reach))
	var all [][]float64
	for _, s := range z.zeros {
		if logs, _ := redrawnCurve(m, s); linear.IsFinite(logs...) {
			all = append(all, logs)
		}
	}
	return all
}
