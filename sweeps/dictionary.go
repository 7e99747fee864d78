package sweeps

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"grposim/rom"
	"grposim/rom/scope"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// Units of columns, of which optimizer steps are that of time, and their ranges.
const (
	inSteps   = "optimizer step"
	inSamples = "sample"
	pureRatio = "1" // no unit
	atLeast0  = "≥ 0"
	zeroToOne = "0 to 1"
)

//go:embed columns.yaml
var columnsText []byte

// columnDocs are the columns that are a description and nothing else.
var columnDocs = config.LazyTable[struct {
	Identity, Status     []store.Column // first of a table with a row per cell; after its parameters
	Estimates            []store.Column // of cells.csv: NAME_lo and NAME_hi, their intervals, follow
	Predictions          []store.Column // of predictions.csv after the parameters
	Quantities, Recorded []store.Column // of every cell; of those alone whose run.record names them
	Map                  []store.Column // of map-X-Y.csv
	KeysMap              []store.Column `yaml:"keys_map"` // first of map-X.csv
	Trajectories         []store.Column // of trajectories.parquet, and of its rows as CSV
}]("columns.yaml", columnsText)

// Names of the descriptions of quantities that have a number K.
const (
	passColumn    = "pass_at_K"
	armColumn     = "probability_of_arm_K"
	stratumColumn = "reward_of_stratum_K"
)

// prediction holds the prediction and the settings of a cell, for a row of predictions.csv.
type prediction struct {
	*rom.Prediction
	full  *rom.Dynamics // the linear dynamics: exact, or to leading order where the force is
	scope scope.Reason  // why there is no stationary state to be judged, as verdicts have it
}

// predicted holds the values of the columns of predictions.csv after the parameters, each a string
// or a *float64.
var predicted = map[string]func(p *prediction) any{
	"fixed_point_expected_reward": func(p *prediction) any {
		if p.FixedPoint == nil {
			return ""
		}
		return &p.FixedPoint.Reward
	},
	"expected_reward_shift":                      func(p *prediction) any { return p.Moments.RewardShift },
	"stiffness_total":                            func(p *prediction) any { return &p.Stiffness.Total },
	"stiffness_fresh":                            func(p *prediction) any { return &p.Stiffness.Fresh },
	"stiffness_stale":                            func(p *prediction) any { return &p.Stiffness.Stale },
	"stiffness_slowest":                          func(p *prediction) any { return &p.Stiffness.Slowest },
	"gradient_variance":                          func(p *prediction) any { return &p.GradientVariance },
	"damping_ratio":                              func(p *prediction) any { return &p.Oscillator.DampingRatio },
	"regime":                                     func(p *prediction) any { return p.Oscillator.Regime },
	"spectral_radius":                            func(p *prediction) any { return p.full.SpectralRadius },
	"critical_learning_rate":                     func(p *prediction) any { return p.full.CriticalLearningRate },
	"critical_refresh_interval":                  func(p *prediction) any { return p.full.CriticalRefreshInterval },
	"oscillation_learning_rate":                  func(p *prediction) any { return p.full.OscillationLearningRate },
	"logit_gap_variance":                         func(p *prediction) any { return p.full.StationaryVariance.LogitGap },
	"expected_reward_variance":                   func(p *prediction) any { return p.full.StationaryVariance.ExpectedReward },
	"expected_reward_variance_leading_order":     func(p *prediction) any { return p.LeadingOrder.StationaryVariance.ExpectedReward },
	"expected_reward_variance_paper_rule":        func(p *prediction) any { return p.PaperRule.RewardVariance },
	"zero_variance_fraction":                     func(p *prediction) any { return p.Moments.ZeroVariance },
	"scope":                                      func(p *prediction) any { return cmp.Or(p.scope.String(), "in") },
	"neglected_expected_reward":                  func(p *prediction) any { return &p.Neglected.RewardMean },
	"neglected_expected_reward_variance":         func(p *prediction) any { return &p.Neglected.RewardVariance },
	"neglected_zero_variance_fraction":           func(p *prediction) any { return &p.Neglected.ZeroVariance },
	"paper_stiffness":                            func(p *prediction) any { return p.PaperRule.Stiffness },
	"expected_reward_variance_rule_at_stiffness": func(p *prediction) any { return p.RuleAtStiffness.RewardVariance },
}

func names(columns []store.Column) []string {
	return config.Each(columns, func(c store.Column) string { return c.Name })
}

// number returns the shortest decimal that reads back as x; "" for nil and where x is not finite.
func number(x *float64) string {
	if x == nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}

// WriteColumns describes the columns of the tables in a results folder, in Markdown.
func WriteColumns(w io.Writer) error {
	table := func(heading string, parts ...[]store.Column) {
		fmt.Fprintf(w, "\n## %s\n\n| column | meaning | unit | range |\n|---|---|---|---|\n", heading)
		for _, c := range slices.Concat(parts...) {
			doc := strings.ReplaceAll(c.Doc, "|", `\|`)
			fmt.Fprintf(w, "| `%s` | %s | %s | %s |\n", c.Name, doc, c.Unit, c.Range)
		}
	}
	fmt.Fprint(w, "# Columns of a results folder\n\n")
	fmt.Fprintln(w, "cells.csv and predictions.csv have a row per cell, in the order of the sweep.")
	fmt.Fprintln(w, "Both begin with its identity and its parameters: `grposim help keys` describes these.")
	fmt.Fprintln(w, "A parameter that trainers add is there if a cell does not hold its default.")
	table("cells.csv and predictions.csv: identity", columnDocs().Identity)
	table("cells.csv: status", columnDocs().Status)
	table("cells.csv: estimates, each with NAME_lo and NAME_hi", columnDocs().Estimates)
	table("cells.csv: numbers of each recorded quantity Q", formColumns())
	table("predictions.csv", columnDocs().Predictions)
	table("trajectories.parquet", columnDocs().Trajectories)
	table("Quantities that are recorded", columnDocs().Quantities)
	table("Quantities that run.record may name", columnDocs().Recorded)
	table("map-X-Y.csv", columnDocs().Map)
	table("map-X.csv, before the parameter and the quantities", columnDocs().KeysMap)
	return nil
}

// formColumns describes the numbers of a recorded quantity Q.
func formColumns() (columns []store.Column) {
	for _, form := range numberForms {
		c := store.Column{Name: "Q" + form.suffix, Doc: fmt.Sprintf(form.doc, "Q"), Range: atLeast0}
		switch c.Unit = form.unit; form.unit {
		case "":
			c.Unit, c.Range = "of the quantity", "of the quantity"
		case squared:
			c.Unit = "of the quantity, squared"
		}
		columns = append(columns, c)
	}
	return columns
}
