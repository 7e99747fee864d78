//go:build long

package main

import (
	"testing"

	"grposim/sweeps/config"
)

// Every key of the table takes several values, every word and law occurs, and every claim is
// drawn or exempt.
func TestLongDraw(t *testing.T) {
	const drawn = 1000
	values := map[string]map[string]bool{}
	note := func(name, value string) {
		if values[name] == nil {
			values[name] = map[string]bool{}
		}
		values[name][value] = true
	}
	for i := range uint64(drawn) {
		f := draw(1, i)
		spec, err := f.load()
		if err != nil {
			t.Fatalf("%v\n%s", err, f.text())
		}
		for _, k := range config.Keys {
			note(k.Path, config.Format(k.Get(&spec.Base)))
		}
		for _, arm := range spec.Base.Bandit.Arms {
			note("law", arm.Law.String())
		}
		for _, c := range spec.Checks {
			note("claim", c.Claim.Name)
		}
		note("class", spec.Name)
	}
	for _, k := range config.Keys {
		switch {
		case k.OfRun(), ofNetwork(k.Path): // given by the predicted relaxation time, and not drawn
		case k.Kind == config.WordValue && len(values[k.Path]) != len(k.Words):
			t.Errorf("%s: only the words %v in %d draws", k.Path, values[k.Path], drawn)
		case len(values[k.Path]) < 2:
			t.Errorf("%s: only %v in %d draws: give it a row in usual", k.Path, values[k.Path], drawn)
		}
	}
	for _, c := range config.Claims {
		if drawn := values["claim"][c.Name]; drawn == (classOf(c) == "") {
			t.Errorf("claim %s: drawn %v, class %q", c.Name, drawn, classOf(c))
		}
	}
	if len(values["law"]) != 3 || len(values["class"]) != 5 {
		t.Errorf("laws %v, classes %v", values["law"], values["class"])
	}
}

// No configuration of 200 panics or hangs, and none is found to
// disagree with another seed and four times the data. A fault of one configuration in 67 is found
// with probability 0.95; of 300 it was one in 100.
func TestLongFuzz(t *testing.T) {
	s, err := fuzz(t.Context(), 4, 200, 2, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(s)
	for _, r := range s {
		for _, found := range r.findings {
			if found.kind != unconfirmed {
				t.Errorf("%v: `make fuzz-theory N=200 SEEDS=4` writes the file", found)
			}
		}
	}
}
