package equivalence

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Joint judges the rows of a table of scores together. Its unit is
// the effect: one difference B − A per benchmark and model, whatever the number of metrics.
type Joint struct {
	Effects []Effect // in the order of the table
	All     Pooled   // of all effects
	Models  []Pooled // of each model, in the order of the table
}

// Effect is the mean over the metrics of a benchmark and model. Metrics of the same answers,
// as pass@1 and pass@5, correlate to a degree that no table says: the standard errors are
// the means of those of the metrics, which is the largest that a correlation up to 1 allows.
type Effect struct {
	Benchmark, Model string
	Metrics          int
	Difference       float64 // mean of B − A
	question         float64 // standard error of the questions
	run              runError
	Judgement        // among all effects
}

// Pooled is what effects of one model, or of all, say together.
type Pooled struct {
	Model   string // "" of all
	Signs   Signs
	Effects int     // those with an error: the others are 0 because no question was answered
	Mean    float64 // weighted by the inverses of the variances
	Judgement
	// The weighted sum of squares about the mean, χ² with Effects − 1 degrees of freedom if
	// the effects are equal, and the probability of as much then. It is approximate: the
	// errors of the runs are estimates.
	Heterogeneity, P float64
}

// Signs counts effects by their direction.
type Signs struct {
	A, B, None int     // in favour of A, of B, and exactly 0
	P          float64 // of so uneven a split or a more uneven one, if both directions are equally likely and effects independent (two-sided sign test)
}

// NewSigns counts the differences B − A by their direction.
func NewSigns(differences []float64) Signs {
	var s Signs
	for _, d := range differences {
		switch {
		case d < 0:
			s.A++
		case d > 0:
			s.B++
		default:
			s.None++
		}
	}
	s.P = 1
	if n := s.A + s.B; n > 0 {
		s.P = min(1, 2*distuv.Binomial{N: float64(n), P: 0.5}.CDF(float64(min(s.A, s.B))))
	}
	return s
}

// JudgeJointly takes the scores of a table together, each with questions, and judges every
// effect, and every mean, as Judge does, within a margin in (0, MaxMargin] at the confidence
// 1 − 2α.
//
// Questions of different benchmarks are independent. The runs of a model are the same on
// all its benchmarks, so that their errors in a mean are taken to be the same as well, the
// largest that correlation allows; those of different models are independent. The tables of
// effects, of models and the mean of all are judged as three families.
func JudgeJointly(scores []Score, margin, confidence float64) Joint {
	j := Joint{Effects: effects(scores)}
	var each []Row
	for _, e := range j.Effects {
		each = append(each, Row{Interval: e.interval(), Margin: margin})
	}
	for i, judged := range Judge(each, confidence) {
		j.Effects[i].Judgement = judged
	}
	var names []string
	of := make(map[string][]Effect)
	for _, e := range j.Effects {
		if !slices.Contains(names, e.Model) {
			names = append(names, e.Model)
		}
		of[e.Model] = append(of[e.Model], e)
	}
	var models []Row
	for _, name := range names {
		p, interval := pool(of[name])
		p.Model = name
		j.Models, models = append(j.Models, p), append(models, Row{Interval: interval, Margin: margin})
	}
	for i, judged := range Judge(models, confidence) {
		j.Models[i].Judgement = judged
	}
	all, interval := pool(j.Effects)
	j.All = all
	j.All.Judgement = Judge([]Row{{Interval: interval, Margin: margin}}, confidence)[0]
	return j
}

// effects returns the effects of a table, with moderated run errors.
func effects(scores []Score) []Effect {
	var all []Effect
	for _, s := range scores {
		i := slices.IndexFunc(all, func(e Effect) bool { return e.Benchmark == s.Benchmark && e.Model == s.Model })
		if i < 0 {
			i = len(all)
			all = append(all, Effect{Benchmark: s.Benchmark, Model: s.Model, run: runError{0, s.runError().df}})
		}
		e, own := &all[i], s.runError()
		e.Metrics++
		e.Difference += s.B - s.A
		e.question += s.questionError()
		e.run = runError{e.run.se + own.se, min(e.run.df, own.df)}
	}
	runs, questions := make([]runError, len(all)), make([]float64, len(all))
	for i := range all {
		n := float64(all[i].Metrics)
		all[i].Difference /= n
		all[i].question /= n
		all[i].run.se /= n
		runs[i], questions[i] = all[i].run, all[i].question
	}
	for i, r := range moderate(runs, questions) {
		all[i].run = r
	}
	return all
}

// interval is that of an effect. That of one without any error, whose questions nobody
// answered or everybody, is unbounded: no error follows from it.
func (e Effect) interval() Interval {
	if e.question == 0 {
		return Student(e.Difference, math.NaN(), math.Inf(1))
	}
	return e.run.add(e.Difference, Student(e.Difference, e.question, math.Inf(1)))
}

// pool returns the mean of effects with its interval.
func pool(all []Effect) (Pooled, Interval) {
	var p Pooled
	var weights, questions float64
	runs := make(map[string]float64) // weighted sums of run errors, by model
	df := math.Inf(1)
	var differences []float64
	known := slices.DeleteFunc(slices.Clone(all), func(e Effect) bool { return e.question == 0 })
	for _, e := range known {
		w := e.weight()
		weights += w
		p.Mean += w * e.Difference
		questions += w * w * e.question * e.question
		runs[e.Model] += w * e.run.se
		if e.run.df > 0 {
			df = min(df, e.run.df)
		}
	}
	for _, e := range all {
		differences = append(differences, e.Difference)
	}
	p.Signs, p.Effects = NewSigns(differences), len(known)
	if len(known) == 0 {
		return p, Student(0, math.NaN(), 1)
	}
	p.Mean /= weights
	for _, e := range known {
		p.Heterogeneity += e.weight() * (e.Difference - p.Mean) * (e.Difference - p.Mean)
	}
	p.P = 1
	if len(known) > 1 {
		p.P = distuv.ChiSquared{K: float64(len(known) - 1)}.Survival(p.Heterogeneity)
	}
	var run float64
	for _, e := range known { // in their order: a map has none
		run += runs[e.Model] * runs[e.Model]
		runs[e.Model] = 0
	}
	return p, runError{math.Sqrt(run) / weights, df}.add(p.Mean, Student(p.Mean, math.Sqrt(questions)/weights, math.Inf(1)))
}

// weight is the inverse of the variance of an effect.
func (e Effect) weight() float64 { return 1 / (e.question*e.question + e.run.se*e.run.se) }
