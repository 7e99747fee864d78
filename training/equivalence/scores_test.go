package equivalence

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var update = flag.Bool("update", false, "rewrite the messages of bad files")

var nan = math.NaN()

const good = `# a comment
benchmark,score_a,n_a,score_b,n_b,model,se_a,se_b
easy, 90.5,2000,91,1000,small,0.5,0.4
hard,1,30,0,30,small,,
`

func TestReadScores(t *testing.T) {
	read := func(text string) *Table {
		got, err := ReadScores(strings.NewReader(text), "x.csv")
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := read(good)
	want := []Score{
		{Benchmark: "easy", Model: "small", A: 0.905, B: 0.91,
			NA: 2000, NB: 1000, SEA: 0.005, SEB: 0.004},
		{Benchmark: "hard", Model: "small", A: 0.01, B: 0, NA: 30, NB: 30, SEA: nan, SEB: nan},
	}
	closely := cmp.Options{cmpopts.EquateApprox(0, 1e-15), cmpopts.EquateNaNs()}
	diff := cmp.Diff(want, got.Scores, closely)
	if diff != "" || got.Unit != Percent || len(got.Notes) != 1 {
		t.Errorf("%s, %v\n%s", got.Unit, got.Notes, diff)
	}
	const repeated = "benchmark,percent_a,n_a,sd_a,runs_a,percent_b,n_b,sd_b,runs_b\n" +
		"x,50,10,1,2,51,10,0,3\ny,50,10,,,51,10,,\n"
	want = []Score{
		{Benchmark: "x", A: 0.5, B: 0.51, NA: 10, NB: 10, SEA: nan, SEB: nan, SDA: 0.01,
			RunsA: 2, RunsB: 3},
		{Benchmark: "y", A: 0.5, B: 0.51, NA: 10, NB: 10, SEA: nan, SEB: nan},
	}
	if diff := cmp.Diff(want, read(repeated).Scores, closely); diff != "" {
		t.Error(diff)
	}
	for text, unit := range map[string]Unit{
		"\ufeffBenchmark,score_a,n_a,score_b,n_b\nx,0.5,10,1,10\n": Share,
		"benchmark,percent_a,n_a,percent_b,n_b\nx,0.5,10,1,10\n":   Percent,
		"share_b,benchmark,n_a,share_a,n_b\n1,x,10,0.5,10\n":       Share,
	} {
		got := read(text)
		whole := map[Unit]float64{Percent: 100, Share: 1}[unit]
		if s := got.Scores[0]; got.Unit != unit || s.A != 0.5/whole || s.B != 1/whole ||
			(len(got.Notes) > 0) != strings.Contains(text, "score_a") {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// Bad files get their messages.
func TestReadBadScores(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.csv")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		table, err := ReadScores(f, filepath.Base(file))
		f.Close()
		if err == nil {
			t.Errorf("%s is accepted: %+v", file, table)
			continue
		}
		golden := strings.TrimSuffix(file, ".csv") + ".txt"
		if *update {
			if err := os.WriteFile(golden, []byte(err.Error()+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, readErr := os.ReadFile(golden)
		if readErr != nil {
			t.Fatal(readErr)
		}
		if diff := cmp.Diff(string(want), err.Error()+"\n"); diff != "" {
			t.Errorf("%s (-want +got; -update rewrites it):\n%s", file, diff)
		}
	}
}

// Rows with standard errors use them, the others the numbers of questions.
func TestScores(t *testing.T) {
	scores := []Score{
		{Benchmark: "equal, known error", A: 0.5, B: 0.505, NA: 10, NB: 10, SEA: 0.001, SEB: 0.001},
		{Benchmark: "equal, few questions", A: 0.5, B: 0.5, NA: 10, NB: 10, SEA: nan, SEB: nan},
		{Benchmark: "many questions", A: 0.5, B: 0.5, NA: 100000, NB: 100000, SEA: nan, SEB: nan},
		{Benchmark: "other, many questions", A: 0.5, B: 0.6, NA: 100000, NB: 100000, SEA: nan, SEB: nan},
		{Benchmark: "none solved", A: 0, B: 0, NA: 30, NB: 30, SEA: nan, SEB: nan},
	}
	want := []Verdict{Same, Undecided, Same, Different, Undecided}
	got := Scores(scores, 0.02, 0.95)
	for i, j := range got {
		if j.Verdict != want[i] {
			t.Errorf("%s: %+v, want %s", scores[i].Benchmark, j, want[i])
		}
	}
}

// Whatever a file holds, it is a table of valid scores or an error that names the file.
func FuzzReadScores(f *testing.F) {
	f.Add([]byte(good))
	files, err := filepath.Glob("testdata/bad/*.csv")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	const header = "benchmark,model,metric,score_a,n_a,score_b,n_b,sd_a,sd_b,runs_a,runs_b\n"
	f.Add([]byte(header + "\"a\nb\",,,50,30,60,30,,,,\na,b,,50,30,60,30,,,,\n"))
	f.Add([]byte(header + "\x1b[31m\u202e\u009b\x9b\xff,\u200b,\u2028,50,30,60,30,1e308,1e-308,2,1000000\n"))
	f.Add([]byte(header + "a,,,5e-324,1,100,1000000000,1e308,1e308,2,2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := ReadScores(strings.NewReader(string(data)), "fuzzed.csv")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzzed.csv") {
				t.Errorf("the error is %q", err)
			}
			return
		}
		names := make(map[[3]string]bool)
		for _, s := range table.Scores {
			if name := [3]string{s.Benchmark, s.Model, s.Metric}; names[name] || s.Benchmark == "" {
				t.Errorf("accepted the name %q twice, or an empty one", name)
			} else {
				names[name] = true
			}
		}
		for i, j := range Scores(table.Scores[:min(len(table.Scores), 20)], 0.02, 0.95) {
			s := table.Scores[i]
			if !(min(s.A, s.B) >= 0 && max(s.A, s.B) <= 1) || min(s.NA, s.NB) < 1 ||
				math.IsNaN(s.SEA) != math.IsNaN(s.SEB) || s.SEA <= 0 {
				t.Errorf("accepted %+v", s)
			}
			if d := s.B - s.A; !(j.Lo <= d && d <= j.Hi) {
				t.Errorf("%+v: [%g, %g] does not contain the difference", s, j.Lo, j.Hi)
			}
		}
	})
}
