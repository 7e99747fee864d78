package findings

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
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
	for _, d := range logs.Quantities {
		for q, values := range of {
			if family, _, _ := strings.Cut(string(q), "/"); family != string(d.Quantity) {
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
	return l
}

// from returns values that are one number in n rows and another one from then on.
func from(n int, before, after float64) []float64 {
	values := make([]float64, n+1)
	for i := range n {
		values[i] = before
	}
	values[n] = after
	return values
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

// Each log states what is wanted and nothing else; a finding is written "level kind@step".
func TestOf(t *testing.T) {
	healthy := func(more columns) columns {
		all := columns{logs.Reward: rising(400, 0.2, 0.001), logs.GradNorm: {0.3}, logs.Loss: {0.01}, logs.KLRef: {0.02}, logs.Entropy: {0.5},
			logs.LR: {1e-6}, logs.FracZeroStd: {0.1}, logs.LenClipped: {0.05}, logs.LenMean: {300}}
		for q, values := range more {
			all[q] = values
		}
		return all
	}
	for name, c := range map[string]struct {
		log  *logs.Log
		want string
		text string // in the first finding
	}{
		"healthy":                          {table(200, healthy(nil)), "", ""},
		"a row":                            {table(1, healthy(nil)), "", ""},
		"NaN from a step on":               {table(50, healthy(columns{logs.GradNorm: from(30, 0.3, nan), logs.KLRef: from(30, 0.02, nan), logs.LenClipped: from(30, 0, 1)})), "failure numerical-failure@310", "kl_ref and grad_norm are NaN or infinite since step 310 to the end (20 of 50 rows)"},
		"NaN in the last row":              {table(50, healthy(columns{logs.GradNorm: from(49, 0.3, nan)})), "failure numerical-failure@500", ""},
		"NaN in all rows":                  {table(3, healthy(columns{logs.GradNorm: {nan}})), "failure numerical-failure@10", "in all 3 rows: every update is skipped"},
		"NaN in single rows":               {table(50, healthy(columns{logs.GradNorm: {0.3, nan, 0.3, 0.3, nan, 0.3}})), "remark numerical-failure@20", "in 2 of 50 rows, first at step 20"},
		"NaN in most rows":                 {table(5, healthy(columns{logs.GradNorm: {0.3, nan, nan, nan, 0.3}})), "failure numerical-failure@20", "most updates"},
		"KL is not computed":               {table(50, healthy(columns{logs.KLRef: {nan}})), "", ""},
		"KL in single rows":                {table(50, healthy(columns{logs.KLRef: {0.1, nan, 0.1, nan, 0.1}})), "", ""},
		"KL where nothing else tells":      {table(50, columns{logs.Reward: {0.1, 0.2}, logs.KLRef: from(9, 0.1, nan)}), "failure numerical-failure@100", ""},
		"a NaN reward beside KL":           {table(50, columns{logs.Reward: {0.1, 0.2, nan, 0.2}, logs.KLRef: {0.1}}), "remark numerical-failure@30", "reward is NaN or infinite at step 30 (1 of 50 rows)"},
		"most rewards NaN beside entropy":  {table(5, columns{logs.Reward: {nan, nan, nan, 0.2, 0.3}, logs.Entropy: {0.5}}), "remark numerical-failure@10", "in 3 of 5 rows, first at step 10: those updates are skipped, or their values are missing"},
		"a NaN KL that passes":             {table(50, columns{logs.Reward: {0.1, 0.2}, logs.KLRef: {0.1, nan, 0.1}}), "remark numerical-failure@20", "kl_ref is NaN or infinite at step 20 (1 of 50 rows)"},
		"NaN at the end as before":         {table(5, columns{logs.Reward: {0.1, 0.2, nan, 0.2, nan}, logs.KLRef: {0.1}}), "remark numerical-failure@30", "in 2 of 5 rows"},
		"NaN at the end for longer":        {table(6, columns{logs.Reward: {0.1, 0.2, nan, 0.2, nan}, logs.KLRef: {0.1}}), "failure numerical-failure@50", "since step 50 to the end (2 of 6 rows): the run is lost since then"},
		"NaN is the word for missing":      {table(50, healthy(columns{logs.LR: {1e-6, nan, 1e-6}, logs.GradNorm: {0.3, nan, 0.3}})), "", ""},
		"rows of two loggers":              {table(4, columns{logs.Reward: {0.1, nan, 0.2, nan}, logs.GradNorm: {nan, 0.3, nan, 0.3}}), "", ""},
		"a NaN reward without an update":   {table(4, columns{logs.Reward: {0.1, nan}, logs.GradNorm: {0.3, nan}, logs.LenMean: {9}}), "failure numerical-failure@20", "reward and grad_norm"},
		"gradients lost":                   {table(20, healthy(columns{logs.GradNorm: {0}, logs.KLRef: {0}})), "failure no-update@10", "grad_norm is exactly 0 in all 20 rows, though rewards within groups differ (frac_zero_std 0.1): the weights do not move"},
		"gradients lost, a row":            {table(1, healthy(columns{logs.GradNorm: {0}, logs.FracZeroStd: {0}})), "failure no-update@10", "at step 10, the only row"},
		"gradients lost since":             {table(40, healthy(columns{logs.GradNorm: from(20, 0.3, 0)})), "failure no-update@210", ""},
		"one gradient of 0":                {table(40, healthy(columns{logs.GradNorm: {0.3, 0, 0.3}})), "remark no-update@20", "at step 20 (1 of 40 rows)"},
		"a gradient of 0 without signal":   {table(20, healthy(columns{logs.GradNorm: {0}, logs.FracZeroStd: {1}, logs.Reward: {0}})), "failure no-signal@10 failure constant-reward@10", "all groups fail"},
		"a gradient of 0 while all fail":   {table(40, columns{logs.GradNorm: from(20, 0, 0.3), logs.Reward: append(from(19, 0, 0), rising(20, 0, 0.01)...)}), "remark no-update@10 remark constant-reward@10", "no column says"},
		"a gradient of 0, all solved":      {table(20, columns{logs.GradNorm: {0}, logs.Reward: {1}}), "failure constant-reward@10 remark no-update@10", ""},
		"a gradient of 0, rewards vary":    {table(20, columns{logs.GradNorm: {0}, logs.Reward: {0.2, 0.3, 0.4, 0.3}}), "failure no-update@10", "no column says"},
		"a gradient of 0, rewards deviate": {table(2, columns{logs.GradNorm: {0}, logs.Reward: {0.2, 0.3}, logs.RewardStdBatch: {0.4}}), "failure no-update@10", "though rewards differ"},
		"learning rate 0":                  {table(20, healthy(columns{logs.LR: {0}})), "failure no-update@10", "lr is 0 in all 20 rows"},
		"warm-up from 0":                   {table(20, healthy(columns{logs.LR: {0, 1e-7, 2e-7}})), "", ""},
		"loss 0":                           {table(20, healthy(columns{logs.Loss: {0, 1e-4}})), "remark zero-loss@10", "loss is 0 to four digits in all 20 rows, which is normal, and the gradient is not 0 (grad_norm 0.3)"},
		"loss 0, gradient NaN":             {table(2, healthy(columns{logs.Loss: {0}, logs.GradNorm: {nan}})), "failure numerical-failure@10", ""},
		"loss 0 without signal":            {table(2, columns{logs.Loss: {0}, logs.Reward: {0.2, 0.3}, logs.FracZeroStd: {1}}), "failure no-signal@10", ""},
		"all cut":                          {table(20, healthy(columns{logs.LenClipped: {1}, logs.LenMax: {16}, logs.Reward: {0.3, 0.4, 0.3}})), "failure truncation@10", "every completion is cut at the length limit in all 20 rows: len_clipped 100 %"},
		"all of one length":                {table(20, columns{logs.Reward: {0.1, 0.2}, logs.LenMin: {256}, logs.LenMax: {256}}), "remark truncation@10", "every completion has 256 tokens in all 20 rows (len_min = len_max)"},
		"answers of one length":            {table(20, columns{logs.Reward: {0.1, 0.2}, logs.LenMean: {4.9, 5}}), "", ""},
		"mean length at the limit since":   {table(40, columns{logs.Reward: {0.1, 0.2}, logs.LenMean: append(rising(20, 200.5, 1), 256)}), "remark truncation@210", "len_mean is exactly 256 since step 210"},
		"mean length varies":               {table(40, columns{logs.Reward: {0.1, 0.2}, logs.LenMean: rising(40, 200.5, 1)}), "", ""},
		"most cut since":                   {table(40, healthy(columns{logs.LenClipped: from(20, 0.1, 0.6), logs.Reward: {0.3, 0.4, 0.3}})), "failure truncation@210", "most completions"},
		"most cut, reward rises":           {table(40, healthy(columns{logs.LenClipped: {0.6}})), "remark truncation@10", "the reward rises meanwhile"},
		"most cut at the start":            {table(40, healthy(columns{logs.LenClipped: from(12, 0.7, 0.1)})), "remark truncation@10", "from step 10 to step 120"},
		"many cut in a few rows":           {table(4, healthy(columns{logs.LenClipped: {0.3, 0.5, 1, 0.4}})), "remark truncation@10", "30 % to 100 %"},
		"length explodes":                  {table(40, healthy(columns{logs.LenMean: from(20, 300, 1500)})), "remark length-change@210", "grow 5 times, from 300 to 1500 tokens (len_mean), half of the way at step 210; the reward rises meanwhile"},
		"length shrinks, few rows":         {table(6, healthy(columns{logs.LenMean: {300, 290, 310, 90, 80, 85}})), "remark length-change@40", "shrink 3.5 times"},
		"mismatch KL":                      {table(3, healthy(columns{logs.MismatchKL: {0.15, 1.75, 0.4}, logs.Reward: {0.3, 0.4, 0.3}})), "failure sampler-mismatch@10", "mismatch_kl is 0.15 to 1.75, median 0.4 in all 3 rows"},
		"mismatch KL of either sign":       {table(3, healthy(columns{logs.MismatchKL: {-0.15, -0.2, -0.4}, logs.Reward: {0.3, 0.4, 0.3}})), "failure sampler-mismatch@10", ""},
		"engines that agree":               {table(30, healthy(columns{logs.MismatchKL: {1e-3}, logs.LogpMismatch: {0.02}, logs.ProbMismatch: {0.01}, logs.ISRatioMean: {1.01}, logs.ISEffective: {0.97}})), "", ""},
		"log probabilities since":          {table(40, healthy(columns{logs.LogpMismatch: from(25, 0.01, 0.3), logs.Reward: {0.3, 0.4, 0.3}})), "failure sampler-mismatch@260", ""},
		"probabilities":                    {table(40, healthy(columns{logs.ProbMismatch: {0.1}, logs.Reward: {0.3, 0.4, 0.3}})), "failure sampler-mismatch@10", ""},
		"a mismatch that does no harm":     {table(40, healthy(columns{logs.ISEffective: {0.3}})), "remark sampler-mismatch@10", "the reward rises meanwhile"},
		"effective samples":                {table(40, healthy(columns{logs.ISEffective: {0.3}, logs.Reward: {0.3, 0.4, 0.3}})), "failure sampler-mismatch@10", "is_effective is 0.3"},
		"importance weights alone":         {table(40, healthy(columns{logs.ISRatioMean: {0.6}})), "remark sampler-mismatch@10", ""},
		"one step off":                     {table(40, healthy(columns{logs.Staleness: {1}, logs.StalenessMax: {4}})), "", ""},
		"stale":                            {table(40, healthy(columns{logs.Staleness: {6}})), "remark stale-samples@10", ""},
		"oldest samples":                   {table(40, healthy(columns{logs.StalenessMax: {12}})), "remark stale-samples@10", ""},
		"KL of a billion":                  {table(1, healthy(columns{logs.KLRef: {1e9}})), "failure kl-blow-up@10", "carried by a few tokens"},
		"KL blows up":                      {table(40, healthy(columns{logs.KLRef: from(20, 0.01, 3), logs.Reward: {0.3, 0.4, 0.3}})), "failure kl-blow-up@210", "reaches 3 nats a token since step 210 (20 of 40 rows)"},
		"KL grows with the reward":         {table(40, healthy(columns{logs.KLRef: from(20, 0.01, 3)})), "remark kl-blow-up@210", "the reward rises meanwhile"},
		"KL far below 0":                   {table(9, healthy(columns{logs.KLRef: {-2.5}, logs.Reward: {0.3, 0.4, 0.3}})), "failure kl-blow-up@10", "reaches 2.5 nats a token"},
		"KL comes back":                    {table(60, healthy(columns{logs.KLRef: from(20, 2, 0.1), logs.Reward: {0.3, 0.4, 0.3}})), "remark kl-blow-up@10", "it has come back"},
		"entropy grows, reward falls":      {table(40, healthy(columns{logs.Entropy: from(20, 0.3, 1.2), logs.Reward: append(rising(20, 0.5, 0.01), rising(20, 0.4, -0.01)...)})), "failure entropy-growth@210 failure reward-collapse@210", ""},
		"the reward falls first":           {table(40, healthy(columns{logs.Entropy: from(30, 0.3, 1.2), logs.Reward: append(rising(10, 0.5, 0.01), 0.1)})), "failure reward-collapse@110 failure entropy-growth@310", ""},
		"entropy grows, reward rises":      {table(40, healthy(columns{logs.Entropy: from(20, 0.3, 1.2)})), "remark entropy-growth@210", ""},
		"entropy of random text":           {table(40, healthy(columns{logs.Entropy: {9.5}})), "remark entropy-growth@10", "the entropy is 9.5 nats a token (entropy), near the logarithm"},
		"random text at the start":         {table(40, healthy(columns{logs.Entropy: from(10, 9.5, 1)})), "remark entropy-growth@10", "9.5 nats a token at the start"},
		"format alone":                     {table(40, healthy(columns{"reward_component/format": {1}, "reward_component/correct": {0, 0, 0, 0.01}})), "remark constant-reward@10", "reward_component/format 1 and reward_component/correct 0.01 on average in the second half"},
		"format and answers":               {table(40, healthy(columns{"reward_component/format": {1}, "reward_component/correct": {0, 0.2}})), "", ""},
		"loss and gradient 0":              {table(20, healthy(columns{logs.GradNorm: {0}, logs.Loss: {0}})), "failure no-update@10", "loss and grad_norm are exactly 0 in all 20 rows"},
		"entropy falls":                    {table(40, healthy(columns{logs.Entropy: from(20, 1.2, 0.3)})), "", ""},
		"entropy then truncation":          {table(80, healthy(columns{logs.Entropy: from(30, 0.3, 1.2), logs.LenClipped: from(50, 0.1, 0.8), logs.Reward: {0.3, 0.4, 0.3}})), "failure entropy-growth@310 failure truncation@510", ""},
		"all groups fail, by counts":       {table(1, columns{logs.Reward: {0}, logs.CountAll0: {128}, logs.CountAll1: {0}, logs.RewardMin: {0}, logs.RewardMax: {0}}), "failure no-signal@10", "all groups fail at step 10, the only row (count_all0 128"},
		"all groups fail, by counts alone": {table(1, columns{logs.Reward: {0}, logs.CountAll0: {64}, logs.CountAll1: {0}, logs.Groups: {64}}), "failure no-signal@10", "all groups fail"},
		"no advantage":                     {table(1, columns{logs.Reward: {0.5}, logs.AdvantageMin: {0}, logs.AdvantageMax: {0}}), "failure no-signal@10", "all groups have equal rewards"},
		"learnt":                           {table(60, columns{logs.Reward: append(rising(20, 0.1, 0.04), 0.996), logs.RewardStdBatch: append(rising(20, 0.38, 0), 2e-4)}), "remark no-signal@210", "all groups succeed since step 210"},
		"no signal at the start":           {table(40, healthy(columns{logs.FracZeroStd: from(12, 1, 0.1), logs.Reward: append(from(11, 0, 0), rising(28, 0, 0.01)...)})), "remark no-signal@10", "from step 10 to step 120"},
		"a mismatch that passes":           {table(40, healthy(columns{logs.MismatchKL: from(20, 0.3, 1e-3)})), "remark sampler-mismatch@10", "from step 10 to step 200"},
		"a KL about its threshold":         {table(40, healthy(columns{logs.KLRef: append(from(20, 0.01, 3), append(rising(17, 3, 0), 0.9, 0.9)...), logs.Reward: {0.3, 0.4, 0.3}})), "failure kl-blow-up@210", "since step 210"},
		"a gradient of 0 that passes":      {table(40, healthy(columns{logs.GradNorm: from(15, 0, 0.3), logs.LR: from(12, 0, 1e-6)})), "remark no-update@10", "from step 10 to step 150"},
		"a gradient that comes back":       {table(40, healthy(columns{logs.GradNorm: append(rising(38, 0, 0), 0.3)})), "failure no-update@10", "since step 10 (38 of 40 rows)"},
		"a third of the groups":            {table(30, healthy(columns{logs.FracZeroStd: {0.38, 0.56, 0.4}})), "remark no-signal@10", "40.5 % of the groups"},
		"most steps of one group":          {table(50, columns{logs.Reward: cycle, logs.RewardStdWithin: cycle, logs.FracZeroStd: slices.Repeat([]float64{1, 1, 1, 0, 0}, 10)}), "remark no-signal@10", "60 % of the steps (30 of 50) have no signal"},
		"a share in per cent":              {table(30, healthy(columns{logs.FracZeroStd: {12}})), "", ""},
		"constant reward":                  {table(20, columns{logs.Reward: {0.5}}), "failure constant-reward@10", "reward is exactly 0.5 in all 20 rows"},
		"constant reward, few rows":        {table(2, columns{logs.Reward: {0.5}}), "remark constant-reward@10", ""},
		"no reward":                        {table(20, columns{logs.LenClipped: {1}}), "failure truncation@10", ""},
		"nothing":                          {table(3, columns{logs.LR: {1e-6}}), "", ""},
	} {
		var got []string
		found := Of(c.log)
		for _, f := range found {
			got = append(got, fmt.Sprintf("%s %s@%d", f.Level, f.Kind, f.Since))
			if f.Level == Failure && f.Next == "" || f.Text == "" || strings.HasSuffix(f.Text+f.Next, ".") {
				t.Errorf("%s: %+v", name, f)
			}
			if slices.Contains(Hidden(c.log), f.Kind) {
				t.Errorf("%s: %s is found though no column can show it", name, f.Kind)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		} else if c.text != "" && !strings.Contains(found[0].Text, c.text) {
			t.Errorf("%s: no %q in\n%s", name, c.text, found[0].Text)
		}
	}
}

// A learning rate that is written as 0.0000 is any small number.
func TestRounded(t *testing.T) {
	l := table(20, columns{logs.Reward: {0.25, 0.5}, logs.LR: {0}, logs.GradNorm: {0}, logs.FracZeroStd: {0.5}})
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
		total := 0
		for i := range steps {
			steps[i], holds[i] = 3*i, rng.IntN(3) > 0
			if holds[i] {
				total++
			}
		}
		got := longest(steps, func(i int) bool { return holds[i] })
		best := 0
		for i := range steps {
			excess := 0
			for j := i; j < len(steps); j++ {
				if holds[j] {
					excess++
				} else {
					excess -= others
				}
				best = max(best, excess)
			}
		}
		held := 0
		for i := got.begin; i < got.end; i++ {
			if holds[i] {
				held++
			}
		}
		if got.held != held || held-others*(got.rows-held) != best || got.total != total || total > 0 && (steps[got.begin] != got.from || steps[got.end-1] != got.to) {
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
	lognormal := func(center, sigma float64) float64 { return center * math.Exp(sigma*rng.NormFloat64()) }
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
	falls := func(of columns, row, i int) { of[logs.Reward][i] = 0.2 * of[logs.Reward][row] }
	for want, fault := range map[Kind]func(of columns, row, i int){
		NumericalFailure: func(of columns, _, i int) {
			of[logs.GradNorm][i], of[logs.Entropy][i], of[logs.KLRef][i] = nan, nan, nan
		},
		NoUpdate:        func(of columns, _, i int) { of[logs.GradNorm][i], of[logs.FracZeroStd][i] = 0, 0.3 },
		Truncation:      func(of columns, row, i int) { of[logs.LenClipped][i] = 1; falls(of, row, i) },
		SamplerMismatch: func(of columns, row, i int) { of[logs.MismatchKL][i] *= 500; falls(of, row, i) },
		KLBlowUp:        func(of columns, row, i int) { of[logs.KLRef][i] = 100 * of[logs.GradNorm][i]; falls(of, row, i) },
		EntropyGrowth:   func(of columns, row, i int) { of[logs.Entropy][i] *= 5; falls(of, row, i) },
		NoSignal: func(of columns, row, i int) {
			of[logs.FracZeroStd][i], of[logs.RewardStdBatch][i], of[logs.Reward][i] = 1, 0, change.Median(of[logs.Reward][row-9:row+1])
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
			if all := Of(table(rows, of)); len(all) > 0 && all[0].Kind == want && all[0].Level == Failure && math.Abs(float64(all[0].Since-10*(begin+1))) <= float64(allowed) {
				found++
			}
		}
		if found < 95 {
			t.Errorf("%s is the first failure, since its row, in %d of 100 runs, want at least 95", want, found)
		}
	}
}

var update = flag.Bool("update", false, "rewrite the table of docs/diagnose.md")

// docs/diagnose.md has the table of findings, with every mode in it.
func TestDiagnoseDoc(t *testing.T) {
	var b strings.Builder
	b.WriteString("| what people see | what it is | its name | what to do | reported in |\n|---|---|---|---|---|\n")
	for _, row := range Table() {
		if row.See == "" || row.Is == "" || row.Next == "" || len(row.Threads) == 0 && !row.Kind.IsMode() {
			t.Errorf("%+v is not complete", row)
		}
		for _, q := range row.From {
			if !slices.ContainsFunc(logs.Quantities, func(d logs.Definition) bool { return d.Quantity == q }) {
				t.Errorf("%s is found from %q, which is no quantity", row.Kind, q)
			}
		}
		var threads []string
		for _, thread := range row.Threads {
			repository, number, _ := strings.Cut(thread, "#")
			threads = append(threads, fmt.Sprintf("[%s](https://github.com/%s/issues/%s)", thread[strings.Index(thread, "/")+1:], repository, number))
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` | %s | %s |\n", row.See, row.Is, row.Kind, row.Next, strings.Join(threads, ", "))
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

// Whatever a log holds, its findings are of its steps and print no number that is none.
func TestAnyLog(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	pool := []float64{0, 0, 1, 1, -1, nan, math.Inf(1), 0.5, 0.97, 1e-300, 1e150, -1e150, 3, 17, 250.5}
	for range 2000 {
		of := make(columns)
		for _, d := range logs.Quantities {
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
			if !slices.Contains(l.Steps, f.Since) || strings.Contains(strings.ReplaceAll(f.Text, "NaN or infinite", ""), "NaN") || strings.Contains(f.Text, "Inf") || strings.Contains(f.Text, "()") {
				t.Fatalf("%+v", f)
			}
		}
	}
}
