package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// A table is as wide as it needs where nothing limits it; on a narrow screen columns are
// wrapped between words, and on a narrower one rows are records.
func TestTableFitsTheScreen(t *testing.T) {
	rows := [][]string{
		{"CLAIM", "MEASURED", "VERDICT"},
		{"fixed-point", "0.75 [0.7, 0.8]", "agree"},
		{"stationary-fluctuation", "1e-05 [0, 2e-05]", "disagree: it lies outside"},
	}
	const whole = `
CLAIM                   MEASURED          VERDICT
fixed-point             0.75 [0.7, 0.8]   agree
stationary-fluctuation  1e-05 [0, 2e-05]  disagree: it lies outside
`
	for _, tt := range []struct {
		screen screen
		want   string
	}{
		{screen{}, whole},
		{screen{width: 67}, whole},
		{screen{width: 50}, `
CLAIM            MEASURED         VERDICT
fixed-point      0.75 [0.7, 0.8]  agree
stationary-      1e-05 [0,        disagree: it
fluctuation      2e-05]           lies outside
`},
		{screen{width: 33}, `
CLAIM        MEASURED   VERDICT
fixed-point  0.75       agree
             [0.7,
             0.8]
stationary-  1e-05 [0,  disagree:
fluctuation  2e-05]     it lies
                        outside
`},
		{screen{width: 25, colour: true}, "\n" +
			"CLAIM     fixed-point\n" +
			"MEASURED  0.75 [0.7, 0.8]\n" +
			"VERDICT   \x1b[32magree\x1b[0m\n" +
			"\n" +
			"CLAIM     stationary-\n" +
			"          fluctuation\n" +
			"MEASURED  1e-05 [0,\n" +
			"          2e-05]\n" +
			"VERDICT   \x1b[31mdisagree\x1b[0m: it\n" +
			"          lies outside\n"},
		{screen{colour: true}, `
CLAIM                   MEASURED          VERDICT
fixed-point             0.75 [0.7, 0.8]   ` + "\x1b[32magree\x1b[0m" + `
stationary-fluctuation  1e-05 [0, 2e-05]  ` + "\x1b[31mdisagree\x1b[0m" + `: it lies outside
`},
	} {
		got := tt.screen.table(rows)
		if want := tt.want[1:]; got != want {
			t.Errorf("%+v: got\n%s\nwant\n%s", tt.screen, got, want)
		}
		for line := range strings.Lines(got) {
			n, most := utf8.RuneCountInString(strings.TrimSpace(line)), tt.screen.width
			if most > 0 && !tt.screen.colour && n > most {
				t.Errorf("%d characters in %q, want at most %d", n, line, most)
			}
		}
	}
}

// What is not a terminal has any width and no colours, whatever the environment says.
func TestScreenOfAFile(t *testing.T) {
	t.Setenv("COLUMNS", "20")
	file, err := os.Create(filepath.Join(t.TempDir(), "table"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if got := screenOf(file); got != (screen{}) {
		t.Errorf("a file: %+v", got)
	}
	if got := screenOf(new(bytes.Buffer)); got != (screen{}) {
		t.Errorf("a buffer: %+v", got)
	}
}
