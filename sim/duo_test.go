package sim

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"grposim/grpo"
)

// outcomes of a team run to the end: everything a replica leaves.
type teamOutcome struct {
	Values     [][quantityCount]float64
	Curve      []float64
	Averages   string
	DivergedAt int
}

// abreast runs a team as it is run.
func abreast(ctx context.Context, t *team, first int) { t.run(ctx, first, teamSize) }

// stepByStep runs a team without duos.
func stepByStep(_ context.Context, t *team, first int) {
	for i, r := range t.replicas {
		r.begin(first + i)
		for step := range r.cell.Run.Steps + 1 {
			r.step(step)
		}
	}
}

func outcomesOf(t *testing.T, run func(context.Context, *team, int), team *team, first int) []teamOutcome {
	run(t.Context(), team, first)
	var outcomes []teamOutcome
	for _, r := range team.replicas {
		avg := r.end()
		o := teamOutcome{Values: append([][quantityCount]float64(nil), r.values...), Curve: append([]float64(nil), r.curve...), Averages: fmt.Sprintf("%x", avg), DivergedAt: r.divergedAt}
		if r.divergedAt != running {
			o.Averages = "" // of a diverged replica nothing is used
			o.Values, o.Curve = nil, nil
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}

func recordingTeam(c *Cell, size int) *team {
	return newTeam(c, RecordedSteps(c.Run.Steps, c.Lag), newLaws(&c.Bandit, &c.Estimator), new(spares), size)
}

// anyDuo returns a random cell that a duo can do.
func anyDuo(random *rand.Rand, i int) Cell {
	c := referenceCell()
	c.ID = fmt.Sprint("duo ", i)
	e := &c.Estimator
	c.Bandit.Arms[0].Mean = [...]float64{0.9, 0.5, 1, 0}[random.IntN(4)]
	c.Bandit.Arms[1].Mean = [...]float64{0.2, 0.25, random.Float64()}[random.IntN(3)]
	e.GroupSize = [...]int{2, 3, 16, 17, 21, 32, 64, 65, 128, 200, 256, 257, 1000}[random.IntN(13)]
	e.GroupsPerStep = 1 + random.IntN(3)
	e.Advantage.Scale = grpo.Scales[random.IntN(2)]
	e.Advantage.Baseline = grpo.Baselines[random.IntN(2)]
	e.Advantage.Std = grpo.Deviations[random.IntN(2)]
	e.Importance.Mode = [...]grpo.ImportanceMode{grpo.NoImportance, grpo.Ratio}[random.IntN(2)]
	e.KL.At = grpo.KLPoints[random.IntN(2)]
	e.KL.Coefficient = [...]float64{0, 0.3, 1.7}[random.IntN(3)]
	c.Lag.Interval = 1 + random.IntN(9)
	c.Optimizer.Momentum = [...]float64{0, 0.5, 0.95}[random.IntN(3)]
	c.Optimizer.LearningRate = 0.5 * random.Float64()
	c.Optimizer.Kind = [...]grpo.Method{grpo.HeavyBall, grpo.HeavyBall, grpo.Nesterov, grpo.Adam}[random.IntN(4)]
	c.Optimizer.Beta1, c.Optimizer.Beta2, c.Optimizer.Epsilon = 0.9, 0.99, 1e-8
	if random.IntN(3) == 0 {
		c.Optimizer.Schedule = grpo.Schedule{Kind: grpo.ScheduleKinds[random.IntN(3)], Warmup: random.IntN(20), Total: 300}
	}
	c.Reference = []float64{random.NormFloat64(), random.NormFloat64()}
	c.Init = []float64{random.NormFloat64(), random.NormFloat64()}
	c.Run = Run{Steps: 1 + random.IntN(500), Replicas: teamSize}
	c.Run.BurnIn = random.IntN(c.Run.Steps)
	if random.IntN(2) == 0 {
		c.Fits = []CurveFit{SaturationFit, EarlySlopeFit}
	}
	return c
}

// A duo does to the last bit what step does.
func TestDuoIsTheGeneralReplica(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	coasted := 0
	for i := range 300 {
		c := anyDuo(random, i)
		team := recordingTeam(&c, teamSize)
		if team.duos == nil {
			t.Fatalf("no duo for %+v", c)
		}
		coasted += c.Run.Steps + 1 - len(team.watched)
		first := random.IntN(100)
		if diff := cmp.Diff(outcomesOf(t, stepByStep, recordingTeam(&c, teamSize), first), outcomesOf(t, abreast, team, first)); diff != "" {
			t.Fatalf("%+v:\n%s", c, diff)
		}
	}
	if coasted < 1000 {
		t.Errorf("only %d steps were the duo's", coasted)
	}
}

// A replica that diverges does so at the same step.
func TestDuoDiverges(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	diverged := 0
	for i := range 100 {
		c := anyDuo(random, i)
		c.Lag.Interval = 1 + random.IntN(3)
		c.Estimator.KL.Coefficient *= 1e3
		c.Optimizer.Momentum = 0.99
		c.Optimizer.LearningRate = math.Pow(10, 308*random.Float64())
		want := outcomesOf(t, stepByStep, recordingTeam(&c, teamSize), 0)
		if diff := cmp.Diff(want, outcomesOf(t, abreast, recordingTeam(&c, teamSize), 0)); diff != "" {
			t.Fatalf("%+v:\n%s", c, diff)
		}
		if want[0].DivergedAt != running {
			diverged++
		}
	}
	if diverged < 10 {
		t.Errorf("only %d diverged", diverged)
	}
}

// Replicas that are none any more, their snapshots with them, are let alone.
func TestDuoOfNone(t *testing.T) {
	c := referenceCell()
	c.Lag.Interval = 1
	team := recordingTeam(&c, teamSize)
	team.run(t.Context(), 0, teamSize)
	for _, r := range team.replicas {
		r.policy.Logits[0] = math.NaN()
		r.policy.Update()
		r.divergedAt = 7
	}
	team.duos.coast(t.Context(), teamSize, 8, 20)
	for _, r := range team.replicas {
		if r.divergedAt != 7 {
			t.Errorf("diverged at %d, want 7", r.divergedAt)
		}
	}
}

// What runs abreast does not matter: a replica alone is the same as in a team.
func TestTeamsAreReplicas(t *testing.T) {
	three := referenceCell()
	three.Bandit.Arms = append(three.Bandit.Arms, grpo.Arm{Reward: grpo.Bernoulli, Mean: 0.5})
	three.Bandit.TrueMeans = make([]float64, 3)
	three.Init, three.Reference = make([]float64, 3), make([]float64, 3)
	for _, c := range []Cell{referenceCell(), three} {
		c.Run.Steps, c.Run.BurnIn = 300, 100
		team := outcomesOf(t, abreast, recordingTeam(&c, teamSize), 5)
		for i := range team {
			if diff := cmp.Diff(team[i], outcomesOf(t, abreast, recordingTeam(&c, 1), 5+i)[0]); diff != "" {
				t.Errorf("%d arms, replica %d:\n%s", len(c.Init), i, diff)
			}
		}
	}
}

// The step of a divergence is that of the first policy that is none, also where
// nothing is recorded.
func TestStepOfDivergence(t *testing.T) {
	c := referenceCell()
	c.Estimator.KL = grpo.KL{Coefficient: 50, Gradient: grpo.ExactKL, At: grpo.AtCurrent}
	c.Optimizer.LearningRate = 1.7e308
	c.Lag.Interval = 50
	c.Run = Run{Steps: 400, Replicas: teamSize}
	for name, run := range map[string]func(context.Context, *team, int){"step": stepByStep, "duo": abreast} {
		for _, o := range outcomesOf(t, run, recordingTeam(&c, teamSize), 0) {
			if o.DivergedAt != 2 {
				t.Errorf("%s: diverged at %d, want 2", name, o.DivergedAt)
			}
		}
	}
}

// A duo turns down the cells it cannot do.
func TestDuoTurnsDown(t *testing.T) {
	for name, change := range map[string]func(*Cell){
		"clip":       func(c *Cell) { c.Estimator.Importance.Mode = grpo.Clip },
		"sampled KL": func(c *Cell) { c.Estimator.KL.Gradient = grpo.K3 },
		"delay":      func(c *Cell) { c.Lag = grpo.Lag{Kind: grpo.Delay, Interval: 3} },
		"three arms": func(c *Cell) {
			c.Bandit.Arms = append(c.Bandit.Arms, c.Bandit.Arms[0])
			c.Bandit.TrueMeans, c.Init, c.Reference = make([]float64, 3), make([]float64, 3), make([]float64, 3)
		},
	} {
		c := referenceCell()
		change(&c)
		if recordingTeam(&c, 1).duos != nil {
			t.Errorf("%s: a duo", name)
		}
	}
}
