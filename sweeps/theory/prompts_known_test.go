package theory

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/force"
	"grposim/rom/path"
	"grposim/sim/measure"
	"grposim/sweeps/config"
)

// One exponential fits the mean curve of prompts that start at different probabilities of success
// with R² > 0.99, while its time constant and the initial one differ: R², 1/rate of the fit and
// (J_end − J_0)/(J_1 − J_0), in visits, of 0/1 arms at G = 8 and η = 0.05 a visit
// (docs/theory-trainers.md §11.7). π_ref of a prompt is its start. The law is that of 800
// quantiles.
func TestMixtureCurves(t *testing.T) { checkMixture(t, mixtures[:1]) }

// mixture is a law of the starts of prompts with what comes out: without scale, with the std scale,
// and with a penalty.
type mixture struct {
	config.BetaLaw
	none, std, penalty string
}

var mixtures = []mixture{
	{config.BetaLaw{Alpha: 1, Beta: 1}, "0.9987 137 160", "0.9988 60 73", "0.9976 45 40"},
	{config.BetaLaw{Alpha: 1, Beta: 9}, "0.9967 298 809", "0.9958 121 352", "0.9993 64 94"},
}

func checkMixture(t *testing.T, laws []mixture) {
	t.Helper()
	for _, law := range laws {
		for _, setting := range []struct {
			scale    option.Scale
			strength float64
			steps    int
			want     string
		}{
			{option.NoScale, 0, 800, law.none}, {option.StdScale, 0, 400, law.std},
			{option.StdScale, 1.2, 400, law.penalty},
		} {
			const prompts = 800
			curve, steps := make([]float64, setting.steps+1), make([]int, setting.steps+1)
			p := rom.Params{
				Arms: []option.Arm{{Mean: 1}, {Mean: 0}},
				Estimator: option.Estimator{GroupSize: 8, GroupsPerStep: 1,
					Advantage: option.Advantage{Scale: setting.scale},
					KL:        option.KL{Coefficient: setting.strength}},
				Lag:       option.Lag{Kind: option.Block, Interval: 1},
				Optimizer: option.Optimizer{LearningRate: 0.05},
			}
			for x := range prompts {
				z := startGap(law.BetaLaw, (float64(x)+0.5)/prompts)
				start := []float64{z / 2, -z / 2}
				p.Reference = start
				path.MeanField(p, start, setting.steps, func(step int, theta []float64) {
					curve[step] += force.ExpectedReward(p, theta) / prompts
					steps[step] = step
				})
			}
			rate, r2 := measure.Saturation(steps, curve)
			initial := (curve[setting.steps] - curve[0]) / (curve[1] - curve[0])
			if got := fmt.Sprintf("%.4f %.0f %.0f", r2, 1/rate, initial); got != setting.want {
				t.Errorf("%+v of %+v: got %s", setting, law, got)
			}
			if r2 < 0.99 {
				t.Errorf("R² = %v", r2)
			}
		}
	}
}

// Prompts are drawn by the seed alone, from their law: equal settings have equal prompts,
// another seed has others, the first prompts of more are those of fewer, and the mean of 4000
// is that of the law.
func TestPromptsAreDrawnByTheSeed(t *testing.T) {
	s := settingsOf(t, minimal)
	s.Prompts = config.Prompts{Count: 4000, Parameters: option.Tabular, Order: option.Shuffled,
		Means: config.BetaLaw{Alpha: 2, Beta: 3}, Start: config.BetaLaw{Alpha: 0.3, Beta: 0.7}}
	many := Prompts(&s)
	s.Prompts.Count = 10
	few := Prompts(&s)
	if !slices.Equal(few.Means, many.Means[:10]) || !slices.Equal(few.Starts, many.Starts[:10]) {
		t.Error("the first of many prompts are not those of few")
	}
	s.Seed++
	if other := Prompts(&s); other.Means[0] == few.Means[0] || other.Starts[0] == few.Starts[0] {
		t.Error("another seed has the same prompts")
	}
	var mean [2]float64
	start := 0.0
	for x, m := range many.Means {
		mean[0] += m[0] / 4000 / s.Bandit.Arms[0].Mean
		mean[1] += m[1] / 4000 / s.Bandit.Arms[1].Mean
		start += 1 / (1 + math.Exp(-many.Starts[x])) / 4000
	}
	within := 6 * 0.33 / math.Sqrt(4000)
	near(t, "first arm", mean[0], 0.4, within)
	near(t, "second arm", mean[1], 0.4, within)
	near(t, "start", start, 0.3, within)
	s.Prompts.Means, s.Prompts.Start = config.BetaLaw{}, config.BetaLaw{}
	p := Prompts(&s)
	if p.Starts != nil || p.Means[3] != [2]float64{s.Bandit.Arms[0].Mean, s.Bandit.Arms[1].Mean} {
		t.Errorf("without laws: got %+v", p)
	}
	if z := startGap(config.BetaLaw{Alpha: 0.01, Beta: 0.01}, 1-0x1p-53); !(z > 100) || math.IsInf(z, 0) {
		t.Errorf("a quantile near 1: logit %v", z)
	}
}

// Listed mean rewards are those of the prompts in the simulator and in the theory.
func TestListedPromptMeans(t *testing.T) {
	s := settingsOf(t, minimal)
	list := config.PromptMeans{{0.9, 0.2}, {1, 0}, {0.5, 0.4}}
	s.Prompts = config.Prompts{Count: 3, Parameters: option.Shared, Order: option.Independent,
		List: &list}
	if p := Prompts(&s); !slices.Equal(p.Means, list) {
		t.Errorf("means of the simulator %v, want %v", p.Means, list)
	}
	p := Params(&s, rom.Unit)
	if !slices.Equal(p.Prompts.First, []float64{0.9, 1, 0.5}) ||
		!slices.Equal(p.Prompts.Second, []float64{0.2, 0, 0.4}) {
		t.Errorf("means of the theory %v and %v", p.Prompts.First, p.Prompts.Second)
	}
	near(t, "first arm of the mean prompt", p.Arms[0].Mean, 0.8, 1e-15)
	near(t, "second arm of the mean prompt", p.Arms[1].Mean, 0.2, 1e-15)
}
