package logs

import (
	"archive/zip"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf16"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// A chart of W&B with several runs has a log for each, whose rows are those in which the run
// has a value. Names repeat, and hold what separates them from keys.
func TestWandbChartRuns(t *testing.T) {
	const chart = `"Step","a - b - train/reward","a - b - train/reward__MIN",` +
		`"a - b - train/reward__MAX","c - train/reward","c - train/reward__MIN","c - train/kl",` +
		`"c - train/reward","empty - train/reward"
1,0.25,0.2,0.3,,,0,0.75,
2,,,,0.5,0.5,0.125,0.875,
3,0.375,0.3,0.4,0.625,0.6,,,
`
	all, err := ReadAll(strings.NewReader(chart), "f", Options{})
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	for i, want := range []string{"a - b [0.25 0.375]", "c [0.5 0.625]", "c (2) [0.75 0.875]"} {
		reward, _ := all[i].Column(Reward)
		rewards := slices.DeleteFunc(slices.Clone(reward.Values), math.IsNaN)
		got, form := fmt.Sprint(all[i].Run, " ", rewards), all[i].Format
		if got != want || form.Container != WandbChart {
			t.Errorf("got %s of %s, want %s", got, form, want)
		}
	}
	const empty = "got no row of training with a step, want at least one"
	wantNotes(t, chart, all[0], `run "empty" left out: `+empty)
	if l := readAs(t, "f", chart, Options{Run: "c"}); l.Run != "c" {
		t.Errorf("--run c: %v", l)
	}
	for _, tt := range [][3]string{
		{chart, "", `f: got 3 runs, want one; name it by --run: "a - b", "c", "c (2)"`},
		{chart, "d", `f: got --run "d", want one of "a - b", "c", "c (2)", "empty"`},
		{chart, "empty", `f: ` + empty},
		{"step,reward\n1,0\n", "a", `f: got --run "a", want none: the log names no runs`},
	} {
		_, err := Read(strings.NewReader(tt[0]), "f", Options{Run: tt[1]})
		wantWords(t, "--run "+tt[1], err, tt[2]+"\n")
	}
}

// A chart of a key that is like a reward's and of no trainer is one of the reward.
func TestWandbChartOfReward(t *testing.T) {
	const chart = "Step,a - env/mean_score,a - env/mean_score__MIN,b - env/mean_score\n" +
		"1,0.25,0.2,0.5\n2,0.5,0.2,0.75\n"
	for run, want := range map[string]string{"a": "[1 2] [0.25 0.5]", "b": "[1 2] [0.5 0.75]"} {
		l := readAs(t, "f", chart, Options{Run: run})
		wantRows(t, run, l, want)
		wantNotes(t, run, l, `"env/mean_score" is the only series of the file and is read as the reward.`)
	}
	wantError(t, "Step,a - mean_score,a - other_score\n1,0,0\n", `if "mean_score" is the mean reward`)
	wantError(t, "Step,a - env/temperature\n1,0\n", "got no key of training")
}

// TensorBoard's download of a chart is read as the reward, unless the name of the file says
// that it is of something else.
func TestEventChart(t *testing.T) {
	const chart = "Wall time,Step,Value\n1700000000.5,1,0.25\n1700000001.5,2,NaN\n1700000002.5,3,0.5\n"
	const list = `[[1700000000.5, 1, 0.25], [1700000001.5, 2, "NaN"],
 [1700000002.5, 3, 0.5]]`
	for name, text := range map[string]string{"run-.-tag-train_reward.csv": chart, "f.json": list} {
		l := readAs(t, name, text, Options{})
		wantRows(t, name, l, "[1 2 3] [0.25 NaN 0.5]")
		if c := l.Columns[0]; c.Key != "Value" || !slices.Equal(c.NotFinite, []int{1}) ||
			l.Format.Container != EventChart || len(l.Notes) == 0 {
			t.Errorf("%s: got %s, %+v, notes %q", name, l.Format, c, l.Notes)
		}
	}
	for _, text := range []string{"[[1, 2, x]]", "[[1, 2]]", "[[", "[[[1, 2, 3]]]", "[[1,1,{}]]"} {
		wantError(t, text, "")
	}
	_, err := Read(strings.NewReader(chart), "run-.-tag-train_kl.csv", Options{})
	wantWords(t, "a chart of the KL", err, "of another tag")
}

// gzipped packs a text.
func gzipped(t testing.TB, text string) string {
	t.Helper()
	return packedBy(t, text, func(w io.Writer) (*gzip.Writer, error) { return gzip.NewWriter(w), nil })
}

// packedBy packs a text by what a function returns a writer of.
func packedBy[W io.WriteCloser](t testing.TB, text string, open func(io.Writer) (W, error)) string {
	t.Helper()
	var packed strings.Builder
	w, err := open(&packed)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(w, text)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}

// zipped packs files of the same text.
func zipped(t *testing.T, text string, names ...string) string {
	t.Helper()
	var packed strings.Builder
	files := make(fstest.MapFS)
	for _, name := range names {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	w := zip.NewWriter(&packed)
	if err := errors.Join(w.AddFS(files), w.Close()); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}

// Packed data and UTF-16 hold any container. Data that are cut are read as far as they go.
func TestUnpacked(t *testing.T) {
	const text = "step,reward\n1,0.5\n2,0.75\n"
	wide := func(order binary.AppendByteOrder) string {
		var b []byte
		for _, w := range utf16.Encode([]rune("\ufeff" + text)) {
			b = order.AppendUint16(b, w)
		}
		return string(b)
	}
	packed := gzipped(t, text)
	newZstd := func(w io.Writer) (*zstd.Encoder, error) { return zstd.NewWriter(w) }
	damaged := []byte(packed)
	damaged[len(damaged)-8] ^= 1
	for _, tt := range []struct{ name, data, note string }{
		{"gzip", packed, ""},
		{"UTF-16, little", wide(binary.LittleEndian), ""},
		{"UTF-16, big", wide(binary.BigEndian), ""},
		{"gzip of UTF-16", gzipped(t, wide(binary.LittleEndian)), ""},
		{"zstd", packedBy(t, text, newZstd), ""},
		{"xz", packedBy(t, text, xz.NewWriter), ""},
		{"zip", zipped(t, text, "__MACOSX/._log.csv", "run/log.csv", "run/.DS_Store"), ""},
		{"gzip of events", gzipped(t, string(eventFile(1, "1 reward 0.5", "2 reward 0.75"))), ""},
		{"without the checksum", packed[:len(packed)-8],
			"The gzip data are not complete and were read as far as they go."},
		{"damaged", string(damaged), "The gzip data are damaged and were read as far as that."},
	} {
		l := readText(t, tt.data)
		wantRows(t, tt.name, l, "[1 2] [0.5 0.75]")
		wantNotes(t, tt.name, l, tt.note)
	}
	wantError(t, gzipped(t, packed), "got a gzip file, want it unpacked")
	wantError(t, zipped(t, text, "a.csv", "b.csv"),
		`f: got a zip file with 2 files ("a.csv", "b.csv"), want one, or the folder unpacked`+"\n")
}

// A resumed run continues from the first step that is not after the one before it. A row that
// repeats the last one, as every process of a trainer prints it, resumes nothing. Neither does a
// run that starts again from the first step.
func TestResumes(t *testing.T) {
	for _, tt := range []struct {
		rows string
		want []int
	}{
		{"1,0.1\n2,0.2\n3,0.3\n2,0.4\n3,0.5\n", []int{2}},
		{"1,0.1\n2,0.2\n3,0.3\n3,0.4\n4,0.5\n", []int{3}},
		{"1,0.1\n1,0.1\n2,0.2\n2,0.2\n", nil},
		{"1,0.1\n2,0.2\n1,0.3\n2,0.4\n3,0.4\n", nil},
		{"1,1\n2,2\n3,3\n3,4\n4,5\n2,4\n3,4\n4,4\n5,4\n4,5\n5,5\n6,5\n7,5\n", []int{2, 4}},
	} {
		l := readText(t, "step,reward\n"+tt.rows)
		if !slices.Equal(l.Resumes, tt.want) {
			t.Errorf("%q: got %v, want %v; steps %v", tt.rows, l.Resumes, tt.want, l.Steps)
		}
	}
}

// A folder of Ray Tune is its trial, and a database says how its rows are had.
func TestStores(t *testing.T) {
	l, err := Open(writeFiles(t, map[string][]byte{"result.json": []byte(
		`{"reward": 0.5, "training_iteration": 1, "config": {"lr": 1}}` + "\n" +
			`{"reward": 0.75, "training_iteration": 2, "config": {"lr": 1}}` + "\n")}), Options{})
	if err != nil || len(l.Columns) != 1 {
		t.Fatal(l, err)
	}
	wantRows(t, "Ray Tune", l, "[1 2] [0.5 0.75]")
	const database = "SQLite format 3\x00CREATE TABLE "
	wantError(t, database+"metrics (key, run_uuid",
		`sqlite3 -csv -header FILE "select run_uuid as run, key,`)
	wantError(t, database+"metrics(id, run_name", `sqlite3 FILE "select json_patch(metrics,`)
	wantError(t, database+"t", "an SQLite database")
}
