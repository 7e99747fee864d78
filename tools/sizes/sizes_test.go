package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// No room has outgrown its limit, and no limit is of a room that is gone.
func TestRooms(t *testing.T) {
	h, err := measure(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, over := range h.excess() {
		t.Error(over)
	}
	for room := range rooms {
		if h.rooms[room].code == 0 {
			t.Errorf("%s has a limit and no lines", room)
		}
	}
}

// Lines, long lines and sentences of a small tree are counted.
func TestMeasure(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a/a.go":      "// Package a is small. It has two sentences,\n// over two lines.\npackage a\n",
		"a/a_test.go": "package a\n",
		"docs/a.md":   "1234",
		"README.md":   "12",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h, err := measure(root)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := h.rooms["a"], (size{3, 1}); got != want || h.docs != 6 || !slices.Equal(h.words, []int{4, 7}) {
		t.Errorf("got %v, %d bytes, words %v, want %v, 6 and [4 7]", got, h.docs, h.words, want)
	}
	if over := h.excess(); len(over) != 1 {
		t.Errorf("got %q, want that room a has no limit", over)
	}
}
