package theory

import (
	"encoding/binary"
	"math"
	"sync"

	"grposim/option"
	"grposim/rom"
	"grposim/sim"
	"grposim/sweeps/config"
)

// Cache keeps predictions by their parameters, equilibria by those parameters
// that equilibria depend on, and mean rewards by start, steps and parameters. Only its
// method Equilibrium is safe for concurrent use, and one equilibrium is not.
type Cache struct {
	predictions *predictionTable
	paths       map[pathKey]*rom.Path // at most maxCached

	mutex      sync.Mutex
	equilibria map[equilibriumKey]*rom.Equilibrium // of at most most entries
	entries    int                                 // of equilibria
	most       int
}

// predictionTable holds predictions by their parameters, and what runs have of their stationary state.
// It is safe for concurrent use.
type predictionTable struct {
	mutex   sync.Mutex
	known   map[Key]*rom.Prediction    // at most MaxPredictions
	settled map[settledKey]rom.Settled // at most MaxPredictions

	networks   map[string]func() *policyNetwork // of cells with a network, by config.ForceID
	ofNetworks map[networkKey]*rom.Prediction
}

// settledKey holds everything that rom.Settled depends on.
type settledKey struct {
	Key
	from, to int
}

// Sizes that are cached before all are dropped: the number of predictions, of 4 kB each; the
// number of mean rewards, more than the usual number of values of a sweep's fastest axes; and
// the entries of all equilibria. Each counts as one matrix of arms by arms, of which it stores
// tens, and as fewEntries.
const (
	MaxPredictions = 1 << 13
	maxCached      = 64
	maxEntries     = 4_000_000
	fewEntries     = 1000
)

// NewCache returns an empty cache.
func NewCache() *Cache {
	return &Cache{
		predictions: &predictionTable{known: make(map[Key]*rom.Prediction), settled: make(map[settledKey]rom.Settled), networks: make(map[string]func() *policyNetwork), ofNetworks: make(map[networkKey]*rom.Prediction)},
		equilibria:  make(map[equilibriumKey]*rom.Equilibrium),
		paths:       make(map[pathKey]*rom.Path),
		most:        maxEntries,
	}
}

// Sharing returns a cache for one of several goroutines, which share predictions
// and have equilibria of their own.
func (cache *Cache) Sharing(goroutines int) *Cache {
	own := NewCache()
	own.predictions, own.most = cache.predictions, maxEntries/goroutines
	return own
}

// get returns a prediction; nil if it is not known.
func (t *predictionTable) get(key Key) *rom.Prediction {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.known[key]
}

// put adds a prediction.
func (t *predictionTable) put(key Key, p *rom.Prediction) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if len(t.known) == MaxPredictions {
		clear(t.known)
	}
	t.known[key] = p
}

// Key is comparable. It holds everything that a prediction depends on.
type Key struct {
	equilibriumKey
	optimizer option.Optimizer
	lag       option.Lag
	extent    rom.Extent
}

// KeyOf returns the key of an extent of the prediction for parameters.
func KeyOf(p rom.Params, of rom.Extent) Key {
	return Key{newEquilibriumKey(&p), p.Optimizer, p.Lag, of}
}

// equilibriumKey holds everything that an equilibrium depends on: all of rom.Params
// except lag and, but for its largest norm, optimizer, with lists of numbers as bytes, so that it is comparable.
type equilibriumKey struct {
	arms, reference, start, fresh, stale string

	first, second, starts string // of the prompts

	estimator  option.Estimator
	update     option.ReferenceUpdate
	maxNorm    float64
	factors    rom.Factors
	parameters option.Parameters
	order      option.PromptOrder
}

func newEquilibriumKey(p *rom.Params) equilibriumKey {
	key := equilibriumKey{
		reference: bytesOf(p.Reference...), start: bytesOf(p.Start...),
		first: bytesOf(p.Prompts.First...), second: bytesOf(p.Prompts.Second...), starts: bytesOf(p.Prompts.Starts...),
		estimator: p.Estimator, update: p.ReferenceUpdate, maxNorm: p.Optimizer.MaxNorm, factors: p.Factors,
		parameters: p.Prompts.Parameters, order: p.Prompts.Order,
	}
	for _, arm := range p.Arms {
		key.arms += bytesOf(float64(arm.Law), arm.Mean, arm.Std)
	}
	if p.Measured != nil {
		key.fresh, key.stale = bytesOf(p.Measured.Fresh.RawMatrix().Data...), bytesOf(p.Measured.Stale.RawMatrix().Data...)
	}
	return key
}

// bytesOf returns the concatenated bits of numbers; "" for none.
func bytesOf(numbers ...float64) string {
	var bytes []byte
	for _, x := range numbers {
		bytes = binary.LittleEndian.AppendUint64(bytes, math.Float64bits(x))
	}
	return string(bytes)
}

// Predict returns the prediction for settings at their fixed point. Length and number of
// runs do not change that of a bandit.
func (cache *Cache) Predict(s *config.Settings, factors rom.Factors) *rom.Prediction {
	return cache.At(s, factors, nil, Whole(s))
}

// Whole returns the parts that tables and verdicts have of the prediction for settings: of a network those that take no
// search of an interval.
func Whole(s *config.Settings) rom.Extent {
	switch {
	case !s.Deep():
		return rom.Everything
	case s.Estimator.GroupSize == option.Infinite:
		return rom.CriticalRate | rom.Multipliers
	}
	return rom.CriticalRate | rom.Multipliers | rom.StationaryLaw
}

// At returns the prediction for settings at a measured stiffness; nil stands for the
// stiffness of the theory.
func (cache *Cache) At(s *config.Settings, factors rom.Factors, measured *rom.Measured, of rom.Extent) *rom.Prediction {
	if s.Deep() {
		return cache.atNetwork(s, factors, of)
	}
	params := Params(s, factors)
	params.Measured = measured
	key := KeyOf(params, of)
	p := cache.predictions.get(key)
	if p == nil {
		p = cache.compute(key, params)
		cache.predictions.put(key, p)
	}
	return p
}

// PredictRegime returns the prediction for settings of which a map shows the regime: the whole
// prediction if the cache has it, otherwise the parts that a map shows.
func (cache *Cache) PredictRegime(s *config.Settings) *rom.Prediction {
	if s.Deep() {
		return cache.atNetwork(s, rom.Unit, rom.DynamicsAlone)
	}
	params := Params(s, rom.Unit)
	if p := cache.predictions.get(KeyOf(params, rom.Everything)); p != nil {
		return p
	}
	return cache.At(s, rom.Unit, nil, rom.DynamicsAlone)
}

// PredictBoundaries returns the prediction of stability and onset alone for settings. It
// does not cache it: a map needs the prediction of each of its points once.
func (cache *Cache) PredictBoundaries(s *config.Settings) *rom.Prediction {
	if s.Deep() {
		return cache.atNetwork(s, rom.Unit, rom.BoundariesAlone)
	}
	params := Params(s, rom.Unit)
	return cache.compute(KeyOf(params, rom.BoundariesAlone), params)
}

// Settled is rom.Equilibrium.Settled for the steps after burn-in, counted from the end of
// the warm-up.
func (cache *Cache) Settled(s *config.Settings, factors rom.Factors) rom.Settled {
	params, warmup := Params(s, factors), s.Optimizer.Schedule.Warmup
	key := settledKey{KeyOf(params, rom.StationaryLaw), max(s.Run.BurnIn-warmup, 0), s.Run.Steps - warmup}
	t := cache.predictions
	t.mutex.Lock()
	settled, known := t.settled[key]
	t.mutex.Unlock()
	if known {
		return settled
	}
	settled = cache.equilibrium(key.equilibriumKey, params).Settled(params.Optimizer, params.Lag, key.from, key.to)
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if len(t.settled) == MaxPredictions {
		clear(t.settled)
	}
	t.settled[key] = settled
	return settled
}

// compute computes the prediction for parameters and their key, from a cached
// equilibrium if there is one.
func (cache *Cache) compute(key Key, params rom.Params) *rom.Prediction {
	equilibrium := cache.equilibrium(key.equilibriumKey, params)
	return new(equilibrium.PredictPart(params.Optimizer, params.Lag, key.extent))
}

// Equilibrium returns the equilibrium of parameters. One with factors or at a
// measured stiffness comes from that of the theory as derived, which has the same fixed point.
func (cache *Cache) Equilibrium(params rom.Params) *rom.Equilibrium {
	return cache.equilibrium(newEquilibriumKey(&params), params)
}

// equilibrium is Equilibrium of parameters and their key.
func (cache *Cache) equilibrium(key equilibriumKey, params rom.Params) *rom.Equilibrium {
	cache.mutex.Lock()
	equilibrium, known := cache.equilibria[key]
	cache.mutex.Unlock()
	if known {
		return equilibrium
	}
	if factors, measured := params.Factors, params.Measured; factors != rom.Unit || measured != nil {
		params.Factors, params.Measured = rom.Unit, nil
		equilibrium = cache.equilibrium(newEquilibriumKey(&params), params).With(factors, measured)
	} else {
		equilibrium = rom.NewEquilibrium(params)
	}
	cache.mutex.Lock()
	defer cache.mutex.Unlock()
	entries := fewEntries + len(params.Arms)*len(params.Arms)
	if cache.entries += entries; cache.entries > cache.most {
		clear(cache.equilibria)
		cache.entries = entries
	}
	cache.equilibria[key] = equilibrium
	return equilibrium
}

// pathKey holds everything that a predicted path of a cell depends on.
type pathKey struct {
	Key
	start  string // the logits at step 0
	of     rom.Observed
	size   Size
	period int // of refreshes in the run, which with its length decides the steps
	length int
}

// Size says whether a path comes with the predicted size of what it neglects.
type Size int

const (
	Sized   Size = iota
	Unsized      // in half of the time
)

// Mean returns the mean of an observed number over runs of a cell from the logits start, at the steps of
// ComparedSteps. Nothing may write into it.
func (cache *Cache) Mean(of rom.Observed, params rom.Params, s *config.Settings, start []float64, steps []int, size Size) *rom.Path {
	key := pathKey{KeyOf(params, rom.DynamicsAlone), bytesOf(start...), of, size, sim.RefreshPeriod(s.Lag), s.Run.Steps}
	path, known := cache.paths[key]
	if !known {
		predict := rom.Paths
		if size == Unsized {
			predict = rom.PathsAlone
		}
		path = &predict(params, start, steps, of)[0]
		if len(cache.paths) == maxCached {
			clear(cache.paths)
		}
		cache.paths[key] = path
	}
	return path
}
