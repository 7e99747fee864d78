package findings

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"grposim/training/change"
	"grposim/training/diagnose"
	"grposim/training/logs"
)

var nan = math.NaN()

// columns are the values of quantities: a list, of which the last value goes on.
type columns map[logs.Quantity][]float64

// table returns a log with the given number of rows, of steps 10, 20, …; a NaN is one of the
// file. The key of a quantity is its name.
func table(rows int, of columns) *logs.Log {
	l := &logs.Log{File: "log", Format: logs.Format{Container: logs.JSONLines}, Averaged: 1}
	for i := range rows {
		l.Steps = append(l.Steps, 10*(i+1))
	}
	for _, d := range logs.Quantities() {
		for q, values := range of {
			if q.Family() != d.Quantity {
				continue
			}
			c := logs.Column{Quantity: q, Key: string(q)}
			for i := range rows {
				x := values[min(i, len(values)-1)]
				if math.IsNaN(x) {
					c.NotFinite = append(c.NotFinite, i)
				}
				c.Values = append(c.Values, x)
			}
			l.Columns = append(l.Columns, c)
		}
	}
	if len(l.Columns) != len(of) {
		panic("a column is of no quantity")
	}
	return l
}

// bare returns a log of columns, written "QUANTITY VALUE VALUE, QUANTITY …". AxN is N values of A,
// and A+BxN are N that begin with A and grow by B.
func bare(rows int, text string) *logs.Log { return table(rows, parsed(text)) }

func parsed(text string) columns {
	of := make(columns)
	for _, column := range strings.Split(text, ", ") {
		words := strings.Fields(strings.Replace(column, " flat", " 0.3 0.4 0.3", 1)) // does not rise
		for _, word := range words[min(1, len(words)):] {
			value, times, _ := strings.Cut(word, "x")
			first, step, _ := strings.Cut(value, "+")
			n, _ := strconv.Atoi(cmp.Or(times, "1"))
			x, err := strconv.ParseFloat(first, 64)
			by, _ := strconv.ParseFloat(cmp.Or(step, "0"), 64)
			if err != nil {
				panic(text)
			}
			q := logs.Quantity(words[0])
			of[q] = append(of[q], rising(n, x, by)...)
		}
	}
	return of
}

// rising returns n values from x on that grow by step.
func rising(n int, x, step float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = x + float64(i)*step
	}
	return values
}

// cycle are rewards of prompts, two of five of which have a signal.
var cycle = slices.Repeat([]float64{0, 0, 0, 0.5, 0.5}, 10)

// Each log states what is wanted and nothing else: findings, "!kind@step" of a failure and
// "kind@step" of a remark, and after a colon what the first of them says.
func TestOf(t *testing.T) {
	run := func(rows int, more string) *logs.Log { // a healthy one, but for these columns
		all := columns{"reward": rising(400, 0.2, 0.001), "grad_norm": {0.3}, "loss": {0.01},
			"kl_ref": {0.02}, "entropy": {0.5}, "lr": {1e-6}, "frac_zero_std": {0.1},
			"len_clipped": {0.05}, "len_mean": {300}}
		maps.Copy(all, parsed(more))
		return table(rows, all)
	}
	for _, c := range []struct {
		name string
		log  *logs.Log
		want string
	}{
		{"healthy", run(200, ""), ""},
		{"NaN from a step on", run(50, "grad_norm 0.3x30 nan, kl_ref 0.02x30 nan, len_clipped 0x30 1"),
			"!numerical-failure@310: kl_ref and grad_norm are NaN or infinite since step 310 to the end " +
				"(20 of 50 rows)"},
		{"NaN in the last row", run(50, "grad_norm 0.3x49 nan"), "!numerical-failure@500"},
		{"NaN in all rows", run(3, "grad_norm nan"), "!numerical-failure@10: in all 3 rows: every update is skipped"},
		{"NaN in single rows", run(50, "grad_norm 0.3 nan 0.3 0.3 nan 0.3"),
			"numerical-failure@20: in 2 of 50 rows, first at step 20"},
		{"NaN in most rows", run(5, "grad_norm 0.3 nan nan nan 0.3"), "!numerical-failure@20: most updates"},
		{"KL is not computed", run(50, "kl_ref nan"), ""},
		{"KL where nothing else tells", bare(50, "reward 0.1 0.2, kl_ref 0.1x9 nan"), "!numerical-failure@100"},
		{"a NaN reward beside KL", bare(50, "reward 0.1 0.2 nan 0.2, kl_ref 0.1"),
			"numerical-failure@30: reward is NaN or infinite at step 30 (1 of 50 rows)"},
		{"most rewards NaN beside entropy", bare(5, "reward nan nan nan 0.2 0.3, entropy 0.5"),
			"numerical-failure@10: in 3 of 5 rows, first at step 10: those updates are skipped, or " +
				"their values are missing"},
		{"a NaN KL that passes", bare(50, "reward 0.1 0.2, kl_ref 0.1 nan 0.1"),
			"numerical-failure@20: kl_ref is NaN or infinite at step 20 (1 of 50 rows)"},
		{"NaN at the end as before", bare(5, "reward 0.1 0.2 nan 0.2 nan, kl_ref 0.1"),
			"numerical-failure@30: in 2 of 5 rows"},
		{"NaN at the end for longer", bare(6, "reward 0.1 0.2 nan 0.2 nan, kl_ref 0.1"),
			"!numerical-failure@50: since step 50 to the end (2 of 6 rows): the run is lost since then"},
		{"NaN is the word for missing", run(50, "lr 1e-6 nan 1e-6, grad_norm 0.3 nan 0.3"), ""},
		{"rows of two loggers", bare(4, "reward 0.1 nan 0.2 nan, grad_norm nan 0.3 nan 0.3"), ""},
		{"a NaN reward without an update", bare(4, "reward 0.1 nan, grad_norm 0.3 nan, len_mean 9"),
			"!numerical-failure@20: reward and grad_norm"},
		{"gradients lost", run(20, "grad_norm 0, kl_ref 0"),
			"!no-update@10: grad_norm is exactly 0 in all 20 rows, though rewards within groups differ " +
				"(frac_zero_std 0.1): the weights do not move"},
		{"gradients lost, a row", run(1, "grad_norm 0, frac_zero_std 0"), "!no-update@10: at step 10, the only row"},
		{"gradients lost since", run(40, "grad_norm 0.3x20 0"), "!no-update@210"},
		{"one gradient of 0", run(40, "grad_norm 0.3 0 0.3"), "no-update@20: at step 20 (1 of 40 rows)"},
		{"a gradient of 0 without signal", run(20, "grad_norm 0, frac_zero_std 1, reward 0"),
			"!no-signal@10 !constant-reward@10: all groups fail"},
		{"a gradient of 0 while all fail", bare(40, "grad_norm 0x20 0.3, reward 0x19 0 0+0.01x20"),
			"no-update@10 constant-reward@10: no column says"},
		{"a gradient of 0, all solved", bare(20, "grad_norm 0, reward 1"), "!constant-reward@10 no-update@10"},
		{"a gradient of 0, rewards vary", bare(20, "grad_norm 0, reward 0.2 0.3 0.4 0.3"),
			"!no-update@10: no column says"},
		{"a gradient of 0, rewards deviate", bare(2, "grad_norm 0, reward 0.2 0.3, reward_std_batch 0.4"),
			"!no-update@10: though rewards differ"},
		{"learning rate 0", run(20, "lr 0"), "!no-update@10: lr is 0 in all 20 rows"},
		{"warm-up from 0", run(20, "lr 0 1e-7 2e-7"), ""},
		{"loss 0", run(20, "loss 0 1e-4"),
			"zero-loss@10: loss is 0 to four digits in all 20 rows, which is normal, and the gradient " +
				"is not 0 (grad_norm 0.3)"},
		{"loss 0, gradient NaN", run(2, "loss 0, grad_norm nan"), "!numerical-failure@10"},
		{"loss 0 without signal", bare(2, "loss 0, reward 0.2 0.3, frac_zero_std 1"), "!no-signal@10"},
		{"all cut", run(20, "len_clipped 1, len_max 16, reward flat"),
			"!truncation@10: every completion is cut at the length limit in all 20 rows: len_clipped 100 %"},
		{"all of one length", bare(20, "reward 0.1 0.2, len_min 256, len_max 256"),
			"truncation@10: every completion has 256 tokens in all 20 rows (len_min = len_max)"},
		{"answers of one length", bare(20, "reward 0.1 0.2, len_mean 4.9 5"), ""},
		{"mean length at the limit since", bare(40, "reward 0.1 0.2, len_mean 200.5+1x20 256"),
			"truncation@210: len_mean is exactly 256 since step 210"},
		{"mean length varies", bare(40, "reward 0.1 0.2, len_mean 200.5+1x40"), ""},
		{"most cut since", run(40, "len_clipped 0.1x20 0.6, reward flat"), "!truncation@210: most completions"},
		{"most cut, reward rises", run(40, "len_clipped 0.6"), "truncation@10: the reward rises meanwhile"},
		{"most cut at the start", run(40, "len_clipped 0.7x12 0.1"), "truncation@10: from step 10 to step 120"},
		{"many cut in a few rows", run(4, "len_clipped 0.3 0.5 1 0.4"), "truncation@10: 30 % to 100 %"},
		{"length explodes", run(40, "len_mean 300x20 1500"),
			"length-change@210: grow 5 times, from 300 to 1500 tokens (len_mean), half of the way at " +
				"step 210; the reward rises meanwhile"},
		{"length shrinks, few rows", run(6, "len_mean 300 290 310 90 80 85"), "length-change@40: shrink 3.5 times"},
		{"mismatch KL", run(3, "mismatch_kl 0.15 1.75 0.4, reward flat"),
			"!sampler-mismatch@10: mismatch_kl is 0.15 to 1.75, median 0.4 in all 3 rows"},
		{"mismatch KL of either sign", run(3, "mismatch_kl -0.15 -0.2 -0.4, reward flat"), "!sampler-mismatch@10"},
		{"engines that agree", run(30, "mismatch_kl 1e-3, logp_mismatch 0.02, prob_mismatch 0.01,"+
			" is_ratio_mean 1.01, is_effective 0.97"),
			""},
		{"log probabilities since", run(40, "logp_mismatch 0.01x25 0.3, reward flat"), "!sampler-mismatch@260"},
		{"probabilities", run(40, "prob_mismatch 0.1, reward flat"), "!sampler-mismatch@10"},
		{"a mismatch that does no harm", run(40, "is_effective 0.3"), "sampler-mismatch@10: the reward rises meanwhile"},
		{"effective samples", run(40, "is_effective 0.3, reward flat"), "!sampler-mismatch@10: is_effective is 0.3"},
		{"importance weights alone", run(40, "is_ratio_mean 0.6"), "sampler-mismatch@10"},
		{"one step off", run(40, "staleness 1, staleness_max 4"), ""},
		{"stale", run(40, "staleness 6"), "stale-samples@10"},
		{"oldest samples", run(40, "staleness_max 12"), "stale-samples@10"},
		{"KL of a billion", run(1, "kl_ref 1e9"), "!kl-blow-up@10: carried by a few tokens"},
		{"KL blows up", run(40, "kl_ref 0.01x20 3, reward flat"),
			"!kl-blow-up@210: reaches 3 nats a token since step 210 (20 of 40 rows)"},
		{"KL grows with the reward", run(40, "kl_ref 0.01x20 3"), "kl-blow-up@210: the reward rises meanwhile"},
		{"KL far below 0", run(9, "kl_ref -2.5, reward flat"), "!kl-blow-up@10: reaches 2.5 nats a token"},
		{"KL comes back", run(60, "kl_ref 2x20 0.1, reward flat"), "kl-blow-up@10: it has come back"},
		{"entropy grows, reward falls", run(40, "entropy 0.3x20 1.2, reward 0.5+0.01x20 0.4+-0.01x20"),
			"!entropy-growth@210 !reward-collapse@210"},
		{"the reward falls first", run(40, "entropy 0.3x30 1.2, reward 0.5+0.01x10 0.1"),
			"!reward-collapse@110 !entropy-growth@310"},
		{"a reward of both signs is lost", run(80, "reward -0.2+0.02x40 -0.97"), "!reward-collapse@410"},
		{"entropy grows, reward rises", run(40, "entropy 0.3x20 1.2"), "entropy-growth@210"},
		{"entropy of random text", run(40, "entropy 9.5"),
			"entropy-growth@10: the entropy is 9.5 nats a token at the start (entropy), near the logarithm"},
		{"random text without reward", bare(20, "reward 0, entropy 9.5, len_clipped 1, frac_zero_std 1"),
			"!entropy-growth@10 !truncation@10 !no-signal@10 !constant-reward@10"},
		{"a collapse to text without an end", bare(40, "reward 0.6x19 0.5 0,"+
			" len_clipped 0.1x20 1, frac_zero_std 0.1x20 1"),
			"!reward-collapse@210 !truncation@210 !no-signal@210"},
		{"random text at the start", run(40, "entropy 9.5x10 1"), "entropy-growth@10: 9.5 nats a token at the start"},
		{"format alone", run(40, "reward_component/format 1, reward_component/correct 0 0 0 0.01"),
			"constant-reward@10: reward_component/format 1 and reward_component/correct 0.01 on average " +
				"in the second half"},
		{"format and answers", run(40, "reward_component/format 1, reward_component/correct 0 0.2"), ""},
		{"loss and gradient 0", run(20, "grad_norm 0, loss 0"),
			"!no-update@10: loss and grad_norm are exactly 0 in all 20 rows"},
		{"entropy then truncation", run(80, "entropy 0.3x30 1.2, len_clipped 0.1x50 0.8, reward flat"),
			"!entropy-growth@310 !truncation@510"},
		{"all groups fail, by counts", bare(1, "reward 0, count_all0 128, count_all1 0,"+
			" reward_min 0, reward_max 0"),
			"!no-signal@10: all groups fail at step 10, the only row (count_all0 128"},
		{"all groups fail, by counts alone", bare(1, "reward 0, count_all0 64, count_all1 0, groups 64"),
			"!no-signal@10: all groups fail"},
		{"no advantage", bare(1, "reward 0.5, advantage_min 0, advantage_max 0"),
			"!no-signal@10: all groups have equal rewards"},
		{"learnt", bare(60, "reward 0.1+0.04x20 0.996, reward_std_batch 0.38x20 2e-4"),
			"no-signal@210: all groups succeed since step 210"},
		{"no signal at the start", run(40, "frac_zero_std 1x12 0.1, reward 0x11 0 0+0.01x28"),
			"no-signal@10: from step 10 to step 120"},
		{"a mismatch that passes", run(40, "mismatch_kl 0.3x20 1e-3"), "sampler-mismatch@10: from step 10 to step 200"},
		{"a KL about its threshold", run(40, "reward flat, kl_ref 0.01x20 3 3x17 0.9 0.9"),
			"!kl-blow-up@210: since step 210"},
		{"a gradient of 0 that passes", run(40, "grad_norm 0x15 0.3, lr 0x12 1e-6"),
			"no-update@10: from step 10 to step 150"},
		{"a gradient that comes back", run(40, "grad_norm 0x38 0.3"), "!no-update@10: since step 10 (38 of 40 rows)"},
		{"a third of the groups", run(30, "frac_zero_std 0.38 0.56 0.4"), "no-signal@10: 40.5 % of the groups"},
		{"most steps of one group", table(50, columns{"reward": cycle, "reward_std_within": cycle,
			"frac_zero_std": slices.Repeat([]float64{1, 1, 1, 0, 0}, 10)}),
			"no-signal@10: 60 % of the steps (30 of 50) have no signal"},
		{"a few groups of many differ", run(60, "frac_zero_std 1x30"+strings.Repeat(" 1 0.94", 20)+", reward 0"),
			"!no-signal@10 !constant-reward@10: nearly all groups fail in all 60 rows"},
		{"a share in per cent", run(30, "frac_zero_std 12"), ""},
		{"constant reward", bare(20, "reward 0.5"), "!constant-reward@10: reward is exactly 0.5 in all 20 rows"},
		{"constant reward, few rows", bare(2, "reward 0.5"), "constant-reward@10"},
		{"no reward", bare(20, "len_clipped 1"), "!truncation@10"},
		{"nothing", bare(3, "lr 1e-6"), ""},
	} {
		var got []string
		found := Of(c.log)
		for _, f := range found {
			level := map[Level]string{Failure: "!", Remark: ""}[f.Level]
			got = append(got, fmt.Sprintf("%s%s@%d", level, f.Kind, f.Since))
			if f.Level == Failure && f.Next == "" || f.Text == "" || strings.HasSuffix(f.Text+f.Next, ".") {
				t.Errorf("%s: %+v", c.name, f)
			}
			if slices.Contains(Hidden(c.log), f.Kind) {
				t.Errorf("%s: %s is found though no column can show it", c.name, f.Kind)
			}
		}
		want, text, _ := strings.Cut(c.want, ": ")
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", c.name, got, want)
		} else if text != "" && !strings.Contains(found[0].Text, text) {
			t.Errorf("%s: no %q in\n%s", c.name, text, found[0].Text)
		}
	}
}

// A learning rate that is written as 0.0000 is any small number.
func TestRounded(t *testing.T) {
	l := table(20, columns{"reward": {0.25, 0.5}, "lr": {0}, "grad_norm": {0}, "frac_zero_std": {0.5}})
	for i, want := range []int{2, 1, 0} {
		if i > 0 {
			l.Columns[len(l.Columns)-i].Below = 5e-5
		}
		got := 0
		for _, f := range Of(l) {
			if f.Kind == NoUpdate {
				got++
			}
		}
		if got != want {
			t.Errorf("with %d rounded columns: got %d findings of no update, want %d", i, got, want)
		}
	}
}

// longest finds the part with the largest excess: no other part has a larger one.
func TestLongest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		steps, holds := make([]int, rng.IntN(20)), make([]bool, 20)
		for i := range steps {
			steps[i], holds[i] = 3*i, rng.IntN(3) > 0
		}
		count := func(begin, end int) (held int) {
			for _, is := range holds[begin:end] {
				if is {
					held++
				}
			}
			return held
		}
		got := longest(steps, func(i int) bool { return holds[i] })
		best, total, held := 0, count(0, len(steps)), count(got.begin, got.end)
		for i := range steps {
			for j := i; j < len(steps); j++ {
				here := count(i, j+1)
				best = max(best, here-others*(j+1-i-here))
			}
		}
		if got.held != held || held-others*(got.rows-held) != best || got.total != total ||
			total > 0 && (steps[got.begin] != got.from || steps[got.end-1] != got.to) {
			t.Fatalf("%v: got %+v, want an excess of %d", holds[:len(steps)], got, best)
		}
	}
}

// A trend of noise that is correlated over rows is an accident of at most twice the declared
// probability, on either side. Of 4,000 series 8 are expected; 30 are more than seven standard
// deviations away. A line of twice its noise is always seen.
func TestTrend(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	alarms, missed := 0, 0
	for range 4000 {
		var noise, line series
		x := rng.NormFloat64()
		for i := range 64 {
			x = 0.5*x + rng.NormFloat64()
			noise.values = append(noise.values, x)
			line.values = append(line.values, 4*float64(i)/63+rng.NormFloat64()/2)
		}
		if noise.trend() != 0 {
			alarms++
		}
		if line.trend() != 1 {
			missed++
		}
	}
	if alarms > 30 || alarms == 0 || missed > 40 {
		t.Errorf("%d of 4000 series of noise have a trend, %d of 4000 lines have none", alarms, missed)
	}
}

// healthyRun returns the log of a healthy run, with the columns, ranges and noise of trainers'
// logs. Reward rises or rests, KL grows to a few tenths with spikes, entropy falls to a half.
// Completions become up to twice as long, and engines agree as in bfloat16.
func healthyRun(rng *rand.Rand, rows int) columns {
	of := make(columns)
	lognormal := func(at, sigma float64) float64 { return at * math.Exp(sigma*rng.NormFloat64()) }
	set := func(q logs.Quantity, x float64) { of[q] = append(of[q], x) }
	groups, size := 4+rng.IntN(28), 4<<rng.IntN(2)
	rise, solved, format := rng.Float64()*0.5, 0.1+0.3*rng.Float64(), rng.Float64()
	cut, grows, kl := 0.15*rng.Float64(), rng.Float64(), 0.3*rng.Float64()
	drift := 0.0 // batches differ in difficulty
	for i := range rows {
		at := float64(i) / float64(max(rows-1, 40))
		drift = 0.7*drift + 0.01*rng.NormFloat64()
		p := min(max(solved+rise*at+drift, 0.02), 0.98)
		right, silent := 0, 0
		for range groups {
			easy := min(max(p+0.3*rng.NormFloat64(), 0), 1)
			k := 0
			for range size {
				if rng.Float64() < easy {
					k++
				}
			}
			if right += k; k == 0 || k == size {
				silent++
			}
		}
		mean := float64(right) / float64(groups*size)
		style := 1 - (1-format)*math.Exp(-5*at) + 0.01*rng.NormFloat64()
		set(logs.Reward, mean+0.2*style)
		set("reward_component/right", mean)
		set("reward_component/format", style)
		set(logs.RewardStdBatch, math.Sqrt(mean*(1-mean)))
		set(logs.FracZeroStd, float64(silent)/float64(groups))
		set(logs.GradNorm, lognormal(0.3, 0.4))
		set(logs.Loss, 0.01*rng.NormFloat64())
		set(logs.KLRef, lognormal(0.001+kl*at, 0.5))
		set(logs.Entropy, lognormal(1-0.5*at, 0.1))
		set(logs.LR, 1e-6*min(1, float64(i)/10))
		set(logs.LenMean, lognormal(300*(1+grows*at), 0.1))
		set(logs.LenMax, 1024)
		set(logs.LenMin, lognormal(40, 0.3))
		set(logs.LenClipped, min(1, lognormal(cut, 0.3)))
		set(logs.MismatchKL, lognormal(1e-3, 0.5))
		set(logs.LogpMismatch, lognormal(0.015, 0.3))
		set(logs.ProbMismatch, lognormal(0.008, 0.3))
		set(logs.ISRatioMean, 1+0.02*rng.NormFloat64())
		set(logs.ISEffective, 1-lognormal(0.03, 0.3))
		set(logs.Staleness, 2*rng.Float64())
	}
	return of
}

// Healthy runs of 1 to 400 rows have a failure in at most one of fifty.
func TestHealthyRuns(t *testing.T) {
	const runs = 500
	rng := rand.New(rand.NewPCG(3, 1))
	failures, remarks := 0, make(map[Kind]int)
	for run := range runs {
		rows := 1 + int(400*math.Pow(rng.Float64(), 2))
		l := table(rows, healthyRun(rng, rows))
		failed := false
		for _, f := range Of(l) {
			remarks[f.Kind]++
			if f.Level == Failure {
				failed = true
				t.Logf("run %d, %d rows: %+v", run, rows, f)
			}
		}
		if failed {
			failures++
		}
	}
	if failures > runs/50 {
		t.Errorf("%d of %d healthy runs have a failure, want at most one of fifty", failures, runs)
	}
	for kind, n := range remarks {
		// That a quarter of the groups are equal, or that a row has a KL of 1, is a fact.
		if kind != NoSignal && kind != KLBlowUp && n > runs/50 {
			t.Errorf("%d of %d healthy runs have a finding %s, want at most one of fifty", n, runs, kind)
		}
	}
}

// A fault that begins in a healthy run, in the second or third quarter of 60 to 200 rows, is the
// first failure. It is since its row where the log states it, and within a tenth of the run where a
// level has changed. So it is in at least 95 of 100 runs.
func TestFaults(t *testing.T) {
	fall := func(of columns, row, i int) { of["reward"][i] = 0.2 * of["reward"][row] }
	for want, fault := range map[Kind]func(of columns, row, i int){
		NumericalFailure: func(of columns, _, i int) {
			of["grad_norm"][i], of["entropy"][i], of["kl_ref"][i] = nan, nan, nan
		},
		NoUpdate: func(of columns, _, i int) { of["grad_norm"][i], of["frac_zero_std"][i] = 0, 0.3 },

		Truncation:      func(of columns, row, i int) { of["len_clipped"][i] = 1; fall(of, row, i) },
		SamplerMismatch: func(of columns, row, i int) { of["mismatch_kl"][i] *= 500; fall(of, row, i) },
		KLBlowUp: func(of columns, row, i int) {
			of["kl_ref"][i] = 100 * of["grad_norm"][i]
			fall(of, row, i)
		},
		EntropyGrowth: func(of columns, row, i int) { of["entropy"][i] *= 5; fall(of, row, i) },
		NoSignal: func(of columns, row, i int) {
			of["frac_zero_std"][i], of["reward_std_batch"][i] = 1, 0
			of["reward"][i] = change.Median(of["reward"][row-9 : row+1])
		},
	} {
		rng := rand.New(rand.NewPCG(4, 1))
		found := 0
		for range 100 {
			rows := 60 + rng.IntN(140)
			of := healthyRun(rng, rows)
			begin := rows/4 + rng.IntN(rows/2)
			for i := begin; i < rows; i++ {
				fault(of, begin-1, i)
			}
			allowed := 0
			if want == EntropyGrowth {
				allowed = rows
			}
			if all := Of(table(rows, of)); len(all) > 0 && all[0].Kind == want && all[0].Level == Failure {
				if off := all[0].Since - 10*(begin+1); max(off, -off) <= allowed {
					found++
				}
			}
		}
		if found < 95 {
			t.Errorf("%s is the first failure, since its row, in %d of 100 runs, want 95", want, found)
		}
	}
}

var update = flag.Bool("update", false, "rewrite the table of docs/diagnose.md")

// docs/diagnose.md has the table of findings, with every mode in it.
func TestDiagnoseDoc(t *testing.T) {
	var b strings.Builder
	b.WriteString("| what people see | what it is | its name | what to do | reported in |\n" +
		"|---|---|---|---|---|\n")
	for _, row := range Table() {
		seen := len(row.Threads) > 0 || row.Kind.IsMode()
		if row.See == "" || row.Is == "" || row.Next == "" || !seen {
			t.Errorf("%+v is not complete", row)
		}
		for _, q := range row.From {
			is := func(d logs.Definition) bool { return d.Quantity == q }
			if !slices.ContainsFunc(logs.Quantities(), is) {
				t.Errorf("%s is found from %q, which is no quantity", row.Kind, q)
			}
		}
		var threads []string
		for _, thread := range row.Threads {
			_, name, _ := strings.Cut(thread, "/")
			url := "https://github.com/" + strings.Replace(thread, "#", "/issues/", 1)
			threads = append(threads, fmt.Sprintf("[%s](%s)", name, url))
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` | %s | %s |\n",
			row.See, row.Is, row.Kind, row.Next, strings.Join(threads, ", "))
	}
	for _, m := range diagnose.Failures {
		if Kind(m).Next() == "" {
			t.Errorf("nothing is said to do about %s", m)
		}
	}
	const path, open, shut = "../../docs/diagnose.md", "<!-- findings -->\n", "<!-- /findings -->"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), open)
	got, after, closed := strings.Cut(rest, shut)
	if !found || !closed {
		t.Fatalf("%s has no block of findings", path)
	}
	switch {
	case *update:
		if err := os.WriteFile(path, []byte(before+open+b.String()+shut+after), 0o644); err != nil {
			t.Fatal(err)
		}
	case got != b.String():
		t.Errorf("%s (-update rewrites it): got\n%s\nwant\n%s", path, got, b.String())
	}
}

// broken finds what no text has.
var broken = regexp.MustCompile(`NaN|Inf|\(\)`)

// Whatever a log holds, its findings are of its steps and print no number that is none.
func TestAnyLog(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	pool := []float64{0, 0, 1, 1, -1, nan, math.Inf(1), 0.5, 0.97, 1e-300, 1e150, -1e150, 3, 17, 250.5}
	for range 2000 {
		of := make(columns)
		for _, d := range logs.Quantities() {
			if q := d.Quantity; rng.IntN(2) == 0 {
				if q == logs.RewardComponent || q == logs.RewardComponentStd || q == logs.EvalScore {
					q += logs.Quantity(fmt.Sprintf("/%d", rng.IntN(2)))
				}
				few := pool[rng.IntN(len(pool)):]
				for range 1 + rng.IntN(30) {
					of[q] = append(of[q], few[rng.IntN(len(few))])
				}
			}
		}
		l := table(rng.IntN(30), of)
		for i, c := range l.Columns {
			for row, x := range c.Values {
				if math.IsInf(x, 0) { // readers keep where it was
					l.Columns[i].Values[row] = nan
				}
			}
		}
		if len(l.Steps) > 2 {
			l.Resumes = []int{l.Steps[rng.IntN(len(l.Steps))]}
		}
		for _, f := range Of(l) {
			text := strings.ReplaceAll(f.Text, "NaN or infinite", "")
			if !slices.Contains(l.Steps, f.Since) || broken.MatchString(text) {
				t.Fatalf("%+v", f)
			}
		}
	}
}
