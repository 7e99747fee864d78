package logs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// jsonLines returns rows of training, of evaluation, in two parts, and with a NaN.
func jsonLines(from, rows int) string {
	var b strings.Builder
	for i := from; i < from+rows; i++ {
		switch i % 5 {
		case 3:
			fmt.Fprintf(&b, `{"step": %d, "eval_reward": 0.%d}`+"\n", 10*i, i)
		case 4:
			fmt.Fprintf(&b, `{"step": %d, "reward": 0.%d}`+"\n", 10*i, i)
			fmt.Fprintf(&b, `{"step": %d, "grad_norm": %d, "entropy": NaN, "kl": {"x": 1}}`+"\n", 10*i, i)
		case 2:
			fmt.Fprintf(&b, `{"step": %d, "reward": 0.%d, "length%d": 5, "grad_norm": %d,`, 10*i, i, i, i)
			fmt.Fprintf(&b, ` "completion_length": 1%d}`+"\n", i)
		default:
			fmt.Fprintf(&b, `{"step": %d, "reward": 0.%d, "grad_norm": 1, "entropy": 0.5}`+"\n", 10*i, i)
		}
	}
	return b.String()
}

// same fails if a follower and Open differ.
func same(t *testing.T, about string, f *Follower, path string) {
	t.Helper()
	got, gotErr := f.Read()
	want, wantErr := Open(path, Options{})
	if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) || text(got) != text(want) {
		t.Errorf("%s: followed %s %v\nread at once %s %v", about, text(got), gotErr, text(want), wantErr)
	}
}

// text writes all of a log; NaN equals NaN.
func text(l *Log) string {
	if l == nil || l.Evaluation == nil {
		return fmt.Sprintf("%+v", l)
	}
	table, e := *l, *l.Evaluation
	table.Evaluation = nil
	return fmt.Sprintf("%+v, evaluation %+v", table, e)
}

// A file that grows within a line, is replaced or removed gives what reading all of it gives. So
// does a folder to which a checkpoint is added; not within twenty times the time that reading took.
func TestFollow(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "log.jsonl")
	file := Follow(path, Options{})
	same(t, "no file", file, path)
	rows := jsonLines(1, 60)
	for _, content := range []string{rows[:250], rows[:700], rows, rows + `{"step": 610, "reward": 0.`,
		jsonLines(61, 3), rows + "{\"step\": x}\n", "{}\n"} {
		writeInto(t, folder, map[string][]byte{"log.jsonl": []byte(content)})
		file.rest = time.Time{}
		same(t, fmt.Sprintf("%d bytes", len(content)), file, path)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	same(t, "removed", file, path)

	dir := t.TempDir()
	same(t, "an empty folder", Follow(dir, Options{}), dir)
	add := func(steps int) {
		var rows []string
		for i := 1; i <= steps; i++ {
			rows = append(rows, fmt.Sprintf(`{"step": %d, "reward": 0.%d}`, i, i))
		}
		name := fmt.Sprintf("checkpoint-%d/%s", steps, TrainerState)
		text := fmt.Appendf(nil, `{"log_history": [%s]}`, strings.Join(rows, ",\n"))
		writeInto(t, dir, map[string][]byte{name: text})
	}
	add(10)
	f := Follow(dir, Options{})
	same(t, "one checkpoint", f, dir)
	add(20)
	f.rest = f.rest.AddDate(1, 0, 0)
	if l, err := f.Read(); err != nil || len(l.Steps) != 10 {
		t.Errorf("within the rest: %v, %v", l, err)
	}
	f.rest = f.rest.AddDate(-2, 0, 0)
	same(t, "two checkpoints", f, dir)
}

// The first rows of a log are the log of the first lines.
func TestPrefix(t *testing.T) {
	whole := readText(t, jsonLines(1, 30))
	for rows := 4; rows <= len(whole.Steps); rows++ {
		lines, step := "", whole.Steps[rows-1]
		for line := range strings.Lines(jsonLines(1, 30)) {
			var at int
			if _, err := fmt.Sscanf(line, `{"step": %d,`, &at); err != nil {
				t.Fatal(err)
			}
			if at <= step {
				lines += line
			}
		}
		got, want := whole.Prefix(rows), readText(t, lines)
		got.Notes, want.Notes, got.Resumes, want.Resumes = nil, nil, nil, nil
		if text(got) != text(want) {
			t.Errorf("%d rows:\n%s\nwant\n%s", rows, text(got), text(want))
		}
	}
	p := whole.Prefix(1)
	if wantRows(t, "the first row", p, "[10] [0.1]"); p.Evaluation != nil {
		t.Errorf("the first row is %+v", p)
	}
}
