package linear

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Tensor is a tensor of one or more indices, the last one fastest in data.
type Tensor struct {
	Rank int
	Data []float64
}

// NewTensor returns the zero Tensor of rank indices, each from 0 to n−1.
func NewTensor(n, rank int) Tensor {
	size := 1
	for range rank {
		size *= n
	}
	return Tensor{rank, make([]float64, size)}
}

// entriesAtOnce is the number of entries that transform sums together, few enough for a fast
// cache.
const entriesAtOnce = 512

// transform returns the tensor with the matrix a applied to every index.
func (t Tensor) transform(a *mat.Dense) Tensor {
	rows, columns := a.Dims()
	data := t.Data
	var sum [entriesAtOnce]float64
	for range t.Rank {
		// The first index is transformed and becomes the last one.
		rest := len(data) / columns
		out := make([]float64, rest*rows)
		for from := 0; from < rest; from += entriesAtOnce {
			sum := sum[:min(entriesAtOnce, rest-from)]
			for i := range rows {
				clear(sum)
				for c, x := range a.RawRowView(i) {
					if x != 0 {
						floats.AddScaled(sum, x, data[c*rest+from:c*rest+from+len(sum)])
					}
				}
				for j, v := range sum {
					out[(from+j)*rows+i] = v
				}
			}
		}
		data = out
	}
	return Tensor{t.Rank, data}
}

// Add adds o to t.
func (t Tensor) Add(o Tensor) {
	for i, x := range o.Data {
		t.Data[i] += x
	}
}

// Periodic returns the periodic solution X_p of X_{p+1} = (A⊗…⊗A) X_p + Q_p, in each
// phase p of a period the state's tensor before the step, given the sources
// Q_p. It doubles as Lyapunov does, so that a slow mode costs
// only the logarithm of its relaxation time.
func (s *Law) Periodic(sources []Tensor) []Tensor {
	size, _ := s.A.Dims()
	free, _ := s.start.Dims()
	begin, end := mat.NewDense(size, free, nil), mat.NewDense(free, size, nil)
	for i := range size {
		begin.Set(i, s.beforeRefresh(i), 1)
	}
	for i := range free {
		end.Set(i, i, 1)
	}
	x := NewTensor(size, sources[0].Rank)
	for _, q := range sources {
		x = x.transform(s.A)
		x.Add(q)
	}
	x = x.transform(end)
	for k := range 64 {
		if k == len(s.powers) {
			factor := s.Monodromy()
			if k > 0 {
				factor = mat.NewDense(free, free, nil)
				factor.Mul(s.powers[k-1], s.powers[k-1])
			}
			s.powers = append(s.powers, factor)
		}
		more := x.transform(s.powers[k])
		x.Add(more)
		if norm(more.Data) <= 1e-14*norm(x.Data) || !isFinite(x.Data...) {
			break
		}
	}
	x = x.transform(begin)
	phases := []Tensor{x}
	for _, q := range sources[:len(sources)-1] {
		x = x.transform(s.A)
		x.Add(q)
		phases = append(phases, x)
	}
	return phases
}
