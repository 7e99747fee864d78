package network

import (
	"fmt"
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
	shape      Shape
	vocabulary int
	positions  int      // T
	pairs      [][2]int // token and position, of each pair that occurs
	last       []int    // of each context, the pair at its last position
	size       int      // P

	before, middle, after  *layerNorm // LN_1 to LN_3
	project, out, up, down *affine    // W_qkv, W_o, W_1, W_2
	attention              *attention
	embedded               signal // by pair: x
	rows                   signal // by pair: q, k and v
	stream, top, normal    signal // by context: y, z and LN_3 z
	slopes                 matrix // by context: of GELU
	answers                signal // U, d × A
	transposed             matrix // Uᵀ
	logits                 matrix // by context: logits, their change, or the force on them
}

// signal is what passes between two parts.
type signal struct {
	values matrix
	change matrix // along a direction, or the force on the values
}

func newSignal(rows, columns int) signal {
	return signal{newMatrix(rows, columns), newMatrix(rows, columns)}
}

// NewTransformer returns a network whose contexts are rows of tokens, all of one length. A token is
// from 0 to vocabulary − 1; the first are the answers.
func NewTransformer(tokens [][]int, vocabulary, arms int, shape Shape) (*Transformer, error) {
	if err := checkTransformer(tokens, vocabulary, arms, shape); err != nil {
		return nil, err
	}
	n := &Transformer{shape: shape, vocabulary: vocabulary, positions: len(tokens[0])}
	numbers := make(map[[2]int]int) // of pairs
	places := make([][]int, len(tokens))
	for x, tokens := range tokens {
		for position, token := range tokens {
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
	n.before, n.middle, n.after = newLayerNorm(pairs, d), newLayerNorm(contexts, d), newLayerNorm(contexts, d)
	n.project, n.out = newAffine(pairs, d, 3*d), newAffine(contexts, d, d)
	n.up, n.down = newAffine(contexts, d, shape.Hidden), newAffine(contexts, shape.Hidden, d)
	n.attention = newAttention(places, shape.Heads)
	n.embedded, n.rows = newSignal(pairs, d), newSignal(pairs, 3*d)
	n.stream, n.top, n.normal = newSignal(contexts, d), newSignal(contexts, d), newSignal(contexts, d)
	n.slopes = newMatrix(contexts, shape.Hidden)
	n.answers, n.transposed = newSignal(d, arms), newMatrix(arms, d)
	n.logits = newMatrix(contexts, arms)
	n.size = (vocabulary+n.positions)*d + n.before.size() + n.project.size() + n.out.size() +
		n.middle.size() + n.up.size() + n.down.size() + n.after.size()
	if shape.Unembedding == Untied {
		n.size += d * arms
	}
	return n, nil
}

// checkTransformer returns everything that is wrong with the arguments of NewTransformer.
func checkTransformer(tokens [][]int, vocabulary, arms int, shape Shape) error {
	var m mistakes
	m.want(len(tokens) > 0 && len(tokens[0]) > 0, "tokens", "none", "a row for each context")
	for x, row := range tokens {
		m.want(len(row) == len(tokens[0]), fmt.Sprintf("length of tokens of context %d", x), len(row), "that of the first")
		for _, token := range row {
			m.want(0 <= token && token < vocabulary, fmt.Sprintf("token of context %d", x), token, fmt.Sprintf("0 to %d", vocabulary-1))
		}
	}
	m.want(2 <= arms && arms <= vocabulary, "arms", arms, fmt.Sprintf("2 to the size of the vocabulary, %d", vocabulary))
	m.least("width", shape.Width, 2)
	m.want(shape.Heads >= 1 && shape.Width%max(shape.Heads, 1) == 0, "heads", shape.Heads, fmt.Sprintf("a divisor of the width, %d", shape.Width))
	m.least("hidden units", shape.Hidden, 1)
	m.want(shape.Unembedding == Untied || shape.Unembedding == Tied, "unembedding", shape.Unembedding, "tied or untied")
	return m.err()
}

// Weights implements Network.
func (n *Transformer) Weights() int { return n.size }

// Contexts implements Network.
func (n *Transformer) Contexts() int { return n.logits.rows }

// Arms implements Network.
func (n *Transformer) Arms() int { return n.logits.columns }

// Initial returns weights drawn from the seed: normal with standard deviation 1/√d. Of W_o and W_2,
// which add to a residual, it is 1/√(2d) (Radford et al. 2019). γ are 1, all b and β 0. GPT-2's
// 0.02 is for widths near a thousand. At d = 32 it leaves the hidden layer nearly linear. After
// training a quarter of the eigenvalues of J Jᵀ is below 1e-6 of the largest. Fit then stays 1e-3
// away from its target.
func (n *Transformer) Initial(seed uint64) []float64 {
	deviation := 1 / math.Sqrt(float64(n.shape.Width))
	random := newNormals(seed)
	norm := func(w []float64) []float64 {
		return append(append(w, slices.Repeat([]float64{1}, n.shape.Width)...), make([]float64, n.shape.Width)...)
	}
	w := norm(random.fill(nil, (n.vocabulary+n.positions)*n.shape.Width, deviation))
	w = random.layer(w, n.project, deviation)
	w = norm(random.layer(w, n.out, deviation/math.Sqrt2))
	w = random.layer(w, n.up, deviation)
	w = norm(random.layer(w, n.down, deviation/math.Sqrt2))
	if n.shape.Unembedding == Untied {
		w = random.fill(w, n.shape.Width*n.Arms(), deviation)
	}
	return w
}

// parts cuts weights, or a gradient, into those of each part.
func (n *Transformer) parts(w []float64) (p transformerParts) {
	cut := func(size int) (part []float64) {
		part, w = w[:size], w[size:]
		return part
	}
	d := n.shape.Width
	p.tokens, p.positions = cut(n.vocabulary*d), cut(n.positions*d)
	p.before, p.project, p.out = cut(n.before.size()), cut(n.project.size()), cut(n.out.size())
	p.middle, p.up, p.down = cut(n.middle.size()), cut(n.up.size()), cut(n.down.size())
	p.after, p.answers = cut(n.after.size()), w
	return p
}

// transformerParts holds weights of a Transformer, in their order.
type transformerParts struct {
	tokens, positions, before, project, out, middle, up, down, after []float64
	// empty if they are tied
	answers []float64
}

// embed sets x, or its change, from the embeddings, and U, or its change.
func (n *Transformer) embed(p *transformerParts, x, answers matrix) {
	d := n.shape.Width
	for i, pair := range n.pairs {
		token, position := p.tokens[pair[0]*d:], p.positions[pair[1]*d:]
		for j, to := 0, x.row(i); j < d; j++ {
			to[j] = token[j] + position[j]
		}
	}
	if n.shape.Unembedding == Untied {
		answers.read(p.answers)
		return
	}
	for a := range answers.columns {
		for j := range d {
			answers.row(j)[a] = p.tokens[a*d+j]
		}
	}
}

// Logits implements Network.
func (n *Transformer) Logits(w, logits []float64) {
	mustHave("w", w, n.size)
	mustHave("logits", logits, n.Contexts()*n.Arms())
	p := n.parts(w)
	n.embed(&p, n.embedded.values, n.answers.values)
	n.transposed.transpose(n.answers.values)
	n.before.forward(p.before, n.embedded.values, n.project.inputs)
	n.project.forward(p.project, n.rows.values)
	n.attention.forward(n.rows.values, n.out.inputs)
	n.out.forward(p.out, n.stream.values)
	for x, last := range n.last {
		addScaled(n.stream.values.row(x), 1, n.embedded.values.row(last))
	}
	n.middle.forward(p.middle, n.stream.values, n.up.inputs)
	n.up.forward(p.up, n.down.inputs)
	applyGELU(n.down.inputs, n.slopes)
	n.down.forward(p.down, n.top.values)
	n.top.values.add(n.stream.values)
	n.after.forward(p.after, n.top.values, n.normal.values)
	multiply(n.logits, n.normal.values, n.answers.values)
	n.logits.write(logits)
}

// Pull implements Network.
func (n *Transformer) Pull(u, gradient []float64) {
	mustHave("u", u, n.Contexts()*n.Arms())
	mustHave("gradient", gradient, n.size)
	g := n.parts(gradient)
	n.logits.read(u)
	multiplyTransposed(n.answers.change, n.normal.values, n.logits)
	multiply(n.normal.change, n.logits, n.transposed)
	n.after.pull(n.normal.change, g.after, n.top.change)
	n.down.pull(n.top.change, g.down)
	n.down.force.scale(n.slopes)
	n.up.pull(n.down.force, g.up)
	n.middle.pull(n.up.force, g.middle, n.stream.change)
	n.stream.change.add(n.top.change)
	n.out.pull(n.stream.change, g.out)
	n.attention.pull(n.rows.values, n.out.force, n.rows.change)
	n.project.pull(n.rows.change, g.project)
	n.before.pull(n.project.force, g.before, n.embedded.change)
	for x, last := range n.last {
		addScaled(n.embedded.change.row(last), 1, n.stream.change.row(x))
	}
	n.pullEmbeddings(&g)
}

// pullEmbeddings writes the gradient of the embeddings and of U.
func (n *Transformer) pullEmbeddings(g *transformerParts) {
	d := n.shape.Width
	clear(g.tokens)
	clear(g.positions)
	for i, pair := range n.pairs {
		addScaled(g.tokens[pair[0]*d:], 1, n.embedded.change.row(i))
		addScaled(g.positions[pair[1]*d:], 1, n.embedded.change.row(i))
	}
	if n.shape.Unembedding == Untied {
		n.answers.change.write(g.answers)
		return
	}
	for a := range n.answers.change.columns {
		for j := range d {
			g.tokens[a*d+j] += n.answers.change.row(j)[a]
		}
	}
}

// Push implements Network.
func (n *Transformer) Push(d, change []float64) {
	mustHave("d", d, n.size)
	mustHave("change", change, n.Contexts()*n.Arms())
	p := n.parts(d)
	n.embed(&p, n.embedded.change, n.answers.change)
	n.project.force.set(n.embedded.change)
	n.before.push(p.before, n.project.force, n.project.changes)
	n.project.push(p.project, n.rows.change)
	n.attention.push(n.rows.values, n.rows.change, n.out.changes)
	n.out.push(p.out, n.stream.change)
	for x, last := range n.last {
		addScaled(n.stream.change.row(x), 1, n.embedded.change.row(last))
	}
	n.top.change.set(n.stream.change)
	n.middle.push(p.middle, n.top.change, n.up.changes)
	n.up.push(p.up, n.down.changes)
	n.down.changes.scale(n.slopes)
	n.down.push(p.down, n.top.change)
	n.top.change.add(n.stream.change)
	n.after.push(p.after, n.top.change, n.normal.change)
	multiply(n.logits, n.normal.change, n.answers.values)
	addProduct(n.logits, n.normal.values, n.answers.change)
	n.logits.write(change)
}
