package advice

import (
	"context"
	"fmt"
	"math"

	"grposim/sweeps/config"
)

// Limits of a search by simulation. It doubles the parameter until runs do not arrive,
// then halves the bracket until its relative width is at most searchedWidth.
const (
	longestSearched = 1024 // refresh interval or delay
	searchedRates   = 1024 // largest learning rate, in units of the cell's
	searchedWidth   = 0.1
)

// LocateLimits finds by trials, for the cell from its own start, the largest refresh interval and
// the largest learning rate with which runs arrive, everything else as it is. It searches upwards
// from the shortest interval and from the present learning rate. Arrival need not be lost for
// good at the first value without it: a run that overshoots far enough never sees the samples that
// would throw it back.
func (t *Trials) LocateLimits(ctx context.Context) ([]Line, error) {
	s := &t.cell.Settings
	first, name := shortestLag(s.Lag.Kind)
	a := &adviser{settings: *s}
	intervals, rates := name+"s that arrive", "learning rates that arrive"
	if present, err := t.Present(ctx); err != nil || present == nil {
		a.unknown(intervals, noStart)
		a.unknown(rates, noStart)
		return a.lines, err
	}
	assumes := fmt.Sprintf("trials from the file's start: the %.0f %% interval of the share of runs that arrive lies above %.0f %%, in at most %d runs of %d steps",
		100*shareConfidence, 100*wantedShare, mostRuns, s.Run.Steps)
	if !s.Lag.Kind.Regular() {
		a.unknown(intervals, noInterval(*s))
	} else {
		longest := min(longestSearched, float64(s.Run.Steps/fewestPeriods))
		low, high, err := t.search(ctx, first-1, first, longest, 1, func(x float64) config.Assignment {
			return config.Assignment{Param: config.LagIntervalKey, Value: int(x)}
		})
		if err != nil {
			return nil, err
		}
		low, high = math.Floor(low), math.Floor(high)
		value, says := low, fmt.Sprintf("up to %.0f steps; %.0f does not", low, high)
		switch {
		case low < first:
			value, says = math.NaN(), "none: not even the shortest does"
		case math.IsInf(high, 1):
			says = fmt.Sprintf("all up to %.0f; not searched beyond", low)
		}
		a.add(intervals, value, says, Simulated, assumes)
		a.bound(ofInterval, low, high)
	}
	eta := s.Optimizer.LearningRate
	low, high, err := t.search(ctx, 0, eta, searchedRates*eta, 0, func(x float64) config.Assignment {
		return config.Assignment{Param: config.LearningRateKey, Value: rounded(x)}
	})
	value, says := low, fmt.Sprintf("up to %.2g%s; %.2g does not", low, timesPresent(s, low), high)
	switch {
	case low == 0:
		value, says = math.NaN(), "the present one does not; smaller ones are tried for the suggestion"
	case math.IsInf(high, 1):
		says = fmt.Sprintf("all up to %.4g; not searched beyond", low)
	}
	a.add(rates, value, says, Simulated, assumes)
	a.bound(ofRate, low, high)
	return a.lines, err
}

// search doubles a parameter from first as long as runs certainly arrive, up to last,
// and halves the bracket down to a width of step or, relatively, searchedWidth. It
// returns the largest value known to arrive, known if there is none, and the
// least above it that does not, +Inf if there is none.
func (t *Trials) search(ctx context.Context, known, first, last, step float64, change func(float64) config.Assignment) (low, high float64, err error) {
	arrives := func(value float64) bool {
		if err != nil {
			return false
		}
		var trial *Trial
		trial, err = t.Of(ctx, change(value))
		return trial != nil && trial.Outcome == Arrives
	}
	low, high = known, math.Inf(1)
	for value := first; value <= max(first, last); value = max(2*value, value+step) {
		if !arrives(value) {
			high = value
			break
		}
		low = value
	}
	for low >= first && high-low > max(step, searchedWidth*low) && !math.IsInf(high, 1) && err == nil {
		if middle := (low + high) / 2; arrives(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low, high, err
}
