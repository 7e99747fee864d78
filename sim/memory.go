package sim

import "sync"

// memoryPools hold the memory of finished cells for reuse. Its contents are stale
// and must be overwritten.
type memoryPools struct {
	values  pool[[quantityCount]float64] // what replicas record
	records pool[moments]                // sums over the replicas of a chunk
}

// pool holds slices of one type for reuse by any worker.
type pool[T any] struct {
	mutex  sync.Mutex
	slices [][]T
}

// maxPooled is the largest number of slices in a pool: as many as one cell records for
// quantiles, 16 MB.
const maxPooled = quantileReplicas

// take returns a slice of n entries with arbitrary contents.
func (p *pool[T]) take(n int) []T {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if last := len(p.slices) - 1; last >= 0 {
		slice := p.slices[last]
		p.slices = p.slices[:last]
		if cap(slice) >= n {
			return slice[:n]
		}
	}
	return make([]T, n)
}

// put adds a slice to the pool, unless the pool is full.
func (p *pool[T]) put(slice []T) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if len(p.slices) < maxPooled && cap(slice) > 0 {
		p.slices = append(p.slices, slice)
	}
}
