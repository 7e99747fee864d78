package rom_test

import (
	"math/rand/v2"
	"testing"

	"grposim/option"
	"grposim/rom"
)

// Leave-one-out multiplies every advantage by G/(G−1) (docs/theory.md §1), so
// without a penalty the mean force has that factor and the covariance its
// square, for any rewards and either kind of force.
func TestLeaveOneOutIsAFactor(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	for _, law := range []option.Law{option.Bernoulli, option.Constant, option.Normal} {
		for _, scale := range []option.Scale{option.NoScale, option.StdScale} {
			for _, w := range []option.ImportanceMode{option.NoImportance, option.Ratio} {
				p, theta, old := randomCell(r, law, 3, 9)
				p.Advantage.Scale, p.Importance.Mode, p.KL.Coefficient = scale, w, 0
				if law == option.Normal {
					for a := range p.Arms {
						p.Arms[a].Std = 0.1 + r.Float64()
					}
				}
				force := mean(p, theta, old)
				cov, _ := rom.ForceCovariance(p, theta, old)
				p.Advantage.Baseline = option.LeaveOneOut
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
