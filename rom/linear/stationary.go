package linear

import "gonum.org/v1/gonum/floats"

// Moves visits where the moves of a Markov chain on a grid end that start in a row and a column, with their probabilities, which add to 1. Negative ones, of moves that are
// interpolated, are as good as others.
type Moves func(row, column int, visit func(row, column int, p float64))

// flow is the probability of the moves to a state.
type flow struct {
	to int
	p  float64
}

// Stationary returns the stationary law x of a Markov chain on a grid of n states, row by row: Px = x and Σ x = 1. The work is that of 2n·up·down multiplications, where no move goes
// further than up and down the list of states, and the memory that of n(up + down) numbers. The states are listed by rows or by columns, whichever is less work, and so that up ≤ down.
func Stationary(rows, columns int, moves Moves) []float64 {
	n := rows * columns
	flows, list, byColumn := flowsOf(rows, columns, moves), make([]int, n), make([]int, n)
	for state := range n {
		list[state], byColumn[state] = state, state%columns*rows+state/columns
	}
	up, down := reach(flows, list)
	if u, d := reach(flows, byColumn); u*d < up*down {
		list, up, down = byColumn, u, d
	}
	if up > down {
		for state := range list {
			list[state] = n - 1 - list[state]
		}
		up, down = down, up
	}
	b := newBand(n, up, down)
	for from, ends := range flows {
		b.add(list[from], list[from], 1)
		for _, end := range ends {
			b.add(list[end.to], list[from], -end.p)
		}
	}
	x, law := b.null(), make([]float64, n)
	for state := range law {
		law[state] = x[list[state]]
	}
	floats.Scale(1/floats.Sum(law), law)
	return law
}

// flowsOf returns the moves from every state, those to one state taken together.
func flowsOf(rows, columns int, moves Moves) [][]flow {
	flows, sums := make([][]flow, rows*columns), make([]float64, rows*columns)
	var ends []int // of which the sum is not 0, or was not
	for from := range flows {
		moves(from/columns, from%columns, func(row, column int, p float64) {
			to := row*columns + column
			if sums[to] == 0 {
				ends = append(ends, to)
			}
			sums[to] += p
		})
		flows[from] = make([]flow, 0, len(ends))
		for _, to := range ends {
			flows[from] = append(flows[from], flow{to, sums[to]})
			sums[to] = 0
		}
		ends = ends[:0]
	}
	return flows
}

// reach returns how far up and down a list moves go.
func reach(flows [][]flow, list []int) (up, down int) {
	for from, ends := range flows {
		for _, end := range ends {
			up, down = max(up, list[end.to]-list[from]), max(down, list[from]-list[end.to])
		}
	}
	return up, down
}

// band is a square matrix of n rows whose entries lie in at most some rows below and some columns to the right of the diagonal.
type band struct {
	n, below, right int
	values          []float64 // n rows of below + 1 + right, the diagonal at below
}

func newBand(n, below, right int) *band {
	return &band{n, below, right, make([]float64, n*(below+1+right))}
}

func (b *band) add(row, column int, x float64) { b.values[b.at(row, column)] += x }

func (b *band) at(row, column int) int { return row*(b.below+1+b.right) + b.below + column - row }

// null returns the x with bx = 0 and last entry 1 of a matrix of rank n−1 whose columns add to 0, as 1 − P of a Markov chain with the columns P. It overwrites the
// matrix, by elimination without exchange of rows, which such a matrix does not need.
func (b *band) null() []float64 {
	for k := range b.n - 1 {
		pivot := b.at(k, k)
		row := b.values[pivot+1 : pivot+1+min(b.right, b.n-1-k)]
		for i := k + 1; i <= min(k+b.below, b.n-1); i++ {
			at := b.at(i, k)
			if f := b.values[at] / b.values[pivot]; f != 0 {
				floats.AddScaled(b.values[at+1:at+1+len(row)], -f, row)
			}
		}
	}
	x := make([]float64, b.n)
	x[b.n-1] = 1
	for i := b.n - 2; i >= 0; i-- {
		at := b.at(i, i)
		to := min(b.right, b.n-1-i)
		x[i] = -floats.Dot(b.values[at+1:at+1+to], x[i+1:i+1+to]) / b.values[at]
	}
	return x
}
