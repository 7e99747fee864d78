package cell

import (
	"math"
	"slices"

	"grposim/option"
	"grposim/rom/group"
	"grposim/rom/linear"
	"grposim/rom/scope"
	"grposim/rom/weight"
)

// Question is a part of a prediction, which is not derived for every bandit, estimator, optimizer
// and lag. A set of them is their sum.
type Question uint

const (
	RewardsInDigits  Question = 1 << iota // rewards that rounding does not decide
	MeanForceKnown                        // the mean force and its noise
	FixedPointKnown                       // a fixed point
	WeightsAtRest                         // the force where the policy is its snapshot
	StateAtRest                           // the dynamics about a fixed point of many prompts
	DynamicsAtRest                        // the linear dynamics about a fixed point
	SecondOrderLaw                        // the moments of second order in the noise
	SpreadOfRuns                          // the spread of runs about the mean field
	DeviationOfRuns                       // the standard deviations over runs that it has
	ShareOnTheWay                         // the share of groups with equal rewards along a path
	ClipOnTheWay                          // the share of clipped samples along a path
	KLOnTheWay                            // the KL to the reference along a path
	NormOnTheWay                          // the norm of the gradient along a path
	QuantityOfStep                        // a quantity of both policies of a step along a path
	OscillatorOfPath                      // the reduced-order model away from the fixed point
	ArrivalOfRuns                         // see Arrival
	KicksOfK3                             // whether kicks of k3 throw runs across
	LockingOfRuns                         // whether runs lock without a penalty
	LawOfArrived                          // the share of runs at rest on the other side
	FlipsOfReuse                          // whether reused samples with ratios carry runs over
	BlockRecurrence                       // see Refreshed
	visitsOfPrompts                       // see Params.Visits
)

// lagClass is a set of lags that the theory tells apart.
type lagClass uint

const (
	lastBlock   lagClass = 1 << iota // a block whose snapshot is that of the last refresh
	olderBlock                       // a block whose snapshot is older
	constantLag                      // a constant delay
	randomAges

	anyLag       = 1<<iota - 1
	notLastBlock = anyLag &^ lastBlock
	// the state is not that of the last policies or the last refresh
	severalOld = olderBlock | randomAges
)

// classOf returns the class of a lag.
func classOf(l *option.Lag) lagClass {
	switch {
	case l.Kind == option.Block && l.Behind == 0:
		return lastBlock
	case l.Kind == option.Block:
		return olderBlock
	case l.Kind == option.Delay:
		return constantLag
	}
	return randomAges
}

// domains is the table of what the theory does not answer: for questions the lags and the options,
// and the reason. It is asked before anything is computed; the first row that applies counts.
var domains = []struct {
	of      Question
	lags    lagClass
	option  func(p *Params) bool // nil: any
	because scope.Reason
}{
	{RewardsInDigits, anyLag, roundedRewards, scope.BeyondRange.Because()},

	{MeanForceKnown, anyLag, func(p *Params) bool { return movesReference(p) && !p.OnTheWay },
		scope.MovingReference.Because()},
	{MeanForceKnown, anyLag, func(p *Params) bool { return p.Rollout.Noise > 0 },
		simulated("a sampler whose logits differ from the trainer's")},
	{MeanForceKnown, anyLag, func(p *Params) bool {
		return p.Varies() && !p.OnTheWay || p.SizeSchedule.Varies() && p.GroupSize != option.Infinite
	}, simulated("a KL coefficient, clip or group size that changes over the run")},
	{MeanForceKnown, anyLag, func(p *Params) bool {
		return p.KL.OfReward() && p.Filter != option.KeepAll
	}, simulated("a KL penalty in the reward with dynamic sampling")},
	{MeanForceKnown, anyLag, func(p *Params) bool {
		return p.KL.Outside() && p.Advantage.BinaryOnly()
	}, simulated("a KL penalty outside the loss, but for the scales none and std")},
	{MeanForceKnown, anyLag, func(p *Params) bool {
		redraws := p.Filter == option.Redraw && (p.Tabular() || !p.KL.Sampled())
		return prompts(p) && (p.KL.OfReward() || p.Advantage.Scale.OfStep() && p.GroupsPerStep > 1 ||
			p.Filter != option.KeepAll && !redraws)
	}, simulated("many prompts with a KL in the reward or a scale of several groups, groups that " +
		"are dropped, or redrawn with one policy and a sampled penalty")},
	{MeanForceKnown, anyLag, func(p *Params) bool {
		signed := weight.Signed // at rest, where a clip is far
		if p.OnTheWay {
			signed = weight.BySign
		}
		return p.KL.OfReward() && signed(&p.Importance) && !linear.NewLag(&p.Lag).OnPolicy() &&
			p.GroupSize != option.Infinite && !composes(p)
	}, simulated("a KL in the reward of older samples of too many values under a clip")},
	{MeanForceKnown, anyLag, func(p *Params) bool {
		normal := slices.ContainsFunc(
			p.Arms, func(arm option.Arm) bool { return arm.Law == option.Normal })
		return expands(p) && p.KL.OfReward() && !composes(p) && (normal || len(p.Arms) > 2)
	}, manyValued},

	{BlockRecurrence, anyLag, func(p *Params) bool {
		return p.Importance.Mode != option.Ratio || p.KL.In != option.InLoss ||
			p.KL.Gradient != option.ExactKL || p.KL.At != option.AtCurrent
	}, scope.Recurrence.Because(
		"it is for importance ratios without a clip and the exact KL at the current policy")},
	{FixedPointKnown, anyLag, func(p *Params) bool {
		return noPenalty(p) && p.KL.Coefficient > 0 && p.Filter == option.Redraw
	}, scope.NoPenalty.Because(
		" that is stable: k1 in the loss of redrawn groups pushes away from J = ½")},
	{FixedPointKnown, anyLag, func(p *Params) bool { return noPenalty(p) && p.KL.Coefficient > 0 },
		scope.NoPenalty.Because(": k1 in the loss is no penalty in the mean")},
	{FixedPointKnown | BlockRecurrence, anyLag, noPenalty,
		scope.NoPenalty.Because(" without a KL penalty")},

	{WeightsAtRest, anyLag, func(p *Params) bool { return weight.Range(&p.Importance) == 0 },
		simulated("a weight with a kink where the policy is its snapshot")},
	{WeightsAtRest, anyLag, signedWeights, simulated("weights that depend on the sign of the " +
		"advantage, with rewards of many values in finite groups")},
	{WeightsAtRest, anyLag, func(p *Params) bool {
		return expands(p) && (p.GroupSize < group.LeastExpanded && !composes(p) ||
			p.KL.OfReward() && !certain(p) && !composes(p))
	}, manyValued},
	{StateAtRest, anyLag, func(p *Params) bool {
		return prompts(p) && p.Prompts.Parameters == option.Shared &&
			p.Prompts.Order != option.Independent
	}, simulated("the noise of prompts that share one policy and are drawn by epochs")},

	{OscillatorOfPath, anyLag, (*Params).Tabular,
		scope.NoNumber.Because("each prompt has a policy of its own")},
	{OscillatorOfPath, anyLag, adam,
		scope.NoNumber.Because("Adam has no linear dynamics away from its fixed point")},
	{LockingOfRuns, anyLag, noLockingWalk, simulated(
		"the locking of runs off-policy, under Adam, or of other rewards than two values")},
	{FlipsOfReuse, anyLag, noLoneSample, simulated(
		"what one sample of a rare arm does, under Adam or of other rewards than two values")},
	{OscillatorOfPath | LockingOfRuns | FlipsOfReuse, anyLag, rateVaries,
		scope.RateVaries.Because("is not constant")},
	{DynamicsAtRest | SpreadOfRuns, anyLag, func(p *Params) bool {
		return p.LimitedOnTheWay() && (p.Tabular() || len(p.Arms) > mostLimitedArms)
	}, scope.NormClips.Because("")},
	{DynamicsAtRest | DeviationOfRuns, anyLag, func(p *Params) bool {
		return fewLimited(p, 2*group.LeastExpanded)
	}, scope.NormClips.Because("")},
	{SpreadOfRuns, anyLag, func(p *Params) bool { return fewLimited(p, group.LeastExpanded) },
		scope.NormClips.Because("")},
	{LockingOfRuns, anyLag, clips, scope.NormClips.Because("")},
	{DynamicsAtRest, notLastBlock, reused,
		simulated("reused samples with snapshots older than a block")},
	{DynamicsAtRest, randomAges, func(p *Params) bool { return p.KL.Outside() },
		simulated("random ages with a KL penalty outside the loss")},
	{SecondOrderLaw, anyLag, func(p *Params) bool {
		return classOf(&p.Lag)&severalOld != 0 || reused(p) || p.Advantage.Baseline == option.RunningMean
	}, simulated("the second order in the noise of several old policies, shared samples or baselines")},

	{SpreadOfRuns, anyLag, func(p *Params) bool {
		return adam(p) && (p.Filter == option.Drop || p.Advantage.Baseline == option.RunningMean)
	}, simulated("the spread of runs under Adam of dropped groups or a running mean as baseline")},
	{SpreadOfRuns, randomAges, func(p *Params) bool {
		return p.KL.OfReward() && composes(p) && len(p.Arms) > 2
	}, simulated("random ages with a KL penalty in the reward of more than two arms")},
	{DeviationOfRuns, anyLag, fewUnderAdam,
		simulated("deviations under Adam with fewer than 32 samples a step of other rewards than 0 and " +
			"1, with a scale of the step or k1 in the loss")},
	{DeviationOfRuns, anyLag, func(p *Params) bool { return adam(p) && p.LimitedOnTheWay() },
		scope.NormClips.Because("")},
	{SpreadOfRuns, anyLag, (*Params).oldBaseline,
		simulated("the spread of runs with a running mean of old rewards as baseline")},
	{ShareOnTheWay, anyLag, func(p *Params) bool { return p.GroupSize == option.Infinite },
		scope.NoNoise.Because()},
	{ShareOnTheWay, anyLag, func(p *Params) bool { return p.KL.OfReward() }, simulated(
		"the share of groups with equal rewards where the KL is a part of the reward")},
	{ClipOnTheWay, anyLag, func(p *Params) bool {
		return manyValues(p) || p.Advantage.Baseline > option.LeaveOneOut || clipsOnTheWay(p)
	}, simulated("the share of clipped samples of finite groups, of other rewards than two values, " +
		"or of another baseline")},
	{KLOnTheWay, anyLag, movesReference, scope.MovingReference.Because()},
	{NormOnTheWay, anyLag, func(p *Params) bool {
		return p.GroupSize != option.Infinite || p.Optimizer.MaxNorm > 0 || prompts(p)
	}, simulated("the norm of sampled gradients")},
	{QuantityOfStep, anyLag, func(p *Params) bool {
		return p.Tabular() && p.Prompts.Order != option.Independent && p.Lag.Interval > 1 && !p.always()
	}, simulated("the effective share of the samples of prompts drawn by epochs")},

	{ArrivalOfRuns, anyLag, prompts, simulated("the share of runs that arrive, of many prompts")},
	{KicksOfK3, anyLag, adam, simulated("the kicks of k3 under Adam")},
	{KicksOfK3, anyLag, func(p *Params) bool {
		return !linear.NewLag(&p.Lag).OnPolicy() || p.Filter != option.KeepAll ||
			len(p.Arms) > MaxPathArms
	}, simulated("the kicks of k3 of older samples, with dynamic sampling or more than 64 arms")},
	{KicksOfK3, anyLag, func(p *Params) bool {
		return p.Optimizer.MaxNorm > 0 && !p.RewardWithinNorm()
	}, scope.NormClips.Because("")},
	{LawOfArrived, anyLag, func(p *Params) bool {
		return len(p.Arms) != 2 || p.Arms[0].Mean == p.Arms[1].Mean // there is no better and worse arm
	}, simulated("the share of runs that end on a wrong arm of more than two")},

	{visitsOfPrompts, anyLag, func(p *Params) bool {
		return p.Optimizer.Kind != option.HeavyBall || rateVaries(p) || p.Varies() ||
			p.Optimizer.Momentum > 0 && (reused(p) || p.Prompts.Order == option.Shuffled) ||
			classOf(&p.Lag) != lastBlock || p.coastsOnSnapshot()
	}, simulated("prompts whose state at a visit is not that after the last one")},
}

// simulated returns the reason of what the simulator alone knows.
func simulated(what string) scope.Reason { return scope.NotPredicted.Because(what) }

func reused(p *Params) bool { return p.Samples == option.Reused }

func movesReference(p *Params) bool { return p.ReferenceUpdate.Interval > 0 }

func adam(p *Params) bool { return p.Optimizer.Kind == option.Adam }

func prompts(p *Params) bool { return len(p.Prompts.First) > 0 }

func noPenalty(p *Params) bool { return p.Pull() == 0 }

// clipsOnTheWay reports whether samples may be clipped, of a share that is not exactly derived.
func clipsOnTheWay(p *Params) bool {
	return (p.Tabular() || p.GroupSize != option.Infinite) && weight.Jumps(&p.Importance) &&
		!linear.NewLag(&p.Lag).OnPolicy()
}

// manyValues reports whether rewards take more than two values.
func manyValues(p *Params) bool {
	success, _ := group.TwoValued(p.Arms)
	return success == nil
}

func clips(p *Params) bool { return !p.NeverClipped(0) }

// fewUnderAdam reports whether Adam's steps have few samples, whose force is taken for normal, as
// also under k1.
func fewUnderAdam(p *Params) bool {
	return adam(p) && p.GroupSize*p.GroupsPerStep < 4*group.LeastExpanded &&
		(p.KL.Coefficient > p.Restoring() || p.Advantage.Scale.OfStep() || manyValues(p) && !composes(p))
}

// fewLimited reports whether a limited gradient is of fewer samples, if their law on the way is not
// counted. Of 42 random cells with 8 to 24 none was beyond its size.
func fewLimited(p *Params, samples int) bool {
	return p.LimitedOnTheWay() && p.GroupSize*p.GroupsPerStep < samples &&
		!(p.OnTheWay && p.GroupsCounted())
}

// noLoneSample reports whether the law of the advantage of a lone sample of an arm in a group is
// not known, or is not all that moves the policy.
func noLoneSample(p *Params) bool {
	return manyValues(p) || adam(p) || p.KL.OfReward() || p.Filter != option.KeepAll ||
		p.Advantage.Scale.OfStep() || p.Advantage.BinaryOnly()
}

// noLockingWalk reports whether the policy of a locked run does not move by independent samples of
// the present policy.
func noLockingWalk(p *Params) bool {
	return noLoneSample(p) || !linear.NewLag(&p.Lag).OnPolicy() &&
		!(reused(p) && p.Importance.Mode == option.NoImportance)
}

func rateVaries(p *Params) bool {
	return p.Optimizer.Schedule.Varies()
}

// roundedSpread is the standard deviation of a normal reward in units of its mean below
// which it is out of scope: rewards are known to 1e-16 of the mean, or a thousandth of it.
const roundedSpread = 1e-13

// roundedRewards reports whether rounding decides the rewards.
func roundedRewards(p *Params) bool {
	return slices.ContainsFunc(p.Arms, func(arm option.Arm) bool {
		return arm.Law == option.Normal && arm.Std > 0 && arm.Std < roundedSpread*max(arm.Mean, -arm.Mean)
	})
}

// SucceedOrFail reports whether all rewards are 0 or 1.
func SucceedOrFail(p *Params) bool {
	return !slices.ContainsFunc(p.Arms, func(arm option.Arm) bool {
		return arm.Law != option.Bernoulli && (arm.Std != 0 || arm.Mean != 0 && arm.Mean != 1)
	})
}

// signedWeights reports whether the weights of both signs of the advantage differ however small the
// displacement, where the numbers of samples by sign are not known: they are for rewards of two
// values only.
func signedWeights(p *Params) bool {
	return weight.Signed(&p.Importance) && p.GroupSize != option.Infinite && manyValues(p) &&
		!composes(p)
}

// manyValued is the reason of rewards of many values whose expansion in 1/G does not hold.
var manyValued = simulated(
	"the std scale of rewards with the KL in them, and of too many values in groups below 8")

// composes reports whether the force of a group is known by its compositions.
func composes(p *Params) bool {
	return (p.OnTheWay || !p.KL.OfReward()) && group.Compose(p.Arms, &p.Estimator, nil) != nil
}

// expands reports whether the force of a group is known to first order in 1/G only.
func expands(p *Params) bool {
	return p.GroupSize != option.Infinite && p.Advantage.Scale == option.StdScale &&
		(manyValues(p) || p.KL.OfReward())
}

// NotDerived returns the reason why the theory has no answer to the questions, none where it may.
func (p *Params) NotDerived(all ...Question) scope.Reason {
	class := classOf(&p.Lag)
	for _, of := range all {
		for i := range domains {
			if row := &domains[i]; row.of&of != 0 && row.lags&class != 0 &&
				(row.option == nil || row.option(p)) {
				if row.because.Is(scope.NormClips) {
					return p.Clipped(math.Inf(1))
				}
				return row.because
			}
		}
	}
	return scope.Reason{}
}

// AgeDraws returns the number B_a of independent random ages whose forces one step averages; 0
// where ages are not random, and at G = ∞, where the force is the mean over the law: infinitely
// many.
func (p *Params) AgeDraws() int {
	switch {
	case classOf(&p.Lag) != randomAges || p.GroupSize == option.Infinite:
		return 0
	case p.Lag.Ages.Drawn == option.AgePerStep:
		return 1
	}
	return p.GroupsPerStep
}

// oldBaseline reports whether the baseline is a running mean of old rewards whose error the weights
// do not cancel.
func (p *Params) oldBaseline() bool {
	up, down := weight.Slopes(&p.Importance, 1, 1)
	return p.Advantage.Baseline == option.RunningMean && !linear.NewLag(&p.Lag).OnPolicy() &&
		(up != 1 || down != 1)
}

// coastsOnSnapshot reports whether a prompt moves, between its visits, away from a snapshot that
// the next visit uses.
func (p *Params) coastsOnSnapshot() bool {
	period := len(p.Prompts.First) / p.GroupsPerStep
	return p.Lag.Interval > 1 && !reused(p) && (p.Optimizer.Momentum > 0 || period%p.Lag.Interval != 0)
}

// certain reports whether every arm has a single reward.
func certain(p *Params) bool {
	return !slices.ContainsFunc(p.Arms, func(arm option.Arm) bool {
		low, high, ok := group.Support(arm)
		return !ok || low != high
	})
}
