package sim

import "sync"

// workerMemory is the memory that a worker keeps from one unit of work to the next.
type workerMemory struct {
	batch *batch
	laws  *laws        // of the batch's cell
	pools *memoryPools // shared by all workers
}

// batchFor returns a batch for the chunks of a cell. A new batch takes over the laws of the
// previous one if the cells' laws are equal. Building their tables can take as long as a short run.
func (m *workerMemory) batchFor(w *cellWork) *batch {
	c := w.cell
	if m.batch != nil {
		if m.batch.cell == c {
			return m.batch
		}
		for _, r := range m.batch.replicas {
			m.pools.values.put(r.values)
			if r.extra != nil {
				m.pools.values.put(r.extra.values)
			}
		}
	}
	if m.batch == nil || !sameLaws(m.batch.cell, c) {
		m.laws = newLaws(&c.Bandit, &c.Estimator)
	}
	m.batch = newBatch(c, w.recorded, m.laws, m.pools, min(chunkSize, len(w.averages)))
	return m.batch
}

// memoryPools hold the memory of finished cells for reuse. Its contents are stale
// and must be overwritten.
type memoryPools struct {
	values  pool[[quantityCount]float64] // what replicas record
	records pool[moments]                // sums over the replicas of a chunk
}

// reclaim takes back the memory of a finished cell that its Result does not refer to.
func (m *memoryPools) reclaim(w *cellWork) {
	for _, values := range w.early[min(w.cell.Traces, len(w.early)):] {
		m.values.put(values)
	}
	for _, values := range w.extras {
		m.values.put(values)
	}
	m.records.put(w.total)
	m.records.put(w.extraTotal)
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
