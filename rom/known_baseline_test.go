package rom_test

import (
	"math/rand/v2"
	"testing"

	"grposim/rom"
)

// Leave-one-out multiplies every advantage by G/(G−1) (docs/theory.md §1), so
// without a penalty the mean force has that factor and the covariance its
// square, for any rewards and either kind of force.
func TestLeaveOneOutIsAFactor(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	for _, law := range []rom.Law{rom.Bernoulli, rom.Constant, rom.Normal} {
		for _, scale := range []rom.Scale{rom.Unscaled, rom.GroupStd} {
			for _, w := range []rom.Weighting{rom.Unweighted, rom.Ratio} {
				p, theta, old := randomCell(r, law, 3, 9)
				p.Scale, p.Weighting, p.Strength = scale, w, 0
				if law == rom.Normal {
					for a := range p.Arms {
						p.Arms[a].Std = 0.1 + r.Float64()
					}
				}
				force := mean(p, theta, old)
				cov, _ := rom.ForceCovariance(p, theta, old)
				p.Baseline = rom.LeaveOneOut
				const factor = 9. / 8
				without, _ := rom.ForceCovariance(p, theta, old)
				for a, g := range mean(p, theta, old) {
					closeTo(t, describe(p)+" mean", g, factor*force[a], 1e-15)
					for b := range force {
						closeTo(t, describe(p)+" covariance", without.At(a, b), factor*factor*cov.At(a, b), 1e-15)
					}
				}
			}
		}
	}
}
