package explore

import (
	"fmt"
	"math"
	"slices"

	"grposim/option"
	"grposim/rom"
	"grposim/rom/force"
	"grposim/sim"
	"grposim/sweeps/theory"
)

// Path is the predicted mean reward along a run from its start.
type Path struct {
	Steps  []int         `json:"steps"`
	Reward theory.Series `json:"reward"` // E J; null where not known
	// standard deviation of J over runs; null where not known
	Deviation theory.Series `json:"deviation"`
	Neglected theory.Series `json:"neglected"` // size of what Reward leaves out; null where not known
	Doubt     *string       `json:"doubt"`     // why the prediction may be far off; null: it is not
	Kind      string        `json:"kind"`
	// why there is no prediction, and what would change that
	Scope      *string  `json:"scope"`
	FixedPoint *float64 `json:"fixed_point"` // J*; null: there is none
	Words      []Word   `json:"words"`
}

// Path returns the predicted path of the runs of a state.
func (e *Explorer) Path(state State) (*Path, error) {
	c, err := e.cell(state)
	if err != nil {
		return nil, err
	}
	of := e.cache.Courses(c.settings, c.steps(), sim.ExpectedReward)[0]
	p := &Path{Steps: []int{}, Kind: theory.KindWords[of.Kind], Words: []Word{}}
	params := theory.Params(c.settings, rom.Unit)
	target := force.BestReward(params)
	if point, ok := e.cache.Equilibrium(params).Reached(); ok {
		p.FixedPoint, target = &point.Reward, point.Reward
	}
	if !of.Scope.In {
		p.Scope = new(of.Scope.Because.String())
		return p, nil
	}
	p.Steps, p.Reward, p.Deviation, p.Neglected = of.Steps, of.Reward, of.Deviation, of.Neglected
	reach := reach(c.settings)
	p.Doubt = p.doubt(reach)
	p.Words = append(p.Words, p.rise(target).to("How long is the way from the start of the run?"))
	if c.settings.Estimator.GroupSize != option.Infinite && reach > 0 {
		p.Words = append(p.Words, p.spread(reach).to("How far apart are runs at the end?"))
	}
	return p, nil
}

// doubt returns why the path may be far off; nil: it is not. Reach is the range of rewards.
func (p *Path) doubt(reach float64) *string {
	if reach == 0 {
		return nil
	}
	size := slices.Max(p.Neglected)
	switch {
	case !known(size):
		return new("what the theory leaves out is of unknown size, " +
			"because single runs leave the range in which it follows them")
	case size > doubtful*reach:
		return new(fmt.Sprintf("what the theory leaves out can be as large as %.3g, %s of the range "+
			"of rewards: single runs lock on an answer, or lag far behind", size, percent(size/reach)))
	}
	for i, x := range slices.Backward(p.Neglected) {
		if x > visibleShare*reach && i < len(p.Deviation) && x > halfBand*p.Deviation[i] {
			return new(fmt.Sprintf("what the theory leaves out, %.3g at step %d, "+
				"is more than half of the band", x, p.Steps[i]))
		}
	}
	return nil
}

// known reports whether the theory has a number; what it neglects is the largest number where that
// is unknown.
func known(x float64) bool { return math.Abs(x) < math.MaxFloat64 }

// rise says when J has gone 95 % of its way to the target, and stays there.
func (p *Path) rise(target float64) Word {
	n := len(p.Reward) - 1
	begin, end := p.Reward[0], p.Reward[n]
	way := target - begin
	switch {
	case !known(end):
		return say(None, "Not known: runs leave the range in which the theory follows them")
	case math.Abs(way) < 1e-9:
		return say(Good, "It starts where it ends")
	}
	last := -1 // the last record outside
	for i, x := range p.Reward {
		if !known(x) || math.Abs(x-target) > 0.05*math.Abs(way) {
			last = i
		}
	}
	if last < n {
		return p.doubted(say(Good, "After %d steps J has gone 95 %% of its way from %.3g to %.3g, "+
			"and it stays that close", p.Steps[last+1], begin, target))
	}
	if gone := (end - begin) / way; 0 <= gone && gone < 0.95 {
		return p.doubted(say(Warn, "Not there at step %d: J has gone %s of its way to %.3g",
			p.Steps[n], percent(gone), target))
	}
	return p.doubted(say(Warn, "It does not stay near %.3g: at step %d J is %.3g",
		target, p.Steps[n], end))
}

// doubtful is the size of what a path leaves out, as a share of the range of rewards, beyond which
// it may be far off.
const doubtful = 0.05

// halfBand is half of the band from 5 % to 95 % of runs, in standard deviations of a normal law.
// What is neglected matters beside it if it is at least visibleShare of the range of rewards.
const (
	halfBand     = 1.645
	visibleShare = 0.01
)

// doubted returns a word about the path; if the path may be far off, without a tone and with a
// remark.
func (p *Path) doubted(w Word) Word {
	if p.Doubt != nil && w.Tone != None {
		w.Tone = None
		w.Answer += "; but the theory is uncertain here, see the runs"
	}
	return w
}

// spread says how far apart runs are at the end; reach is the range of rewards.
func (p *Path) spread(reach float64) Word {
	n := len(p.Steps) - 1
	deviation := p.Deviation[n]
	if !known(deviation) {
		return say(None, "Not known: runs leave the range in which the theory follows them")
	}
	w := say(Good, "J differs by ± %.3g (s.d. over runs at step %d)", deviation, p.Steps[n])
	if deviation > reach/10 {
		w.Tone = Warn
	}
	return p.doubted(w)
}
