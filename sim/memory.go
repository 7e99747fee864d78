package sim

import "sync"

// pool holds the memory of finished cells for reuse by any worker. Its contents are stale and must
// be overwritten.
type pool struct {
	mutex  sync.Mutex
	slices [][]float64
}

// maxPooled is the largest number of slices in a pool: as many as one cell records for
// quantiles, 16 MB.
const maxPooled = quantileReplicas

// take returns a slice of n entries with arbitrary contents.
func (p *pool) take(n int) []float64 {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if last := len(p.slices) - 1; last >= 0 {
		slice := p.slices[last]
		p.slices = p.slices[:last]
		if cap(slice) >= n {
			return slice[:n]
		}
	}
	return make([]float64, n)
}

// put adds slices to the pool, unless the pool is full.
func (p *pool) put(slices ...[]float64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.slices = append(p.slices, slices[:min(len(slices), maxPooled-len(p.slices))]...)
}
