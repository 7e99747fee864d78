package judge

import (
	"strings"
	"testing"

	"grposim/configs"
	"grposim/sweeps/config"
)

// reading returns the reading of that name.
func reading(t *testing.T, all []JudgedReading, name string) JudgedReading {
	t.Helper()
	for _, r := range all {
		if r.Reading == name {
			return r
		}
	}
	t.Fatalf("no reading %q in %+v", name, all)
	return JudgedReading{}
}

// Every statement on data that are not ours has the readings of the table, and no other
// statement has any.
func TestDataReadings(t *testing.T) {
	for _, s := range config.Paper().Statements {
		judged := onData()[s.ID]
		if (len(judged) > 0) != (s.On != "") {
			t.Errorf("%s is on %q, with %d readings", s.ID, s.On, len(judged))
		}
		for _, r := range judged {
			if (r.Reading != "") != (len(s.Readings) > 0) ||
				r.Reading != "" && s.ReadingIndex(r.Reading) < 0 {
				t.Errorf("%s: %q is no reading of it", s.ID, r.Reading)
			}
		}
	}
}

// Of Table 1 two runs a side decide no single score, and three models no mean. 73 of 96 cells
// rise, 9 fall, 6 of them on NuminaMath (counted by hand).
func TestTableStatements(t *testing.T) {
	each := reading(t, onData()["benchmark-invariance"], "each-benchmark")
	if each.Limit.Contradict != 0 || each.outcome() != StatementUndecided {
		t.Errorf("each benchmark: %+v", each)
	}
	mean := reading(t, onData()["benchmark-invariance"], "on-average")
	if mean.outcome() != StatementUndecided || !strings.Contains(mean.Found,
		"16 favour G = 16 and 6 G = 4 (sign test P = 0.052)") {
		t.Errorf("on average: %+v", mean)
	}
	improved := reading(t, onData()["benchmark-gains"], "")
	if improved.outcome() != StatementHolds || !strings.HasPrefix(improved.Found,
		"73 of 96 cells rise, 9 fall (6 of them on NuminaMath), 14 are equal") {
		t.Errorf("gains: %+v", improved)
	}

	// a table that loses instead, and one without any direction
	scores := scoresOf("improvement.csv", configs.Improvement)
	for i := range scores {
		scores[i].A, scores[i].B = scores[i].B, scores[i].A
	}
	if r := gains(scores)[0]; r.outcome() != StatementFails {
		t.Errorf("a table that falls: %+v", r)
	}
	for i := range scores {
		scores[i].A = scores[i].B
	}
	if r := gains(scores)[0]; r.outcome() != StatementUndecided {
		t.Errorf("a table that stays: %+v", r)
	}
}

// The two tables have the trained scores in common.
func TestTablesAgree(t *testing.T) {
	type cell struct{ benchmark, model, metric string }
	trained := make(map[cell]float64)
	for _, s := range scoresOf("improvement.csv", configs.Improvement) {
		trained[cell{s.Benchmark, s.Model, s.Metric}] = s.B
	}
	for _, s := range Table1() {
		a, b := trained[cell{s.Benchmark, s.Model, s.Metric + " G=16"}],
			trained[cell{s.Benchmark, s.Model, s.Metric + " G=4"}]
		if s.A != a || s.B != b || s.RunsA != 2 || s.RunsB != 2 {
			t.Errorf("%s %s %s: %g and %g, want %g and %g of two runs", s.Benchmark, s.Model, s.Metric, s.A,
				s.B, a, b)
		}
	}
	if len(trained) != 96 {
		t.Errorf("%d cells, want 96", len(trained))
	}
}

// Each of three fits reaches R² or not where any law does, by rows and in means, and the inertia is
// supported, contradicted or undecided.
func TestFitTraining(t *testing.T) {
	fits := []PublicFit{
		{R2: 0.91, R2Means: 0.97, Best: 0.91, Means: 0.98, DeltaBIC: -6},
		{R2: 0.3, R2Means: 0.92, Best: 0.909, Means: 0.92, DeltaBIC: 5.9},
		{R2: 0.2, R2Means: 0.909, Best: 0.95, Means: 0.91, DeltaBIC: 6},
	}
	judged := fitTraining(fits)
	for name, want := range map[string]VerdictCounts{
		"rows":    {Support: 1, Contradict: 1},
		"means":   {Support: 2, Contradict: 1},
		"inertia": {Support: 1, Contradict: 1, Inconclusive: 1},
	} {
		if got := reading(t, judged, name); got.Limit != want {
			t.Errorf("%s: %+v, want %+v", name, got.Limit, want)
		}
	}
	if got := reading(t, fitTraining(fits[:1]), "inertia"); got.outcome() != StatementHolds {
		t.Errorf("inertia in every log: %+v", got)
	}
	if fits := PublicFits(); len(fits) != 9 || fits[0].Rows != 250 {
		t.Errorf("%+v, want nine logs", fits)
	}
}
