package main

import (
	"embed"
	"fmt"
	"path"
	"strings"

	"grposim/sweeps/config"
)

// configs holds a file CLAIM.yaml for each claim whose verdicts depend on chance: one
// check of one small cell. Each cell has so much data that the half-width of its
// interval is 0.3 to 0.5 margins. Margins are below 10 %, the least error of a control.
//
//go:embed configs/*.yaml
var configs embed.FS

// exempt lists the claims whose verdicts do not depend on chance, with the reason.
var exempt = map[string]string{
	"rule-is-safe":         "judges the value that stability-threshold locates, which is calibrated above",
	"visible-frontier":     "G = ∞ only, where nothing is random: the interval is that of the search",
	"frontier-above-onset": "as visible-frontier",
	"median-frontier":      "as visible-frontier, of given bandits",
	"frontier-gap":         "as visible-frontier",
	"frontier-ratio":       "as visible-frontier",
	"frontier-constant":    "as visible-frontier",
	"class-occurs":         "G = ∞ only, where nothing is random: cells are counted",
	"class-throughout":     "as class-occurs",
	"model-amplitude":      "G = ∞ only, where nothing is random",
	"law-forecast":         "judges two bounds, without margin, on the logs of which law-fit is calibrated above",
	"recurrence":           "out of scope except at G = ∞, where nothing is random: the map is that of the expected gradient",
	"edge-of-stability":    "G = ∞ only, where nothing is random",
	"rate-over-threshold":  "G = ∞ only, where nothing is random",
}

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
		if exempt[claim.Name] != "" {
			continue
		}
		c, err := loadCell(configs, root, "configs/"+claim.Name+".yaml")
		if err != nil {
			return nil, fmt.Errorf("%s has neither a cell nor an entry in exempt: %w", claim.Name, err)
		}
		if len(c.spec.Checks) != 1 || c.spec.Checks[0].Claim.Name != c.name || c.spec.Checks[0].Control == nil {
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
	if c.data, err = files.ReadFile(file); err != nil {
		return nil, err
	}
	c.spec, err = c.load()
	return c, err
}

// load loads the cell's file with some settings (KEY=VALUE) changed.
func (c *cell) load(set ...string) (*config.Spec, error) {
	return config.Load(c.file, c.data, set...)
}
