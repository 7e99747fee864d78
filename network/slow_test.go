package network

import (
	"math"
	"testing"
)

// weightReader takes weights in their order.
type weightReader struct{ left []float64 }

func (r *weightReader) take(count int) []float64 {
	part := r.left[:count]
	r.left = r.left[count:]
	return part
}

// layer returns the function x ↦ x W + b.
func (r *weightReader) layer(inputs, outputs int) func(x []float64) []float64 {
	w, b := r.take(inputs*outputs), r.take(outputs)
	return func(x []float64) []float64 {
		y := make([]float64, outputs)
		for j := range y {
			y[j] = b[j]
			for i := range x {
				y[j] += x[i] * w[i*outputs+j]
			}
		}
		return y
	}
}

// norm returns the function LN.
func (r *weightReader) norm(size int) func(x []float64) []float64 {
	gains, shifts := r.take(size), r.take(size)
	return func(x []float64) []float64 {
		mean, variance := 0., 0.
		for _, v := range x {
			mean += v / float64(size)
		}
		for _, v := range x {
			variance += (v - mean) * (v - mean) / float64(size)
		}
		y := make([]float64, size)
		for i, v := range x {
			y[i] = (v-mean)/math.Sqrt(variance+1e-5)*gains[i] + shifts[i]
		}
		return y
	}
}

var slowActivations = map[Activation]func(float64) float64{
	Tanh: math.Tanh,
	ReLU: func(z float64) float64 { return math.Max(z, 0) },
	GELU: func(z float64) float64 { return z * (1 + math.Erf(z/math.Sqrt2)) / 2 },
}

func apply(f func(float64) float64, x []float64) []float64 {
	y := make([]float64, len(x))
	for i := range x {
		y[i] = f(x[i])
	}
	return y
}

func plus(x, y []float64) []float64 {
	z := make([]float64, len(x))
	for i := range x {
		z[i] = x[i] + y[i]
	}
	return z
}

// slowTransformer returns the logits after one sequence, from a block that is applied to all
// positions with a causal mask.
func slowTransformer(w []float64, tokens []int, vocabulary, arms int, shape Shape) []float64 {
	d, r := shape.Width, &weightReader{w}
	embeddings, positions := r.take(vocabulary*d), r.take(len(tokens)*d)
	before, project, out := r.norm(d), r.layer(d, 3*d), r.layer(d, d)
	middle, up, down, after := r.norm(d), r.layer(d, shape.Hidden), r.layer(shape.Hidden, d), r.norm(d)
	var x, rows [][]float64
	for t, token := range tokens {
		x = append(x, plus(embeddings[token*d:][:d], positions[t*d:][:d]))
		rows = append(rows, project(before(x[t])))
	}
	size := d / shape.Heads
	for t := range x {
		attended := make([]float64, d)
		for i := range attended {
			first := i / size * size // of the head
			total := 0.
			for past := range t + 1 {
				score := 0.
				for j := range size {
					score += rows[t][first+j] * rows[past][d+first+j]
				}
				share := math.Exp(score / math.Sqrt(float64(size)))
				total += share
				attended[i] += share * rows[past][2*d+i]
			}
			attended[i] /= total
		}
		x[t] = plus(x[t], out(attended))
		x[t] = plus(x[t], down(apply(slowActivations[GELU], up(middle(x[t])))))
		x[t] = after(x[t])
	}
	logits := make([]float64, arms)
	for a := range logits {
		for i, v := range x[len(x)-1] {
			if shape.Unembedding == Tied {
				logits[a] += v * embeddings[a*d+i]
			} else {
				logits[a] += v * r.left[i*arms+a]
			}
		}
	}
	return logits
}

func TestTransformerAgainstSlow(t *testing.T) {
	tokens := [][]int{{0, 3, 4, 1}, {1, 2, 4, 4}, {3, 3, 2, 4}, {2, 0, 4, 1}}
	random := newNormals(4)
	for _, shape := range []Shape{{6, 2, 7, Tied}, {12, 3, 20, Untied}, {8, 1, 32, Tied}} {
		n := NewTransformer(tokens, 5, 3, shape)
		w, got := random.fill(nil, n.Weights(), 0.5), make([]float64, n.Contexts()*n.Arms())
		n.Logits(w, got)
		for x := range tokens {
			mustAgree(t, got[x*3:][:3], slowTransformer(w, tokens[x], 5, 3, shape))
		}
	}
}

func TestMLPAgainstSlow(t *testing.T) {
	random := newNormals(5)
	inputs := [][]float64{random.fill(nil, 4, 1), random.fill(nil, 4, 1), random.fill(nil, 4, 1)}
	for activation, f := range slowActivations {
		n := NewMLP(inputs, []int{9, 17}, 5, activation)
		w, got := random.fill(nil, n.Weights(), 0.5), make([]float64, n.Contexts()*n.Arms())
		n.Logits(w, got)
		r := &weightReader{w}
		first, second, last := r.layer(4, 9), r.layer(9, 17), r.layer(17, 5)
		for x := range inputs {
			mustAgree(t, got[x*5:][:5], last(apply(f, second(apply(f, first(inputs[x]))))))
		}
	}
}

func mustAgree(t *testing.T, got, want []float64) {
	t.Helper()
	for i := range want {
		near(t, i, got[i], want[i], 1e-13*(1+math.Abs(want[i])))
	}
}

// Values and slopes of the activations, where they are steep, at their ends and beyond.
func TestActivations(t *testing.T) {
	for activation, f := range slowActivations {
		z, slopes := newMatrix(3, 1001), newMatrix(3, 1001)
		for i, scale := range []float64{1e-3, 0.02, 1} {
			for j := range z.columns {
				z.row(i)[j] = scale * float64(j-500)
			}
		}
		x := newMatrix(3, 1001)
		copy(x.data, z.data)
		activations[activation].apply(z, slopes)
		for i := range z.rows {
			for j, x := range x.row(i) {
				near(t, activation, z.row(i)[j], f(x), 3e-16*(1+math.Abs(x)))
				slope := (f(x+1e-5) - f(x-1e-5)) / 2e-5
				if got := slopes.row(i)[j]; x != 0 && math.Abs(got-slope) > 1e-9*(1+math.Abs(x)/10) {
					t.Errorf("slope of %v at %v is %v, want %v", activation, x, got, slope)
				}
			}
		}
	}
}
