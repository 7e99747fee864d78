package logs

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
)

// Any bytes give a log or an *Error of one line per problem: of texts, event files, files of W&B,
// Parquet, gzip and UTF-16.
func FuzzRead(f *testing.F) {
	for _, folder := range []string{"good", "bad"} {
		for _, file := range testFiles(f, folder) {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add(eventFile(1, "1 train/reward 0.5", "2 train/reward 0.75"))
	f.Add(wandbFile(historyRecord(1, "reward", "0.5"), historyRecord(2, "train/reward", "NaN")))
	f.Add([]byte("[[1700000000.5, 1, 0.25], [1700000001.5, 2, \"NaN\"]]"))
	f.Add(history(f))
	f.Add([]byte(gzipped(f, "step,reward\n1,0.5\n")))
	f.Add([]byte("\xff\xfek\x00l\x00,\x00r\x00e\x00w\x00a\x00r\x00d\x00\n\x001\x00,\x000\x00\n\x00"))
	f.Fuzz(checkRead)
}

// Any text in the file of a metric of MLflow gives a log or an *Error.
func FuzzMLflow(f *testing.F) {
	f.Add("1000 0.5 1\n2000 nan 2\n1500 0.25 2\n")
	f.Fuzz(func(t *testing.T, text string) {
		dir := writeFiles(t, map[string][]byte{"metrics/reward": []byte(text)})
		checkLogs(t, func() ([]*Log, error) { return OpenAll(dir, Options{}) })
	})
}

func checkRead(t *testing.T, data []byte) {
	checkLogs(t, func() ([]*Log, error) { return ReadAll(bytes.NewReader(data), "f", Options{}) })
}

// checkLogs fails unless reading gives logs whose rows and columns fit, or an *Error.
func checkLogs(t *testing.T, read func() ([]*Log, error)) {
	all, err := read()
	var wrong *Error
	if err != nil && !errors.As(err, &wrong) {
		t.Fatalf("no problems: %v", err)
	}
	if wrong != nil {
		lines := len(wrong.Problems) + min(wrong.More, 1)
		if n := strings.Count(err.Error(), "\n") + 1; n != lines || len(wrong.Problems) == 0 {
			t.Fatalf("%d lines for %d problems and %d more: %v", n, len(wrong.Problems), wrong.More, err)
		}
	}
	if err == nil && len(all) == 0 {
		t.Fatal("neither log nor error")
	}
	for _, l := range all {
		checkLog(t, l)
	}
}
