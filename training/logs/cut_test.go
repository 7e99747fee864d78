package logs

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// A log of any form that is cut at any byte has no value that was never written, and loses at most
// its last row.
func TestCutForms(t *testing.T) {
	for name, form := range map[string][2]string{ // the head, and a row
		"CSV":       {"step,reward,kl\n", "%[1]d,0.%[1]d25,%[1]d.5e-05\n"},
		"long form": {"name,value,step\n", "kl,%[1]d.5e-05,%[1]d\nreward,0.%[1]d25,%[1]d\n"},
		"JSON lines": {"", `{"step": %[1]d, "reward": 0.%[1]d25, "kl": %[1]d.5e-05, ` +
			`"note": "a \u00e9 \"b\"", "list": [1, {"x": 2}]}` + "\n"},
		"dicts":       {"", "{'step': %[1]d, 'reward': 0.%[1]d25, 'kl': %[1]d.5e-05}\n"},
		"verl":        {"", "step:%[1]d - critic/score/mean:0.%[1]d25 - actor/kl_loss:%[1]d.5e-05\n"},
		"equal signs": {"", "step=%[1]d reward=0.%[1]d25 kl=%[1]d.5e-05\n"},
		"pipes":       {"", "Step %[1]d | Reward: 0.%[1]d25 | kl: %[1]d.5e-05\n"},
		"a table":     {"| step | reward | kl |\n|--|--|--|\n", "| %[1]d | 0.%[1]d25 | %[1]d.5e-05 |\n"},
		"columns":     {"step  reward  kl\n", "%[1]d  0.%[1]d25  %[1]d.5e-05\n"},
		"bullets":     {"", "Step %[1]d/50\n• Avg Reward: 0.%[1]d25\n• kl: %[1]d.5e-05\n"},
	} {
		row := func(i int) string { return fmt.Sprintf(form[1], i) }
		text := form[0]
		for i := 18; i < 24; i++ {
			text += row(i)
		}
		for cut := len(form[0]+row(18)) + 1; cut < len(text); cut++ {
			l := readText(t, text[:cut])
			for i, step := range l.Steps {
				x := float64(step)
				for q, want := range map[Quantity]float64{Reward: x/100 + 0.0025, KLRef: (x + 0.5) * 1e-5} {
					c, has := l.Column(q)
					if has && (step < 18 || step > 23 || math.Abs(c.Values[i]/want-1) > 1e-9) {
						t.Fatalf("%s: %q: %s at %d is %v, want %v", name, text[:cut], q, step, c.Values[i], want)
					}
				}
			}
			whole, rest := 17, strings.TrimPrefix(text[:cut], form[0])
			for strings.HasPrefix(rest, row(whole+1)) {
				whole++
				rest = rest[len(row(whole)):]
			}
			last, notes := slices.Max(l.Steps), strings.Join(l.Notes, "\n")
			if last < whole-1 {
				t.Fatalf("%s: %q: the last step is %d, want %d at least", name, text[:cut], last, whole-1)
			}
			// A row of JSON is whole with its brace, and one of CSV is left out where cells lack.
			lost := name == "JSON lines" && last < whole+1 && rest != "" && rest+"\n" != row(whole+1) ||
				name == "CSV" && rest != "" && strings.Count(rest, ",") < 2
			if lost != strings.Contains(notes, "is not complete") && (lost || name == "JSON lines") {
				t.Fatalf("%s: %q: notes %q", name, text[:cut], notes)
			}
		}
	}
}

// A file whose bytes are changed one by one is read or refused, without a panic or a control
// character in words.
func TestChangedBytes(t *testing.T) {
	files, err := filepath.Glob("testdata/good/*")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		data = data[:min(len(data), 3000)]
		for i := 0; i < len(data); i += thin * thin {
			for _, to := range []byte{0, '\n', '"', '9', '{', 0xff} {
				was := data[i]
				data[i] = to
				_, err := ReadAll(bytes.NewReader(data), "f", Options{})
				data[i] = was
				if err == nil {
					continue
				}
				words := strings.ReplaceAll(err.Error(), "\n", "")
				if _, is := errors.AsType[*Error](err); !is || strings.ContainsFunc(words, unicode.IsControl) {
					t.Fatalf("%s, byte %d is %q: %v", file, i, to, err)
				}
			}
		}
	}
}
