package theory

import (
	"encoding/binary"
	"math"
	"sync"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/path"
	"grposim/rom/rest"
	"grposim/sweeps/config"
)

// Cache keeps predictions by their parameters, equilibria by those parameters that equilibria
// depend on, and paths by start, steps and parameters. Only its method Equilibrium is safe for
// concurrent use, and one equilibrium is not.
type Cache struct {
	*shared
	paths      table[pathKey, *rom.Path]
	equilibria table[equilibriumKey, *rest.Equilibrium]
	most       int // entries of equilibria
}

// shared is what the caches of several goroutines have in common.
type shared struct {
	predictions table[Key, *rom.Prediction]
	settled     table[settledKey, rest.Settled]
	networks    table[string, func() *policyNetwork] // of cells with a network, by force
	ofNetworks  table[networkKey, *rom.Prediction]
}

// table keeps values by key. It is safe for concurrent use.
type table[K comparable, V any] struct {
	mutex sync.Mutex
	known map[K]V
	size  int // of all values
}

// get returns the value of a key, which is computed where it is not known. Where the sizes of
// all values exceed most, all are dropped.
func (t *table[K, V]) get(key K, size, most int, compute func() V) V {
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
		t.known, t.size = make(map[K]V), size
	}
	t.known[key] = v
	return v
}

// settledKey holds everything that rest.Settled depends on.
type settledKey struct {
	Key
	from, to int
}

// Sizes that are cached before all are dropped: the number of predictions, of 4 kB each; the
// number of paths, more than the usual number of values of a sweep's fastest axes; and
// the entries of all equilibria. Each counts as one matrix of arms by arms, of which it stores
// tens, and as fewEntries.
const (
	MaxPredictions = 1 << 13
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

// Key is comparable. It holds everything that a prediction depends on.
type Key struct {
	equilibriumKey
	optimizer option.Optimizer
	lag       option.Lag
	extent    rest.Extent
}

// KeyOf returns the key of an extent of the prediction for parameters.
func KeyOf(p rom.Params, of rest.Extent) Key {
	return Key{newEquilibriumKey(&p), p.Optimizer, p.Lag, of}
}

// equilibriumKey holds everything that an equilibrium depends on: rom.Params without lag, and of
// the optimizer the largest norm. Lists are bytes, so that it is comparable.
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
func (cache *Cache) At(s *config.Settings, factors rom.Factors, measured *rom.Measured, of rest.Extent) *rom.Prediction {
	if s.Deep() {
		return cache.atNetwork(s, factors, of)
	}
	params := Params(s, factors)
	params.Measured = measured
	key := KeyOf(params, of)
	return cache.predictions.get(key, 1, MaxPredictions, func() *rom.Prediction {
		return new(cache.Equilibrium(params).PredictPart(params.Optimizer, params.Lag, of))
	})
}

// PredictRegime returns the parts of the prediction that a map shows of a cell.
func (cache *Cache) PredictRegime(s *config.Settings) *rom.Prediction {
	return cache.At(s, rom.Unit, nil, rest.DynamicsAlone)
}

// Settled is rest.Equilibrium.Settled for the steps after burn-in, counted from the end of
// the warm-up.
func (cache *Cache) Settled(s *config.Settings, factors rom.Factors) rest.Settled {
	params, warmup := Params(s, factors), s.Optimizer.Schedule.Warmup
	key := settledKey{KeyOf(params, rest.StationaryLaw), max(s.Run.BurnIn-warmup, 0), s.Run.Steps - warmup}
	return cache.settled.get(key, 1, MaxPredictions, func() rest.Settled {
		return cache.Equilibrium(params).Settled(params.Optimizer, params.Lag, key.from, key.to)
	})
}

// Equilibrium returns the equilibrium of parameters. One with factors or at a
// measured stiffness comes from that of the theory as derived, which has the same fixed point.
func (cache *Cache) Equilibrium(params rom.Params) *rest.Equilibrium {
	entries := fewEntries + len(params.Arms)*len(params.Arms)
	return cache.equilibria.get(newEquilibriumKey(&params), entries, cache.most, func() *rest.Equilibrium {
		factors, measured := params.Factors, params.Measured
		if factors == rom.Unit && measured == nil {
			return rest.NewEquilibrium(params)
		}
		derived := params
		derived.Factors, derived.Measured = rom.Unit, nil
		return cache.Equilibrium(derived).With(factors, measured)
	})
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

// Mean returns the mean of an observed number over runs of a cell from the logits start, at the
// steps of ComparedSteps. Nothing may write into it.
func (cache *Cache) Mean(of rom.Observed, params rom.Params, s *config.Settings, start []float64, steps []int, size Size) *rom.Path {
	key := pathKey{KeyOf(params, rest.DynamicsAlone), bytesOf(start...), of, size, s.Lag.StepsPerSnapshot(), s.Run.Steps}
	return cache.paths.get(key, 1, maxCached, func() *rom.Path {
		if size == Unsized {
			return &path.PathsAlone(params, start, steps, of)[0]
		}
		return &rom.Paths(params, start, steps, of)[0]
	})
}
