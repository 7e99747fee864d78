package rom

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// tensor is a tensor of one or more indices, the last one fastest in data.
type tensor struct {
	rank int
	data []float64
}

// newTensor returns the zero tensor of rank indices, each from 0 to n−1.
func newTensor(n, rank int) tensor {
	size := 1
	for range rank {
		size *= n
	}
	return tensor{rank, make([]float64, size)}
}

// entriesAtOnce is the number of entries that transform sums together, few enough for a fast
// cache.
const entriesAtOnce = 512

// transform returns the tensor with the matrix a applied to every index.
func (t tensor) transform(a *mat.Dense) tensor {
	rows, columns := a.Dims()
	data := t.data
	var sum [entriesAtOnce]float64
	for range t.rank {
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
	return tensor{t.rank, data}
}

// add adds o to t.
func (t tensor) add(o tensor) {
	for i, x := range o.data {
		t.data[i] += x
	}
}

// periodic returns the periodic solution X_p of X_{p+1} = (A⊗…⊗A) X_p + Q_p, in each
// phase p of a refresh period the state's tensor before the step, given the sources
// Q_p; a delay has one phase. It doubles as lyapunov does, so that a slow mode costs
// only the logarithm of its relaxation time.
func (s *stationary) periodic(sources []tensor) []tensor {
	size, _ := s.a.Dims()
	free, _ := s.start.Dims()
	begin, end := mat.NewDense(size, free, nil), mat.NewDense(free, size, nil)
	for i := range size { // block: x_old is x at a refresh
		begin.Set(i, i%free, 1)
	}
	for i := range free {
		end.Set(i, i, 1)
	}
	x := newTensor(size, sources[0].rank)
	for _, q := range sources {
		x = x.transform(s.a)
		x.add(q)
	}
	x = x.transform(end)
	for k := range 64 {
		if k == len(s.powers) {
			factor := s.monodromy()
			if k > 0 {
				factor = mat.NewDense(free, free, nil)
				factor.Mul(s.powers[k-1], s.powers[k-1])
			}
			s.powers = append(s.powers, factor)
		}
		more := x.transform(s.powers[k])
		x.add(more)
		if norm(more.data) <= 1e-14*norm(x.data) || !isFinite(x.data) {
			break
		}
	}
	x = x.transform(begin)
	phases := []tensor{x}
	for _, q := range sources[:len(sources)-1] {
		x = x.transform(s.a)
		x.add(q)
		phases = append(phases, x)
	}
	return phases
}

// derivative returns ∂^r f/∂y_i…∂y_k at y = 0, r the number of indices at, for y of
// dim entries, by central differences: Σ ± f(±h e_i … ±h e_k)/(2h)^r over all signs.
// Its truncation error is h²/6 for each index times two more derivatives.
func derivative(f func(y []float64) []float64, dim int, h float64, at ...int) []float64 {
	y := make([]float64, dim)
	var sum []float64
	for signs := range 1 << len(at) {
		clear(y)
		weight := math.Pow(2*h, -float64(len(at)))
		for k, i := range at {
			if signs>>k&1 == 1 {
				y[i] -= h
				weight = -weight
			} else {
				y[i] += h
			}
		}
		v := f(y)
		if sum == nil {
			sum = make([]float64, len(v))
		}
		for k, x := range v {
			sum[k] += weight * x
		}
	}
	return sum
}
