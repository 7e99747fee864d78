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

	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
)

// ID returns the id of a cell: the sha256, in hexadecimal, of the canonical JSON of its settings
// and of what is measured beside its run, by name.
func ID(s *config.Settings, measured map[string]any) string {
	content := map[string]any{"seed": s.Seed, "settings": json.RawMessage(config.Canonical(*s, config.SeedKey))}
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
