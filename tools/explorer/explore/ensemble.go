package explore

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"grposim/sim"
	"grposim/sweeps/theory"
)

// EnsembleRequest asks for some runs of a state.
type EnsembleRequest struct {
	State    State  `json:"state"`
	From     int    `json:"from"`     // index of the first run
	Replicas int    `json:"replicas"` // how many at most
	Counted  Counts `json:"counted"`  // of the runs before
}

// Counts holds the number of runs by how they end.
type Counts map[theory.How]int

// Ensemble is some of the runs that `grposim sweep` of the state's configuration simulates.
type Ensemble struct {
	Total int   `json:"total"` // number of runs of the cell
	Steps []int `json:"steps"`
	// J by run and step; null after a run left the range of floating point
	Runs     []theory.Series `json:"runs"`
	Diverged int             `json:"diverged"` // number of these runs that did
	Counted  Counts          `json:"counted"`  // of all runs so far
	Summary  Summary         `json:"summary"`  // the answer with what they did
	Words    []Word          `json:"words"`    // about the runs, and those of Answer in their light
}

// pause is the time after which Ensemble begins no further run.
const pause = 25 * time.Millisecond

// mostTogether is the number of runs that are simulated together.
const mostTogether = 16

// Ensemble simulates runs from one on: at least one, and as many as fit into a moment.
func (e *Explorer) Ensemble(r EnsembleRequest) (*Ensemble, error) {
	c, err := e.cell(r.State)
	if err != nil {
		return nil, err
	}
	out := &Ensemble{Steps: c.steps(), Runs: []theory.Series{}, Counted: Counts{}, Words: []Word{}}
	if c.start == nil {
		return out, nil
	}
	maps.Copy(out.Counted, r.Counted)
	prediction := e.predict(c)
	said := newReader(c, prediction)
	target := theory.NewTarget(c.settings, c.start, &prediction.Prediction)
	samples := theory.Samples(c.settings)
	simulated := theory.Simulation(c.settings, c.id, c.start)
	quarter := max(simulated.Run.Steps/4, 1) // how a run ends is told from its last one
	simulated.Run.BurnIn = simulated.Run.Steps - quarter
	if v := prediction.AtRest.Variance.Value; v > 0 {
		target.Deviation = math.Sqrt(v)
		if said.d != nil && said.d.RelaxationRate != nil {
			target.OfMean = target.Deviation * math.Sqrt(min(1, 2 / *said.d.RelaxationRate / float64(quarter)))
		}
	}
	out.Total = simulated.Replicas()
	last := min(r.From+r.Replicas, out.Total)
	begin, together := time.Now(), 1
	for r.From+len(out.Runs) < last {
		next := r.From + len(out.Runs)
		ends := sim.Ends(simulated, out.Steps, next, min(together, last-next))
		for i := range ends {
			out.Counted[target.How(&ends[i], out.Steps, samples)]++
			if ends[i].DivergedAt >= 0 {
				out.Diverged++
			}
			run := theory.Series(ends[i].Rewards)
			for len(run) < len(out.Steps) {
				run = append(run, math.NaN())
			}
			out.Runs = append(out.Runs, run)
		}
		if time.Since(begin) > pause {
			break
		}
		together = min(2*together, mostTogether)
	}
	word := out.Counted.word(said, &target)
	words := said.words()
	for i := range words {
		switch w := &words[i]; {
		case w.Tone == Bad && word.Tone != Bad: // runs leave the point, for the right answer
			w.Tone = Warn
		case w.Question == endQuestion && w.Tone == Good && word.Tone != Good:
			w.Tone = word.Tone
			w.Answer += "; but too few of the runs arrive there"
		}
	}
	out.Words = append([]Word{word}, words...)
	out.Summary = out.Counted.summary(said, words, word)
	return out, nil
}

// endings names the ways in which runs end that do not arrive.
var endings = []struct {
	how   theory.How
	words string
}{
	{theory.Elsewhere, "locked on another answer"},
	{theory.TooDeep, "are over-confident: nearly certain of "},
	{theory.Unsteady, "came there and left again"},
	{theory.NotYet, "did not get there"},
	{theory.Overflown, "left the range of numbers"},
}

// enough and few are the shares of runs that arrive, above which all is well, and below which it is
// not: 95 % is that of the command advise.
const (
	enough = 0.95
	few    = 0.5
)

func (n Counts) runs() (runs int) {
	for _, count := range n {
		runs += count
	}
	return runs
}

// word says where runs from the start end. Those near an unstable point have not arrived: they
// swing about it or leave it later. Those beyond the balance have, but for a warning, if the answer
// that they are certain of is the right one.
func (n Counts) word(r reader, target *theory.Target) Word {
	runs, arrived, steps := n.runs(), n[theory.AtTarget], r.s.Run.Steps
	fine, front := arrived, "a wrong answer"
	if r.rest.Unstable {
		fine = 0
	}
	if target.Front == slices.Max(target.Means) {
		fine, front = fine+n[theory.TooDeep], "the right answer"
	}
	where := fmt.Sprintf("J* = %.3g", target.Reward)
	if !target.AtRest {
		where = fmt.Sprintf("the best reward, J = %.3g", target.Reward)
	}
	var w Word
	switch {
	case arrived == 0:
		w = say(Good, "None of %d simulated runs is at %s after %d steps", runs, where, steps)
	case r.rest.Unstable:
		w = say(Good, "After %d steps %d of %d simulated runs are within a tenth of the range of "+
			"rewards of %s", steps, arrived, runs, where)
	default:
		w = say(Good, "%d of %d simulated runs arrived within %d steps at %s",
			arrived, runs, steps, where)
	}
	switch share := float64(fine) / float64(runs); {
	case share < few:
		w.Tone = Bad
	case share < enough || fine > arrived:
		w.Tone = Warn
	}
	for _, ending := range endings {
		if count := n[ending.how]; count > 0 && n[theory.NotYet] < runs {
			w.Answer += fmt.Sprintf(", %d %s", count, ending.words)
			if ending.how == theory.TooDeep {
				w.Answer += front
			}
		}
	}
	return w.to("Where do runs from this start end?")
}

// summary returns the answer of the theory together with what runs from the start do, in the words
// of word: nothing is called safe that was not run. It begins with the runs where the theory has no
// answer, and where the fixed point is stable and too few of them arrive. Runs that arrive do not
// make up for a missing answer of the theory: then the tone stays.
func (n Counts) summary(r reader, words []Word, word Word) Summary {
	s := r.summary(words)
	switch {
	case word.Tone == Good && s.Tone != None || r.rest.Unstable || r.s.Units() != "":
		s.Text += " " + word.Answer + "."
	case s.Tone == None || n[theory.AtTarget] == 0:
		s.Text = word.Answer + ". " + s.Text
	default:
		s.Text = "Only " + word.Answer + ". " + s.Text
	}
	if s.Tone == None || word.Tone != Good && !r.rest.Unstable {
		s.Short = fmt.Sprintf("%d of %d runs arrive; %s", n[theory.AtTarget], n.runs(), s.Short)
	}
	if word.Tone == Bad || word.Tone == Warn && s.Tone != Bad {
		s.Tone = word.Tone
	}
	return s
}
