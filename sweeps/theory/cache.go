package theory

import (
	"fmt"
	"sync"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/rest"
	"grposim/sweeps/config"
)

// Cache keeps predictions by their parameters, equilibria by those parameters that equilibria
// depend on, and paths by start, steps and parameters. Only its method Equilibrium is safe for
// concurrent use, and one equilibrium is not.
type Cache struct {
	*shared
	paths      table[*rom.Path]
	equilibria table[*rest.Equilibrium]
	most       int // entries of equilibria
}

// shared is what the caches of several goroutines have in common.
type shared struct {
	predictions table[*rom.Prediction]
	settled     table[rest.Settled]
	networks    table[func() *policyNetwork] // of cells with a network, by force
	ofNetworks  table[*rom.Prediction]
}

// table keeps values by key. It is safe for concurrent use.
type table[V any] struct {
	mutex sync.Mutex
	known map[string]V
	size  int // of all values
}

// get returns the value of a key, which is computed where it is not known. Where the sizes of
// all values exceed most, all are dropped.
func (t *table[V]) get(key string, size, most int, compute func() V) V {
	t.mutex.Lock()
	v, known := t.known[key]
	t.mutex.Unlock()
	if known {
		return v
	}
	v = compute() // which may take minutes
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if first, known := t.known[key]; known { // another goroutine has computed it too
		return first
	}
	if t.size += size; t.known == nil || t.size > most {
		t.known, t.size = make(map[string]V), size
	}
	t.known[key] = v
	return v
}

// Sizes that are cached before all are dropped: the number of predictions, of 4 kB each; the
// number of paths, more than the usual number of values of a sweep's fastest axes; and
// the entries of all equilibria. Each counts as one matrix of arms by arms, of which it stores
// tens, and as fewEntries.
const (
	maxPredictions = 1 << 13
	maxCached      = 64
	maxEntries     = 4_000_000
	fewEntries     = 1000
)

// NewCache returns an empty cache.
func NewCache() *Cache { return &Cache{shared: new(shared), most: maxEntries} }

// Sharing returns a cache for one of several goroutines, which share predictions
// and have equilibria of their own.
func (cache *Cache) Sharing(goroutines int) *Cache {
	return &Cache{shared: cache.shared, most: maxEntries / goroutines}
}

// keyOf returns a text of parameters, and of what else a value depends on.
func keyOf(p rom.Params, more ...any) string {
	if m := p.Measured; m != nil {
		more = append(more, m.Fresh.RawMatrix().Data, m.Stale.RawMatrix().Data)
		p.Measured = nil
	}
	return fmt.Sprintln(append(more, p)...)
}

// equilibriumKey is keyOf what an equilibrium depends on: not the lag, and of the optimizer the
// largest norm.
func equilibriumKey(p rom.Params) string {
	p.Lag, p.Optimizer = option.Lag{}, option.Optimizer{MaxNorm: p.Optimizer.MaxNorm}
	return keyOf(p)
}

// Predict returns the prediction for settings at their fixed point. Length and number of
// runs do not change that of a bandit.
func (cache *Cache) Predict(s *config.Settings, factors rom.Factors) *rom.Prediction {
	return cache.At(s, factors, nil, Whole(s))
}

// Whole returns the parts that tables and verdicts have of the prediction for settings: of a
// network those that take no search of an interval.
func Whole(s *config.Settings) rest.Extent {
	switch {
	case !s.Deep():
		return rest.Everything
	case s.Estimator.GroupSize == option.Infinite:
		return rest.CriticalRate | rest.Multipliers
	}
	return rest.CriticalRate | rest.Multipliers | rest.StationaryLaw
}

// At returns the prediction for settings at a measured stiffness; nil stands for the
// stiffness of the theory.
func (cache *Cache) At(s *config.Settings, factors rom.Factors, measured *rom.Measured,
	of rest.Extent) *rom.Prediction {
	if s.Deep() {
		return cache.atNetwork(s, factors, of)
	}
	params := Params(s, factors)
	params.Measured = measured
	return cache.predictions.get(keyOf(params, of), 1, maxPredictions, func() *rom.Prediction {
		return new(cache.Equilibrium(params).PredictPart(params.Optimizer, params.Lag, of))
	})
}

// PredictRegime returns the parts of the prediction that a map shows of a cell.
func (cache *Cache) PredictRegime(s *config.Settings) *rom.Prediction {
	return cache.At(s, rom.Unit, nil, rest.DynamicsAlone)
}

// Settled is rest.Equilibrium.Settled for the steps after burn-in.
func (cache *Cache) Settled(s *config.Settings, factors rom.Factors) rest.Settled {
	params, from, to := Params(s, factors), s.Run.BurnIn, s.Run.Steps
	return cache.settled.get(keyOf(params, from, to), 1, maxPredictions, func() rest.Settled {
		return cache.Equilibrium(params).Settled(params.Optimizer, params.Lag, from, to)
	})
}

// Equilibrium returns the equilibrium of parameters. One with factors or at a
// measured stiffness comes from that of the theory as derived, which has the same fixed point.
func (cache *Cache) Equilibrium(params rom.Params) *rest.Equilibrium {
	entries := fewEntries + len(params.Arms)*len(params.Arms)
	return cache.equilibria.get(equilibriumKey(params), entries, cache.most, func() *rest.Equilibrium {
		factors, measured := params.Factors, params.Measured
		if factors == rom.Unit && measured == nil {
			return rest.NewEquilibrium(params)
		}
		derived := params
		derived.Factors, derived.Measured = rom.Unit, nil
		return cache.Equilibrium(derived).With(factors, measured)
	})
}

// Mean returns the mean of an observed number over runs of a cell from the logits start, at the
// steps of ComparedSteps. Nothing may write into it.
func (cache *Cache) Mean(of rom.Observed, params rom.Params, s *config.Settings, start []float64,
	steps []int) *rom.Path {
	// the period of refreshes and the length of the run decide the steps
	key := keyOf(params, start, of, s.Lag.StepsPerSnapshot(), s.Run.Steps)
	return cache.paths.get(key, 1, maxCached, func() *rom.Path {
		return &rom.Paths(params, start, steps, of)[0]
	})
}
