package main

import (
	"bytes"
	"testing"
	"time"
)

// Where stderr is no terminal, a long part of a sweep is reported by a line now and then.
func TestProgressOfParts(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out)
	p.Part("mine", "judging", 1, 9)
	if out.Len() > 0 {
		t.Errorf("at once: %q", out.String())
	}
	p.lastLine = time.Now().Add(-lineInterval)
	p.Part("mine", "judging", 3, 9)
	p.Part("mine", "judging", 4, 9)
	if want := "grposim: mine: judging, 3 of 9\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
