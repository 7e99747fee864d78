package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"grposim/sim/measure"
	"grposim/sim/probe"
	"grposim/sweeps/claim"
	"grposim/sweeps/config"
	"grposim/sweeps/judge"
	"grposim/sweeps/plan"
	"grposim/sweeps/store"
)

// Comparison is what two results folders, A and B, measured of the same cells. Numbers
// that are not finite are null in its JSON.
type Comparison struct {
	A ComparedFolder `json:"a"`
	B ComparedFolder `json:"b"`
	// Differing are the parameters that have one value in all cells of A and another
	// one in all cells of B, the seed included. Cells are paired by all others.
	Differing []DifferingParameter `json:"differing_parameters"`
	// Confidence holds for all differences together: the larger one of the two configurations.
	// IntervalConfidence is that of each, 1 − (1 − Confidence)/n for n differences (Bonferroni).
	Confidence         float64 `json:"confidence"`
	IntervalConfidence float64 `json:"interval_confidence"`
	// SameID is the number of pairs with the same id: both drew the same random numbers,
	// unless the version of the streams changed, and the intervals are then too wide.
	SameID     int                `json:"pairs_with_the_same_id"`
	SameCells  int                `json:"same_pairs"` // those with the same bytes in both journals
	Pairs      int                `json:"pairs"`
	Quantities []ComparedQuantity `json:"quantities"`       // by pair, in the order of A
	OnlyA      []string           `json:"only_in_a"`        // names of cells of A without a partner
	OnlyB      []string           `json:"only_in_b"`        // those of B
	Verdicts   int                `json:"verdicts"`         // of checks in both, on cells in both
	Changed    [][2]judge.Verdict `json:"changed_verdicts"` // those that differ, of A and B
}

// ComparedFolder is one of the two results folders.
type ComparedFolder struct {
	Folder string `json:"folder"` // its path
	Name   string `json:"name"`   // of the sweep
	Cells  int    `json:"cells"`  // distinct ones
}

// DifferingParameter is a parameter with its value in each folder.
type DifferingParameter struct {
	Param string `json:"param"`
	A     string `json:"a"`
	B     string `json:"b"`
}

// ComparedQuantity is a quantity of a pair of cells with equal parameters, up to
// Comparison.Differing. NaN stands for what is not there.
type ComparedQuantity struct {
	Cell       string       `json:"cell"` // its name for people
	Quantity   string       `json:"quantity"`
	A          store.Number `json:"a"`          // measured in A
	B          store.Number `json:"b"`          // measured in B
	Difference store.Number `json:"difference"` // B − A
	Lo         store.Number `json:"lo"`         // lower end of its interval
	Hi         store.Number `json:"hi"`         // upper end
	Verdict    Change       `json:"verdict"`

	samples [2]sample // of A and B
}

// Change says what is known of the sign of a difference B − A.
type Change string

const (
	Higher Change = "higher" // the interval lies above 0
	Lower  Change = "lower"  // the interval lies below 0
	// the interval contains 0, which does not mean that there is no difference
	NoneFound     Change = "no-difference-found"
	NotComparable Change = "not-comparable" // a value is missing, or its error is not known
)

// locatedEvent is the quantity that stands for the three estimates of a search.
const locatedEvent = "located"

// sample is an estimate with the cell that it is of.
type sample struct {
	measure.Estimate
	cell *plan.Cell
}

// CompareFolders compares what two finished results folders measured, and judges both again. It
// reads their journals, and writes nothing. Its errors are those of Open and of Judge.
//
// Cells are paired by their parameters; of several cells with equal ones the first of A goes with
// the first of B, and so on. The interval of a difference is Welch's, by the errors that the
// journals hold, plus systematic errors. That of shares is Newcombe's.
func CompareFolders(a, b string, progress Progress) (*Comparison, error) {
	var sides [2]side
	for i, dir := range []string{a, b} {
		if err := sides[i].read(dir, progress); err != nil {
			return nil, err
		}
	}
	c := &Comparison{A: sides[0].ComparedFolder, B: sides[1].ComparedFolder,
		Differing: []DifferingParameter{}, Quantities: []ComparedQuantity{}, OnlyA: []string{},
		OnlyB: []string{}, Changed: [][2]judge.Verdict{},
		Confidence: max(sides[0].plan.Spec.Confidence, sides[1].plan.Spec.Confidence)}
	if err := c.pair(&sides); err != nil {
		return nil, err
	}
	c.IntervalConfidence = 1 - (1-c.Confidence)/float64(max(len(c.Quantities), 1))
	for i := range c.Quantities {
		c.Quantities[i].compare(c.IntervalConfidence)
	}
	c.judge(&sides)
	return c, nil
}

// judge finds the changed verdicts. Verdicts with the same key are paired in their order.
func (c *Comparison) judge(sides *[2]side) {
	inA := make(map[string][]judge.Verdict)
	for i, s := range sides {
		for _, v := range s.verdicts {
			check := &s.plan.Spec.Checks[v.Check]
			key := fmt.Sprintln(v.Claim, v.Quantity, check.Prediction, check.Expect, check.Hypothesis,
				check.Over, check.Names)
			for _, id := range append(v.Members, v.Cell)[:max(len(v.Members), 1)] {
				key += cmp.Or(s.partner[id], id)
			}
			if same := inA[key]; i == 0 {
				inA[key] = append(same, v)
			} else if len(same) > 0 {
				inA[key] = same[1:]
				c.Verdicts++
				if same[0].Verdict != v.Verdict {
					c.Changed = append(c.Changed, [2]judge.Verdict{same[0], v})
				}
			}
		}
	}
}

// Differ reports whether a quantity is higher or lower, a verdict changed, or a cell is in one
// folder alone.
func (c *Comparison) Differ() bool {
	return len(c.OnlyA)+len(c.OnlyB)+len(c.Changed) > 0 || slices.ContainsFunc(c.Quantities,
		func(q ComparedQuantity) bool { return q.Verdict == Higher || q.Verdict == Lower })
}

// FoldersToCompare returns the pairs of results folders in a and b. If both hold results folders,
// they are those of the same name, in order, and only lists the others. Else a and b are the pair.
func FoldersToCompare(a, b string) (pairs [][2]string, only []string) {
	inA, inB := store.FoldersIn(a), store.FoldersIn(b)
	if len(inA) == 0 || len(inB) == 0 {
		return [][2]string{{a, b}}, nil
	}
	for i, folder := range slices.Concat(inA, inB) {
		name := filepath.Base(folder)
		pair := [2]string{filepath.Join(a, name), filepath.Join(b, name)}
		if !slices.Contains(inA, pair[0]) || !slices.Contains(inB, pair[1]) {
			only = append(only, folder)
		} else if i < len(inA) {
			pairs = append(pairs, pair)
		}
	}
	return pairs, only
}

// side is one of two folders that are compared.
type side struct {
	ComparedFolder
	plan     *plan.Plan
	outcomes map[string]*store.Outcome
	verdicts []judge.Verdict
	cells    []*plan.Cell      // distinct ids, in the order of the sweep
	partner  map[string]string // of cells of B: their ids in A, by id
}

func (s *side) read(dir string, progress Progress) (err error) {
	if s.plan, s.outcomes, err = openNoted(dir, progress); err != nil {
		return err
	}
	s.partner = make(map[string]string)
	s.cells = s.plan.Distinct()
	s.ComparedFolder = ComparedFolder{Folder: dir, Name: s.plan.Spec.Name, Cells: len(s.cells)}
	s.verdicts, err = Judge(s.plan, s.outcomes)
	return err
}

// constant returns the value that a key has in the first cell; ok: in all cells.
func (s *side) constant(k config.Key) (value string, ok bool) {
	of := func(cell *plan.Cell) string { return config.Format(k.Get(&cell.Settings)) }
	value = of(s.cells[0])
	return value, !slices.ContainsFunc(s.cells, func(c *plan.Cell) bool { return of(c) != value })
}

// pair lists the parameters that differ between the folders as a whole, and pairs the cells that
// have equal values of the other keys.
func (c *Comparison) pair(sides *[2]side) error {
	var differing []string
	for _, k := range config.Keys {
		a, oneA := sides[0].constant(k)
		b, oneB := sides[1].constant(k)
		if oneA && oneB && a != b {
			c.Differing = append(c.Differing, DifferingParameter{k.Path, a, b})
			differing = append(differing, k.Path)
		}
	}
	partners := make(map[string][]*plan.Cell)
	for _, cell := range sides[1].cells {
		key := string(config.Canonical(cell.Settings, differing...))
		partners[key] = append(partners[key], cell)
	}
	for _, cell := range sides[0].cells {
		key := string(config.Canonical(cell.Settings, differing...))
		if len(partners[key]) == 0 {
			c.OnlyA = append(c.OnlyA, cmp.Or(cell.Label(), cell.ID))
			continue
		}
		partner := partners[key][0]
		partners[key] = partners[key][1:]
		sides[1].partner[partner.ID] = cell.ID
		c.Pairs++
		if cell.ID == partner.ID {
			c.SameID++
		}
		same, err := sides[0].outcomes[cell.ID].SameLine(sides[1].outcomes[partner.ID])
		if err != nil {
			return err
		}
		if same {
			c.SameCells++
		}
		first := len(c.Quantities)
		for i, member := range []*plan.Cell{cell, partner} {
			quantities, err := measuredQuantities(member, sides[i].outcomes[member.ID])
			if err != nil {
				return err
			}
			for _, e := range quantities {
				n := slices.IndexFunc(c.Quantities[first:],
					func(q ComparedQuantity) bool { return q.Quantity == e.Name })
				if n < 0 {
					n = len(c.Quantities) - first
					missing := sample{measure.Estimate{Mean: math.NaN()}, nil}
					c.Quantities = append(c.Quantities,
						ComparedQuantity{Cell: cell.Label(), Quantity: e.Name, samples: [2]sample{missing, missing}})
				}
				c.Quantities[first+n].samples[i] = sample{e.Estimate, member}
			}
		}
	}
	for _, cell := range sides[1].cells {
		if sides[1].partner[cell.ID] == "" {
			c.OnlyB = append(c.OnlyB, cmp.Or(cell.Label(), cell.ID))
		}
	}
	return nil
}

// measuredQuantities returns the estimates of a cell that cells.csv has, and the last values of its
// trajectory. A located event is one quantity: the middle between the last value without it and the
// first with it, either of which it can be. Its error is that of reading the trajectory.
func measuredQuantities(c *plan.Cell, o *store.Outcome) ([]measure.Named, error) {
	var all []measure.Named
	for _, e := range o.Estimates {
		switch e.Name {
		case probe.LocatedLow:
			event := measure.Estimate{Mean: math.NaN()} // beyond the end of the search
			if high, found := o.Estimate(probe.LocatedHigh); found {
				event = measure.Certain((e.Mean + high.Mean) / 2)
				event.Systematic = (high.Mean - e.Mean) / 2
			}
			all = append(all, measure.Named{Name: locatedEvent, Estimate: event})
		case probe.LocatedHigh, probe.LocatedEnd:
		default:
			if !plan.IsMatrixEntry(e.Name) {
				all = append(all, e)
			}
		}
	}
	recorded, err := o.Trajectory(claim.OfPolicy...)
	if recorded == nil || len(recorded.Steps) == 0 {
		return all, err
	}
	last := len(recorded.Steps) - 1
	for _, s := range recorded.Quantities {
		final := measure.Certain(float64(s.Mean[last]))
		if !c.Deterministic() {
			final = measure.Estimate{Mean: final.Mean, StdErr: float64(s.StdErr[last]),
				DF: c.Settings.Run.Replicas - 1}
			if !(final.StdErr > 0) { // all replicas equal, from which no error can be known
				final.DF = 0
			}
		}
		all = append(all, measure.Named{Name: "final_" + string(s.Quantity), Estimate: final})
	}
	return all, nil
}

// compare sets the values of a quantity in A and B, and their difference.
func (q *ComparedQuantity) compare(confidence float64) {
	a, b := q.samples[0], q.samples[1]
	q.A, q.B = store.Number(a.Mean), store.Number(b.Mean)
	q.Difference = q.B - q.A
	lo, hi := math.NaN(), math.NaN()
	if !math.IsNaN(float64(q.Difference)) {
		lo, hi = difference(q.Quantity, a, b, confidence)
	}
	q.Lo, q.Hi, q.Verdict = store.Number(lo), store.Number(hi), changeOf(lo, hi)
}

// difference returns the interval of the difference b − a of a quantity, of the given confidence;
// infinite or NaN if it is not known.
func difference(name string, a, b sample, confidence float64) (lo, hi float64) {
	if plan.IsShare(name) { // Newcombe 1998, method 10
		aLo, aHi := a.cell.Interval(name, a.Estimate, confidence)
		bLo, bHi := b.cell.Interval(name, b.Estimate, confidence)
		d := b.Mean - a.Mean
		return d - math.Hypot(b.Mean-bLo, aHi-a.Mean), d + math.Hypot(bHi-b.Mean, a.Mean-aLo)
	}
	d := measure.Estimate{Mean: b.Mean - a.Mean, Systematic: a.Systematic + b.Systematic}
	d.StdErr, d.DF = measure.Combine([]measure.Estimate{a.Estimate, b.Estimate})
	return d.Interval(confidence)
}

// changeOf returns what an interval of a difference says of its sign.
func changeOf(lo, hi float64) Change {
	switch {
	case lo > 0:
		return Higher
	case hi < 0:
		return Lower
	case math.IsInf(lo, 0) || math.IsInf(hi, 0) || math.IsNaN(lo) || math.IsNaN(hi):
		return NotComparable
	}
	return NoneFound
}

// ComparisonColumns are the columns of a table of compared quantities for people: see
// ComparedQuantity.Cells.
var ComparisonColumns = []string{"cell", "quantity", "A", "B", "B − A", "verdict"}

// Cells returns a compared quantity as ComparisonColumns. Numbers are rounded; "–" stands for
// what is missing.
func (q *ComparedQuantity) Cells() []string {
	width := float64(q.Hi) - float64(q.Lo)
	words := map[Change]string{Higher: "higher", Lower: "lower",
		NoneFound: "~ no difference found", NotComparable: "not comparable"}
	interval := "–"
	if q.Verdict != NotComparable {
		digits := judge.Significant(max(math.Abs(float64(q.Lo)), math.Abs(float64(q.Hi))), width)
		interval = fmt.Sprintf("%s [%s, %s]", judge.Format(q.Difference, digits),
			judge.Format(q.Lo, digits), judge.Format(q.Hi, digits))
	}
	return []string{cmp.Or(q.Cell, "–"), q.Quantity,
		judge.Format(q.A, judge.Significant(float64(q.A), width)),
		judge.Format(q.B, judge.Significant(float64(q.B), width)), interval,
		words[q.Verdict]}
}
