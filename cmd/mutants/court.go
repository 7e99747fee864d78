package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// court judges the mutants that all tests let pass, by the verdicts of the
// paper's cheap experiments.
//
// A fault in the simulator changes what is measured: they are run anew. One in
// the theory does not: what has been measured without it is judged again, and
// only those cells are simulated that the mutant plans differently.
type court struct {
	lab *laboratory

	mutex sync.Mutex
	sound []ruling // without a mutant, once they have been needed
}

// witness is the side on which a fault is.
type witness string

const (
	theory    witness = "theory"
	simulator witness = "simulator"
)

// witnessOf returns the side of a package.
func witnessOf(pkg string) witness {
	if first, _, _ := strings.Cut(pkg, "/"); first == "rom" {
		return theory
	}
	return simulator
}

// cheapSeconds is the processor time for which experiments are run anew, the
// cheapest first.
const cheapSeconds = 120

// ruling is what makes a verdict turn: of verdicts.json, what is judged and how
// it and its control came out.
type ruling struct {
	Experiment string `json:"experiment"`
	Variant    string `json:"variant"`
	Claim      string `json:"claim"`
	Quantity   string `json:"quantity"`
	Verdict    string `json:"verdict"`
	Control    *struct {
		Verdict string `json:"verdict"`
	} `json:"control"`
}

// control returns the verdict on the planted fault, empty without one.
func (r *ruling) control() string {
	if r.Control == nil {
		return ""
	}
	return r.Control.Verdict
}

// try returns which verdicts a mutant turns; empty: none.
func (c *court) try(ctx context.Context, m *mutant, environment []string) (string, error) {
	want, err := c.baseline(ctx)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(c.lab.temp, filepath.FromSlash(m.id), "results")
	if witnessOf(m.pkg()) == theory {
		if err := copyMeasured(dir, c.baselineFolder()); err != nil {
			return "", err
		}
	}
	got, complaint, err := c.reproduce(ctx, environment, dir)
	if err != nil || complaint != "" {
		return complaint, err
	}
	return turned(want, got), nil
}

// baselineFolder holds what is measured without a mutant.
func (c *court) baselineFolder() string { return filepath.Join(c.lab.temp, "baseline") }

// turned says in words where got differs from want; empty: nowhere.
func turned(want, got []ruling) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d verdicts instead of %d", len(got), len(want))
	}
	words, others := "", 0
	for i := range want {
		w, g := &want[i], &got[i]
		change := ""
		if w.Verdict != g.Verdict {
			change = fmt.Sprintf("%s → %s", w.Verdict, g.Verdict)
		} else if w.control() != g.control() {
			change = fmt.Sprintf("control %s → %s", w.control(), g.control())
		}
		switch {
		case change == "":
		case words == "":
			words = strings.Join(strings.Fields(w.Experiment+" "+w.Variant+" "+w.Claim), " ") + ": " + change
		default:
			others++
		}
	}
	if others > 0 {
		words += fmt.Sprintf(", and %d more", others)
	}
	return words
}

// baseline returns the rulings without a mutant, which must all be sound.
func (c *court) baseline(ctx context.Context) ([]ruling, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.sound != nil {
		return c.sound, nil
	}
	fmt.Fprintln(c.lab.progress, "mutants: one has survived the tests; now the verdicts, first without a mutant")
	rulings, complaint, err := c.reproduce(ctx, c.lab.environment(), c.baselineFolder())
	if err != nil {
		return nil, err
	}
	if complaint != "" {
		return nil, errors.New("without a mutant: " + complaint)
	}
	for _, r := range rulings {
		if r.Verdict == "disagree" || r.Verdict == "inconclusive" || r.control() != "" && r.control() != "disagree" {
			return nil, fmt.Errorf("without a mutant: %s %s %s: %s, control %s", r.Experiment, r.Variant, r.Claim, r.Verdict, r.control())
		}
	}
	c.sound = rulings
	return rulings, nil
}

// reproduce builds the program, runs the cheap experiments into dir, and returns
// their rulings; or the program's complaint where it gave none.
func (c *court) reproduce(ctx context.Context, environment []string, dir string) (rulings []ruling, complaint string, err error) {
	names, err := cheap(filepath.Join(c.lab.root, "results", "paper"))
	if err != nil {
		return nil, "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, "", err
	}
	binary := filepath.Join(dir, "grposim")
	if out, err := c.lab.command(ctx, environment, "go", "build", "-o", binary, "./cmd/grposim").CombinedOutput(); err != nil {
		return nil, "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	args := append([]string{"reproduce", "--workers", strconv.Itoa(c.lab.share()), "--out", dir}, names...)
	command := c.lab.command(ctx, environment, binary, args...)
	var stderr strings.Builder
	command.Stderr = &stderr
	err = command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		return nil, "", errors.Join(ctx.Err(), err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "verdicts.json"))
	if errors.Is(err, os.ErrNotExist) {
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		return nil, "no verdicts: " + lines[len(lines)-1], nil
	} else if err != nil {
		return nil, "", err
	}
	var all struct{ Verdicts []ruling }
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, "", fmt.Errorf("verdicts.json: %w", err)
	}
	return all.Verdicts, "", nil
}

// copyMeasured copies what has been measured of every experiment from one folder
// of results to another, without what was derived from it.
func copyMeasured(to, from string) error {
	manifests, err := filepath.Glob(filepath.Join(from, "*", "manifest.json"))
	if err != nil {
		return err
	}
	for _, file := range manifests {
		experiment := filepath.Dir(file)
		target := filepath.Join(to, filepath.Base(experiment))
		if err := os.MkdirAll(target, 0o755); err != nil {
			return err
		}
		for _, part := range []string{"manifest.json", "cells.jsonl"} {
			data, err := os.ReadFile(filepath.Join(experiment, part))
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(target, part), data, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// cheap names the experiments whose committed runs, together, took no longer
// than cheapSeconds, the cheapest first.
func cheap(results string) ([]string, error) {
	all, err := costs(results)
	if err != nil {
		return nil, err
	}
	var names []string
	spent := 0.0
	for _, e := range all {
		if spent += e.seconds; spent <= cheapSeconds {
			names = append(names, e.name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s holds no experiment to judge by", results)
	}
	return names, nil
}

// costed is an experiment and the processor time of its committed run.
type costed struct {
	name    string
	seconds float64
}

// costs lists the experiments in a folder of results, the cheapest first.
func costs(results string) ([]costed, error) {
	manifests, err := filepath.Glob(filepath.Join(results, "*", "manifest.json"))
	if err != nil {
		return nil, err
	}
	var all []costed
	for _, file := range manifests {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var manifest struct {
			Run struct {
				CPUSeconds float64 `json:"cpu_seconds"`
			} `json:"run"`
		}
		if err := json.Unmarshal(data, &manifest); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, costed{filepath.Base(filepath.Dir(file)), manifest.Run.CPUSeconds})
	}
	slices.SortStableFunc(all, func(a, b costed) int { return cmp.Compare(a.seconds, b.seconds) })
	return all, nil
}
