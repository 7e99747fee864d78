package deep

import (
	"fmt"
	"math"

	"grposim/rom"
	"grposim/rom/linear"

	"gonum.org/v1/gonum/floats"
)

// Movable is a Jacobian whose weights can be set, such as a network.
type Movable interface {
	Jacobian
	Logits(w, logits []float64) // binds it at weights w, of P entries, and writes their logits, C·A
}

// Variance is Var J of a run with what it leaves out, all in squared units of reward.
type Variance struct {
	Reward    float64 // of the law along the slide, to first order in the covariance at each place
	Slide     float64 // by how much half as many stages change it
	Curvature float64 // by how much the coefficients of the law change it if they are means over the law, and not those of its center
}

// The slide is followed in a number of stages that doubles until Var J changes by less than followed of itself, which is of no account beside
// the error of a simulated variance, or is mostStages. A number s of stages takes 4s laws: one stage and then two take 12, all up to mostStages 124.
const (
	followed   = 0.005
	mostStages = 16
)

// Slid returns Var J of runs that start at rest at weights at which all contexts are at their fixed points p, averaged over the steps of a
// window that is not empty.
//
// Noise moves the weights along the manifold of fixed points. About a fixed point w the deviation z changes the Jacobian as well as the force
// u = −H_f Jz − H_s Jz_old, so that the mean gradient has a part along the manifold, where nothing restores, of second order in z: with the
// covariances of the linear law, each step slides by
//
//	Δw = −η/(1−μ) · (1/C) Σ_a ∂_aJᵀ [H_f J Cov(z, z_a) + H_s J Cov(z_old, z_a)]
//
// z_a the components of z along an orthonormal basis of the range of Jᵀ, ∂_a the derivative along it. Of a symmetric H and without a lag that is
// η/(1−μ) times the gradient of −½ tr(Λ Cov z) at constant Cov z: to where Λ is flatter (docs/theory-deep.md §12.6). Derivatives are central differences
// of products with the Jacobian at other weights; what of Δw is not along the manifold is taken back, by Newton's steps to the logits of p.
//
// The error says where there is no law, or the manifold cannot be followed.
func Slid(at Movable, weights []float64, contexts []rom.Params, p *Point, update linear.Update, over Window) (*Variance, error) {
	s := &slide{at, contexts, p, update, make([]float64, len(p.Logits))}
	v := new(Variance)
	for stages := 1; ; stages *= 2 {
		last := v.Reward
		var err error
		if v.Reward, err = s.follow(append([]float64(nil), weights...), over, stages); err != nil {
			return nil, err
		}
		if v.Slide = math.Abs(v.Reward - last); stages > 1 && v.Slide <= followed*v.Reward || stages == mostStages {
			break
		}
	}
	var err error
	v.Curvature, err = s.curvature(weights, over)
	return v, err
}

// slide follows a run along the manifold of fixed points.
type slide struct {
	at       Movable
	contexts []rom.Params
	point    *Point
	update   linear.Update
	logits   []float64 // of the last weights
}

// place is a fixed point on the way, with the law there.
type place struct {
	*Dynamics
	law *Law
}

// here returns the place of weights, with the law over steps of the run.
func (s *slide) here(w []float64, over Window) (*place, error) {
	s.at.Logits(w, s.logits)
	d := NewRange(s.at).Dynamics(s.point, s.update)
	law, err := d.Law(d.Modes(), over)
	return &place{d, law}, err
}

// follow moves w from the start of a run to the end of a window and returns Var J averaged over the window, by the midpoint rule with a
// number of stages before the window and as many in it.
func (s *slide) follow(w []float64, over Window, stages int) (variance float64, err error) {
	for _, part := range [2]Window{{0, over.From}, over} {
		for i := range stages {
			steps := Window{part.From + (part.To-part.From)*i/stages, part.From + (part.To-part.From)*(i+1)/stages}
			count := float64(steps.To - steps.From)
			if count == 0 {
				continue
			}
			start, err := s.here(w, steps)
			if err != nil {
				return 0, err
			}
			half := append([]float64(nil), w...)
			if err := s.move(half, w, start, count/2); err != nil {
				return 0, err
			}
			middle, err := s.here(half, steps)
			if err != nil {
				return 0, err
			}
			if part == over {
				variance += middle.law.Reward * count / float64(over.To-over.From)
			}
			if err := s.move(w, half, middle, count); err != nil {
				return 0, err
			}
		}
	}
	return variance, nil
}

// apart is the distance in weights, as a share of their norm, of the two Jacobians whose difference is a derivative: its error is
// of the order of the square of that share, and rounding of 1e-16 over it.
const apart = 1e-5

// move adds to w, a fixed point, the slide of some steps at a place whose weights are center, and brings it back to the manifold.
func (s *slide) move(w, center []float64, p *place, steps float64) error {
	of, arms := p.at, s.point.Arms
	rank := of.Rank()
	size := apart * floats.Norm(center, 2)
	axis, side, u, gradient := make([]float64, rank), make([]float64, len(w)), make([]float64, len(s.logits)), make([]float64, len(w))
	drift := make([]float64, len(w))
	for a := range rank {
		axis[a] = 1
		s.at.Logits(center, s.logits)
		s.at.Pull(of.Covector(axis), side)
		axis[a] = 0
		row := p.law.spread.RawRowView(a)
		now, old := of.OnLogits(row[:rank]), of.OnLogits(row[rank:])
		for x := range s.contexts {
			from, to := x*arms, (x+1)*arms
			floats.AddTo(u[from:to], product(s.point.Fresh[x], now[from:to]), product(s.point.Stale[x], old[from:to]))
		}
		for _, sign := range [2]float64{1, -1} {
			moved := append([]float64(nil), center...)
			floats.AddScaled(moved, sign*size, side)
			s.at.Logits(moved, s.logits)
			s.at.Pull(u, gradient)
			floats.AddScaled(drift, -sign/(2*size), gradient)
		}
	}
	floats.AddScaled(w, steps*s.update.Rate/(1-s.update.Momentum)/float64(len(s.contexts)), drift)
	return s.settle(w, of)
}

// Weights are on the manifold where every logit is that of the fixed point to settled, a relative error of a stiffness of about as much.
const (
	settled     = 1e-9
	mostSettles = 100
)

// settle brings w back to the manifold, by Newton's steps with the kernel of a place nearby.
func (s *slide) settle(w []float64, near *Range) error {
	missing, step := make([]float64, len(s.logits)), make([]float64, len(w))
	for range mostSettles {
		s.at.Logits(w, s.logits)
		floats.SubTo(missing, s.point.Logits, s.logits)
		if floats.Norm(near.gather(missing), math.Inf(1)) <= settled {
			return nil
		}
		s.at.Pull(near.Covector(near.coordinates(missing)), step)
		floats.Add(w, step)
	}
	return fmt.Errorf("noise carries the weights farther along the manifold of fixed points than it can be followed at η = %v", s.update.Rate)
}
