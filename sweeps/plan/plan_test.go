package plan

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// shared returns a configuration of the tests of several packages.
func shared(name string) string {
	text, err := os.ReadFile("../testdata/" + name + ".yaml")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Configurations: a check of each kind over two keys; one cell at its fixed point.
var swept, resting = shared("small"), shared("resting")

// planText returns the plan of a configuration.
func planText(t *testing.T, text string) *Plan {
	t.Helper()
	spec, err := config.Load(t.Name(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return New(spec)
}

// Equal cells of two variants are simulated once, finished cells not at all.
func TestMissingCells(t *testing.T) {
	text := strings.Replace(resting, "checks:",
		"variants: [{name: a}, {name: b}, {name: c, set: {grpo.group_size: 8}}]\nchecks:", 1)
	plan := planText(t, text+"  - {claim: fixed-point, margin: 1}\n")
	cells, planned := plan.Missing(map[string]*store.Outcome{})
	if len(cells) != 2 || planned != 2 {
		t.Errorf("%d cells to simulate of %d, want 2 of 2", len(cells), planned)
	}
	known := plan.Cells[0].ID
	if cells, _ := plan.Missing(map[string]*store.Outcome{known: {ID: known}}); len(cells) != 1 ||
		cells[0].ID == known {
		t.Errorf("%d cells to simulate, want the one that is not finished", len(cells))
	}
}

// The shards of a sweep divide its cells, whatever their number, with about equal work.
func TestPartsDivideThePlan(t *testing.T) {
	p := planText(t, swept)
	for _, of := range []int{1, 2, 3, 8, 100} {
		held, largest, total := make(map[string]int), 0.0, 0.0
		for i := range of {
			work := 0.0
			part := NewPart(p.Spec, store.Shard{Index: i + 1, Of: of})
			for c := range part.Cells {
				held[part.Cells[c].ID]++
				work += part.Cells[c].Work()
			}
			largest, total = max(largest, work), total+work
		}
		most := 0.0
		for i := range p.Cells {
			most = max(most, p.Cells[i].Work())
			if n := held[p.Cells[i].ID]; n != 1 {
				t.Errorf("%d shards: a cell is in %d of them", of, n)
			}
		}
		if largest > total/float64(of)+most {
			t.Errorf("%d shards: one has the work %g of %g, the largest cell has %g", of, largest, total,
				most)
		}
	}
}

// The forecast of a cell with a search counts the steps of the search without searching.
func TestForecastOfALocatedCell(t *testing.T) {
	const text = `
name: forecast
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2}]}
grpo: {group_size: inf, advantage: {scale: none}, kl: {coefficient: 0.5}}
optimizer: {learning_rate: 0.1}
run: {steps: 3000}
`
	const check = `
checks:
  - {claim: stability-threshold, margin: 0.01, displacement: 1e-3, draws: 1, locate: {param: optimizer.learning_rate, from: 0.1, to: 8, tolerance: 1e-3}}
`
	located := planText(t, text+check)
	plain, search := forecastOf(t, planText(t, text)), forecastOf(t, located)
	if want := located.Cells[0].Work(); search.ReplicaSteps != want || want < 100*plain.ReplicaSteps {
		t.Errorf("the search is forecast to take %v replica-steps, want %v; a run takes %v",
			search.ReplicaSteps, want, plain.ReplicaSteps)
	}
	if !(search.Seconds > 0) || !(search.Bytes > 0) {
		t.Errorf("the search is forecast to take %v s and %v bytes", search.Seconds, search.Bytes)
	}
	if !strings.Contains(string(located.Spec.Document()),
		`"locate"`) || located.Cells[0].Sim().Location == nil {
		t.Error("the forecast changed the plan")
	}
}

// The forecast counts the cells and the work of the plan, whose cells it does not keep, and that of
// its shards adds up to it.
func TestForecastOfShards(t *testing.T) {
	for _, text := range []string{swept, resting + "  - {claim: fixed-point, margin: 1}\n"} {
		p := planText(t, text)
		of := forecastOf(t, p)
		steps, work, cells := 0.0, 0.0, 0
		for i := range p.Cells {
			work += p.Cells[i].Work()
		}
		for i := range 3 {
			part := of.Part(NewPart(p.Spec, store.Shard{Index: i + 1, Of: 3}))
			steps, cells = steps+part.ReplicaSteps, cells+part.Cells
		}
		if of.Cells != len(p.Cells) || of.ReplicaSteps != work || steps != work || cells != of.Cells ||
			!(of.Memory > 0) {
			t.Errorf("got %+v, want %g steps of %d cells; shards: %g steps of %d cells", of, work,
				len(p.Cells), steps, cells)
		}
	}
}

// A step of a million groups, and a network whose theory takes minutes, are forecast in seconds.
func TestForecastOfLargeSteps(t *testing.T) {
	const bandit = `name: large
seed: 1
bandit: {arms: [{reward: bernoulli, mean: 0.9}, {reward: bernoulli, mean: 0.2, count: 9}]%s}
policy: {init: fixed-point%s}
grpo: {group_size: 4, groups_per_step: %d, kl: {coefficient: 0.5}}
optimizer: {learning_rate: 0.1}
run: {steps: 1000, burn_in: 10, replicas: 40}
`
	began, seconds := store.CPUSeconds(), make(map[int]float64)
	for _, groups := range []int{1000, 1_000_000} {
		seconds[groups] = forecastOf(t, planOf(t, fmt.Sprintf(bandit, "", "", groups))).Seconds
	}
	if ratio := seconds[1_000_000] / seconds[1000]; ratio < 200 || ratio > 5000 {
		t.Errorf("a thousand times the groups are forecast to take %.3g times as long", ratio)
	}
	const contexts = ", contexts: {task: gaussian, count: 100, inputs: 100}"
	network := planOf(t, fmt.Sprintf(bandit, contexts, ", network: {kind: mlp, width: 200}", 10))
	if f := forecastOf(t, network); f.Seconds < 10 {
		t.Errorf("a network of 71,000 weights is forecast to take %.3g s", f.Seconds)
	}
	if took := store.CPUSeconds() - began; took > 10 {
		t.Errorf("the forecasts take %.3g s", took)
	}
}

// forecastOf returns the forecast of a plan with one worker.
func forecastOf(t *testing.T, p *Plan) *Forecast {
	t.Helper()
	f, err := NewForecast(t.Context(), p.Spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// planOf returns a plan of a configuration without its cells.
func planOf(t *testing.T, text string) *Plan {
	t.Helper()
	spec, err := config.Load("large", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &Plan{Spec: spec}
}
