package network

import (
	"slices"
	"testing"
)

func TestAddition(t *testing.T) {
	task := Addition(5, 0.9, 0.2)
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
		func(seed uint64) *Task { return Gaussian(12, 8, 10, 1, 0, seed) },
		func(seed uint64) *Task { return Digits(3, 0.1, 1, 0, seed) },
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

// Arguments that would make another network than they say panic.
func TestPanics(t *testing.T) {
	for name, call := range map[string]func(){
		"inputs": func() { NewMLP([][]float64{{1, 2}, {1}}, []int{3}, 2, Tanh) },
		"tokens": func() { NewTransformer([][]int{{0}, {0, 1}}, 2, 2, Shape{2, 1, 1, Tied}) },
		"token":  func() { NewTransformer([][]int{{0, 2}}, 2, 2, Shape{2, 1, 1, Tied}) },
		"arms":   func() { NewTransformer([][]int{{0, 1}}, 2, 3, Shape{2, 1, 1, Tied}) },
		"heads":  func() { NewTransformer([][]int{{0, 1}}, 2, 2, Shape{3, 2, 1, Tied}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}
