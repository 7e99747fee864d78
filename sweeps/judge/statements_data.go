package judge

import (
	"bytes"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"grposim/configs"
	"grposim/sweeps/config"
	"grposim/training/equivalence"
)

// The confidence of what the paper's table decides, and the margin of scores that count as
// the same, as a share: that of `grposim compare`, which is ours.
const (
	TableConfidence = 0.95
	TableMargin     = 0.02
)

// onData returns the readings of the statements that are judged on data which are not ours,
// by the statement's id. Its facts are effects of the table, or logs.
var onData = sync.OnceValue(func() map[string][]JudgedReading {
	return map[string][]JudgedReading{
		"benchmark-invariance": invariance(Table1()),
		"benchmark-gains":      gains(scoresOf("configs/improvement.csv", configs.Improvement)),
		"fit-training":         fitTraining(PublicFits()),
	}
})

// Table1 returns Table 1 of the paper: A is G = 16, B is G = 4.
func Table1() []equivalence.Score { return scoresOf("configs/benchmarks.csv", configs.Benchmarks) }

// scoresOf reads an embedded table of scores. It panics on a problem: the table is embedded,
// and a test reads it.
func scoresOf(name string, data []byte) []equivalence.Score {
	table, err := equivalence.ReadScores(bytes.NewReader(data), name)
	if err != nil {
		panic("sweeps: " + err.Error())
	}
	return table.Scores
}

// dataReading returns a reading with counts of facts and what was found.
func dataReading(reading string, counts VerdictCounts, found string) JudgedReading {
	return JudgedReading{Reading: reading, Limit: counts, LimitFacts: counts, Evidence: []Fact{},
		Found: found}
}

// equalCounts counts judgements of equality: the same is for it.
func equalCounts(all ...equivalence.Judgement) VerdictCounts {
	var counts VerdictCounts
	for _, j := range all {
		counts.count(j.Verdict == equivalence.Same, j.Verdict == equivalence.Different)
	}
	return counts
}

// effects returns the differences B − A of every benchmark and model, in the order of the table, and
// of models their means over benchmarks. A difference is a mean over metrics. Metrics of the same
// answers are no independent facts, nor are benchmarks of the same runs.
func effects(scores []equivalence.Score) (all, models []float64) {
	mean := func(name func(equivalence.Score) string) (means []float64) {
		at, count := make(map[string]int), []float64{}
		for _, s := range scores {
			i, seen := at[name(s)]
			if !seen {
				i, at[name(s)] = len(means), len(means)
				means, count = append(means, 0), append(count, 0)
			}
			means[i], count[i] = means[i]+s.B-s.A, count[i]+1
		}
		floats.Div(means, count)
		return means
	}
	return mean(func(s equivalence.Score) string { return s.Model + "\x00" + s.Benchmark }),
		mean(func(s equivalence.Score) string { return s.Model })
}

// signs counts the differences that fall and rise. p is the probability of so uneven a split if
// both are equally likely (two-sided).
func signs(differences []float64) (fall, rise int, p float64) {
	for _, d := range differences {
		if d < 0 {
			fall++
		} else if d > 0 {
			rise++
		}
	}
	if fall+rise == 0 {
		return 0, 0, 1
	}
	law := distuv.Binomial{N: float64(fall + rise), P: 0.5}
	return fall, rise, min(1, 2*law.CDF(float64(min(fall, rise))))
}

// invariance judges the equality of scores with G = 16 and G = 4: of every score, and of the
// mean over models, by Student's interval of their scatter.
func invariance(scores []equivalence.Score) []JudgedReading {
	counts := equalCounts(equivalence.Scores(scores, TableMargin, TableConfidence)...)
	all, models := effects(scores)
	mean, deviation := stat.MeanStdDev(models, nil)
	n := float64(len(models))
	interval := equivalence.Student(mean, deviation/math.Sqrt(n), n-1)
	judged := equivalence.Judge([]equivalence.Row{{Interval: interval, Margin: TableMargin}},
		equivalence.EachRow, TableConfidence)[0]
	fall, rise, p := signs(all)
	return []JudgedReading{
		dataReading("each-benchmark", counts,
			fmt.Sprintf("of %d scores %d are the same within %g points, %d undecided, %d different: two runs a side have 2 degrees of freedom",
				len(scores), counts.Support, 100*TableMargin, counts.Inconclusive, counts.Contradict)),
		dataReading("on-average", equalCounts(judged),
			fmt.Sprintf("the mean of %d models, G = 4 less G = 16, is %+.2f [%+.2f, %+.2f] points: %s within "+
				"%g points; of effects %d favour G = 16 and %d G = 4 (sign test P = %.2g)", len(models), 100*mean,
				100*judged.Lo, 100*judged.Hi, judged.Verdict, 100*TableMargin, fall, rise, p)),
	}
}

// gains judges whether most cells of the table rise above the untrained model, A.
func gains(scores []equivalence.Score) []JudgedReading {
	var all []float64
	falls, onOne := make(map[string]int), ""
	for _, s := range scores {
		all = append(all, s.B-s.A)
		if s.B < s.A {
			if falls[s.Benchmark]++; onOne == "" || falls[s.Benchmark] > falls[onOne] {
				onOne = s.Benchmark
			}
		}
	}
	fallen, risen, _ := signs(all)
	each, _ := effects(scores)
	fall, rise, p := signs(each)
	decided, most := p <= 1-TableConfidence, 2*risen > len(all) && rise > fall
	var counts VerdictCounts
	counts.count(decided && most, decided)
	return []JudgedReading{dataReading("", counts,
		fmt.Sprintf("%d of %d cells rise, %d fall (%d of them on %s), %d are equal; of effects %d rise and %d fall, sign test P = %.2g",
			risen, len(all), fallen, falls[onOne], onOne, len(all)-risen-fallen, rise, fall, p))}
}

// PublicFit is a fit of the paper's three-phase law to a log of a GRPO run.
type PublicFit struct {
	Log      string  // its name in docs/example
	Rows     int     // with a reward
	R2       float64 // of the rows
	R2Means  float64 // of their moving average over 5 % of them
	Best     float64 // the largest R² of the rows that any law has
	Means    float64 // the largest of their moving average
	Rival    string  // the law without inertia of the lowest BIC
	DeltaBIC float64 // BIC of the three-phase law less that of the rival
}

// The numbers that a fit is judged by: the paper's R², and the difference of BIC that is a
// likelihood ratio of 20, as in training/fit.
const (
	paperR2     = 0.91
	decisiveBIC = 6
)

// PublicFits returns the fits of configs/statements-fits.yaml.
func PublicFits() []PublicFit {
	return config.DecodeTable[[]PublicFit]("configs/statements-fits.yaml", configs.Fits)
}

// fitTraining judges what the paper says of the fit to training reward on other runs. Where no law
// reaches the paper's R², the log scatters too much to say anything about one.
func fitTraining(fits []PublicFit) []JudgedReading {
	reaches := func(r2 func(PublicFit) (law, best float64)) (VerdictCounts, string) {
		var counts VerdictCounts
		for _, f := range fits {
			if law, best := r2(f); best >= paperR2 {
				counts.count(law >= paperR2, true)
			}
		}
		return counts, fmt.Sprintf("a law has R² of %g or more in %d of %d logs, this one in %d",
			paperR2, counts.Support+counts.Contradict, len(fits), counts.Support)
	}
	rows, ofRows := reaches(func(f PublicFit) (law, best float64) { return f.R2, f.Best })
	means, ofMeans := reaches(func(f PublicFit) (law, best float64) { return f.R2Means, f.Means })
	var inertia VerdictCounts
	for _, f := range fits {
		inertia.count(f.DeltaBIC <= -decisiveBIC, f.DeltaBIC >= decisiveBIC)
	}
	return []JudgedReading{
		dataReading("rows", rows, ofRows), dataReading("means", means, ofMeans),
		dataReading("inertia", inertia,
			fmt.Sprintf("it beats every law without inertia in %d of %d logs, and one of them beats it in %d", inertia.Support, len(fits), inertia.Contradict)),
	}
}
