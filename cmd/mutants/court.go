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
// paper's experiments.
//
// A fault in the theory changes no measurement: the committed cells are judged
// again, and only those are simulated that the mutant plans differently. A
// fault in the simulator changes them all: the cheap experiments are run anew.
type court struct {
	lab *laboratory

	mutex    sync.Mutex
	baseline map[witness][]ruling // without a mutant, where it has been needed
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
const cheapSeconds = 60

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
	side := witnessOf(m.pkg())
	want, err := c.without(ctx, side)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(c.lab.temp, filepath.FromSlash(m.id), "results")
	got, complaint, err := c.reproduce(ctx, side, environment, dir)
	if err != nil || complaint != "" {
		return complaint, err
	}
	return turned(want, got), nil
}

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

// without returns the rulings without a mutant, which must all be sound.
func (c *court) without(ctx context.Context, side witness) ([]ruling, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if known, ok := c.baseline[side]; ok {
		return known, nil
	}
	fmt.Fprintf(c.lab.progress, "mutants: the first survivor of the tests in the %s: verdicts without a mutant\n", side)
	rulings, complaint, err := c.reproduce(ctx, side, c.lab.environment(), filepath.Join(c.lab.temp, string(side)))
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
	if c.baseline == nil {
		c.baseline = make(map[witness][]ruling)
	}
	c.baseline[side] = rulings
	return rulings, nil
}

// reproduce builds the program, runs the experiments of a witness into dir, and
// returns their rulings; or the program's complaint where it gave none.
func (c *court) reproduce(ctx context.Context, side witness, environment []string, dir string) (rulings []ruling, complaint string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, "", err
	}
	binary := filepath.Join(dir, "grposim")
	if out, err := c.lab.command(ctx, environment, "go", "build", "-o", binary, "./cmd/grposim").CombinedOutput(); err != nil {
		return nil, "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	names, err := c.seed(side, dir)
	if err != nil {
		return nil, "", err
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

// seed names the experiments of a witness. For the theory it copies what has
// been measured into dir, so that it is not measured again.
func (c *court) seed(side witness, dir string) (names []string, err error) {
	results := filepath.Join(c.lab.root, "results", "paper")
	cost, err := costs(results)
	if err != nil {
		return nil, err
	}
	spent := 0.0
	for _, e := range cost {
		if side == simulator {
			if spent += e.seconds; spent <= cheapSeconds {
				names = append(names, e.name)
			}
			continue
		}
		names = append(names, e.name)
		if err := os.MkdirAll(filepath.Join(dir, e.name), 0o755); err != nil {
			return nil, err
		}
		for _, part := range []string{"manifest.json", "cells.jsonl"} {
			data, err := os.ReadFile(filepath.Join(results, e.name, part))
			if err != nil {
				return nil, err
			}
			if err := os.WriteFile(filepath.Join(dir, e.name, part), data, 0o644); err != nil {
				return nil, err
			}
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
