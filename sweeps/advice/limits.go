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
// from the shortest interval and from the present learning rate. Beyond the first value at which
// runs do not arrive they may again: by overshooting they miss the samples that throw them back.
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
	assumes := fmt.Sprintf("trials from the file's start: more than %.0f %% arrive, at %.0f %% confidence, "+
		"of at most %d runs of %d steps", 100*wantedShare, 100*shareConfidence, mostRuns, s.Run.Steps)
	// found adds what a search gives: low is below first where not even that arrives, as none says
	found := func(of bounded, asked string, first, low, high float64, says, none string) {
		if math.IsInf(high, 1) {
			says = fmt.Sprintf("all up to %.4g; not searched beyond", low)
		}
		if low < first {
			a.add(asked, math.NaN(), none, Simulated, assumes)
		} else {
			a.add(asked, low, says, Simulated, assumes)
		}
		a.bound(of, low, high)
	}
	if !s.Lag.Kind.Regular() {
		a.unknown(intervals, noInterval(*s))
	} else {
		longest := min(longestSearched, float64(s.Run.Steps/fewestPeriods))
		low, high, err := t.search(ctx, first-1, first, longest, 1, func(x float64) change {
			return change{Param: config.LagIntervalKey, Value: int(x)}
		})
		if err != nil {
			return nil, err
		}
		low, high = math.Floor(low), math.Floor(high)
		found(ofInterval, intervals, first, low, high,
			fmt.Sprintf("up to %.0f steps; %.0f does not", low, high), "none: not even the shortest does")
	}
	eta := s.Optimizer.LearningRate
	low, high, err := t.search(ctx, 0, eta, searchedRates*eta, 0, func(x float64) change {
		return change{Param: config.LearningRateKey, Value: rounded(x, 2)}
	})
	found(ofRate, rates, eta, low, high,
		fmt.Sprintf("up to %.2g%s; %.2g does not", low, timesPresent(s, low), high),
		"the present one does not; smaller ones are tried for the suggestion")
	return a.lines, err
}

// search doubles a parameter from first to last as long as runs certainly arrive. Then it halves the
// bracket down to a width of step or, relatively, searchedWidth. It returns the largest value known
// to arrive, or else known, and the least above it that does not, or else +Inf.
func (t *Trials) search(ctx context.Context, known, first, last, step float64,
	to func(float64) change) (low, high float64, err error) {
	arrives := func(value float64) bool {
		if err != nil {
			return false
		}
		var trial *Trial
		trial, err = t.Of(ctx, to(value))
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
