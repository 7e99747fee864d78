package network

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// initial is a network that draws its weights.
type initial interface {
	Network
	Initial(seed uint64) []float64
}

// Fit reaches the fixed point of the exact KL penalty, log π* = log π_ref + m/β + a shift, in at
// most ten steps. So it does for every architecture and seed. The reference is an MLP's initial
// network, or a transformer that was supervised to give 0.45 to the right arm.
func TestFit(t *testing.T) {
	const strength = 0.4 // β
	addition, seven := Addition(5, 0.9, 0.2), Addition(7, 0.9, 0.2)
	gaussian, digits := Gaussian(12, 8, 4, 0.9, 0.2, 5), Digits(2, 0.1, 0.9, 0.2, 6)
	mlp := func(task *Task, hidden []int, activation Activation) initial {
		return NewMLP(task.Inputs, hidden, task.Arms, activation)
	}
	transformer := func(shape Shape) initial {
		return NewTransformer(addition.Tokens, addition.Vocabulary, addition.Arms, shape)
	}
	for _, row := range []struct {
		name       string
		task       *Task
		network    initial
		supervised int // steps
	}{
		{"tanh 48 48", addition, mlp(addition, []int{48, 48}, Tanh), 0},
		{"gelu 32", addition, mlp(addition, []int{32}, GELU), 0},
		{"relu 48 48 48", addition, mlp(addition, []int{48, 48, 48}, ReLU), 0},
		{"tanh 64 modulo 7", seven, mlp(seven, []int{64}, Tanh), 0},
		{"relu 32 Gaussian", gaussian, mlp(gaussian, []int{32}, ReLU), 0},
		{"gelu 24 24 digits", digits, mlp(digits, []int{24, 24}, GELU), 0},
		{"transformer 32 tied", addition, transformer(Shape{32, 2, 128, Tied}), 300},
		{"transformer 16 untied", addition, transformer(Shape{16, 4, 64, Untied}), 300},
	} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprint(row.name, "/", seed), func(t *testing.T) {
				w, target := row.network.Initial(seed), make([]float64, len(row.task.Means))
				for i, mean := range row.task.Means {
					if target[i] = math.Log(0.55 / 5); mean == 0.9 {
						target[i] = math.Log(0.45 + 0.55/5)
					}
				}
				if row.supervised > 0 {
					if left := Supervise(row.network, w, target, row.supervised, 0.003); !(left < 1e-3) {
						t.Errorf("supervised to a divergence of %v", left)
					}
				}
				row.network.Logits(w, target)
				for i, mean := range row.task.Means {
					target[i] += mean / strength
				}
				steps, err := Fit(row.network, w, target)
				if err != nil || steps > 10 {
					t.Errorf("%d steps, error %v", steps, err)
				}
				got := make([]float64, len(target))
				row.network.Logits(w, got)
				for x := 0; x < len(got); x += row.task.Arms {
					mustBeClose(t, got[x:x+row.task.Arms], target[x:x+row.task.Arms])
				}
			})
		}
	}
}

// A network with fewer weights than free logits says how far it came.
func TestFitFails(t *testing.T) {
	task := Gaussian(40, 2, 3, 1, 0, 1)
	n := NewMLP(task.Inputs, []int{2}, 3, Tanh)
	w := n.Initial(1)
	if _, err := Fit(n, w, task.Means); err == nil || !strings.Contains(err.Error(), "misses its target by ") {
		t.Errorf("got error %v", err)
	}
	task.Means[0] = math.NaN()
	if _, err := Fit(n, w, task.Means); err == nil || !strings.Contains(err.Error(), "misses its target by NaN") {
		t.Errorf("of NaN: got error %v", err)
	}
}

// mustBeClose compares the log-probabilities of logits of one context.
func mustBeClose(t *testing.T, got, want []float64) {
	t.Helper()
	log := func(logits []float64, a int) float64 {
		total := 0.
		for _, l := range logits {
			total += math.Exp(l - logits[a])
		}
		return -math.Log(total)
	}
	for a := range got {
		near(t, "log-probability", log(got, a), log(want, a), 2*FitError)
	}
}

// The divergence that Supervise returns is the mean of KL(target ‖ π), and it falls.
func TestSupervise(t *testing.T) {
	task := Gaussian(3, 4, 3, 2, 0, 1)
	n := NewMLP(task.Inputs, []int{16}, 3, Tanh)
	w, logits, want := n.Initial(1), make([]float64, 9), 0.
	n.Logits(w, logits)
	for x := 0; x < 9; x += 3 {
		for a := range 3 {
			target, now := 0., 0.
			for b := range 3 {
				target += math.Exp(task.Means[x+b] - task.Means[x+a])
				now += math.Exp(logits[x+b] - logits[x+a])
			}
			want += math.Log(now/target) / target / 3
		}
	}
	near(t, "divergence", Supervise(n, w, task.Means, 1, 0.01), want, 1e-14)
	if got := Supervise(n, w, task.Means, 300, 0.01); !(got < 1e-3*want) {
		t.Errorf("divergence %v after 300 steps, at first %v", got, want)
	}
}
