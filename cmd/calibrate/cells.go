package main

import (
	"embed"
	"fmt"

	"grposim/sweeps/config"
)

// configs holds CLAIM.yaml: one check of one small cell for each claim that
// chance enters. Margins are sized for a half-width of 0.3 to 0.5 of them, and
// stay below the 10 % by which every control is wrong.
//
//go:embed configs/*.yaml
var configs embed.FS

// exempt are the claims that chance does not enter, with the reason.
var exempt = map[string]string{
	"rule-is-safe": "compares the value that stability-threshold locates",
	"recurrence":   "out of scope but at G = ∞: the map is that of the expected gradient",
}

// cover says what kind of interval a claim has, and so how often it may cover.
type cover string

const (
	pointwise    cover = "interval" // Student's
	simultaneous cover = "band"     // over all recorded steps at once
	ofShare      cover = "share"    // Wilson's, which takes the larger of two errors
	bracket      cover = "bracket"  // of a located value: three standard errors, widened by the interval of the stiffness
)

// covers lists the claims whose intervals are not pointwise.
var covers = map[string]cover{
	"trajectory":          simultaneous,
	"degenerate-groups":   ofShare,
	"failure-mode":        ofShare,
	"oscillation-onset":   bracket,
	"stability-threshold": bracket,
}

// cell is the calibration of one claim.
type cell struct {
	claim string
	cover cover
	data  []byte
	spec  *config.Spec
}

// loadCells reads the cells in the order of the claim table.
func loadCells() ([]*cell, error) {
	var cells []*cell
	for _, claim := range config.Claims {
		if exempt[claim.Name] != "" {
			continue
		}
		c := &cell{claim: claim.Name, cover: pointwise}
		if other, differs := covers[claim.Name]; differs {
			c.cover = other
		}
		var err error
		if c.data, err = configs.ReadFile("configs/" + claim.Name + ".yaml"); err != nil {
			return nil, err
		}
		if c.spec, err = c.load(); err != nil {
			return nil, err
		}
		if len(c.spec.Checks) != 1 || c.spec.Checks[0].Claim.Name != c.claim || c.spec.Checks[0].Control == nil {
			return nil, fmt.Errorf("%s.yaml: want one check of %s with a control", c.claim, c.claim)
		}
		cells = append(cells, c)
	}
	return cells, nil
}

func (c *cell) load(set ...string) (*config.Spec, error) {
	return config.Load("cmd/calibrate/configs/"+c.claim+".yaml", c.data, set...)
}
