package sweeps

import (
	"fmt"

	"grposim/rom"
	"grposim/sweeps/config"
)

// predictionCache keeps what the theory has said, by what it was told.
type predictionCache struct {
	predictions map[string]*rom.Prediction
	atRest      map[string]*rom.Equilibrium // at most mostAtRest
}

// mostAtRest is how many bandits at rest are kept: as many as the axes that a
// grid runs through fastest have values.
const mostAtRest = 64

func newPredictionCache() *predictionCache {
	return &predictionCache{make(map[string]*rom.Prediction), make(map[string]*rom.Equilibrium)}
}

// motion makes a prediction of a bandit whose state at rest is known.
type motion func(*rom.Equilibrium, rom.Optimizer, rom.Lag) rom.Prediction

// predict returns what the theory says of settings at rest: the start does not
// matter, nor how long and how often the cell is run.
func (cache *predictionCache) predict(s *config.Settings, factors rom.Factors) *rom.Prediction {
	return cache.at("rest", s, factors, nil, (*rom.Equilibrium).Predict)
}

// predictMotion returns what the theory says of the motion alone, and does not keep it.
func (cache *predictionCache) predictMotion(s *config.Settings) *rom.Prediction {
	p := Params(s, rom.Unit)
	prediction := cache.resting("rest", p, nil).PredictDynamics(p.Optimizer, p.Lag)
	return &prediction
}

// at returns what the theory says of settings at a stiffness measured in the
// cell that key names; nil: at its own.
func (cache *predictionCache) at(key string, s *config.Settings, factors rom.Factors, measured *rom.Measured, predict motion) *rom.Prediction {
	params := Params(s, factors)
	if measured != nil {
		key = fmt.Sprint(key, measured.Fresh.RawMatrix().Data, measured.Stale.RawMatrix().Data)
	}
	told := fmt.Sprint(key, params)
	p, known := cache.predictions[told]
	if !known {
		made := predict(cache.resting(key, params, measured), params.Optimizer, params.Lag)
		p = &made
		cache.predictions[told] = p
	}
	return p
}

// resting returns what the theory knows of params at rest, whatever their
// optimizer and lag.
func (cache *predictionCache) resting(key string, params rom.Params, measured *rom.Measured) *rom.Equilibrium {
	params.Optimizer, params.Lag = rom.Optimizer{}, rom.Lag{}
	told := fmt.Sprint(key, params)
	a, known := cache.atRest[told]
	if !known {
		if len(cache.atRest) == mostAtRest {
			clear(cache.atRest)
		}
		params.Measured = measured
		a = rom.NewEquilibrium(params)
		cache.atRest[told] = a
	}
	return a
}
