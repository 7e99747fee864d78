package equivalence

import (
	"math"
	"math/rand/v2"
	"testing"

	"grposim/training/change"
	"grposim/training/fit"
)

// learning is a curve that rises from a start to a plateau, and has half of the rise at a
// time. Some of the laws are none of those that are fitted.
type learning struct {
	law                  string
	start, plateau, half float64
	width                float64 // of the rise over half, where the law has one
}

var learningLaws = []string{"logistic", "gompertz", "exponential", "two-stage"}

func (l learning) at(t float64) float64 {
	x := t / l.half
	sigmoid := func(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
	var g float64
	switch l.law {
	case "logistic":
		g = sigmoid((x - 1) / l.width)
	case "gompertz":
		g = math.Exp(-math.Ln2 * math.Exp(-(x-1)/l.width))
	case "exponential":
		g = -math.Expm1(-math.Ln2 * x)
	case "two-stage":
		g = (sigmoid((x-0.6)/0.1) + sigmoid((x-1.5)/0.1)) / 2
	}
	return l.start + (l.plateau-l.start)*g
}

// trainer describes the logs of a run: the number of rows, the deviation of their noise and its
// correlation, or shares of right answers. Values may be moving averages. Runs scatter.
type trainer struct {
	rows        int
	noise, phi  float64
	shares      bool
	smooth      int
	betweenRuns float64
}

func (s trainer) log(r *rand.Rand, l learning) fit.Curve {
	const before = 30 // rows in which noise and averages settle
	level := s.betweenRuns * r.NormFloat64()
	e := s.noise * r.NormFloat64()
	var c fit.Curve
	var raw []float64
	for i := range before + s.rows {
		t := float64(i + 1 - before)
		y := l.at(max(t, 0)) + level
		if s.shares {
			answers, right := math.Round(0.25/(s.noise*s.noise)), 0.0
			for range int(answers) {
				if r.Float64() < y {
					right++
				}
			}
			y = right / answers
		} else {
			y += e
			e = s.phi*e + s.noise*math.Sqrt(1-s.phi*s.phi)*r.NormFloat64()
		}
		raw = append(raw, y)
		if t < 1 {
			continue
		}
		c.Time, c.Reward = append(c.Time, t), append(c.Reward, change.Mean(raw[len(raw)-s.smooth:]))
	}
	return c
}

// randomLog draws a curve and what its logs look like, with rows between two numbers.
func randomLog(r *rand.Rand, fewest, most float64) (learning, trainer) {
	between := func(lo, hi float64) float64 { return lo * math.Pow(hi/lo, r.Float64()) }
	s := trainer{
		rows: int(between(fewest, most)), noise: between(0.02, 0.1),
		phi: []float64{0, 0.3, 0.6, 0.8, 0.9}[r.IntN(5)], shares: r.IntN(3) == 0, smooth: 1,
	}
	if r.IntN(3) == 0 {
		s.smooth = 2 + r.IntN(20)
	}
	return learning{
		learningLaws[r.IntN(len(learningLaws))], 0.05 + 0.35*r.Float64(), 0.55 + 0.4*r.Float64(),
		float64(s.rows) * between(0.08, 1.2), 0.08 + 0.25*r.Float64(),
	}, s
}

// Of pairs whose curves differ by the margin at most 5 % have any row that is different, and at
// most 2.5 % are the same. So it is for every curve, noise, correlation and averaging, with single
// and repeated runs.
func TestCurvesAtTheMargin(t *testing.T) {
	const margin = 0.05
	wrong := make(map[Verdict]int)
	for seed := range uint64(equalPairs) {
		r := rand.New(rand.NewPCG(seed, 33))
		l, s := randomLog(r, 100, mostRows)
		runs := []int{1, 1, 1, 2, 3}[r.IntN(5)]
		if runs > 1 {
			s.betweenRuns = 0.03 * r.Float64()
		}
		var sides [2][]fit.Curve
		above := l
		above.start, above.plateau = l.start+margin, l.plateau+margin
		for range runs {
			sides[0], sides[1] = append(sides[0], s.log(r, l)), append(sides[1], s.log(r, above))
		}
		c, err := Runs(sides[0], sides[1], margin, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if wrong[c.Verdict]++; c.Verdict != Undecided {
			t.Logf("%s: %d runs of %+v with %+v", c.Verdict, runs, l, s)
		}
	}
	if wrong[Different] > equalPairs/20 || wrong[Same] > equalPairs/40 {
		t.Errorf("verdicts on %d pairs at the margin: %v", equalPairs, wrong)
	}
}
