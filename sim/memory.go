package sim

import "sync"

// workerMemory is what a worker keeps from one unit to the next.
type workerMemory struct {
	team  *team
	laws  *laws   // of the team
	spare *spares // shared by all workers
}

// teamFor returns the team for a cell's chunks. A team for another cell than the
// last has its laws, if they are the same: tables take as long as a short run.
func (m *workerMemory) teamFor(w *cellWork) *team {
	c := w.cell
	if m.team != nil {
		if m.team.cell == c {
			return m.team
		}
		for _, r := range m.team.replicas {
			m.spare.values.put(r.values)
		}
	}
	if m.team == nil || !sameLaws(m.team.cell, c) {
		m.laws = newLaws(&c.Bandit, &c.Estimator)
	}
	m.team = newTeam(c, w.recorded, m.laws, m.spare, min(teamSize, len(w.averages)))
	return m.team
}

// spares is memory of finished cells, to be written over. It says nothing of
// what it last held.
type spares struct {
	values  pool[[quantityCount]float64] // of replicas
	records pool[[quantityCount]moments]
}

// reclaim takes back what a finished cell's result does not refer to.
func (s *spares) reclaim(w *cellWork) {
	for _, values := range w.early[min(w.cell.Traces, len(w.early)):] {
		s.values.put(values)
	}
	s.records.put(w.total)
}

// pool is slices of one kind that any worker may take.
type pool[T any] struct {
	mutex  sync.Mutex
	slices [][]T
}

// mostPooled bounds a pool: what a cell records for quantiles, 16 MB.
const mostPooled = quantileReplicas

// take returns a slice of n entries that may hold anything.
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

func (p *pool[T]) put(slice []T) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if len(p.slices) < mostPooled && cap(slice) > 0 {
		p.slices = append(p.slices, slice)
	}
}
