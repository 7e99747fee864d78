package grpo

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Check panics with the name of the first field of b that is out of its range, what it
// got and what it wants.
func (b *Bandit) Check() {
	checkArms(len(b.Arms))
	for a, arm := range b.Arms {
		field := "Bandit.Arms[" + strconv.Itoa(a) + "]."
		checkWord(field+"Reward", arm.Reward, Laws)
		switch arm.Reward {
		case Bernoulli:
			checkNumber(field+"Mean", arm.Mean, arm.Mean >= 0 && arm.Mean <= 1, " in [0, 1]")
		case Normal:
			checkNumber(field+"Std", arm.Std, arm.Std >= 0, " ≥ 0")
		}
		checkNumber(field+"Mean", arm.Mean, arm.Mean == arm.Mean, "")
	}
}

// Check panics as Bandit.Check does. It ignores the fields that other options make unused.
func (e *Estimator) Check() {
	checkInt("Estimator.GroupSize", e.GroupSize, 2)
	checkInt("Estimator.GroupsPerStep", e.GroupsPerStep, 1)
	checkWord("Estimator.Filter", cmp.Or(e.Filter, KeepAll), Filters)
	e.Advantage.check("Estimator.Advantage")
	if e.Advantage.BinaryOnly() && e.Filter.Changes() {
		panic(mistake("Estimator.Filter", strconv.Quote(string(e.Filter)), "none with this advantage"))
	}
	if b := e.Advantage.Baseline; (b == SecondBest || b == RunningMean) && e.GroupSize == Infinite {
		panic(mistake("Estimator.GroupSize", "Infinite", "a finite size with the baseline "+string(b)))
	}
	e.Importance.check("Estimator.Importance")
	checkNumber("Estimator.KL.Coefficient", e.KL.Coefficient, e.KL.Coefficient >= 0, " ≥ 0")
	if e.KL.Coefficient != 0 {
		checkWord("Estimator.KL.Gradient", e.KL.Gradient, KLGradients)
		checkWord("Estimator.KL.At", e.KL.At, KLPoints)
		checkWord("Estimator.KL.In", cmp.Or(e.KL.In, InLoss), KLPlacements)
		if e.KL.In == InAdvantage && !e.Importance.Linear() {
			panic(mistake("Estimator.Importance.Mode", string(e.Importance.Mode), "none or ratio, where KL.In is advantage"))
		}
		if e.KL.Outside() && (e.Filter == Drop || e.Advantage.BinaryOnly() || e.KL.In == InReward && e.Filter.Changes()) {
			panic(mistake("Estimator.KL.In", strconv.Quote(string(e.KL.In)), "loss (advantage where groups are redrawn) with a filter or an advantage other than that of the group's mean and std"))
		}
		if e.Filter == Drop && e.KL.Gradient != ExactKL {
			panic(mistake("Estimator.KL.Gradient", strconv.Quote(string(e.KL.Gradient)), "exact with the filter drop"))
		}
	}
	checkNumber("Estimator.Entropy", e.Entropy, e.Entropy >= 0, " ≥ 0")
	checkWord("Estimator.Samples", cmp.Or(e.Samples, Fresh), SampleUses)
}

// check panics unless adv, the field called name, is valid.
func (adv *Advantage) check(name string) {
	checkWord(name+".Baseline", adv.Baseline, Baselines)
	checkWord(name+".Scale", adv.Scale, Scales)
	goes := true
	switch scale := adv.Scale; {
	case scale == OthersStd:
		goes = adv.Baseline == LeaveOneOut
	case scale == MeanScale || scale == PooledStd || scale == BatchMean:
		goes = adv.Baseline == MeanBaseline
	case adv.Baseline == SecondBest:
		goes = scale == StdScale || scale == NoScale
	case adv.Baseline.Given():
		goes = scale == NoScale
	}
	if !goes {
		panic(mistake(name+".Baseline", strconv.Quote(string(adv.Baseline)), "one that goes with the scale "+string(adv.Scale)))
	}
	if adv.Baseline.Given() {
		checkNumber(name+".Value", adv.Value, adv.Value >= 0 && adv.Value <= 1, " in [0, 1]")
	}
	if adv.Baseline == RunningMean {
		checkNumber(name+".Rate", adv.Rate, adv.Rate > 0 && adv.Rate <= 1, " in (0, 1]")
	}
	if adv.Scale == StdScale || adv.Scale == BatchStd || adv.Scale == PooledStd {
		checkWord(name+".Std", adv.Std, Deviations)
	}
	if adv.Scale != NoScale && adv.Scale != MeanScale && adv.Scale != BatchMean {
		checkNumber(name+".Epsilon", adv.Epsilon, adv.Epsilon >= 0, " ≥ 0")
	}
}

// check panics unless imp, the field called name, is valid.
func (imp *Importance) check(name string) {
	checkWord(name+".Mode", imp.Mode, ImportanceModes)
	switch imp.Mode {
	case Clip, DualClip, CISPO, DPPO:
		checkNumber(name+".ClipLow", imp.ClipLow, imp.ClipLow > 0 && imp.ClipLow < 1, " in (0, 1)")
		checkNumber(name+".ClipHigh", imp.ClipHigh, imp.ClipHigh > 0, " > 0")
	}
	switch imp.Mode {
	case DualClip, Truncated, Masked:
		checkNumber(name+".Cap", imp.Cap, imp.Cap >= 1, " ≥ 1")
	}
	if imp.Mode == Masked {
		checkNumber(name+".Floor", imp.Floor, imp.Floor >= 0 && imp.Floor <= 1, " in [0, 1]")
	}
	for _, sign := range []struct {
		name                      string
		temperature, power, decay float64
	}{
		{"Positive", imp.Temperature.Positive, imp.Power.Positive, imp.Decay.Positive},
		{"Negative", imp.Temperature.Negative, imp.Power.Negative, imp.Decay.Negative},
	} {
		switch imp.Mode {
		case SAPO:
			checkNumber(name+".Temperature."+sign.name, sign.temperature, sign.temperature > 0, " > 0")
		case VESPO:
			checkNumber(name+".Power."+sign.name, sign.power, sign.power > 0, " > 0")
			checkNumber(name+".Decay."+sign.name, sign.decay, sign.decay >= 0, " ≥ 0")
		}
	}
}

// Check panics as Bandit.Check does.
func (l *Lag) Check() {
	checkWord("Lag.Kind", l.Kind, LagKinds)
	least := 0
	if l.Kind == Block {
		least = 1
	}
	checkInt("Lag.Interval", l.Interval, least)
	if l.Kind == Block {
		checkInt("Lag.Behind", l.Behind, 0)
	}
	if l.Kind == Random {
		l.Ages.check()
	}
}

func (a *Ages) check() {
	checkWord("Lag.Ages.Law", a.Law, AgeLaws)
	checkWord("Lag.Ages.Drawn", a.Drawn, AgeDraws)
	switch a.Law {
	case UniformAges:
		checkInt("Lag.Ages.From", a.From, 0)
		checkInt("Lag.Ages.To", a.To, a.From)
	case GeometricAges:
		checkNumber("Lag.Ages.Mean", a.Mean, a.Mean > 0, " > 0")
	case TableAges:
		if len(a.Weights) > MaxTableAge+1 {
			panic(mistake("number of Lag.Ages.Weights", strconv.Itoa(len(a.Weights)), "at most "+strconv.Itoa(MaxTableAge+1)))
		}
		sum := 0.0
		for age, w := range a.Weights {
			checkNumber("Lag.Ages.Weights["+strconv.Itoa(age)+"]", w, w >= 0, " ≥ 0")
			sum += w
		}
		checkNumber("sum of Lag.Ages.Weights", sum, sum > 0, " > 0")
	}
}

// Check panics as Bandit.Check does. It ignores the fields that the method and the schedule do not
// use.
func (o *Optimizer) Check() {
	checkWord("Optimizer.Kind", o.Kind, Methods)
	checkNumber("Optimizer.LearningRate", o.LearningRate, o.LearningRate > 0, " > 0")
	if o.Kind == Adam {
		checkNumber("Optimizer.Beta1", o.Beta1, o.Beta1 >= 0 && o.Beta1 < 1, " in [0, 1)")
		checkNumber("Optimizer.Beta2", o.Beta2, o.Beta2 >= 0 && o.Beta2 < 1, " in [0, 1)")
		checkNumber("Optimizer.Epsilon", o.Epsilon, o.Epsilon >= 0, " ≥ 0")
	} else {
		checkNumber("Optimizer.Momentum", o.Momentum, o.Momentum >= 0 && o.Momentum < 1, " in [0, 1)")
	}
	checkNumber("Optimizer.MaxNorm", o.MaxNorm, o.MaxNorm >= 0, " ≥ 0")
	checkWord("Optimizer.Schedule.Kind", o.Schedule.Kind, ScheduleKinds)
	checkInt("Optimizer.Schedule.Warmup", o.Schedule.Warmup, 0)
	if o.Schedule.Kind != ConstantRate {
		checkInt("Optimizer.Schedule.Total", o.Schedule.Total, o.Schedule.Warmup+1)
	}
}

// Check panics as Bandit.Check does.
func (u ReferenceUpdate) Check() {
	checkInt("ReferenceUpdate.Interval", u.Interval, 0)
	if u.Interval > 0 {
		checkNumber("ReferenceUpdate.Rate", u.Rate, u.Rate > 0 && u.Rate <= 1, " in (0, 1]")
	}
}

// checkArms panics unless a policy can have so many arms.
func checkArms(arms int) { checkInt("number of arms", arms, 2) }

func checkWord[W ~string](field string, got W, words []W) {
	if !slices.Contains(words, got) {
		panic(unknownWord(field, got, words))
	}
}

func checkInt(field string, got, least int) {
	if got < least {
		panic(mistake(field, strconv.Itoa(got), "≥ "+strconv.Itoa(least)))
	}
}

// checkNumber panics unless got is valid and finite; want says which numbers are.
func checkNumber(field string, got float64, valid bool, want string) {
	if !valid || math.IsInf(got, 0) {
		panic(wrongNumber(field, got, want))
	}
}

// unknownWord returns the panic text for a word that is none of words.
func unknownWord[W ~string](field string, got W, words []W) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	last := len(list) - 1
	return mistake(field, strconv.Quote(string(got)), strings.Join(list[:last], ", ")+" or "+list[last])
}

// wrongNumber returns the panic text for a number that is not finite or out of range.
func wrongNumber(field string, got float64, want string) string {
	return mistake(field, strconv.FormatFloat(got, 'g', -1, 64), "a finite number"+want)
}

// mistake returns the panic text for a caller's mistake.
func mistake(field, got, want string) string {
	return "grpo: " + field + ": got " + got + ", want " + want
}
