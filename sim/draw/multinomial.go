package draw

// Multinomial draws how many of n samples fall on each of A arms. The arms are the leaves of a
// binary tree. Node i > 0 has the children 2i and 2i+1, and arm a is node A+a. From the root, node
// 1, the samples of a node are divided between its children. A binomial draw has the first child's
// share of the weight. An arm of weight 0 gets none.
type Multinomial struct {
	weights []float64 // of each node
	first   []float64 // share of the node's weight that its first child has; 0 for a node of weight 0
	counts  []int     // of each node
}

// NewMultinomial returns a Multinomial for the given number of arms.
func NewMultinomial(arms int) *Multinomial {
	return &Multinomial{
		weights: make([]float64, 2*arms),
		first:   make([]float64, arms),
		counts:  make([]int, 2*arms),
	}
}

// Set sets the weights, one per arm, which are not negative and sum to 1 up to rounding.
// It panics if their number is another one, a weight is negative or NaN, or all are 0.
func (m *Multinomial) Set(weights []float64) {
	arms := len(m.first)
	if len(weights) != arms {
		panic("draw: Multinomial.Set: the number of weights is not that of the arms")
	}
	for a, weight := range weights {
		if !(weight >= 0) {
			panic("draw: Multinomial.Set: a weight is negative or NaN")
		}
		m.weights[arms+a] = weight
	}
	for i := arms - 1; i > 0; i-- {
		m.weights[i] = m.weights[2*i] + m.weights[2*i+1]
		m.first[i] = 0
		if m.weights[i] > 0 {
			m.first[i] = m.weights[2*i] / m.weights[i]
		}
	}
	if !(m.weights[1] > 0) {
		panic("draw: Multinomial.Set: all weights are 0")
	}
}

// Draw sets counts, one per arm, to a draw for n samples. It panics if n is not in [0, 2³¹].
func (m *Multinomial) Draw(counts []int, w *Words, n int) {
	arms := len(m.first)
	m.counts[1] = n
	for i := 1; i < arms; i++ {
		k := Binomial(w, m.counts[i], m.first[i])
		m.counts[2*i], m.counts[2*i+1] = k, m.counts[i]-k
	}
	copy(counts, m.counts[arms:])
}
