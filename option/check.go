package option

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Mistakes collects what is wrong with a description, so that a caller hears of all of it
// at once. The zero value has none.
type Mistakes struct{ list []Mistake }

// Mistake is one wrong value.
type Mistake struct {
	Field string // its path in Go, such as Lag.Ages.To
	Got   any    // the value
	Want  string // which values are valid, in words
}

func (m Mistake) String() string {
	return fmt.Sprintf("%s: got %v, want %s", m.Field, m.Got, m.Want)
}

// List returns the mistakes in the order in which they were found.
func (m *Mistakes) List() []Mistake { return m.list }

// Want adds a mistake unless ok: the field's name, what it got and what it wants.
func (m *Mistakes) Want(ok bool, field string, got any, want string) {
	if !ok {
		m.list = append(m.list, Mistake{field, got, want})
	}
}

// SmallestNormal is the least positive number that has all its digits: below it 1/x may overflow.
const SmallestNormal = 0x1p-1022

// AllDigits says which numbers have all their digits.
const AllDigits = "0 or at least 2.23e-308 in size"

// HasAllDigits reports whether a number is 0 or has all its digits.
func HasAllDigits(x float64) bool { return x == 0 || math.Abs(x) >= SmallestNormal }

// Number adds a mistake unless a number is valid and finite, and has all its digits; want says
// which numbers are.
func (m *Mistakes) Number(field string, got float64, valid bool, want string) {
	if valid && !HasAllDigits(got) {
		m.Want(false, field, got, "a number that is "+AllDigits)
	}
	if !valid || math.IsInf(got, 0) {
		m.Want(false, field, got, "a finite number"+want)
	}
}

// PerArm adds a mistake unless a list has one finite number an arm.
func (m *Mistakes) PerArm(field string, got []float64, arms int) {
	infinite := func(x float64) bool { return math.IsInf(x, 0) || math.IsNaN(x) }
	if len(got) != arms || slices.ContainsFunc(got, infinite) {
		m.Want(false, field, got, fmt.Sprintf("%d finite numbers, one an arm", arms))
	}
}

// Least adds a mistake if an integer is less than least.
func (m *Mistakes) Least(field string, got, least int) {
	if got < least { // no text is made for a valid value: every cell of a sweep is checked
		m.Want(false, field, got, fmt.Sprintf("≥ %d", least))
	}
}

// Panic panics with all mistakes, a line each, if there are any: they are the caller's.
// Name is that of the package that found them.
func (m *Mistakes) Panic(name string) {
	var lines []string
	for _, mistake := range m.list {
		lines = append(lines, name+": "+mistake.String())
	}
	if lines != nil {
		panic(strings.Join(lines, "\n"))
	}
}

// wantWord adds a mistake unless w is a value of a list.
func wantWord[W word](m *Mistakes, field string, w W, values []W) {
	if int(w) >= len(values) {
		m.Want(false, field, int(w), oneOf(values))
	}
}

// oneOf lists words: a, b or c.
func oneOf[W word](values []W) string {
	text := values[0].String()
	for i, w := range values[1:] {
		if i+2 == len(values) {
			text += " or " + w.String()
		} else {
			text += ", " + w.String()
		}
	}
	return text
}

// Check adds the mistakes of arms: at least two, each with a known law, a mean in its range
// and a deviation ≥ 0.
func (b *Bandit) Check(m *Mistakes) {
	m.Least("number of arms", len(b.Arms), 2)
	for a, arm := range b.Arms {
		field := fmt.Sprintf("Arms[%d].", a)
		wantWord(m, field+"Law", arm.Law, Laws)
		if arm.Law == Bernoulli {
			m.Number(field+"Mean", arm.Mean, arm.Mean >= 0 && arm.Mean <= 1, " in [0, 1]")
		} else {
			m.Number(field+"Mean", arm.Mean, !math.IsNaN(arm.Mean), "")
		}
		if arm.Law == Normal {
			m.Number(field+"Std", arm.Std, arm.Std >= 0, " ≥ 0")
		}
	}
}

// Check adds the mistakes of the estimator, those between options among them. It ignores
// fields that other options make unused.
func (e *Estimator) Check(m *Mistakes) {
	found := len(m.list)
	m.Least("Estimator.GroupSize", e.GroupSize, 2)
	e.SizeSchedule.Check(m, "Estimator.SizeSchedule.")
	m.Least("Estimator.GroupsPerStep", e.GroupsPerStep, 1)
	wantWord(m, "Estimator.Filter", e.Filter, Filters)
	e.Advantage.Check(m)
	e.Importance.check(m, "Estimator.Importance.")
	m.Number("Estimator.Rollout.Noise", e.Rollout.Noise, e.Rollout.Noise >= 0, " ≥ 0")
	kl := &e.KL
	m.Number("Estimator.KL.Coefficient", kl.Coefficient, kl.Coefficient >= 0, " ≥ 0")
	wantWord(m, "Estimator.KL.Gradient", kl.Gradient, KLGradients)
	wantWord(m, "Estimator.KL.At", kl.At, KLPoints)
	wantWord(m, "Estimator.KL.In", kl.In, KLPlacements)
	kl.Schedule.Check(m, "Estimator.KL.Schedule.")
	m.Number("Estimator.Entropy", e.Entropy, e.Entropy >= 0, " ≥ 0")
	wantWord(m, "Estimator.Samples", e.Samples, SampleUses)
	wantWord(m, "Estimator.Rollout.Correction", e.Rollout.Correction, Corrections)
	if len(m.list) > found { // rules are for known words
		return
	}
	e.Rollout.Weight().check(m, "Estimator.Rollout.")
	named := strings.NewReplacer("{", "Estimator.", "}", "")
	for i := range Rules {
		if got, want := Rules[i].Broken(e, nil); got != "" {
			m.Want(false, "Estimator."+Rules[i].Field, got, named.Replace(want))
		}
	}
}

// Rule is a rule between the options of an estimator, and the laws of arms where they are given.
type Rule struct {
	Field string // the field that a mistake names, as KL.In
	Reads string // the others that the rule reads, with spaces between; Arms stands for the arms
	// Broken returns what the field has and what it should have instead; "" where the rule holds. A
	// field that is named there has braces about it.
	Broken func(e *Estimator, arms []Arm) (got, want string)
}

// Rules are all of them.
var Rules = []Rule{
	{"KL.In", "KL.Coefficient Importance.Mode KL.Schedule.Kind KL.Schedule.Warmup",
		func(e *Estimator, _ []Arm) (got, want string) {
			switch {
			case e.KL.Outside() && e.KL.Varies():
				return e.KL.In.String(), "loss where {KL.Schedule.Kind} is not constant or has a warm-up"
			case e.KL.OfAdvantage() && !e.Importance.Linear():
				return e.KL.In.String(), "loss or reward where {Importance.Mode} is neither none nor ratio"
			}
			return "", ""
		}},
	{"KL.In", "KL.Coefficient Filter Advantage.Baseline Advantage.Scale",
		func(e *Estimator, _ []Arm) (got, want string) {
			filtered := e.Filter == Drop || e.KL.In == InReward && e.Filter != KeepAll
			if e.KL.Outside() && (filtered || e.Advantage.BinaryOnly()) {
				return e.KL.In.String(), "loss, or {Filter} none (in the advantage also redraw) " +
					"and the scale std or none with the baseline mean or leave-one-out"
			}
			return "", ""
		}},
	{"Advantage.Baseline", "Advantage.Scale", func(e *Estimator, _ []Arm) (got, want string) {
		adv := &e.Advantage
		with := scaleUses[adv.Scale].baselines
		if slices.Contains(with, adv.Baseline) {
			return "", ""
		}
		return adv.Baseline.String(), oneOf(with) + " with the scale " + adv.Scale.String()
	}},
	{"Advantage.Scale", "Advantage.Baseline Filter Arms",
		func(e *Estimator, arms []Arm) (got, want string) {
			adv := &e.Advantage
			other := slices.ContainsFunc(arms, func(arm Arm) bool { return arm.Law != Bernoulli })
			if adv.BinaryOnly() && (other || e.Filter != KeepAll) {
				return adv.Scale.String() + " with the baseline " + adv.Baseline.String(),
					"bernoulli arms and {Filter} none with it"
			}
			return "", ""
		}},
	{"KL.Coefficient", "Advantage.Scale Arms", func(e *Estimator, arms []Arm) (got, want string) {
		largest := 0.0
		for _, arm := range arms {
			largest = max(largest, math.Abs(arm.Mean)+arm.Std)
		}
		// The log odds of the arms must be finite.
		b := e.KL.Coefficient
		if b > 0 && e.Advantage.Scale == NoScale && largest/b > math.MaxFloat64 {
			return fmt.Sprint(b),
				"0, or one by which the rewards of {Arms} can be divided without an overflow"
		}
		return "", ""
	}},
	{"Filter", "KL.Coefficient KL.Gradient", func(e *Estimator, _ []Arm) (got, want string) {
		if e.Filter == Drop && e.KL.Coefficient != 0 && e.KL.Gradient != ExactKL {
			return e.Filter.String(), "none or redraw with a sampled {KL.Gradient}"
		}
		return "", ""
	}},
}

// Check adds the mistakes of the advantage alone; see Rules for those between its options.
func (adv *Advantage) Check(m *Mistakes) {
	wantWord(m, "Estimator.Advantage.Baseline", adv.Baseline, Baselines)
	wantWord(m, "Estimator.Advantage.Scale", adv.Scale, Scales)
	wantWord(m, "Estimator.Advantage.Std", adv.Std, Deviations)
	if adv.Baseline.Given() {
		m.Number("Estimator.Advantage.Value", adv.Value, adv.Value >= 0 && adv.Value <= 1, " in [0, 1]")
	}
	if adv.Baseline == RunningMean {
		m.Number("Estimator.Advantage.Rate", adv.Rate, adv.Rate > 0 && adv.Rate <= 1, " in (0, 1]")
	}
	if int(adv.Scale) < len(scaleUses) && scaleUses[adv.Scale].epsilon {
		m.Number("Estimator.Advantage.Epsilon", adv.Epsilon, adv.Epsilon >= 0, " ≥ 0")
	}
}

func (imp *Importance) check(m *Mistakes, field string) {
	wantWord(m, field+"Mode", imp.Mode, ImportanceModes)
	if imp.Mode.Uses(UseBounds) {
		low, high := imp.ClipLow, imp.ClipHigh
		m.Number(field+"ClipLow", low, low > 0 && low < 1, " in (0, 1)")
		m.Number(field+"ClipHigh", high, high > 0, " > 0")
		imp.Schedule.Check(m, field+"Schedule.")
	}
	if imp.Mode.Uses(UseCap) {
		m.Number(field+"Cap", imp.Cap, imp.Cap >= 1, " ≥ 1")
	}
	if imp.Mode.Uses(UseFloor) {
		m.Number(field+"Floor", imp.Floor, imp.Floor >= 0 && imp.Floor <= 1, " in [0, 1]")
	}
	signed := func(name string, x Signed, valid func(float64) bool, want string) {
		m.Number(field+name+".Positive", x.Positive, valid(x.Positive), want)
		m.Number(field+name+".Negative", x.Negative, valid(x.Negative), want)
	}
	positive := func(x float64) bool { return x > 0 }
	if imp.Mode.Uses(UseTemperature) {
		signed("Temperature", imp.Temperature, positive, " > 0")
	}
	if imp.Mode.Uses(UsePower) {
		signed("Power", imp.Power, positive, " > 0")
		signed("Decay", imp.Decay, func(x float64) bool { return x >= 0 }, " ≥ 0")
	}
}

// Check adds the mistakes of the lag.
func (l *Lag) Check(m *Mistakes) {
	wantWord(m, "Lag.Kind", l.Kind, LagKinds)
	switch l.Kind {
	case Block:
		m.Want(l.Interval >= 1, "Lag.Interval", l.Interval, "an integer ≥ 1 for a block")
		m.Least("Lag.Behind", l.Behind, 0)
	case Delay:
		m.Least("Lag.Interval", l.Interval, 0)
	case Random:
		l.Ages.check(m)
	}
}

func (a *Ages) check(m *Mistakes) {
	wantWord(m, "Lag.Ages.Law", a.Law, AgeLaws)
	wantWord(m, "Lag.Ages.Drawn", a.Drawn, AgeDraws)
	switch a.Law {
	case UniformAges:
		m.Least("Lag.Ages.From", a.From, 0)
		if a.To < a.From {
			m.Want(false, "Lag.Ages.To", a.To,
				fmt.Sprintf("an integer ≥ %d, the largest of uniform random ages", a.From))
		}
	case GeometricAges:
		m.Want(a.Mean > 0 && a.Mean <= math.MaxFloat64, "Lag.Ages.Mean", a.Mean,
			"a number > 0, the mean of geometric random ages")
	case TableAges:
		sum := 0.0
		for age, w := range a.Weights {
			if !(w >= 0) {
				m.Number(fmt.Sprintf("Lag.Ages.Weights[%d]", age), w, false, " ≥ 0")
			}
			sum += w
		}
		m.Want(sum > 0 && sum <= math.MaxFloat64, "Lag.Ages.Weights", sum,
			"a list with a number > 0, the weights of random ages")
	}
}

// Check adds the mistakes of the optimizer. It ignores the fields that the method and the
// schedule do not use.
func (o *Optimizer) Check(m *Mistakes) {
	wantWord(m, "Optimizer.Kind", o.Kind, Methods)
	if rate := o.LearningRate; !(rate > 0) || HasAllDigits(rate) { // a derived rate may have fewer
		m.Number("Optimizer.LearningRate", rate, rate > 0, " > 0")
	}
	if o.Kind == Adam {
		m.Number("Optimizer.Beta1", o.Beta1, o.Beta1 >= 0 && o.Beta1 < 1, " in [0, 1)")
		m.Number("Optimizer.Beta2", o.Beta2, o.Beta2 >= 0 && o.Beta2 < 1, " in [0, 1)")
		m.Number("Optimizer.Epsilon", o.Epsilon, o.Epsilon >= 0, " ≥ 0")
		// With neither a step would divide by the modulus of one force.
		m.Want(o.Beta2 != 0 || o.Epsilon != 0, "Optimizer.Beta2", o.Beta2, "a number in (0, 1) where "+
			"epsilon is 0; usual are beta1 0.9, beta2 0.999 and epsilon 1e-8")
	} else {
		m.Number("Optimizer.Momentum", o.Momentum, o.Momentum >= 0 && o.Momentum < 1, " in [0, 1)")
	}
	m.Number("Optimizer.MaxNorm", o.MaxNorm, o.MaxNorm >= 0, " ≥ 0")
	o.Schedule.Check(m, "Optimizer.Schedule.")
}

// Check adds the mistakes of the schedule of a field.
func (s *Schedule) Check(m *Mistakes, field string) {
	wantWord(m, field+"Kind", s.Kind, ScheduleKinds)
	m.Least(field+"Warmup", s.Warmup, 0)
	if s.Kind != ConstantRate && s.Warmup >= s.Total {
		m.Want(false, field+"Warmup", s.Warmup, fmt.Sprintf("less than the total (%d) of a %s schedule", s.Total, s.Kind))
	}
}

// Check adds the mistakes of the update.
func (u ReferenceUpdate) Check(m *Mistakes) {
	m.Least("ReferenceUpdate.Interval", u.Interval, 0)
	if u.Interval > 0 {
		m.Number("ReferenceUpdate.Rate", u.Rate, u.Rate > 0 && u.Rate <= 1, " in (0, 1]")
		wantWord(m, "ReferenceUpdate.Optimizer", u.Optimizer, UpdateStates)
	}
}
