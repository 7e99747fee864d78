package explore

import (
	"math"
	"time"

	"grposim/sim"
	"grposim/sweeps/theory"
)

// EnsembleRequest asks for some runs of a state.
type EnsembleRequest struct {
	State    State `json:"state"`
	From     int   `json:"from"`     // index of the first run
	Replicas int   `json:"replicas"` // how many at most
}

// Ensemble is some of the runs that `grposim sweep` of the state's configuration simulates.
type Ensemble struct {
	Total    int             `json:"total"` // number of runs of the cell
	From     int             `json:"from"`
	Steps    []int           `json:"steps"`
	Runs     []theory.Series `json:"runs"`     // J by run and step; null after a run left the range of floating point
	Diverged int             `json:"diverged"` // number of these runs that did
}

// pause is after how long Ensemble begins no more runs.
const pause = 25 * time.Millisecond

// mostTogether is the number of runs that are simulated together.
const mostTogether = 16

// Ensemble simulates runs from one on: at least one, and as many as fit into a moment.
func (e *Explorer) Ensemble(r EnsembleRequest) (*Ensemble, error) {
	c, err := e.cell(r.State)
	if err != nil {
		return nil, err
	}
	out := &Ensemble{From: r.From, Steps: c.steps(), Runs: []theory.Series{}}
	if c.start == nil {
		return out, nil
	}
	simulated := theory.Simulation(c.settings, c.id, c.start)
	out.Total = simulated.Replicas()
	last := min(r.From+r.Replicas, out.Total)
	for begin, together := time.Now(), 1; r.From+len(out.Runs) < last && time.Since(begin) < pause; together = min(2*together, mostTogether) {
		next := r.From + len(out.Runs)
		for _, rewards := range sim.Rewards(simulated, out.Steps, next, min(together, last-next)) {
			if len(rewards) < len(out.Steps) {
				out.Diverged++
			}
			for len(rewards) < len(out.Steps) {
				rewards = append(rewards, math.NaN())
			}
			out.Runs = append(out.Runs, rewards)
		}
	}
	return out, nil
}
