package network

import (
	"slices"
	"strings"
	"testing"
)

func TestAddition(t *testing.T) {
	task := must(Addition(5, 0.9, 0.2))
	if len(task.Inputs) != 25 || len(task.Means) != 125 || task.Arms != 5 || task.Vocabulary != 6 {
		t.Fatalf("sizes %d, %d, %d, %d", len(task.Inputs), len(task.Means), task.Arms, task.Vocabulary)
	}
	const x = 3*5 + 4 // 3 + 4 = 2
	if got := task.Inputs[x]; !slices.Equal(got, []float64{0, 0, 0, 1, 0, 0, 0, 0, 0, 1}) {
		t.Errorf("inputs of 3 + 4 are %v", got)
	}
	if got := task.Tokens[x]; !slices.Equal(got, []int{3, 4, 5}) {
		t.Errorf("tokens of 3 + 4 are %v", got)
	}
	if got := task.Means[5*x:][:5]; !slices.Equal(got, []float64{0.2, 0.2, 0.9, 0.2, 0.2}) {
		t.Errorf("means of 3 + 4 are %v", got)
	}
}

// Numbers that are drawn depend on the seed alone, and each context has one right arm.
func TestDrawnTasks(t *testing.T) {
	for _, make := range []func(seed uint64) *Task{
		func(seed uint64) *Task { return must(Gaussian(12, 8, 10, 1, 0, seed)) },
		func(seed uint64) *Task { return must(Digits(3, 0.1, 1, 0, seed)) },
	} {
		one, again, other := make(1), make(1), make(2)
		for x := range one.Inputs {
			if !slices.Equal(one.Inputs[x], again.Inputs[x]) || slices.Equal(one.Inputs[x], other.Inputs[x]) {
				t.Errorf("context %d: %v, %v, else %v", x, one.Inputs[x], again.Inputs[x], other.Inputs[x])
			}
			if got := sum(one.Means[x*10:][:10]); got != 1 {
				t.Errorf("context %d has %v right arms", x, got)
			}
		}
	}
}

// What is wrong is said with what was got and what is wanted.
func TestErrors(t *testing.T) {
	for _, row := range []struct {
		err  error
		want []string
	}{
		{second(Addition(1, 1, 0)), []string{"modulus: got 1, want at least 2"}},
		{second(Gaussian(0, 0, 1, 1, 0, 1)), []string{"contexts: got 0", "inputs: got 0", "arms: got 1, want at least 2"}},
		{second(Digits(0, -1, 1, 0, 1)), []string{"copies: got 0", "noise: got -1"}},
		{second(NewMLP(nil, nil, 1, "sine")),
			[]string{"inputs: got 0, want a row", "number of hidden layers: got 0", "arms: got 1",
				"activation: got sine, want tanh, relu or gelu"}},
		{second(NewMLP([][]float64{{1, 2}, {1}}, []int{0}, 2, Tanh)),
			[]string{"inputs of context 1: got 1, want 2", "width of hidden layer 1: got 0"}},
		{second(NewTransformer(nil, 1, 0, Shape{3, 2, 0, "mine"})), []string{"tokens", "arms: got 0",
			"heads: got 2, want a divisor of the width, 3", "hidden units: got 0", "unembedding"}},
		{second(NewTransformer([][]int{{0, 1}, {2}}, 2, 2, Shape{2, 1, 1, Tied})),
			[]string{"length of tokens of context 1: got 1", "token of context 1: got 2, want 0 to 1"}},
	} {
		for _, want := range row.want {
			if row.err == nil || !strings.Contains(row.err.Error(), want) {
				t.Errorf("got error %v, want %q in it", row.err, want)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }
