package network

import (
	"math"

	"grposim/fp"
)

// attention is multi-head attention of the last position of each context. With q, k and v of one
// head, e numbers each, and t the positions of the context, the last included,
//
//	s_t = q·k_t/√e,  p = softmax s,  o = Σ_t p_t v_t.
//
// There is no later position, which causal attention would not see.
type attention struct {
	heads  int
	places [][]int // of each context: the row of q, k, v of each position; the query is the last
	shares matrix  // C × heads·T: p, by head
	scores []float64
}

func newAttention(places [][]int, heads int) *attention {
	length := len(places[0])
	return &attention{heads, places, newMatrix(len(places), heads*length), make([]float64, length)}
}

// head returns q, k or v (0, 1, 2) of a head in one row: [q of all heads, k of all, v of all].
func (a *attention) head(rows matrix, place, which, head int) []float64 {
	row := rows.row(place)
	size := len(row) / (3 * a.heads)
	return row[(which*a.heads+head)*size:][:size]
}

// each calls do for every context and head, with o's columns of the head and its shares.
func (a *attention) each(out matrix, do func(places []int, query, head int, out, shares []float64)) {
	for x, places := range a.places {
		all, shares := out.row(x), a.shares.row(x)
		size := len(all) / a.heads
		for head := range a.heads {
			do(places, places[len(places)-1], head, all[head*size:][:size], shares[head*len(places):][:len(places)])
		}
	}
}

// forward computes o of every context from the rows of q, k and v.
func (a *attention) forward(rows, out matrix) {
	a.each(out, func(places []int, query, head int, out, shares []float64) {
		q, scale := a.head(rows, query, 0, head), 1/math.Sqrt(float64(len(out)))
		for t, place := range places {
			shares[t] = dot(q, a.head(rows, place, 1, head)) * scale
		}
		top := shares[0]
		for _, s := range shares {
			top = max(top, s)
		}
		total := fp.ExpBelow(shares, shares, top)
		clear(out)
		for t, place := range places {
			shares[t] /= total
			addScaled(out, shares[t], a.head(rows, place, 2, head))
		}
	})
}

// pull sets before to the force on q, k and v, of the force on o.
func (a *attention) pull(rows, force, before matrix) {
	clear(before.data)
	a.each(force, func(places []int, query, head int, force, shares []float64) {
		scale := 1 / math.Sqrt(float64(len(force)))
		for t, place := range places {
			a.scores[t] = dot(force, a.head(rows, place, 2, head))
			addScaled(a.head(before, place, 2, head), shares[t], force)
		}
		mean := dot(shares, a.scores)
		for t, place := range places {
			s := shares[t] * (a.scores[t] - mean) * scale
			addScaled(a.head(before, query, 0, head), s, a.head(rows, place, 1, head))
			addScaled(a.head(before, place, 1, head), s, a.head(rows, query, 0, head))
		}
	})
}

// push computes the change of o along the changes of q, k and v.
func (a *attention) push(rows, changes, out matrix) {
	a.each(out, func(places []int, query, head int, out, shares []float64) {
		scale := 1 / math.Sqrt(float64(len(out)))
		for t, place := range places {
			a.scores[t] = (dot(a.head(changes, query, 0, head), a.head(rows, place, 1, head)) +
				dot(a.head(rows, query, 0, head), a.head(changes, place, 1, head))) * scale
		}
		mean := dot(shares, a.scores)
		clear(out)
		for t, place := range places {
			addScaled(out, shares[t]*(a.scores[t]-mean), a.head(rows, place, 2, head))
			addScaled(out, shares[t], a.head(changes, place, 2, head))
		}
	})
}
