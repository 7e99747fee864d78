package sweeps

import (
	"strings"
	"testing"
)

// The forecast of a cell with a search counts the steps of the search without
// searching, and no bytes for a trajectory, which such a cell does not store.
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
	run, located := planText(t, text), planText(t, text+check)
	plain, err := NewForecast(t.Context(), run, 1)
	if err != nil {
		t.Fatal(err)
	}
	search, err := NewForecast(t.Context(), located, 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := located.Cells[0].Work(); search.ReplicaSteps != want || want < 100*plain.ReplicaSteps {
		t.Errorf("the search is forecast to take %v replica-steps, want %v; a run takes %v", search.ReplicaSteps, want, plain.ReplicaSteps)
	}
	if !(search.Seconds > 0) {
		t.Errorf("the search is forecast to take %v s", search.Seconds)
	}
	if search.Bytes <= 0 || search.Bytes > plain.Bytes/5 {
		t.Errorf("the search is forecast to store %d bytes, the run %d", search.Bytes, plain.Bytes)
	}
	if !strings.Contains(string(located.Spec.Document()), `"locate"`) || located.Cells[0].Sim.Location == nil {
		t.Error("the forecast changed the plan")
	}
}
