package network

import (
	"math"
	"slices"
)

// Unembedding says whose matrix turns the last activations of a transformer into logits.
type Unembedding string

const (
	Untied Unembedding = "untied" // a matrix of its own
	Tied   Unembedding = "tied"   // the embeddings of the answer tokens
)

// Shape gives the sizes of a transformer.
type Shape struct {
	Width       int // d: numbers per position
	Heads       int // of attention, a divisor of d
	Hidden      int // units of the MLP, usually 4d
	Unembedding Unembedding
}

// Transformer is one block of a causal transformer in the form of GPT-2, read at the last token.
// For a context of T tokens, with LN of layerNorm and E, P the embeddings,
//
//	x_t = E[token_t] + P[t]
//	y = x_T + W_o attention(W_qkv LN_1 x) + b_o
//	z = y + W_2 GELU(W_1 LN_2 y + b_1) + b_2
//	ℓ_a = U_a · LN_3 z.
//
// The answers are tokens 0 to A−1. U_a is a column of the unembedding, or E[a] if they are tied.
// Nothing but the last position reaches the logits, so queries and the MLP are computed there
// alone. Keys and values depend on token and position, and are computed once for each pair that
// occurs.
//
// Its weights are E, P, LN_1, W_qkv, W_o, LN_2, W_1, W_2, LN_3, then U if it is not tied. A W has a
// row for each input, and its b comes after it. All W_q are left of all W_k, those of all W_v.
type Transformer struct {
	sizes
	shape      Shape
	vocabulary int
	positions  int      // T
	pairs      [][2]int // token and position, of each pair that occurs
	last       []int    // of each context, the pair at its last position

	before, middle, after *layerNorm // LN_1 to LN_3
	project, out          *affine    // W_qkv, W_o
	hidden                perceptron // W_1, W_2
	attention             *attention
	embedded              signal // by pair: x
	rows                  signal // by pair: q, k and v
	stream, top, normal   signal // by context: y, z and LN_3 z
	answers               signal // U, d × A
	transposed            matrix // Uᵀ
}

// signal is what passes between two parts.
type signal struct {
	values matrix
	change matrix // along a direction, or the force on the values
}

func newSignal(rows, columns int) signal {
	return signal{newMatrix(rows, columns), newMatrix(rows, columns)}
}

// NewTransformer returns a network whose contexts are rows of tokens. A token is from 0 to
// vocabulary − 1; the first are the answers, one for each arm. It panics if rows differ in length,
// for other tokens, and for heads that do not divide the width.
func NewTransformer(tokens [][]int, vocabulary, arms int, shape Shape) *Transformer {
	mustBe(arms <= vocabulary, "a token for each arm")
	mustBe(shape.Width%shape.Heads == 0, "heads that divide the width")
	n := &Transformer{shape: shape, vocabulary: vocabulary, positions: len(tokens[0])}
	numbers := make(map[[2]int]int) // of pairs
	places := make([][]int, len(tokens))
	for x, tokens := range tokens {
		mustBe(len(tokens) == n.positions, "rows of tokens of one length")
		for position, token := range tokens {
			mustBe(0 <= token && token < vocabulary, "tokens of the vocabulary")
			pair := [2]int{token, position}
			number, known := numbers[pair]
			if !known {
				number = len(n.pairs)
				numbers[pair] = number
				n.pairs = append(n.pairs, pair)
			}
			places[x] = append(places[x], number)
		}
		n.last = append(n.last, places[x][n.positions-1])
	}
	pairs, contexts, d := len(n.pairs), len(tokens), shape.Width
	n.before, n.middle = newLayerNorm(pairs, d), newLayerNorm(contexts, d)
	n.after = newLayerNorm(contexts, d)
	n.project, n.out = newAffine(pairs, d, 3*d), newAffine(contexts, d, d)
	n.hidden = newPerceptron(contexts, []int{d, shape.Hidden, d}, GELU)
	n.attention = newAttention(places, shape.Heads)
	n.embedded, n.rows = newSignal(pairs, d), newSignal(pairs, 3*d)
	n.stream, n.top, n.normal = newSignal(contexts, d), newSignal(contexts, d), newSignal(contexts, d)
	n.answers, n.transposed = newSignal(d, arms), newMatrix(arms, d)
	size := n.embeddings() + n.before.size() + n.project.size() + n.out.size() +
		n.middle.size() + n.hidden.size() + n.after.size()
	if shape.Unembedding == Untied {
		size += d * arms
	}
	n.sizes = sizes{size, newMatrix(contexts, arms)}
	return n
}

func (n *Transformer) embeddings() int { return (n.vocabulary + n.positions) * n.shape.Width }

// Initial returns weights drawn from the seed: normal with standard deviation 1/√d. Of W_o and W_2,
// which add to a residual, it is 1/√(2d) (Radford et al. 2019). γ are 1, all b and β 0. GPT-2's
// 0.02 is for widths near a thousand. At d = 32 it leaves the hidden layer nearly linear. After
// training a quarter of the eigenvalues of J Jᵀ is below 1e-6 of the largest. Fit then stays 1e-3
// away from its target.
func (n *Transformer) Initial(seed uint64) []float64 {
	deviation := 1 / math.Sqrt(float64(n.shape.Width))
	random := newNormals(seed)
	norm := func(w []float64) []float64 {
		gains := slices.Repeat([]float64{1}, n.shape.Width)
		return slices.Concat(w, gains, make([]float64, n.shape.Width))
	}
	w := norm(random.fill(nil, n.embeddings(), deviation))
	w = random.layer(w, n.project, deviation)
	w = norm(random.layer(w, n.out, deviation/math.Sqrt2))
	w = random.layer(w, n.hidden.layers[0], deviation)
	w = norm(random.layer(w, n.hidden.layers[1], deviation/math.Sqrt2))
	if n.shape.Unembedding == Untied {
		w = random.fill(w, n.shape.Width*n.Arms(), deviation)
	}
	return w
}

// embed sets x, or its change, from the embeddings.
func (n *Transformer) embed(embeddings []float64, x matrix) {
	d := n.shape.Width
	for i, pair := range n.pairs {
		token, position := embeddings[pair[0]*d:], embeddings[(n.vocabulary+pair[1])*d:]
		for j, to := 0, x.row(i); j < d; j++ {
			to[j] = token[j] + position[j]
		}
	}
}

// unembed sets U, or its change, from the embeddings or from weights of its own.
func (n *Transformer) unembed(embeddings, own []float64, answers matrix) {
	if n.shape.Unembedding == Untied {
		copy(answers.data, own)
		return
	}
	answers.transpose(matrix{n.vocabulary, answers.rows, embeddings})
}

// Logits implements Network.
func (n *Transformer) Logits(w, logits []float64) {
	n.mustHave("w", w, "logits", logits)
	embeddings, w := w[:n.embeddings()], w[n.embeddings():]
	n.embed(embeddings, n.embedded.values)
	w = n.before.forward(w, n.embedded.values, n.project.inputs)
	w = n.project.forward(w, n.rows.values)
	n.attention.forward(n.rows.values, n.out.inputs)
	w = n.out.forward(w, n.stream.values)
	for x, last := range n.last {
		addScaled(n.stream.values.row(x), 1, n.embedded.values.row(last))
	}
	w = n.middle.forward(w, n.stream.values, n.hidden.layers[0].inputs)
	w = n.hidden.forward(w, n.top.values)
	n.top.values.add(n.stream.values)
	w = n.after.forward(w, n.top.values, n.normal.values)
	n.unembed(embeddings, w, n.answers.values)
	n.transposed.transpose(n.answers.values)
	multiply(n.logits, n.normal.values, n.answers.values)
	copy(logits, n.logits.data)
}

// Pull implements Network.
func (n *Transformer) Pull(u, gradient []float64) {
	n.mustHave("gradient", gradient, "u", u)
	copy(n.logits.data, u)
	multiplyTransposed(n.answers.change, n.normal.values, n.logits)
	multiply(n.normal.change, n.logits, n.transposed)
	if n.shape.Unembedding == Untied {
		own := len(gradient) - len(n.answers.change.data)
		copy(gradient[own:], n.answers.change.data)
		gradient = gradient[:own]
	}
	gradient = n.after.pull(n.normal.change, gradient, n.top.change)
	gradient = n.hidden.pull(n.top.change, gradient)
	gradient = n.middle.pull(n.hidden.layers[0].force, gradient, n.stream.change)
	n.stream.change.add(n.top.change)
	gradient = n.out.pull(n.stream.change, gradient)
	n.attention.pull(n.rows.values, n.out.force, n.rows.change)
	gradient = n.project.pull(n.rows.change, gradient)
	gradient = n.before.pull(n.project.force, gradient, n.embedded.change)
	for x, last := range n.last {
		addScaled(n.embedded.change.row(last), 1, n.stream.change.row(x))
	}
	n.pullEmbeddings(gradient)
}

// pullEmbeddings writes the gradient of the embeddings, of U too if they are tied.
func (n *Transformer) pullEmbeddings(gradient []float64) {
	d := n.shape.Width
	clear(gradient)
	for i, pair := range n.pairs {
		addScaled(gradient[pair[0]*d:], 1, n.embedded.change.row(i))
		addScaled(gradient[(n.vocabulary+pair[1])*d:], 1, n.embedded.change.row(i))
	}
	if n.shape.Unembedding == Tied {
		for j := range d {
			for a, x := range n.answers.change.row(j) {
				gradient[a*d+j] += x
			}
		}
	}
}

// Push implements Network.
func (n *Transformer) Push(d, change []float64) {
	n.mustHave("d", d, "change", change)
	embeddings, d := d[:n.embeddings()], d[n.embeddings():]
	n.embed(embeddings, n.embedded.change)
	copy(n.project.force.data, n.embedded.change.data)
	d = n.before.push(d, n.project.force, n.project.changes)
	d = n.project.push(d, n.rows.change)
	n.attention.push(n.rows.values, n.rows.change, n.out.changes)
	d = n.out.push(d, n.stream.change)
	for x, last := range n.last {
		addScaled(n.stream.change.row(x), 1, n.embedded.change.row(last))
	}
	copy(n.top.change.data, n.stream.change.data)
	d = n.middle.push(d, n.top.change, n.hidden.layers[0].changes)
	d = n.hidden.push(d, n.top.change)
	n.top.change.add(n.stream.change)
	d = n.after.push(d, n.top.change, n.normal.change)
	n.unembed(embeddings, d, n.answers.change)
	multiply(n.logits, n.normal.change, n.answers.values)
	addProduct(n.logits, n.normal.values, n.answers.change)
	copy(change, n.logits.data)
}
