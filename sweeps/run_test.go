package sweeps

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"grposim/sim"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// Configurations; to all but small one adds checks.
var (
	//go:embed testdata/small.yaml
	small string // twelve quick cells with checks of six claims
	//go:embed testdata/resting.yaml
	resting string // one cell that starts at its fixed point
	//go:embed testdata/edge.yaml
	edgeText string // a network that is led to the edge of stability
	//go:embed testdata/rare.yaml
	rare string // one cell without inertia that starts far from its fixed point
	//go:embed testdata/underway.yaml
	underway string // without a KL penalty
)

// overSizes is a sweep to append to those with one cell.
const overSizes = "sweep: [{param: grpo.group_size, values: [32, 64, 128]}]\n"

// silent is a Progress that shows nothing.
type silent struct {
	cells int             // finished so far
	notes []string        // messages of Note
	after func(cells int) // called after each finished cell; nil: nothing is

	mutex         sync.Mutex
	planned, work float64 // as reported by Begin, and by all calls of Work
	pieces        int     // calls of Work
	parts, total  int     // calls of Part, and the sum of the totals of what it counted
	part          func()  // called by Part; nil: nothing is
}

func (s *silent) Begin(_ string, _, _ int, work float64) { s.planned = work }
func (s *silent) End()                                   {}
func (s *silent) Part(_, _ string, done, total int) {
	s.parts++
	if done == 1 {
		s.total += total
	}
	if s.part != nil {
		s.part()
	}
}
func (s *silent) Note(message string) { s.notes = append(s.notes, message) }
func (s *silent) Work(work float64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.work += work
	s.pieces++
}
func (s *silent) Cell() {
	s.cells++
	if s.after != nil {
		s.after(s.cells)
	}
}

// runSweep runs the sweep of a configuration in a results folder.
func runSweep(t *testing.T, text, dir string, workers int) (*Experiment, *silent) {
	t.Helper()
	var quiet silent
	e := must(Runner{Workers: workers, Progress: &quiet}.Run(t.Context(), planText(t, text), dir))
	return e, &quiet
}

// contents returns the text of every file of a results folder by its name, the manifest
// without `run`, which holds times.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	noError(t, err)
	files := make(map[string]string)
	for _, entry := range entries {
		data := must(os.ReadFile(filepath.Join(dir, entry.Name())))
		if entry.Name() == store.ManifestName {
			var manifest map[string]any
			noError(t, json.Unmarshal(data, &manifest))
			delete(manifest, "run")
			if data, err = json.Marshal(manifest); err != nil {
				t.Fatal(err)
			}
		}
		files[entry.Name()] = string(data)
	}
	return files
}

// sameContents checks that two results folders have the same files.
func sameContents(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %s differs", what, name)
		}
	}
	for name := range got {
		if _, known := want[name]; !known {
			t.Errorf("%s: %s is an additional file", what, name)
		}
	}
}

func TestSameBytesForAnyWorkers(t *testing.T) {
	dir := t.TempDir()
	runSweep(t, small, filepath.Join(dir, "1"), 1)
	want := contents(t, filepath.Join(dir, "1"))
	equal(t, "files in the folder", len(want), 7)
	runSweep(t, small, filepath.Join(dir, "7"), 7)
	sameContents(t, "with another number of workers", contents(t, filepath.Join(dir, "7")), want)
}

func TestSameBytesAfterInterruption(t *testing.T) {
	dir := t.TempDir()
	runSweep(t, small, filepath.Join(dir, "whole"), 2)
	want := contents(t, filepath.Join(dir, "whole"))

	broken := filepath.Join(dir, "broken")
	plan := planText(t, small)
	for _, stopAt := range []int{3, 2} { // interrupted twice, after so many cells
		ctx, cancel := context.WithCancel(t.Context())
		quiet := silent{after: func(cells int) {
			if cells == stopAt {
				cancel()
			}
		}}
		if _, err := (Runner{Workers: 2, Progress: &quiet}).Run(ctx, plan, broken); !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted: got error %v, want %v", err, context.Canceled)
		}
		if quiet.cells == len(plan.Cells) {
			t.Fatal("the interruption came too late")
		}
	}
	_, last := runSweep(t, small, broken, 2)
	if last.cells == 0 || last.cells > len(plan.Cells)-5 {
		t.Errorf("%d of %d cells were simulated after interruptions", last.cells, len(plan.Cells))
	}
	sameContents(t, "after interruption", contents(t, broken), want)
}

// The cells of damaged lines, and no others, are simulated again; the damaged lines are
// kept in a file of their own.
func TestDamagedLinesAreComputedAgain(t *testing.T) {
	dir := t.TempDir()
	runSweep(t, small, dir, 2)
	want := contents(t, dir)
	journal := filepath.Join(dir, store.JournalName)
	data := must(os.ReadFile(journal))
	at := bytes.IndexByte(data, '\n') + 200 // in the second line
	data[at] ^= 4
	data = data[:len(data)-10] // the last line is cut off
	noError(t, os.WriteFile(journal, data, 0o644))
	_, _, err := Open(dir)
	refused(t, "a damaged folder", err, "2 damaged lines")
	_, quiet := runSweep(t, small, dir, 2)
	if quiet.cells != 2 || len(quiet.notes) != 2 ||
		!strings.HasSuffix(quiet.notes[1], "continuing after 10 of 12 cells") {
		t.Errorf("%d cells simulated again, want 2, with notes %q", quiet.cells, quiet.notes)
	}
	got := contents(t, dir)
	equal(t, "lines set aside", strings.Count(got[store.DamagedName], "\n"), 2)
	delete(got, store.DamagedName)
	sameContents(t, "after damage", got, want)
}

// aged returns the lines of a journal as another version would have written them.
func aged(journal []byte) (old []byte) {
	return forged(journal, sim.Version, "stream 2, measuring 1")
}

// forged returns a journal in whose cells a text is replaced, with the checksums of the result.
func forged(journal []byte, before, after string) (other []byte) {
	for line := range bytes.Lines(journal) {
		_, cell, _ := bytes.Cut(line, []byte(`,"cell":`))
		cell = bytes.Replace(bytes.TrimSuffix(cell, []byte("}\n")), []byte(before), []byte(after), 1)
		other = fmt.Appendf(other, `{"sha256":"%x","cell":%s}`+"\n", sha256.Sum256(cell), cell)
	}
	return other
}

// Cells that another version simulated are simulated again, so that a folder never mixes
// versions; until then it is not judged. A folder of one other version is.
func TestForeignLinesAreComputedAgain(t *testing.T) {
	dir := t.TempDir()
	runSweep(t, small, dir, 2)
	want := contents(t, dir)
	path := filepath.Join(dir, store.JournalName)
	journal := must(os.ReadFile(path))
	write := func(text []byte) { noError(t, os.WriteFile(path, text, 0o644)) }
	write(aged(journal))
	var judged, compared, listed silent
	_, err := JudgeStored(t.Context(), dir, &judged)
	_, compareErr := CompareFolders(dir, dir, &compared)
	if err := errors.Join(err, compareErr,
		TrajectoriesCSV(t.Context(), io.Discard, dir, &listed)); err != nil {
		t.Errorf("reading a folder of another version: %v", err)
	}
	for _, notes := range [][]string{judged.notes, compared.notes[:1], compared.notes[1:], listed.notes} {
		if len(notes) != 1 || !strings.Contains(notes[0], "another version of grposim than \"stream ") ||
			!strings.Contains(notes[0], "are used: 12") {
			t.Errorf("notes %q", notes)
		}
	}
	first := bytes.IndexByte(journal, '\n') + 1
	old := aged(journal[:first])
	write(slices.Concat(old, journal[first:]))
	_, _, err = Open(dir)
	refused(t, "a folder of two versions", err, "cells of 2 versions")
	_, quiet := runSweep(t, small, dir, 2)
	if quiet.cells != 1 || len(quiet.notes) != 2 || !strings.Contains(quiet.notes[0], "another version") {
		t.Errorf("%d cells simulated again, want 1, with notes %q", quiet.cells, quiet.notes)
	}
	got := contents(t, dir)
	equal(t, "set aside", got[store.ForeignName], string(old))
	delete(got, store.ForeignName)
	sameContents(t, "after another version", got, want)
}

// An estimate that overflows although no replica does is missing from its cell, whose status
// says so. The other cells finish, and the folder can be read again.
func TestOverflowOfOneCell(t *testing.T) {
	dir := t.TempDir()
	e, _ := runSweep(t, `name: overflow
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: 8, kl: {coefficient: 0.5}}
optimizer: {learning_rate: 0.1}
run: {steps: 200, burn_in: 100, replicas: 8}
variants:
  - {name: plain}
  - {name: overflow, set: {grpo.kl.gradient: k3}}
checks:
  - {claim: stiffness, margin: 0.1, displacement: 180, draws: 1000, variant: overflow}
  - {claim: degenerate-groups, absolute_margin: 0.5}
`, dir, 2)
	want := map[string]store.CellStatus{"plain": store.CellOK, "overflow": store.CellOverflow}
	for _, c := range e.Plan.Cells {
		equal(t, c.Variant, e.Outcomes[c.ID].Status, want[c.Variant])
	}
	explained := 0
	for _, v := range e.Verdicts {
		if strings.Contains(v.Because, "left the range of floating point") {
			explained++
		}
	}
	if explained == 0 {
		t.Error("no verdict says that its number overflowed")
	}
	if _, _, err := Open(dir); err != nil {
		t.Error(err)
	}
}

func TestChangedMarginOnlyJudgesAgain(t *testing.T) {
	dir := t.TempDir()
	wide, _ := runSweep(t, small, dir, 2)
	before := contents(t, dir)
	changed := strings.Replace(small, "margin: 0.05", "margin: 1e-9", 1)
	e, quiet := runSweep(t, changed, dir, 2)
	equal(t, "cells were simulated again", quiet.cells, 0)
	after := contents(t, dir)
	if before[store.JournalName] != after[store.JournalName] ||
		before["verdicts.json"] == after["verdicts.json"] {
		t.Error("want the same journal and other verdicts")
	}
	narrow, wider := judge.Summarize(e.Verdicts), judge.Summarize(wide.Verdicts)
	if narrow.Agree >= wider.Agree {
		t.Errorf("with margins of 1e-9 and of 0.05: %+v, %+v", narrow, wider)
	}
}

// After a change of the sweep only new cells are simulated. Cells that are no longer
// planned stay in the journal, after the planned ones and sorted by id.
func TestChangedSweepKeepsKnownCells(t *testing.T) {
	dir := t.TempDir()
	// Without the stiffness check: it adds probes to the first cell of each force, which changes.
	unprobed := strings.Replace(small,
		"  - {claim: stiffness, displacement: 0.1, draws: 500, absolute_margin: 0.2}\n", "", 1)
	first, _ := runSweep(t, unprobed, dir, 2)
	changed := strings.Replace(unprobed, "values: [1, 4, 7]", "values: [4, 2]", 1)
	second, quiet := runSweep(t, changed, dir, 2)
	equal(t, "cells were simulated", quiet.cells, 4)
	var ids []string
	for line := range bytes.Lines(must(os.ReadFile(filepath.Join(dir, store.JournalName)))) {
		var stored struct{ Cell struct{ ID string } }
		if err := json.Unmarshal(line, &stored); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		ids = append(ids, stored.Cell.ID)
	}
	var want []string
	for i := range second.Plan.Cells {
		want = append(want, second.Plan.Cells[i].ID)
	}
	var orphans []string
	for i := range first.Plan.Cells {
		if id := first.Plan.Cells[i].ID; !slices.Contains(want, id) {
			orphans = append(orphans, id)
		}
	}
	slices.Sort(orphans)
	if !slices.Equal(ids, append(want, orphans...)) {
		t.Errorf("the journal has %v, want those of the plan, then the others by id", ids)
	}
}

// An edited manifest is reported as damaged.
func TestDamagedManifest(t *testing.T) {
	dir := t.TempDir()
	runSweep(t, minimal, dir, 1)
	path := filepath.Join(dir, store.ManifestName)
	whole := must(os.ReadFile(path))
	for _, c := range []struct{ old, new string }{
		{`"steps": 20`, `"steps": 21`}, {`"hash": "`, `"hash": "0`}, {`"config": {`, `"config": {{`},
	} {
		changed := bytes.Replace(whole, []byte(c.old), []byte(c.new), 1)
		if bytes.Equal(changed, whole) {
			t.Fatalf("the manifest has no %s", c.old)
		}
		noError(t, os.WriteFile(path, changed, 0o644))
		var damaged *store.DamagedError
		if _, err := JudgeFolder(t.Context(), dir, &silent{}); !errors.As(err, &damaged) {
			t.Errorf("%s: got error %v, want a DamagedError", c.new, err)
		}
	}
	noError(t, os.Remove(path)) // as the message advises
	if _, quiet := runSweep(t, minimal, dir, 1); quiet.cells != 0 {
		t.Errorf("%d cells were simulated again", quiet.cells)
	}
}

// Run refuses a folder with results of another name, with other files, or in use, and
// leaves it unchanged.
func TestFolderBelongsToOneName(t *testing.T) {
	dir := t.TempDir()
	runSweep(t, minimal, dir, 1)
	before := contents(t, dir)
	_, err := Runner{Workers: 1, Progress: &silent{}}.Run(t.Context(),
		planText(t, strings.Replace(minimal, "name: minimal", "name: other", 1)), dir)
	var folder *store.FolderError
	if !errors.As(err, &folder) ||
		!strings.Contains(err.Error(), `results of "minimal", not of "other"`) {
		t.Errorf("results of another name: got error %v", err)
	}
	sameContents(t, "after Run has refused the folder", contents(t, dir), before)

	foreign := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(foreign, "thesis.tex"), nil, 0o644))
	if _, err := (Runner{Workers: 1, Progress: &silent{}}).Run(t.Context(), planText(t, minimal), foreign); !errors.As(err, &folder) {
		t.Errorf("a folder of other files: got error %v, want a FolderError", err)
	}
	if entries, _ := os.ReadDir(foreign); len(entries) != 1 {
		t.Errorf("%d entries in the refused folder of other files, want 1", len(entries))
	}

	release := must(store.Lock(dir, "minimal"))
	var inUse *store.InUseError
	if _, err := (Runner{Workers: 1, Progress: &silent{}}).Run(t.Context(), planText(t, minimal), dir); !errors.As(err, &inUse) {
		t.Errorf("a folder in use: got error %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

// Judging can be interrupted before each of its parts, while verdicts are made or tables
// written, and the folder is judged again as if it had not been: with the bytes of the sweep.
func TestInterruptedJudging(t *testing.T) {
	dir := t.TempDir()
	e, _ := runSweep(t, small, dir, 2)
	want := contents(t, dir)
	var whole silent
	again := must(JudgeFolder(t.Context(), dir, &whole))
	if whole.parts != whole.total || len(again.Figures) != len(e.Figures) {
		t.Errorf("progress: %d of %d parts, with %d figures", whole.parts, whole.total, len(again.Figures))
	}
	for _, parts := range []int{1, 2, whole.parts - 1} {
		ctx, cancel := context.WithCancel(t.Context())
		var progress silent
		progress.part = func() {
			if progress.parts == parts {
				cancel()
			}
		}
		_, err := JudgeFolder(ctx, dir, &progress)
		if !errors.Is(err, context.Canceled) || progress.parts != parts {
			t.Errorf("interrupted in part %d: %v after %d parts", parts, err, progress.parts)
		}
	}
	must(JudgeFolder(t.Context(), dir, &silent{}))
	sameContents(t, "judged again", contents(t, dir), want)
}

// minimal is a configuration with the required keys only.
const minimal = `
name: minimal
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: 8}
optimizer: {learning_rate: 0.1}
run: {steps: 20}
`

// Cells of an axis over the seed are told apart, have
// other measurements, and are those of the same file with one seed. A claim across cells compares
// cells of one seed, and a stiffness is measured under each.
func TestSeedsAreAnAxis(t *testing.T) {
	text := strings.NewReplacer("seed: 5\n", "", "values: [1, 4, 7]}",
		"values: [1]}\n  - {param: seed, values: [5, 6]}").Replace(small)
	dir := t.TempDir()
	e, _ := runSweep(t, text, dir, 2)
	cells := e.Plan.Cells
	if len(cells) != 8 {
		t.Fatalf("%d cells, want 8", len(cells))
	}
	for i := range cells {
		c, seed := cells[i], []uint64{5, 6}[i%2]
		if c.Sim().Seed != seed || !strings.HasSuffix(c.Label(), fmt.Sprintf(" seed=%d", seed)) {
			t.Errorf("cell %d: seed %d, label %s, want seed %d", i, c.Sim().Seed, c.Label(), seed)
		}
	}
	alone := planText(t, strings.Replace(small, "seed: 5", "seed: 6", 1)).Cells[0]
	if cells[1].ID != alone.ID || cells[0].ID == cells[1].ID {
		t.Errorf("ids %.8s and %.8s under seeds 5 and 6, want another one and %.8s", cells[0].ID,
			cells[1].ID, alone.ID)
	}
	five, _ := e.Outcomes[cells[0].ID].Estimate("expected_reward_mean")
	six, _ := e.Outcomes[cells[1].ID].Estimate("expected_reward_mean")
	if five.Mean == six.Mean || math.Abs(five.Mean-six.Mean) > 0.02 {
		t.Errorf("expected reward %v and %v, want two measurements of one value", five.Mean, six.Mean)
	}
	verdicts := make(map[string][]string)
	for _, v := range e.Verdicts {
		verdicts[v.Claim] = append(verdicts[v.Claim], v.Label)
	}
	want := []string{"K=1 seed=5 over G", "K=1 seed=6 over G"}
	if !slices.Equal(verdicts["fluctuation-scaling"], want) {
		t.Errorf("slopes of %q, want %q", verdicts["fluctuation-scaling"], want)
	}
	equal(t, "stiffness of", len(slices.Compact(verdicts["stiffness"])), 8)
	_, rows := records(t, must(os.ReadFile(filepath.Join(dir, "cells.csv"))))
	seeds := make(map[string]int)
	for _, row := range rows {
		seeds[row["seed"]]++
	}
	if seeds["5"] != 4 || seeds["6"] != 4 {
		t.Errorf("cells.csv has %v cells by seed, want 4 of 5 and 4 of 6", seeds)
	}
}

// must returns the value of a call that does not fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// noError ends a test on an error.
func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused checks an error and a part of its text.
func refused(t *testing.T, of any, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("%v: got error %v, want %s", of, err, part)
	}
}

// equal checks that two values are the same.
func equal[T comparable](t *testing.T, of any, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%v: got %v, want %v", of, got, want)
	}
}

// near checks that a number is within a tolerance of another.
func near(t *testing.T, of any, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%v: got %.12g, want %.12g", of, got, want)
	}
}

func planText(t *testing.T, text string) *plan.Plan {
	t.Helper()
	return plan.New(must(config.Load(t.Name(), []byte(text))))
}

// A plan whose past policies do not fit into the memory of the machine is refused with the
// numbers, before anything is written.
func TestMemoryOfPastPolicies(t *testing.T) {
	p := planText(t, `name: large
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: 32, kl: {coefficient: 0.5}}
lag: {kind: delay, interval: 1000000}
optimizer: {learning_rate: 0.1}
run: {steps: 1000000}
`)
	const workers = 1_000_000 // which need 1e15 bytes
	dir := filepath.Join(t.TempDir(), "out")
	_, forecastErr := plan.NewForecast(t.Context(), p.Spec, workers)
	_, runErr := Runner{Workers: workers, Progress: &silent{}}.Run(t.Context(), p, dir)
	for _, err := range []error{forecastErr, runErr} {
		var problems config.Problems
		if !errors.As(err, &problems) ||
			!strings.Contains(err.Error(), "large: lag.interval: got 1000000 with 2 arms") ||
			!strings.Contains(err.Error(), "GB on 1000000 workers: this machine has ") {
			t.Errorf("got %v", err)
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a folder was made")
	}
}

// A results folder that lacks a single cell, or has a single damaged line, is not judged.
// In cells.csv intervals contain their estimate.
func TestOpenWithoutOneCell(t *testing.T) {
	dir := t.TempDir()
	e, _ := runSweep(t, small, dir, 2)
	var table bytes.Buffer
	noError(t, e.cellsCSV(&table))
	rows := must(csv.NewReader(&table).ReadAll())
	for _, row := range rows[1:] {
		for i, name := range rows[0] {
			if !strings.HasSuffix(name, "_lo") || row[i] == "" {
				continue
			}
			lo, _ := strconv.ParseFloat(row[i], 64)
			mean, _ := strconv.ParseFloat(row[i-1], 64)
			hi, _ := strconv.ParseFloat(row[i+1], 64)
			if !(lo <= mean && mean <= hi) {
				t.Fatalf("%s: [%g, %g] does not contain %g", name, lo, hi, mean)
			}
		}
	}
	path := filepath.Join(dir, store.JournalName)
	whole := string(must(os.ReadFile(path)))
	_, rest, _ := strings.Cut(whole, "\n")
	var damaged *store.DamagedError
	for _, text := range []string{rest, whole + "x\n"} {
		noError(t, os.WriteFile(path, []byte(text), 0o644))
		if _, _, err := Open(dir); !errors.As(err, &damaged) {
			t.Errorf("opened, error %v", err)
		}
	}
}
