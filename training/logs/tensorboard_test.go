package logs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The tests write event files with an encoder of their own.

// message is a protobuf message being written.
type message []byte

func (m message) varint(field int, x uint64) message {
	return binary.AppendUvarint(m.tag(field, 0), x)
}

// tag begins a field of a kind.
func (m message) tag(field, kind int) message {
	return binary.AppendUvarint(m, uint64(field<<3|kind))
}

func (m message) double(field int, x float64) message { return append(m.tag(field, 1), le64(x)...) }

func le64(x float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)) }

func (m message) bytes(field int, x []byte) message {
	return append(binary.AppendUvarint(m.tag(field, 2), uint64(len(x))), x...)
}

func (m message) float(field int, x float64) message { return append(m.tag(field, 5), le32(x)...) }

func le32(x float64) []byte {
	return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(x)))
}

// value is a value of a summary with its tag.
func value(tag string) message { return message(nil).bytes(1, []byte(tag)) }

// event is an event at a time with the values of a summary.
func event(time float64, step int, values ...message) message {
	var summary message
	for _, v := range values {
		summary = summary.bytes(1, v)
	}
	return message(nil).double(1, time).varint(2, uint64(step)).bytes(5, summary)
}

// record frames the data of a record.
func record(data []byte) []byte {
	sum := func(b []byte) uint32 {
		c := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
		return ((c >> 15) | (c << 17)) + 0xa282ead8
	}
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	out = binary.LittleEndian.AppendUint32(out, sum(out))
	return binary.LittleEndian.AppendUint32(append(out, data...), sum(data))
}

// eventFile is a file with the version that TensorBoard's writers begin with, and an event
// for each value, as transformers writes them. A row is "STEP KEY VALUE KEY VALUE …".
func eventFile(start float64, rows ...string) []byte {
	file := record(message(nil).double(1, start).bytes(3, []byte("brain.Event:2")))
	for i, row := range rows {
		words := strings.Fields(row)
		var step int
		fmt.Sscan(words[0], &step)
		for k := 1; k < len(words); k += 2 {
			var x float64
			fmt.Sscan(words[k+1], &x)
			file = append(file, record(event(start+float64(i+1), step, value(words[k]).float(2, x)))...)
		}
	}
	return file
}

// Every form in which writers record a scalar is read, and nothing else.
func TestScalars(t *testing.T) {
	const content, float = 4, 5
	tensor := func(kind uint64) message { return message(nil).varint(1, kind) }
	shape := func(sizes ...uint64) (m message) {
		for _, n := range sizes {
			m = m.bytes(2, message(nil).varint(1, n))
		}
		return m
	}
	plugin := func(name string) []byte { return message(nil).bytes(1, value(name)) }
	of := func(tensor message) message { return value("reward").bytes(8, tensor) }
	number := of(tensor(1).bytes(float, le32(0.75)))
	for _, tt := range []struct {
		name string
		v    message
		want float64 // NaN: none
	}{
		{"simple", value("reward").float(2, 0.75), 0.75},
		{"simple before its tag", append(message(nil).float(2, 0.75), value("reward")...), 0.75},
		{"float", number, 0.75},
		{"float, not packed", of(tensor(1).float(float, 0.75)), 0.75},
		{"float in content", of(tensor(1).bytes(2, shape()).bytes(content, le32(0.75))), 0.75},
		{"double", of(tensor(2).bytes(6, le64(0.1))), 0.1},
		{"double in content", of(tensor(2).bytes(content, le64(0.1))), 0.1},
		{"a list of one", of(tensor(1).bytes(2, shape(1, 1)).bytes(float, le32(0.75))), 0.75},
		{"zero without a value", of(tensor(1)), 0},
		{"plugin of scalars", slices.Clip(number).bytes(9, plugin("scalars")), 0.75},
		{"plugin of histograms", slices.Clip(number).bytes(9, plugin("histograms")), math.NaN()},
		{"two numbers", of(tensor(1).bytes(2, shape(2)).bytes(float, le32(0.75))), math.NaN()},
		{"text", of(tensor(7).bytes(8, []byte("0.75"))), math.NaN()},
		{"histogram", value("reward").bytes(5, []byte{}), math.NaN()},
		{"nothing", value("reward"), math.NaN()},
	} {
		file := append(record(event(1, 1, value("reward").float(2, 0.5))), record(event(2, 2, tt.v))...)
		want := "[1] [0.5]"
		if !math.IsNaN(tt.want) {
			want = fmt.Sprintf("[1 2] [0.5 %v]", tt.want)
		}
		l := readText(t, string(file))
		wantRows(t, tt.name, l, want)
		wantNotes(t, tt.name, l, "")
	}
}

// A file of transformers: rows of evaluation have keys of training and the step of a row of
// training. The closing row repeats keys and is none.
func TestEventRows(t *testing.T) {
	file := eventFile(100,
		"1 train/loss 0 train/reward 0.25 train/completions/mean_length 9 train/epoch 0.1",
		"2 train/loss 0 train/reward 0.5 train/completions/mean_length 8 train/epoch 0.2",
		"2 eval/loss 0 eval/reward 0.125 train/completions/mean_length 7 train/epoch 0.2",
		"3 train/loss 0 train/reward 0.75 train/completions/mean_length 6 train/epoch 0.3",
		"3 train/train_runtime 60 train/total_flos 0 train/reward 0.5 train/epoch 0.3",
		"3 eval/loss 0 eval/reward 0.375 eval/runtime 1")
	l := readText(t, string(file))
	wantRows(t, "training", l, "[1 2 3] [0.25 0.5 0.75] [9 8 6]", LenMean)
	if l.Evaluation == nil || l.Format.Trainer != TRL {
		t.Fatalf("got %s, evaluation %v", l.Format, l.Evaluation)
	}
	l.Table = *l.Evaluation
	wantRows(t, "evaluation", l, "[2 3] [] [0.125 0.375]", EvalScore)
}

// Wherever a file is cut or a byte of it is changed, the rows that are whole are read. A note says
// what is missing.
func TestDamagedEvents(t *testing.T) {
	first := eventFile(100, "1 reward 0.25", "2 reward 0.5")
	file := append(slices.Clip(first), eventFile(100, "3 reward 0.75")[len(eventFile(100)):]...)
	read := func(data []byte) []int {
		t.Helper()
		l := readText(t, string(data))
		if whole := len(data) == len(first) || bytes.Equal(data, file); whole != (len(l.Notes) == 0) {
			t.Errorf("%d of %d bytes: notes %q", len(data), len(file), l.Notes)
		}
		return l.Steps
	}
	for cut := len(first); cut < len(file); cut++ {
		if got := read(file[:cut]); !slices.Equal(got, []int{1, 2}) {
			t.Errorf("cut at %d of %d: steps %v", cut, len(file), got)
		}
	}
	for i := len(first); i < len(file); i++ {
		changed := slices.Clone(file)
		changed[i] ^= 0x10
		if got := read(changed); !slices.Equal(got, []int{1, 2}) {
			t.Errorf("byte %d changed: steps %v", i, got)
		}
	}
	changed := slices.Clone(file)
	changed[len(first)-30] ^= 0x10 // in the data of step 2
	if got := read(changed); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("a record damaged: steps %v", got)
	}
	huge := binary.LittleEndian.AppendUint64(nil, 1<<60)
	huge = binary.LittleEndian.AppendUint32(huge, checksum(huge))
	if got := read(append(slices.Clip(first), huge...)); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("a record of 2^60 bytes: steps %v", got)
	}
	image := value("image").bytes(4, make([]byte, 2*longEvent))
	large := record(event(3, 3, image, value("reward").float(2, 1)))
	l := readText(t, string(slices.Concat(first, large, file[len(first):])))
	wantRows(t, "after a large record", l, "[1 2 3] [0.25 0.5 0.75]")
	wantNotes(t, "after a large record", l, "")
}

// writeFiles writes files, given by path, into a new folder.
func writeFiles(t *testing.T, files map[string][]byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	writeInto(t, dir, files)
	return dir
}

func writeInto(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, data := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if err := errors.Join(err, os.WriteFile(file, data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// steps are rows of a reward from a step to another.
func steps(from, to int, reward float64) (rows []string) {
	for s := from; s <= to; s++ {
		rows = append(rows, fmt.Sprintf("%d train/reward %g train/loss 0", s, reward))
	}
	return rows
}

// The files of a folder of events are one run, in which a later file takes over from its first
// step. So are the folders of a resumed run of transformers. Others are runs.
func TestEventFolders(t *testing.T) {
	const from3 = "The run was resumed from step 3 (events.out.tfevents.2)."
	type files map[string][]byte // a name that begins with a digit is the end of that of events
	at := func(start float64) func(from, to int, x float64) []byte {
		return func(from, to int, x float64) []byte { return eventFile(start, steps(from, to, x)...) }
	}
	first, second, third := at(1), at(100), at(200)
	state := func(last int) []byte {
		const text = `{"log_history": [{"step": 1, "reward": 9}, {"step": %d, "reward": 9}]}`
		return fmt.Appendf(nil, text, last)
	}
	for _, tt := range []struct {
		name  string
		files files
		run   string
		want  string // runs with their rewards and the steps from which they were resumed
		note  string
	}{
		{"a run", files{"runs/A/1.host": first(1, 3, 1)}, "", "runs/A [1 1 1] []", ""},
		{"resumed in a second file", files{"1": first(1, 4, 1), "2": second(3, 5, 2)}, "",
			" [1 1 2 2 2] [3]", from3},
		{"resumed after the last step", files{"1": first(1, 2, 1), "2": second(3, 4, 2)}, "",
			" [1 1 2 2] [3]", from3},
		{"resumed twice, the second time from earlier",
			files{"1": first(1, 5, 1), "2": second(4, 6, 2), "3": third(3, 4, 3)}, "", " [1 1 3 3] [3]", ""},
		{"resumed twice", files{"1": first(1, 3, 1), "2": second(3, 5, 2), "3": third(5, 6, 3)}, "",
			" [1 1 2 2 3 3] [3 5]", ""},
		{"what the earlier file has of the first step of the later one", files{
			"1": eventFile(1, append(steps(1, 1, 1), "2 train/reward 1 train/kl 9", "3 train/kl 9")...),
			"2": second(2, 2, 2), "3": eventFile(200, "2 train/reward 3", "3 train/reward 3 train/kl 0")},
			"", " [1 3 3] [2]", ""},
		{"goes back in a file", files{"1": eventFile(1, append(steps(1, 4, 1), steps(3, 5, 2)...)...)},
			"", " [1 1 2 2 2] [3]", ""},
		{"started anew", files{"1": first(1, 4, 1), "2": second(1, 2, 2)}, "", " [2 2] []",
			"The run was started anew at step 1 (events.out.tfevents.2)."},
		{"two processes with other keys", files{"1": first(1, 2, 1),
			"2": eventFile(1, "1 train/kl 0", "2 train/kl 0")}, "", " [1 1] []", ""},
		{"two runs", files{"runs/A/1": first(1, 3, 1), "runs/B/2": second(1, 2, 2)}, "",
			"runs/A [1 1 1] []; runs/B [2 2] []", ""},
		{"one of two runs", files{"runs/A/1": first(1, 3, 1), "runs/B/2": second(1, 2, 2)}, "B",
			"runs/B [2 2] []", ""},
		{"a resumed run, its own folder", files{"runs/A/1": first(1, 4, 1), "runs/B/2": second(4, 5, 2)},
			"", "runs/B [1 1 1 2 2] [4]", `"runs/B" goes on from "runs/A", and both are one run.`},
		{"the first part of a run", files{"runs/A/1": first(1, 4, 1), "runs/B/2": second(4, 5, 2)},
			"runs/A", "runs/A [1 1 1 1] []", ""},
		{"another distance of rows is no resumed run", files{"A/1": first(1, 4, 1),
			"B/2": eventFile(100, "2 reward 2", "4 reward 2")}, "", "A [1 1 1 1] []; B [2 2] []", ""},
		{"no reward", files{"A/1": first(1, 2, 1), "A/hparams/2": eventFile(1, "0 hparam/score 1")},
			"", "A [1 1] []", `run "A/hparams" left out: got no key of training`},
		{"a state as long as events", files{"trainer_state.json": state(3), "runs/A/1": first(1, 3, 1)},
			"", "runs/A [1 1 1] []", "trainer_state.json, which ends at step 3, was not."},
		{"a state that is longer", files{"trainer_state.json": state(4), "runs/A/1": first(1, 3, 1)}, "",
			" [9 9] []", `trainer_state.json was read, and the TensorBoard events of "runs/A" were not.`},
		{"a state in writing", files{"trainer_state.json": state(4)[:30], "runs/A/1": first(1, 3, 1)},
			"", "runs/A [1 1 1] []", `trainer_state.json:1: got`},
		{"the events beside a state", files{"trainer_state.json": state(3), "runs/A/1": first(1, 3, 1)},
			"runs/A", "runs/A [1 1 1] []", ""},
		{"events after a checkpoint", files{"checkpoint-2/trainer_state.json": state(2),
			"runs/A/1": first(1, 3, 1)}, "",
			"runs/A [1 1 1] []", "trainer_state.json, which ends at step 2, was not."},
		{"MLflow", files{
			"m/abc/meta.yaml":                          nil,
			".trash/1/abc/metrics/reward":              []byte("1000 0.5 1\n"),
			"m/abc/metrics/reward":                     []byte("1000 0.5 1 x 1\n2000 0.75 2\n3000 0.25 2\n"),
			"m/abc/metrics/rewards/f/mean":             []byte("1000 nan 1\n2000 0.75 2\n"),
			"m/abc/metrics/train_runtime":              []byte("3000 60 2\n"),
			"m/abc/metrics/system/cpu_utilization_pct": []byte("1000 broken\n"),
			"m/def/metrics/reward":                     []byte("1000 0.125 1\n")}, "",
			"m/abc [0.5 0.75] []; m/def [0.125] []", ""},
		{"a folder of metrics", files{"reward": []byte("1000 0.5 1\n2000 0.75 2\n")}, "", "", ""},
	} {
		files := make(map[string][]byte)
		for name, data := range tt.files {
			folder, base := path.Split(name)
			if strings.IndexByte("123", base[0]) >= 0 {
				base = "events.out.tfevents." + base
			}
			files[folder+base] = data
		}
		dir := writeFiles(t, files)
		all, err := OpenAll(dir, Options{Run: tt.run})
		if (err != nil) != (tt.want == "") { // not by that name
			t.Errorf("%s: %v", tt.name, err)
		}
		if err != nil {
			continue
		}
		var got []string
		for _, l := range all {
			reward, _ := l.Column(Reward)
			if kl, _ := l.Column(KLRef); slices.Contains(kl.Values, 9) {
				t.Errorf("%s: a value that was taken over is left: %v", tt.name, kl.Values)
			}
			got = append(got, fmt.Sprintf("%s %v %v", l.Run, reward.Values, l.Resumes))
		}
		if notes := strings.Join(all[0].Notes, "\n"); strings.Join(got, "; ") != tt.want ||
			!strings.Contains(notes, tt.note) {
			t.Errorf("%s: got %q, want %q; notes %q, want %q", tt.name, got, tt.want, notes, tt.note)
		}
		if !IsOutput(dir) {
			t.Errorf("%s: no output", tt.name)
		}
	}
}
