package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"grposim/sweeps/config"
)

// files holds configs/CLAIM.yaml for each claim whose verdicts depend on chance: one check of one
// small cell. Each cell has so much data that the half-width of its interval is 0.3 to 0.5 margins.
// Margins are below 10 %, the least error of a control. Below hard are cells in which intervals are
// least reliable: few replicas, skewed noise, nearly all groups without a gradient, a threshold
// nearby. Their `claim` says what is hard.
//
//go:embed configs/*.yaml hard/*.yaml
var files embed.FS

// intervalKind is the kind of interval that a claim judges. It decides how high the
// coverage may be.
type intervalKind string

const (
	pointwise    intervalKind = ""     // Student's t
	simultaneous intervalKind = "band" // holds at all recorded steps together
	// of a time, between those at which the two edges of such a band reach a level
	ofEdges intervalKind = "edges"
	ofShare intervalKind = "share" // Wilson's score interval
	// of a located value: three standard errors, widened by the interval of the stiffness
	bracket intervalKind = "bracket"
	widened intervalKind = "widened" // Student's t, widened by a bound of the systematic error
)

// intervalKinds gives the kind of interval of each claim whose intervals are not
// pointwise, the zero value.
var intervalKinds = map[string]intervalKind{
	"trajectory":          simultaneous,
	"stiffness":           widened,
	"relaxation":          widened,
	"relaxation-scaling":  widened,
	"damping-ratio":       widened,
	"degenerate-groups":   ofShare,
	"failure-mode":        ofShare,
	"arrival":             ofShare,
	"time-to-level":       ofEdges,
	"oscillation-onset":   bracket,
	"stability-threshold": bracket,
}

// cell is a configuration file that is judged under many seeds.
type cell struct {
	file, name string       // its path, and its name: of the cell of a claim the claim
	data       []byte       // the configuration file
	spec       *config.Spec // data, loaded
}

// loadCells loads the small cells that calibrate one claim each, in the order of the claim table.
func loadCells() ([]*cell, error) {
	var cells []*cell
	for _, claim := range config.Claims {
		c, err := loadCell(files, root, "configs/"+claim.Name+".yaml")
		if errors.Is(err, fs.ErrNotExist) {
			continue // the page says why
		} else if err != nil {
			return nil, err
		}
		if of := c.spec.Checks; len(of) != 1 || of[0].Claim != claim || of[0].Control == nil {
			return nil, fmt.Errorf("%s: want one check of %s with a control", c.file, c.name)
		}
		cells = append(cells, c)
	}
	return cells, nil
}

// root is the folder of the files that are embedded here.
const root = "tools/calibrate"

// loadCell loads an embedded file of the folder root.
func loadCell(files embed.FS, root, file string) (c *cell, err error) {
	c = &cell{file: path.Join(root, file), name: strings.TrimSuffix(path.Base(file), ".yaml")}
	if c.data, err = files.ReadFile(file); err == nil {
		c.spec, err = c.load()
	}
	return c, err
}

// loadFiles loads the embedded files of the folder root with a pattern.
func loadFiles(files embed.FS, root, pattern string) (cells []*cell, err error) {
	names, err := fs.Glob(files, pattern)
	for _, name := range names {
		c, problem := loadCell(files, root, name)
		cells, err = append(cells, c), errors.Join(err, problem)
	}
	return cells, err
}

// load loads the cell's file with some settings (KEY=VALUE) changed.
func (c *cell) load(set ...string) (*config.Spec, error) {
	return config.Load(c.file, c.data, set...)
}
