package config

import (
	"bytes"
	"os"
	"testing"
)

// FuzzLoad checks on arbitrary input that Load returns a Spec or Problems of one line
// each. An accepted file must load again and expand to the same cells, each of which
// must be a valid base by itself, and its document must load back.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"good/*.yaml", "bad/*.yaml"} {
		for _, file := range testFiles(f, pattern) {
			data := must(os.ReadFile(file))(f)
			f.Add(data, "")
		}
	}
	for _, set := range []string{"grpo.group_size=inf", "policy.reference=[0, 1]",
		"policy.init={fixed_point_offset: 1}", "bandit.arms=[*a, &a b]", "run.steps",
		"run.record=[pass@8, samples]", "run.record=[pass@08]", "seed=!!int 1"} {
		f.Add([]byte(loadMinimal), set)
	}
	f.Fuzz(func(t *testing.T, data []byte, set string) {
		var overrides []string
		if set != "" {
			overrides = []string{set}
		}
		spec, err := Load("f", data, overrides...)
		if err != nil {
			problems, ok := err.(Problems)
			if !ok || len(problems) == 0 {
				t.Fatalf("no problems: %v", err)
			}
			for _, p := range problems {
				if bytes.ContainsAny([]byte(p.String()), "\n\r\x00") {
					t.Errorf("more than one line: %q", p)
				}
			}
			return
		}
		again, err := Load("f", data, overrides...)
		if err != nil {
			t.Fatal("accepted, then refused: ", err)
		}
		cells := 0
		for _, g := range spec.Grids() {
			cells += g.cells()
		}
		if cells > 1000 {
			return // valid, but the checks below would take too long
		}
		document := spec.Document()
		kept, err := Restore("document", document)
		if err != nil {
			t.Fatalf("%v\n%s", err, document)
		}
		if text := kept.Document(); !bytes.Equal(text, document) {
			t.Fatalf("the document of the document differs:\n%s\n%s", document, text)
		}
		first, second := spec.Points(), again.Points()
		if len(first) != cells || len(second) != cells {
			t.Fatalf("%d and %d points, want %d", len(first), len(second), cells)
		}
		for i, p := range first {
			id := Canonical(p.Settings)
			if !bytes.Equal(id, Canonical(second[i].Settings)) {
				t.Fatalf("cell %d: %s, then %s", i, id, Canonical(second[i].Settings))
			}
			alone := Spec{Base: p.Settings}
			if got := Canonical(alone.Points()[0].Settings); !bytes.Equal(id, got) {
				t.Fatalf("cell %d: %s, alone %s", i, id, got)
			}
		}
	})
}
