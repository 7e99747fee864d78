package theory

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/cell"
	"grposim/sim"
	"grposim/sweeps/config"
)

// Params returns the settings of a cell as parameters of the theory, with constants
// scaled by factors (rom.Unit: the theory as derived). It is the only place
// where a cell is handed to the theory; an error in it makes a verdict disagree.
//
// So are options that cannot act, see cell.Plain. Settings that no prediction depends on are left
// out: length and number of runs. Params.Start is nil, the reference, for cells that start there or
// at a fixed point. Params.Measured is nil.
func Params(s *config.Settings, factors rom.Factors) rom.Params {
	prompts, init := Prompts(s), s.Policy.Init
	p := rom.Params{Arms: meanArms(s, prompts), Reference: s.Policy.Reference,
		Prompts: theoryOf(prompts), Estimator: s.Estimator, Lag: s.Lag, Optimizer: s.Optimizer,
		ReferenceUpdate: s.Policy.ReferenceUpdate, Factors: factors}
	if init.Kind == config.AtLogits && !slices.Equal(init.Logits, s.Policy.Reference) {
		p.Start = init.Logits
	}
	if prompts == nil && !slices.Equal(s.Bandit.TrueMeans, s.Bandit.Means()) {
		p.TrueMeans = s.Bandit.TrueMeans
	}
	return cell.Plain(p)
}

// Prompts returns the prompts of a cell, as listed or with their laws drawn by the seed; nil for a
// single bandit. All numbers are rounded to 12 digits.
func Prompts(s *config.Settings) *sim.Prompts {
	law := s.Prompts
	if law.Count <= 1 {
		return nil
	}
	p := &sim.Prompts{Parameters: law.Parameters, Order: law.Order, Means: make([][2]float64, law.Count)}
	for x := range p.Means {
		for a := range 2 {
			p.Means[x][a] = s.Bandit.Arms[a].Mean
			switch {
			case law.List != nil:
				p.Means[x][a] = config.Round((*law.List)[x][a])
			case law.Means.Drawn():
				u := promptUniform(s.Seed, "mean", x, a)
				share := mathext.InvRegIncBeta(law.Means.Alpha, law.Means.Beta, u)
				p.Means[x][a] = config.Round(p.Means[x][a] * share)
			}
		}
		if law.Start.Drawn() && law.Parameters == option.Tabular {
			p.Starts = append(p.Starts, config.Round(startGap(law.Start, promptUniform(s.Seed, "start", x, 0))))
		}
	}
	return p
}

// promptUniform returns the uniform number in (0, 1) of a prompt and an arm, a pure function
// of its arguments.
func promptUniform(seed uint64, purpose string, prompt, arm int) float64 {
	digest := sha256.Sum256(fmt.Appendf(nil, "grposim prompt 1\n%d\n%s\n%d\n%d\n", seed, purpose, prompt, arm))
	return (float64(binary.BigEndian.Uint64(digest[:8])>>12) + 0.5) * 0x1p-52
}

// startGap returns the logit of the quantile at u in (0, 1) of a law of probabilities. The quantile
// and its complement have all their digits, and are at least the smallest normal number.
func startGap(law config.BetaLaw, u float64) float64 {
	const smallest = 0x1p-1022
	first := mathext.InvRegIncBeta(law.Alpha, law.Beta, u)
	second := mathext.InvRegIncBeta(law.Beta, law.Alpha, 1-u)
	return math.Log(max(first, smallest)) - math.Log(max(second, smallest))
}

// meanArms returns the arms of a cell, with prompts those of the mean prompt.
func meanArms(s *config.Settings, prompts *sim.Prompts) []option.Arm {
	var arms []option.Arm
	for a, arm := range s.Bandit.Arms {
		mean := arm.Mean
		if prompts != nil {
			mean = 0
			for _, m := range prompts.Means {
				mean += m[a] / float64(len(prompts.Means))
			}
			mean = min(mean, 1) // the sum of rounded shares may exceed it
		}
		arms = append(arms, option.Arm{Law: arm.Law, Mean: mean, Std: arm.Std})
	}
	return arms
}

// theoryOf returns prompts as the theory has them.
func theoryOf(p *sim.Prompts) (t cell.Prompts) {
	if p == nil {
		return t
	}
	t = cell.Prompts{Starts: p.Starts, Parameters: p.Parameters, Order: p.Order}
	for _, m := range p.Means {
		t.First, t.Second = append(t.First, m[0]), append(t.Second, m[1])
	}
	return t
}

// ID returns the id of a cell: the sha256, in hexadecimal, of the canonical JSON of its settings
// and of what is measured beside its run, by name.
func ID(s *config.Settings, measured map[string]any) string {
	settings := json.RawMessage(config.Canonical(*s, config.SeedKey))
	content := map[string]any{"seed": s.Seed, "settings": settings}
	maps.Copy(content, measured)
	data, err := json.Marshal(content) // sorts keys
	if err != nil {
		panic(err) // settings are finite numbers and plain strings
	}
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}

// Simulation returns the simulator's input for a run of a cell from the logits start.
func Simulation(s *config.Settings, id string, start []float64) sim.Cell {
	in := sim.Cell{ID: id, Seed: s.Seed, Bandit: s.Bandit, Prompts: Prompts(s), Estimator: s.Estimator,
		Lag: s.Lag, Optimizer: s.Optimizer, Init: start, Reference: s.Policy.Reference, Run: s.Run,
		ReferenceUpdate: s.Policy.ReferenceUpdate}
	if in.Prompts != nil {
		in.Bandit.TrueMeans = nil // those of the prompts
	}
	return in
}

// Start returns the logits from which the runs of a cell start: those given, or the displaced fixed
// point, rounded to 12 digits. It is nil if there is no fixed point to start from.
func (cache *Cache) Start(s *config.Settings) []float64 {
	init := s.Policy.Init
	if init.Kind != config.AtFixedPoint {
		return init.Logits
	}
	point, ok := cache.Equilibrium(Params(s, rom.Unit)).Reached()
	if !ok {
		return nil
	}
	moved := slices.Clone(point.Logits)
	for a, e := range Direction(len(moved), s.Seed) {
		moved[a] += init.Offset * e
	}
	return config.RoundAll(moved)
}

// Direction returns the direction e in which logits are moved off a fixed point, with
// Σ_a e_a = 0. For two arms it is (½, −½): an offset x changes the logit gap by x. For
// more it is generic, drawn from the seed, with max_a |e_a| = 1.
func Direction(arms int, seed uint64) []float64 {
	if arms == 2 {
		return []float64{0.5, -0.5}
	}
	e := make([]float64, arms)
	mean := 0.0
	for a := range e {
		digest := sha256.Sum256(fmt.Appendf(nil, "grposim direction 1\n%d\n%d\n", seed, a))
		e[a] = float64(binary.BigEndian.Uint64(digest[:8])) / (1 << 63)
		mean += e[a] / float64(len(e))
	}
	largest := 0.0
	for a := range e {
		e[a] -= mean
		largest = max(largest, math.Abs(e[a]))
	}
	for a := range e {
		e[a] /= largest
	}
	return e
}
