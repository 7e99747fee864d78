package logs

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// A chart of W&B with several runs has a log for each, whose rows are those in which the run
// has a value. Names repeat, and hold what separates them from keys.
func TestWandbChartRuns(t *testing.T) {
	const chart = `"Step","a - b - train/reward","a - b - train/reward__MIN","a - b - train/reward__MAX","c - train/reward","c - train/reward__MIN","c - train/kl","c - train/reward","empty - train/reward"
1,0.25,0.2,0.3,,,0,0.75,
2,,,,0.5,0.5,0.125,0.875,
3,0.375,0.3,0.4,0.625,0.6,,,
`
	all, err := ReadAll(strings.NewReader(chart), "f", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var runs []string
	for i, want := range []struct {
		steps  []int
		reward []float64
	}{{[]int{1, 3}, []float64{0.25, 0.375}}, {[]int{2, 3}, []float64{0.5, 0.625}}, {[]int{1, 2}, []float64{0.75, 0.875}}} {
		if i >= len(all) {
			break
		}
		l := all[i]
		runs = append(runs, l.Run)
		reward, _ := l.Column(Reward)
		rewards := slices.DeleteFunc(slices.Clone(reward.Values), func(x float64) bool { return x != x })
		if !slices.Equal(rewards, want.reward) || l.Format.Container != WandbChart {
			t.Errorf("%s: got %s, steps %v, %v, want %v", l.Run, l.Format, l.Steps, reward.Values, want)
		}
	}
	if want := []string{"a - b", "c", "c (2)"}; !slices.Equal(runs, want) {
		t.Errorf("got runs %q, want %q", runs, want)
	}
	if !slices.Contains(all[0].Notes, `run "empty" left out: got no row of training with a step, want at least one`) {
		t.Errorf("got notes %q", all[0].Notes)
	}
	for _, tt := range []struct{ run, want string }{
		{"c", ""},
		{"", `f: got 3 runs, want one; name it by --run: "a - b", "c", "c (2)"`},
		{"d", `f: got --run "d", want one of "a - b", "c", "c (2)", "empty"`},
		{"empty", `f: got no row of training with a step, want at least one`},
	} {
		l, err := Read(strings.NewReader(chart), "f", Options{Run: tt.run})
		switch {
		case tt.want == "" && (err != nil || l.Run != tt.run):
			t.Errorf("--run %q: %v, %v", tt.run, l, err)
		case tt.want != "" && (err == nil || err.Error() != tt.want):
			t.Errorf("--run %q: got %v, want %s", tt.run, err, tt.want)
		}
	}
	_, err = Read(strings.NewReader("step,reward\n1,0\n"), "f", Options{Run: "a"})
	if want := `f: got --run "a", want none: the log names no runs`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A chart of a key that is like a reward's and of no trainer is one of the reward.
func TestWandbChartOfReward(t *testing.T) {
	all, err := ReadAll(strings.NewReader("Step,a - env/mean_score,a - env/mean_score__MIN,b - env/mean_score\n1,0.25,0.2,0.5\n2,0.5,0.2,0.75\n"), "f", Options{})
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	for _, l := range all {
		reward, _ := l.Column(Reward)
		if len(reward.Values) != 2 || reward.Key != "env/mean_score" || !slices.Contains(l.Notes, `"env/mean_score" is the only series of the file and is read as the reward.`) {
			t.Errorf("%s: got %+v, notes %q", l.Run, reward, l.Notes)
		}
	}
	for _, text := range []string{"Step,a - env/mean_score,a - env/other_score\n1,0,0\n", "Step,a - env/temperature\n1,0\n"} {
		if l, err := ReadAll(strings.NewReader(text), "f", Options{}); err == nil {
			t.Errorf("%s: %v", text, l)
		}
	}
}

// TensorBoard's download of a chart is read as the reward, unless the name of the file says
// that it is of something else.
func TestEventChart(t *testing.T) {
	const chart = "Wall time,Step,Value\n1700000000.5,1,0.25\n1700000001.5,2,NaN\n1700000002.5,3,0.5\n"
	for _, name := range []string{"f.csv", "run-.-tag-train_reward.csv"} {
		l, err := Read(strings.NewReader(chart), name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		reward, _ := l.Column(Reward)
		if !slices.Equal(l.Steps, []int{1, 2, 3}) || reward.Key != "Value" || reward.Values[2] != 0.5 || !slices.Equal(reward.NotFinite, []int{1}) || len(l.Notes) == 0 {
			t.Errorf("%s: got steps %v, %+v, notes %q", name, l.Steps, reward, l.Notes)
		}
	}
	const rows = `[[1700000000.5, 1, 0.25], [1700000001.5, 2, "NaN"],
 [1700000002.5, 3, 0.5]]`
	l := readText(t, rows)
	reward, _ := l.Column(Reward)
	if !slices.Equal(l.Steps, []int{1, 2, 3}) || !slices.Equal(reward.NotFinite, []int{1}) || l.Format.Container != EventChart {
		t.Errorf("JSON: got steps %v, %+v", l.Steps, reward)
	}
	for _, text := range []string{"[[1, 2, x]]", "[[1, 2]]", "[[", "[[[1, 2, 3]]]", "[[1,1,{}]]"} {
		if l, err := Read(strings.NewReader(text), "f", Options{}); err == nil {
			t.Errorf("%s: %v", text, l)
		}
	}
	if l, err := Read(strings.NewReader(chart), "run-.-tag-train_kl.csv", Options{}); err == nil {
		t.Errorf("a chart of the KL: %v", l)
	}
}

// gzipped packs a text.
func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	return packedBy(t, text, func(w io.Writer) (*gzip.Writer, error) { return gzip.NewWriter(w), nil })
}

// packedBy packs a text by what a function returns a writer of.
func packedBy[W io.WriteCloser](t *testing.T, text string, open func(io.Writer) (W, error)) []byte {
	t.Helper()
	var packed bytes.Buffer
	w, err := open(&packed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// zipped packs files of the same text.
func zipped(t *testing.T, text string, names ...string) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for _, name := range names {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// Packed data and UTF-16 hold any container. Data that are cut are read as far as they go.
func TestUnpacked(t *testing.T) {
	const text = "step,reward\n1,0.5\n2,0.75\n"
	words := utf16.Encode([]rune("\ufeff" + text))
	wide := func(order binary.AppendByteOrder) (b []byte) {
		for _, w := range words {
			b = order.AppendUint16(b, w)
		}
		return b
	}
	for name, data := range map[string][]byte{
		"gzip": gzipped(t, text), "UTF-16, little": wide(binary.LittleEndian), "UTF-16, big": wide(binary.BigEndian),
		"gzip of UTF-16": gzipped(t, string(wide(binary.LittleEndian))),
		"zstd":           packedBy(t, text, func(w io.Writer) (*zstd.Encoder, error) { return zstd.NewWriter(w) }),
		"xz":             packedBy(t, text, xz.NewWriter), "zip": zipped(t, text, "__MACOSX/._log.csv", "run/log.csv", "run/.DS_Store"),
		"gzip of events": gzipped(t, string(eventFile(1, "1 reward 0.5", "2 reward 0.75"))),
	} {
		l := readText(t, string(data))
		if reward, _ := l.Column(Reward); !slices.Equal(l.Steps, []int{1, 2}) || !slices.Equal(reward.Values, []float64{0.5, 0.75}) || len(l.Notes) > 0 {
			t.Errorf("%s: got %v, %v, notes %q", name, l.Steps, reward.Values, l.Notes)
		}
	}
	packed := gzipped(t, text)
	l, err := Read(bytes.NewReader(packed[:len(packed)-8]), "f", Options{}) // without the checksum
	if err != nil || len(l.Steps) != 2 || !slices.Contains(l.Notes, "The gzip data are not complete and were read as far as they go.") {
		t.Errorf("cut: %v, %v", l, err)
	}
	packed[len(packed)-8] ^= 1
	l, err = Read(bytes.NewReader(packed), "f", Options{})
	if err != nil || len(l.Steps) != 2 || !slices.Contains(l.Notes, "The gzip data are damaged and were read as far as that.") {
		t.Errorf("damaged: %v, %v", l, err)
	}
	if _, err := Read(bytes.NewReader(gzipped(t, string(gzipped(t, text)))), "f", Options{}); err == nil || !strings.Contains(err.Error(), "got a gzip file, want it unpacked") {
		t.Errorf("twice: %v", err)
	}
	const several = `f: got a zip file with 2 files ("a.csv", "b.csv"), want one, or the folder unpacked`
	if _, err := Read(bytes.NewReader(zipped(t, text, "a.csv", "b.csv")), "f", Options{}); err == nil || err.Error() != several {
		t.Errorf("several files: %v", err)
	}
}

// A resumed run continues from the first step that is not after the one before it. A row that
// repeats the last one, as every process of a trainer prints it, resumes nothing. Neither does a
// run that starts again from the first step.
func TestResumes(t *testing.T) {
	for _, tt := range []struct {
		rows string
		want []int
	}{
		{"1,0.1\n2,0.2\n3,0.3\n", nil},
		{"1,0.1\n2,0.2\n3,0.3\n2,0.4\n3,0.5\n", []int{2}},
		{"1,0.1\n2,0.2\n3,0.3\n3,0.4\n4,0.5\n", []int{3}},
		{"1,0.1\n1,0.1\n2,0.2\n2,0.2\n", nil},
		{"1,0.1\n2,0.2\n1,0.3\n2,0.4\n3,0.4\n", nil},
		{"1,0.1\n2,0.2\n3,0.3\n3,0.4\n4,0.5\n2,0.4\n3,0.4\n4,0.4\n5,0.4\n4,0.5\n5,0.5\n6,0.5\n7,0.5\n", []int{2, 4}},
	} {
		l := readText(t, "step,reward\n"+tt.rows)
		if !slices.Equal(l.Resumes, tt.want) {
			t.Errorf("%q: got %v, want %v; steps %v", tt.rows, l.Resumes, tt.want, l.Steps)
		}
	}
}

// A folder of Ray Tune is its trial, and a database says how its rows are had.
func TestStores(t *testing.T) {
	dir := t.TempDir()
	rows := `{"reward": 0.5, "training_iteration": 1, "config": {"lr": 1}}` + "\n" + `{"reward": 0.75, "training_iteration": 2, "config": {"lr": 1}}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "result.json"), []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := Open(dir, Options{}); err != nil || rowsOf(l) != "[1 2] [0.5 0.75]" || len(l.Columns) != 1 {
		t.Errorf("got %v, %v", l, err)
	}
	for page, want := range map[string]string{
		"CREATE TABLE metrics (key, run_uuid": `sqlite3 -csv -header FILE "select run_uuid as run, key,`,
		"CREATE TABLE metrics(id, run_name":   `sqlite3 FILE "select json_patch(metrics,`,
		"CREATE TABLE t":                      "an SQLite database",
	} {
		if _, err := Read(strings.NewReader("SQLite format 3\x00"+page), "f", Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", page, err)
		}
	}
}
