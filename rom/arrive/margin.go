package arrive

import (
	"math"
	"math/cmplx"
	"slices"

	"grposim/rom/cell"
	"grposim/rom/fixed"
	"grposim/rom/force"
	"grposim/rom/linear"
	"grposim/rom/path"
	"grposim/rom/rest"
	"grposim/rom/scope"

	"gonum.org/v1/gonum/floats"
)

// Growth says what local multipliers beyond the unit circle do to a path.
type Growth string

// The kinds of growth. A real multiplier above 1 on a plateau is the take-off of a policy that
// learns faster the farther it has come. It is no instability: a path with no other ones does not
// overshoot.
const (
	NoGrowth    Growth = "none"        // no multiplier is beyond the unit circle
	TakeOff     Growth = "take-off"    // real positive ones are
	Instability Growth = "instability" // complex or negative ones are: deviations grow and alternate
)

// LocalPoint is the linear dynamics about one point of a mean path, with the policy there as its
// own snapshot.
type LocalPoint struct {
	Step   int     `json:"step"`            // optimizer step, ≥ 0
	Reward float64 `json:"expected_reward"` // J there, in units of reward
	// λ of the stiffest mode, in units of force per logit; < 0 drives away
	Stiffness float64 `json:"stiffness"`
	// [real, imaginary part] of the largest, of a refresh period (block) or a step
	Multiplier [2]float64 `json:"multiplier"`
	Modulus    float64    `json:"modulus"` // its modulus, ≥ 0
	// a mode's dominant multiplier, of a period or of a step inside a block, is complex or negative
	Oscillates bool `json:"oscillates"`
}

// Margin is how far a mean path is from an instability on its way.
type Margin struct {
	Scope    scope.Scope `json:"scope"`
	Points   int         `json:"points"`   // evaluated on the path, at most 2·marginPoints
	Stiffest LocalPoint  `json:"stiffest"` // where the stiffest mode is stiffest
	Largest  LocalPoint  `json:"largest"`  // where the largest multiplier is largest
	Growth   Growth      `json:"growth"`
	// Oscillating is the point of the largest modulus among those with Oscillates. nil: there is none,
	// and the mean path does not overshoot.
	Oscillating *LocalPoint `json:"oscillating"`
	// Overshoot is by how much the mean path passes its fixed point, ≥ 0, as a share of the way to it:
	// the largest (θ−θ_0)·(θ*−θ_0)/|θ*−θ_0|² less 1, with two arms (max z − z*)/(z* − z_0). nil: there
	// is no fixed point, or the run starts there.
	Overshoot *float64 `json:"overshoot"`
	// Drawdown is the largest fall of J below its maximum so far, as a share of the largest J less the
	// first, within [0, 1] unless J falls below its start; 0 where J never rises.
	Drawdown float64 `json:"drawdown"`
}

// marginPoints is the least number of points that are kept of a path that moves in so many steps.
const marginPoints = 32

// MarginAlong computes the local multipliers of the linear dynamics along the mean path from the
// logits init, one per arm, over the given number of steps (see MeanField), at some dozens of
// points which are the closer in time the faster the path moves. They are those of docs/theory.md
// §5 with Λ_f and Λ_s at θ = θ_old = θ(t) and the learning rate of step t. It needs no fixed point,
// so that it holds without a KL penalty too.
//
// With two arms the mean path overshoots its fixed point only if the dominant multiplier is complex
// or negative somewhere on the way (docs/theory-neglected.md §6.11): Oscillating says where. With
// more arms the dominant multipliers of all modes count.
func MarginAlong(p cell.Params, init []float64, steps int) Margin {
	p = path.Unlimited(p.Checked(), init, steps)
	because := p.NotDerived(
		cell.RewardsInDigits, cell.MeanForceKnown, cell.WeightsAtRest, cell.LocalDynamics)
	if because.Out() {
		return Margin{Scope: because.Scope()}
	}
	if arms := len(p.Arms); arms > path.MaxPathArms {
		return Margin{Scope: path.TooManyArms(arms).Scope()}
	}
	moving := &movingPath{apart: 1e-3, at: []pathPoint{{0, slices.Clone(init)}}}
	highest, first := math.Inf(-1), 0.0
	m := force.New(&p)
	var margin Margin
	aim := aimOf(p, init)
	_, margin.Scope = path.Follow(p, init, steps, func(t int, theta []float64) (more bool) {
		moving.add(t, theta)
		j := m.Expected(theta)
		if t == 0 {
			first = j
		}
		highest = max(highest, j)
		margin.Drawdown = max(margin.Drawdown, highest-j)
		if aim != nil {
			past := max(aim.share(theta)-1, 0)
			if margin.Overshoot != nil {
				past = max(past, *margin.Overshoot)
			}
			margin.Overshoot = &past
		}
		return true
	})
	if highest > first {
		margin.Drawdown /= highest - first
	} else {
		margin.Drawdown = 0
	}
	p.Start = init
	about := rest.About(p)
	margin.Points, margin.Growth = len(moving.at), NoGrowth
	for i, point := range moving.at {
		there, ok := about(point.theta, path.RateAt(&p.Optimizer, point.step))
		if !ok {
			continue
		}
		largest := there.Multipliers[0]
		local := LocalPoint{
			Step: point.step, Reward: there.Reward, Stiffness: there.Stiffness,
			Multiplier: [2]float64{real(largest), imag(largest)}, Modulus: cmplx.Abs(largest),
			Oscillates: there.Oscillates,
		}
		if i == 0 || local.Stiffness > margin.Stiffest.Stiffness {
			margin.Stiffest = local
		}
		if local.Modulus > margin.Largest.Modulus {
			margin.Largest = local
		}
		if local.Oscillates && (margin.Oscillating == nil || local.Modulus > margin.Oscillating.Modulus) {
			margin.Oscillating = &local
		}
		switch beyond := local.Modulus > 1+linear.Rounded.Mixing; {
		case beyond && (local.Multiplier[1] != 0 || local.Multiplier[0] < 0):
			margin.Growth = Instability
		case beyond && margin.Growth == NoGrowth:
			margin.Growth = TakeOff
		}
	}
	return margin
}

// aim is the straight way from a start to a fixed point, in centred logits.
type aim struct {
	from, way []float64
	square    float64 // |way|²
}

// aimOf returns the way from init to the fixed point that it reaches; nil: there is none, or no
// way.
func aimOf(p cell.Params, init []float64) *aim {
	if p.NotDerived(cell.FixedPointKnown).Out() {
		return nil
	}
	p.Start = init
	end := fixed.Destination(p)
	if end == nil {
		return nil
	}
	a := &aim{from: centred(init), way: end}
	floats.Sub(a.way, a.from)
	if a.square = floats.Dot(a.way, a.way); a.square <= path.AtRest {
		return nil
	}
	return a
}

// share returns the share of the way that the logits theta have gone.
func (a *aim) share(theta []float64) float64 {
	gone := centred(theta)
	floats.Sub(gone, a.from)
	return floats.Dot(gone, a.way) / a.square
}

// centred returns logits with their mean subtracted.
func centred(logits []float64) []float64 {
	out := slices.Clone(logits)
	floats.AddConst(-floats.Sum(logits)/float64(len(logits)), out)
	return out
}

// pathPoint is the policy of one step.
type pathPoint struct {
	step  int
	theta []float64
}

// movingPath keeps points of a path that are at least apart logits away from the one before. When
// there are 2·marginPoints the distance is doubled, and points that are nearer are dropped: a slow
// tail drops none of a fast start.
type movingPath struct {
	apart float64
	at    []pathPoint
}

func (m *movingPath) add(t int, theta []float64) {
	if floats.Distance(theta, m.at[len(m.at)-1].theta, math.Inf(1)) < m.apart {
		return
	}
	m.at = append(m.at, pathPoint{t, slices.Clone(theta)})
	for len(m.at) >= 2*marginPoints {
		m.apart *= 2
		kept := m.at[:1]
		for _, point := range m.at[1:] {
			if floats.Distance(point.theta, kept[len(kept)-1].theta, math.Inf(1)) >= m.apart {
				kept = append(kept, point)
			}
		}
		m.at = kept
	}
}
