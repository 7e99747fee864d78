package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// hostile is a text of the characters that can change what a terminal shows: ESC and BEL, C1
// (CSI and OSC of 8 bits), DEL, directions, no width, tags, separators, and a carriage return.
const hostile = "a\x1b[31mEVIL\x1b]0;pwn\a\u009b2J\u009d\x7f\u202eabc\u202c\u2066\u2069\u200e\u200f\u061c\u200b\u2060\ufeff\U000e0041\u2028\u2029\rz"

// seen reports whether a text has no character that is not seen but newline and tab.
func seen(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
	}) < 0
}

// What is seen is written as it is, the rest as JSON writes it, wherever the calls divide
// the text.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"plain – × ° 漢字 🙂 �\n\tx":    "plain – × ° 漢字 🙂 �\n\tx",
		"\x1b[31m\a\u009b\x7f\r":     `\u001b[31m\u0007\u009b\u007f\u000d`,
		"\u202e\u2066\u200f\u061c":   `\u202e\u2066\u200f\u061c`,
		"\u200b\ufeff\u2028":         `\u200b\ufeff\u2028`,
		"\U000e0041":                 `\udb40\udc41`,
		"\x9b31m and \xe2\x80 and –": `\x9b31m and \xe2\x80 and –`,
		"the end \xe2\x80":           `the end \xe2\x80`,
		"\xf0\x9f":                   `\xf0\x9f`,
	} {
		for size := 1; size <= len(text); size++ {
			var out bytes.Buffer
			p := &printable{bare: &out}
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				if got, err := p.Write([]byte(rest[:n])); got != n || err != nil {
					t.Fatalf("wrote %d of %d bytes: %v", got, n, err)
				}
				rest = rest[n:]
			}
			if err := p.Close(); err != nil || out.String() != want {
				t.Errorf("%q in pieces of %d bytes: got %q, want %q (%v)", text, size, out.String(), want, err)
			}
		}
	}
	if !seen(escape(hostile, "")) {
		t.Errorf("got %q", escape(hostile, ""))
	}
	quoted, bad := json.Marshal(hostile)
	back := ""
	err := json.Unmarshal([]byte(escape(string(quoted), "")), &back)
	if bad != nil || err != nil || back != hostile {
		t.Errorf("JSON reads back as %q: %v, %v", back, bad, err)
	}
}

// Every command that shows names of others: keys of a log, a benchmark, a file, a folder, an
// argument of the command line.
func TestNothingUnseenReachesTheUser(t *testing.T) {
	t.Chdir(t.TempDir())
	quoted, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	key := strings.Trim(string(quoted), `"`)
	var rows strings.Builder
	for i := range 40 {
		fmt.Fprintf(&rows, `{"step": %d, "reward": %g, "critic/score/mean": %[2]g, "actor/entropy": 1, `+
			`"val-core/%[3]s/acc/mean@1": 0.4, "rewards/%[3]s/mean": 1}`+"\n", 10+i, float64(i*i%7)/7, key)
	}
	log, scores, bad := hostile+".jsonl", "scores"+hostile+".csv", "bad"+hostile+".csv"
	write(t, log, rows.String())
	write(t, scores, "benchmark,score_a,n_a,score_b,n_b\n"+
		"\""+hostile+"\n\",50,30,60,30\n\x9b\xff,50,30,60,30\n")
	write(t, bad, "benchmark,"+strings.ReplaceAll(hostile, "\r", "")+"\nx,1\n")
	for _, args := range [][]string{
		{"fit", log, "--json"}, {"fit", log, "--figures", "drawn" + hostile}, {"fit", hostile}, {"fit", bad},
		{"diagnose", log}, {"diagnose", log, "--json"}, {"diagnose", log, "--true-reward", hostile},
		{"diagnose", log, "--mode", hostile}, {"diagnose", hostile},
		{"watch", log, "--until-idle", "1ns", "--every", "1ns"},
		{"compare", log, log, "--margin", "1"}, {"compare", log, log, "--run", hostile, "--json"}, {"compare", scores}, {"compare", scores, "--json"}, {"compare", bad}, {"compare", hostile, log},
		{"advise", "--fit", log}, {"advise", "--fit", log, "--json"}, {"advise", hostile}, {"predict", hostile}, {"sweep", hostile}, {"sweep", log}, {"init", "new" + hostile},
		{hostile}, {"fit", "--" + hostile}, {"slurm", hostile}, {"kubernetes", hostile}, {"report", hostile}, {"reproduce", hostile}, {"map", hostile}, {"fit", "--help"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), args, &stdout, &stderr)
		for _, text := range []string{stdout.String(), stderr.String()} {
			if !seen(text) {
				t.Errorf("%q prints %q", args, text)
			}
		}
		if code == exitDamaged {
			t.Errorf("%q: exit code %d: %s", args, code, stderr.String())
		}
	}
	figures, err := filepath.Glob("drawn*/*.svg")
	if err != nil || len(figures) != 1 {
		t.Fatalf("figures %q: %v", figures, err)
	}
	for _, file := range figures {
		if svg, err := os.ReadFile(file); err != nil || !seen(string(svg)) {
			t.Errorf("%q has a character that is not seen: %v", file, err)
		}
	}
}
