package group

import (
	"math"
	"math/rand/v2"
	"testing"

	"grposim/option"
)

// Nodes in the place of compositions err by what LeftOut says, and without shifts by rounding. Half
// of the force is of groups that both sum alike.
func TestNodesAreNearCompositions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	e := &option.Estimator{GroupSize: 8, Advantage: option.Advantage{Epsilon: 1e-4},
		KL: option.KL{Coefficient: 1, In: option.InReward}, Importance: option.Importance{Mode: option.Clip}}
	for i := range 120 {
		width := [3]float64{0, 0.01, 0.1}[i%3]
		s, arms, total := NewSamples(3), make([]option.Arm, 3), 0.0
		for a := range arms {
			arms[a].Mean = max(0, min(2*r.Float64()-0.5, 1))
			s.Old[a] = math.Exp(r.NormFloat64())
			s.Up[a], s.Down[a] = 1-0.2*r.Float64(), float64(r.IntN(2))
			s.Shift[a] = width * r.NormFloat64()
			total += s.Old[a]
		}
		arms[0].Mean = 0.4
		for a := range s.Old {
			s.Old[a] /= total
		}
		exact, near := Compose(arms, e, s), Compose(arms, e, s)
		near.summed = make([][]int, 2)
		for _, x := range near.listed() {
			near.summed[int(x.reward)] = append(near.summed[int(x.reward)], x.value)
		}
		if !exact.Exact() || near.Exact() {
			t.Fatal("want compositions and nodes")
		}
		laws, means, noises := [2]*Composed{exact, near}, Zeros(2, 3), [2][][]float64{Square(3), Square(3)}
		for k, l := range laws {
			l.Mean(means[k])
			l.Covariance(noises[k], Square(3), nil)
		}
		mean, noise := near.LeftOut()
		scale, trace := 0.0, 0.0
		for a, f := range means[0] {
			scale, trace = max(scale, math.Abs(f)), trace+noises[0][a][a]
		}
		for a, f := range means[0] {
			if err := math.Abs(means[1][a] - f); err > (mean+1e-12)*scale {
				t.Errorf("%d: force errs by %g of %g, said %g", i, err, scale, mean)
			}
			if err := math.Abs(noises[1][a][a] - noises[0][a][a]); err > (noise+1e-12)*trace {
				t.Errorf("%d: noise errs by %g of %g, said %g", i, err, trace, noise)
			}
		}
	}
}

// Force and noise of densities are those of drawn groups: within 5 standard errors and LeftOut.
func TestDensitiesAreDrawnGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 5))
	const draws = 100_000
	laws := []option.Arm{{Law: option.Normal, Mean: 0.7, Std: 0.1}, {Law: option.Normal, Mean: 0.4, Std: 0.3},
		{Mean: 0.5}, {Law: option.Constant, Mean: 0.8}}
	for _, size := range []int{2, 3, 5, 8} {
		arms := append(laws[:2:2], laws[2+size%2])
		e := &option.Estimator{GroupSize: size, Importance: option.Importance{Mode: option.Clip}}
		e.Advantage.Epsilon = 0.01 * float64(size%3)
		s := NewSamples(3)
		for a := range arms {
			s.Old[a], s.Kappa[a] = []float64{0.6, 0.1, 0.3}[a], r.NormFloat64()
			s.Up[a], s.Down[a] = 1-0.3*r.Float64(), 1-0.3*r.Float64()
		}
		law := New(arms, e, s).(*Composed)
		// by quantity: the forces on the arms, then their products and those with κ
		sums, squares, groups := make([]float64, 21), make([]float64, 21), make([]int, size)
		rewards := make([]float64, size)
		for range draws {
			mean, square, one := 0.0, 0.0, make([]float64, 21)
			c, kappa := one[:3], [3]float64{}
			for i := range groups {
				u, a := r.Float64(), 0
				for ; a < 2 && u >= s.Old[a]; a++ {
					u -= s.Old[a]
				}
				arm := arms[a]
				if rewards[i] = arm.Mean + arm.Std*r.NormFloat64(); arm.Law == option.Bernoulli {
					rewards[i] = math.Floor(arm.Mean + r.Float64())
				}
				groups[i], mean = a, mean+rewards[i]/float64(size)
				kappa[a] += s.Kappa[a] / float64(size)
			}
			for _, x := range rewards {
				square += (x - mean) * (x - mean) / float64(size)
			}
			for i, a := range groups {
				if y := rewards[i] - mean; square > 1e-20 {
					w := s.Up[a]
					if y < 0 {
						w = s.Down[a]
					}
					c[a] += w * y / (math.Sqrt(square) + e.Advantage.Epsilon) / float64(size)
				}
			}
			for i := range 9 {
				one[3+i], one[12+i] = c[i/3]*c[i%3], c[i/3]*kappa[i%3]
			}
			for i, x := range one {
				sums[i] += x / draws
				squares[i] += x * x / draws
			}
		}
		force, noise, cross := make([]float64, 3), Square(3), Square(3)
		law.Mean(force)
		law.Covariance(noise, cross, nil)
		off, unsure := law.LeftOut()
		for i, drawn := range sums {
			want, left := 0.0, off
			if i < 3 {
				want = force[i]
			} else if j := (i - 3) % 9; i < 12 {
				want, left = noise[j/3][j%3]+force[j/3]*force[j%3], unsure
			} else {
				want, left = cross[j/3][j%3]+force[j/3]*s.Kappa[j%3]*s.Old[j%3], unsure
			}
			error := 5*math.Sqrt((squares[i]-drawn*drawn)/draws) + left*math.Sqrt(squares[i])
			if math.Abs(want-drawn) > error || left > 0.02 {
				t.Errorf("G = %d: %d is %g, drawn %g ± %g, left out %g", size, i, want, drawn, error, left)
			}
		}
	}
}
