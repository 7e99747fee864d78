package theory

import (
	"fmt"
	"slices"

	"grposim/grpo"
	"grposim/rom"
	"grposim/sweeps/config"
)

// Params returns the settings of a cell as parameters of the theory, with constants
// scaled by factors (rom.Unit: the theory as derived). It is the only translation
// between simulator and theory; an error in it makes a verdict disagree.
//
// Settings that no prediction depends on are left out: length and number of runs.
// Params.Start is nil, the reference, for cells that start there or at a fixed point.
// Params.Measured is nil. It panics on an enumeration value without
// counterpart in the theory.
func Params(s *config.Settings, factors rom.Factors) rom.Params {
	e := &s.Estimator
	var ageWeights [grpo.MaxTableAge + 1]float64
	copy(ageWeights[:], s.Lag.Ages.Weights)
	p := rom.Params{
		Reference: s.Policy.Reference,
		GroupSize: e.GroupSize,
		Groups:    e.GroupsPerStep,
		Filter:    translate(e.Filter, filters),
		Baseline:  translate(e.Advantage.Baseline, baselines),
		Scale:     translate(e.Advantage.Scale, scales),
		Deviation: translate(e.Advantage.Std, deviations),
		Epsilon:   e.Advantage.Epsilon,

		BaselineValue: e.Advantage.Value,
		BaselineRate:  e.Advantage.Rate,

		Weighting:   translate(e.Importance.Mode, weightings),
		ClipLow:     e.Importance.ClipLow,
		ClipHigh:    e.Importance.ClipHigh,
		Floor:       e.Importance.Floor,
		Cap:         e.Importance.Cap,
		Temperature: rom.BySign(e.Importance.Temperature),
		Power:       rom.BySign(e.Importance.Power),
		Decay:       rom.BySign(e.Importance.Decay),
		Strength:    e.KL.Coefficient,
		KLEstimator: translate(e.KL.Gradient, estimates),
		Anchor:      translate(e.KL.At, anchors),
		Placement:   translate(e.KL.In, placements),
		Entropy:     e.Entropy,
		Samples:     translate(e.Samples, samples),
		Lag: rom.Lag{
			Kind: translate(s.Lag.Kind, lags), Age: s.Lag.Interval, Behind: s.Lag.Behind,
			Ages: rom.Ages{
				Law: translate(s.Lag.Ages.Law, ageLaws), From: s.Lag.Ages.From, To: s.Lag.Ages.To,
				Mean: s.Lag.Ages.Mean, Weights: ageWeights, Draws: ageDraws(s),
			},
		},
		Optimizer: rom.Optimizer{
			Method:   translate(s.Optimizer.Kind, methods),
			Rate:     s.Optimizer.LearningRate,
			Momentum: s.Optimizer.Momentum,
			Beta1:    s.Optimizer.Beta1,
			Beta2:    s.Optimizer.Beta2,
			Epsilon:  s.Optimizer.Epsilon,
			Decay:    translate(s.Optimizer.Schedule.Kind, decays),
			Warmup:   s.Optimizer.Schedule.Warmup,
			Total:    s.Optimizer.Schedule.Total,
			MaxNorm:  s.Optimizer.MaxNorm,
		},
		ReferenceUpdate: rom.ReferenceUpdate{Interval: s.Policy.ReferenceUpdate.Interval, Rate: s.Policy.ReferenceUpdate.Rate},
		Factors:         factors,
	}
	if e.GroupSize == grpo.Infinite {
		p.GroupSize = rom.Infinite
	}
	if init := s.Policy.Init; init.Kind == config.AtLogits && !slices.Equal(init.Logits, s.Policy.Reference) {
		p.Start = init.Logits
	}
	prompts := Prompts(s)
	p.Arms, p.Prompts = meanArms(s, prompts), theoryOf(prompts)
	return p
}

// ageDraws returns the number of independent ages of a step; 0 at G = ∞, where the force is
// the mean over the law.
func ageDraws(s *config.Settings) int {
	switch {
	case s.Estimator.GroupSize == grpo.Infinite:
		return 0
	case s.Lag.Ages.Drawn == grpo.AgePerStep:
		return 1
	}
	return s.Estimator.GroupsPerStep
}

// The enumeration values of the algorithm and their counterparts in the theory.
var (
	laws       = map[grpo.Law]rom.Law{grpo.Bernoulli: rom.Bernoulli, grpo.Constant: rom.Constant, grpo.Normal: rom.Normal}
	baselines  = map[grpo.Baseline]rom.Baseline{grpo.MeanBaseline: rom.GroupMean, grpo.LeaveOneOut: rom.LeaveOneOut, grpo.SecondBest: rom.SecondBest, grpo.ConstantBaseline: rom.ConstantBaseline, grpo.RunningMean: rom.RunningMean}
	scales     = map[grpo.Scale]rom.Scale{grpo.StdScale: rom.GroupStd, grpo.NoScale: rom.Unscaled, grpo.BatchStd: rom.BatchStd, grpo.OthersStd: rom.OthersStd, grpo.MeanScale: rom.GroupMeanScale, grpo.PooledStd: rom.PooledStd, grpo.BatchMean: rom.BatchMean}
	filters    = map[grpo.Filter]rom.Filter{grpo.KeepAll: rom.KeepAll, grpo.Redraw: rom.Redraw, grpo.Drop: rom.Drop}
	deviations = map[grpo.Deviation]rom.Deviation{grpo.PopulationStd: rom.Population, grpo.SampleStd: rom.Sample}
	weightings = map[grpo.ImportanceMode]rom.Weighting{
		grpo.NoImportance: rom.Unweighted, grpo.Ratio: rom.Ratio, grpo.Clip: rom.Clipped, grpo.DualClip: rom.DualClipped,
		grpo.Truncated: rom.Truncated, grpo.Masked: rom.Masked, grpo.CISPO: rom.Clamped,
		grpo.SAPO: rom.Sigmoid, grpo.VESPO: rom.Powered, grpo.DPPO: rom.ChangeClipped,
	}
	estimates  = map[grpo.KLGradient]rom.KLEstimator{grpo.ExactKL: rom.ExactKL, grpo.K1: rom.K1, grpo.K2: rom.K2, grpo.K3: rom.K3, grpo.RatioK1: rom.RatioK1, grpo.RatioK3: rom.RatioK3}
	anchors    = map[grpo.KLPoint]rom.Anchor{grpo.AtCurrent: rom.AtCurrent, grpo.AtSnapshot: rom.AtSnapshot}
	placements = map[grpo.KLPlacement]rom.Placement{grpo.InLoss: rom.InLoss, grpo.InAdvantage: rom.InAdvantage, grpo.InReward: rom.InReward}
	samples    = map[grpo.Samples]rom.Samples{grpo.Fresh: rom.Fresh, grpo.Reused: rom.Reused}
	lags       = map[grpo.LagKind]rom.LagKind{grpo.Block: rom.Block, grpo.Delay: rom.Delay, grpo.Random: rom.Random}
	ageLaws    = map[grpo.AgeLaw]rom.AgeLaw{grpo.UniformAges: rom.UniformAges, grpo.GeometricAges: rom.GeometricAges, grpo.TableAges: rom.TableAges}
	methods    = map[grpo.Method]rom.Method{grpo.HeavyBall: rom.HeavyBall, grpo.Nesterov: rom.Nesterov, grpo.Adam: rom.Adam}
	decays     = map[grpo.ScheduleKind]rom.Decay{grpo.ConstantRate: rom.Steady, grpo.LinearDecay: rom.Linear, grpo.CosineDecay: rom.Cosine}
)

// translate returns the counterpart of an enumeration value. It panics if there is
// none, which is a gap in the dictionaries above.
func translate[From comparable, To any](value From, dictionary map[From]To) To {
	to, known := dictionary[value]
	if !known {
		panic(fmt.Sprintf("sweeps: the theory has no counterpart of %T %v", value, value))
	}
	return to
}
