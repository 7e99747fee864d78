package theory

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"grposim/option"
	"grposim/rom/scope"
	"grposim/sim"
)

// typical is what the theory gives of settings that users have: 2 to 8 Bernoulli arms, β from 0.005
// to 1, G from 4 to 64, K from 1 to 16, and both scales. Two of three have a heavy ball (μ of 0,
// 0.5 or 0.9), the others Adam.
type typical struct {
	adam      bool
	state     typicalState
	threshold bool
	noise     bool         // Var J, with a size of what is left out of at most a quarter
	path      bool         // the mean reward to the end, with a size of less than 5 % of its rise
	because   scope.Reason // why there is no Var J
}

type typicalState int

const (
	locks typicalState = iota // no stationary state: the rewards differ by far more than β balances
	unstable
	stable
)

// typicalShares are the numbers of settings with an answer, as measured, of the seeds from 37 on.
// Var J is declined in two of five stable settings. There β is small beside the rewards, so that
// runs hardly draw some arms, for which no law is derived.
var typicalShares = []struct {
	what     string
	measured [4]int
	asked    func(typical) bool
	given    func(typical) bool
}{
	{"threshold, heavy ball, where the policy does not lock", [4]int{30, 32, 38, 31},
		func(x typical) bool { return x.state != locks && !x.adam },
		func(x typical) bool { return x.threshold }},
	{"threshold, Adam, where the policy does not lock", [4]int{16, 20, 12, 23},
		func(x typical) bool { return x.state != locks && x.adam },
		func(x typical) bool { return x.threshold }},
	{"noise, heavy ball, where stable", [4]int{16, 20, 17, 20},
		func(x typical) bool { return x.state == stable && !x.adam },
		func(x typical) bool { return x.noise }},
	{"noise, Adam, where stable", [4]int{9, 11, 6, 10},
		func(x typical) bool { return x.state == stable && x.adam },
		func(x typical) bool { return x.noise }},
	{"mean path, heavy ball", [4]int{30, 26, 33, 32},
		func(x typical) bool { return !x.adam }, func(x typical) bool { return x.path }},
	{"mean path, Adam", [4]int{20, 22, 16, 23},
		func(x typical) bool { return x.adam }, func(x typical) bool { return x.path }},
}

// Of typical settings the theory gives no fewer than the numbers above, and declines Var J for one
// of the causes there.
func TestTypicalSettings(t *testing.T) { checkTypical(t, 37) }

func checkTypical(t *testing.T, seeds ...uint64) {
	const settings = 60
	for _, seed := range seeds {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			var all []typical
			for range settings {
				x := askTypical(t, drawTypical(r))
				all = append(all, x)
				if x.because.Out() && !x.because.Is(scope.NoiseTooLarge, scope.RoundedStiffness) {
					t.Errorf("no Var J: %s", x.because)
				}
			}
			for _, share := range typicalShares {
				given := 0
				for _, x := range all {
					if share.asked(x) && share.given(x) {
						given++
					}
				}
				t.Logf("%d: %s", given, share.what)
				if want := share.measured[seed-37]; given < want {
					t.Errorf("%d: %s, want at least %d", given, share.what, want)
				}
			}
		})
	}
}

// drawTypical returns the configuration of typical settings.
func drawTypical(r *rand.Rand) string {
	between := func(a, b float64) float64 { return a * math.Pow(b/a, r.Float64()) }
	pick := func(x ...int) int { return x[r.IntN(len(x))] }
	var arms []string
	for range pick(2, 3, 4, 5, 6, 7, 8) {
		arms = append(arms, fmt.Sprintf("{reward: bernoulli, mean: %.2f}", 0.05+0.9*r.Float64()))
	}
	beta := between(0.005, 1)
	group, interval := pick(4, 8, 16, 32, 64), pick(1, 2, 4, 8, 16)
	scale := []string{"none", "std"}[r.IntN(2)]
	var optimizer string
	if r.IntN(3) == 0 {
		optimizer = fmt.Sprintf("kind: adam, learning_rate: %.3g", between(1e-3, 3e-2))
	} else {
		momentum := []float64{0, 0.5, 0.9}[r.IntN(3)]
		optimizer = fmt.Sprintf("momentum: %v, learning_rate: %.3g", momentum, between(0.02, 1))
	}
	return fmt.Sprintf(`name: typical
seed: 1
bandit: {arms: [%s]}
grpo: {group_size: %d, advantage: {scale: %s}, kl: {coefficient: %.3g}}
lag: {kind: block, interval: %d}
optimizer: {%s}
run: {steps: 1000, replicas: 64}
`, strings.Join(arms, ", "), group, scale, beta, interval, optimizer)
}

// askTypical returns what the theory gives of a configuration of one cell.
func askTypical(t *testing.T, document string) (x typical) {
	t.Helper()
	s, cache := settingsOf(t, document), NewCache()
	p := cache.Line("typical", &s, OwnSize)
	path := cache.Courses(&s, ComparedSteps(&s), sim.ExpectedReward)[0]
	d, _ := p.Linear()
	x.adam = s.Optimizer.Kind == option.Adam
	switch {
	case p.Regime == "" && d.SpectralRadius == nil && p.FixedPoint != nil: // locks
	case d.SpectralRadius != nil && *d.SpectralRadius >= 1:
		x.state = unstable
	default:
		x.state = stable
		x.because = p.Scope.Because
		x.noise = p.Scope.In && p.Variance != nil && p.Neglected.RewardVariance <= *p.Variance/4
	}
	x.threshold = d.CriticalLearningRate != nil || math.IsInf(d.Searched.LearningRate, 1)
	if n := len(path.Neglected); path.Scope.In && n > 0 {
		rise := math.Abs(path.Reward[len(path.Reward)-1] - path.Reward[0])
		x.path = path.Neglected[n-1] < 0.05*rise
	}
	return x
}
