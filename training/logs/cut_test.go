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

// A log of any form that is cut at any byte has no value that was never written, and loses at most its last row.
func TestCutForms(t *testing.T) {
	forms := map[string]func(i int) string{
		"CSV": func(i int) string { return fmt.Sprintf("%d,0.%d25,%d.5e-05\n", i, i, i) },
		"long form": func(i int) string {
			return fmt.Sprintf("kl,%d.5e-05,%d\nreward,0.%d25,%d\n", i, i, i, i)
		},
		"JSON lines": func(i int) string { return fmt.Sprintf(`{"step": %d, "reward": 0.%d25, "kl": %d.5e-05}`+"\n", i, i, i) },
		"dicts":      func(i int) string { return fmt.Sprintf("{'step': %d, 'reward': 0.%d25, 'kl': %d.5e-05}\n", i, i, i) },
		"verl": func(i int) string {
			return fmt.Sprintf("step:%d - critic/score/mean:0.%d25 - actor/kl_loss:%d.5e-05\n", i, i, i)
		},
		"equal signs": func(i int) string { return fmt.Sprintf("step=%d reward=0.%d25 kl=%d.5e-05\n", i, i, i) },
		"pipes":       func(i int) string { return fmt.Sprintf("Step %d | Reward: 0.%d25 | kl: %d.5e-05\n", i, i, i) },
		"a table":     func(i int) string { return fmt.Sprintf("| %d | 0.%d25 | %d.5e-05 |\n", i, i, i) },
		"columns":     func(i int) string { return fmt.Sprintf("%d  0.%d25  %d.5e-05\n", i, i, i) },
		"bullets": func(i int) string {
			return fmt.Sprintf("Step %d/50\n• Avg Reward: 0.%d25\n• kl: %d.5e-05\n", i, i, i)
		},
	}
	heads := map[string]string{"CSV": "step,reward,kl\n", "long form": "name,value,step\n", "a table": "| step | reward | kl |\n|--|--|--|\n", "columns": "step  reward  kl\n"}
	for name, row := range forms {
		text := heads[name]
		for i := 18; i < 24; i++ {
			text += row(i)
		}
		for cut := len(heads[name]) + len(row(18)) + 1; cut < len(text); cut++ {
			l, err := Read(strings.NewReader(text[:cut]), "f", Options{})
			if err != nil {
				t.Errorf("%s: %q: %v", name, text[:cut], err)
				break
			}
			for i, step := range l.Steps {
				for q, unit := range map[Quantity]float64{Reward: 0, KLRef: 1e-5} {
					want := float64(step)/100 + 0.0025
					if unit > 0 {
						want = (float64(step) + 0.5) * unit
					}
					if c, has := l.Column(q); has && (step < 18 || step > 23 || math.Abs(c.Values[i]/want-1) > 1e-9) {
						t.Fatalf("%s: %q: step %d has the %s %v, want %v", name, text[:cut], step, q, c.Values[i], want)
					}
				}
			}
			whole := 17
			for rest := strings.TrimPrefix(text[:cut], heads[name]); strings.HasPrefix(rest, row(whole+1)); whole++ {
				rest = rest[len(row(whole+1)):]
			}
			if last := slices.Max(l.Steps); last < whole-1 {
				t.Fatalf("%s: %q: the last step is %d, want %d at least", name, text[:cut], last, whole-1)
			}
		}
	}
}

// A file whose bytes are changed one by one is read or refused, without a panic or a control character in words.
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
				if wrong, is := errors.AsType[*Error](err); err != nil && (!is || strings.ContainsFunc(strings.ReplaceAll(wrong.Error(), "\n", ""), unicode.IsControl)) {
					t.Fatalf("%s, byte %d is %q: %v", file, i, to, err)
				}
			}
		}
	}
}
