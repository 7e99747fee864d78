package sweeps

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"grposim/rom"
	"grposim/sim"
	"grposim/sim/measure"
	"grposim/sweeps/config"
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
	// Confidence holds for all differences together: the larger one of the two
	// configurations. IntervalConfidence is that of each, 1 − (1 − Confidence)/n for n
	// differences (Bonferroni).
	Confidence         float64 `json:"confidence"`
	IntervalConfidence float64 `json:"interval_confidence"`
	// SameID is the number of pairs with the same id: both drew the same random numbers,
	// unless the version of the streams changed, and the intervals are then too wide.
	SameID   int              `json:"pairs_with_the_same_id"`
	Pairs    []ComparedCell   `json:"pairs"`            // in the order of A
	Sets     []ComparedSet    `json:"sets"`             // what checks judge across cells, of sets whose cells are all paired
	OnlyA    []UnpairedCell   `json:"only_in_a"`        // cells of A without a partner
	OnlyB    []UnpairedCell   `json:"only_in_b"`        // cells of B without a partner
	Verdicts []ChangedVerdict `json:"changed_verdicts"` // of the pairs, in the order of A
}

// ComparedFolder is one of the two results folders.
type ComparedFolder struct {
	Folder  string `json:"folder"`  // its path
	Name    string `json:"name"`    // of the sweep
	Version string `json:"version"` // of the program that simulated it last; "" if not known
	Cells   int    `json:"cells"`   // distinct ones
}

// DifferingParameter is a parameter with its value in each folder.
type DifferingParameter struct {
	Param string `json:"param"`
	A     string `json:"a"`
	B     string `json:"b"`
}

// UnpairedCell is a cell that only one folder has.
type UnpairedCell struct {
	Cell  string `json:"cell"`  // its id
	Label string `json:"label"` // its name for people
}

// ComparedCell is a pair of cells with equal parameters, up to Comparison.Differing.
type ComparedCell struct {
	CellA      string               `json:"cell_a"` // id in A
	CellB      string               `json:"cell_b"` // id in B
	Label      string               `json:"label"`  // name in A for people
	StatusA    store.CellStatus     `json:"status_a"`
	StatusB    store.CellStatus     `json:"status_b"`
	Quantities []ComparedQuantity   `json:"quantities"` // those of A, then those that only B has
	estimates  [2]map[string]sample // by name of the quantity
}

// ComparedSet is a quantity that a check of A or B judges across cells, such as a slope, of
// a set of cells and the partners of these cells.
type ComparedSet struct {
	Claim            string `json:"claim"`
	Label            string `json:"label"` // name of the set for people
	ComparedQuantity        // its fields
	estimates        [2]sample
}

// ComparedQuantity is a quantity of a pair of cells, or of sets of cells. NaN stands for what
// is not there.
type ComparedQuantity struct {
	Quantity   string       `json:"quantity"`
	A          store.Number `json:"a"`          // measured in A
	B          store.Number `json:"b"`          // measured in B
	Difference store.Number `json:"difference"` // B − A
	Lo         store.Number `json:"lo"`         // lower end of its interval
	Hi         store.Number `json:"hi"`         // upper end
	Verdict    Change       `json:"verdict"`
}

// Change says what is known of the sign of a difference B − A.
type Change string

const (
	Higher        Change = "higher"              // the interval lies above 0
	Lower         Change = "lower"               // the interval lies below 0
	NoneFound     Change = "no-difference-found" // the interval contains 0, which does not mean that there is no difference
	NotComparable Change = "not-comparable"      // a value is missing, or its error is not known
)

// ChangedVerdict is a verdict of the same check on paired cells that is not the same in
// both folders.
type ChangedVerdict struct {
	Claim      string `json:"claim"`
	Cell       string `json:"cell"` // the label of the pair, or PARAM|other=value,… across cells
	Quantity   string `json:"quantity"`
	Prediction string `json:"prediction_kind"` // "" of a hypothesis
	A          Ruling `json:"a"`
	B          Ruling `json:"b"`
}

// Differences returns the number of compared quantities by Change.
func (c *Comparison) Differences() map[Change]int {
	count := make(map[Change]int)
	for _, pair := range c.Pairs {
		for _, q := range pair.Quantities {
			count[q.Verdict]++
		}
	}
	for _, set := range c.Sets {
		count[set.Verdict]++
	}
	return count
}

// locatedEvent is the quantity that stands for the three estimates of a search.
const locatedEvent = "located"

// sample is an estimate with the cell that it is of.
type sample struct {
	measure.Estimate
	cell *Cell
}

// CompareFolders compares what two finished results folders measured. It reads their
// journals and their verdicts as stored, and writes nothing. Its errors are those of Open,
// and of reading verdicts.json.
//
// Cells are paired by their parameters; of several cells with equal ones the first of A
// goes with the first of B, and so on. The interval of a difference is Welch's,
// B − A ± (t·√(s_A² + s_B²) + systematic errors), with the standard errors and degrees of
// freedom that the journals hold, and for shares Newcombe's, from the two intervals of
// Wilson.
func CompareFolders(a, b string, progress Progress) (*Comparison, error) {
	var sides [2]side
	for i, dir := range []string{a, b} {
		if err := sides[i].read(dir, progress); err != nil {
			return nil, err
		}
	}
	c := &Comparison{A: sides[0].ComparedFolder, B: sides[1].ComparedFolder,
		Differing: []DifferingParameter{}, Pairs: []ComparedCell{}, Sets: []ComparedSet{}, OnlyA: []UnpairedCell{}, OnlyB: []UnpairedCell{}, Verdicts: []ChangedVerdict{},
		Confidence: max(sides[0].plan.Spec.Confidence, sides[1].plan.Spec.Confidence)}
	shared := c.splitKeys(&sides)
	if err := c.pair(&sides, shared); err != nil {
		return nil, err
	}
	c.addSets(&sides)
	c.compare()
	c.changedVerdicts(&sides)
	return c, nil
}

// FoldersToCompare returns the pairs of results folders in a and b: the two themselves,
// or, if both hold results folders, as that of `grposim reproduce`, those of the same
// name, in its order. only lists the others.
func FoldersToCompare(a, b string) (pairs [][2]string, only []string) {
	inA, inB := store.FoldersIn(a), store.FoldersIn(b)
	if len(inA) == 0 || len(inB) == 0 {
		return [][2]string{{a, b}}, nil
	}
	for _, folder := range inA {
		if other := filepath.Join(b, filepath.Base(folder)); slices.Contains(inB, other) {
			pairs = append(pairs, [2]string{folder, other})
		} else {
			only = append(only, folder)
		}
	}
	for _, folder := range inB {
		if !slices.Contains(inA, filepath.Join(a, filepath.Base(folder))) {
			only = append(only, folder)
		}
	}
	return pairs, only
}

// side is one of two folders that are compared.
type side struct {
	ComparedFolder
	plan     *Plan
	outcomes map[string]*store.Outcome
	evidence *evidence
	verdicts []Verdict      // as stored
	cells    []*Cell        // distinct ids, in the order of the sweep
	pairs    map[string]int // index of the pair of a cell, by its id
	paired   []*Cell        // by the index of the pair
}

func (s *side) read(dir string, progress Progress) (err error) {
	if s.plan, s.outcomes, err = openNoted(dir, progress); err != nil {
		return err
	}
	manifest, err := store.ReadManifest(dir)
	if err != nil {
		return err
	}
	data, err := store.ReadFile(filepath.Join(dir, "verdicts.json"))
	if err != nil {
		return err
	}
	var stored struct{ Verdicts []Verdict }
	if err := json.Unmarshal(data, &stored); err != nil {
		return damagedVerdicts(filepath.Join(dir, "verdicts.json"), err)
	}
	s.verdicts, s.evidence = stored.Verdicts, newEvidence(s.outcomes)
	seen := make(map[string]bool)
	for i := range s.plan.Cells {
		if cell := &s.plan.Cells[i]; !seen[cell.ID] {
			seen[cell.ID] = true
			s.cells = append(s.cells, cell)
		}
	}
	s.ComparedFolder = ComparedFolder{Folder: dir, Name: manifest.Name, Cells: len(s.cells)}
	if manifest.Run != nil {
		s.Version = manifest.Run.Version
	}
	return nil
}

// constant returns the value that a key has in all cells; ok is false if it has several.
func (s *side) constant(k config.Key) (value string, ok bool) {
	for i, cell := range s.cells {
		v := config.Format(k.Get(&cell.Settings))
		if i > 0 && v != value {
			return "", false
		}
		value = v
	}
	return value, true
}

// splitKeys lists the parameters that differ between the folders as a whole, and returns
// the other keys.
func (c *Comparison) splitKeys(sides *[2]side) (shared []config.Key) {
	for _, k := range config.Keys {
		a, oneA := sides[0].constant(k)
		b, oneB := sides[1].constant(k)
		if oneA && oneB && a != b {
			c.Differing = append(c.Differing, DifferingParameter{k.Path, a, b})
		} else {
			shared = append(shared, k)
		}
	}
	return shared
}

// pair pairs the cells that have equal values of the shared keys.
func (c *Comparison) pair(sides *[2]side, shared []config.Key) error {
	keyOf := func(cell *Cell) string {
		var values []string
		for _, k := range shared {
			values = append(values, config.Format(k.Get(&cell.Settings)))
		}
		return strings.Join(values, "\n")
	}
	partners := make(map[string][]*Cell)
	for _, cell := range sides[1].cells {
		key := keyOf(cell)
		partners[key] = append(partners[key], cell)
	}
	for i := range sides {
		sides[i].pairs = make(map[string]int)
	}
	for _, cell := range sides[0].cells {
		key := keyOf(cell)
		if len(partners[key]) == 0 {
			c.OnlyA = append(c.OnlyA, UnpairedCell{cell.ID, cell.Label()})
			continue
		}
		partner := partners[key][0]
		partners[key] = partners[key][1:]
		for i, member := range []*Cell{cell, partner} {
			sides[i].pairs[member.ID] = len(c.Pairs)
			sides[i].paired = append(sides[i].paired, member)
		}
		if cell.ID == partner.ID {
			c.SameID++
		}
		p := ComparedCell{CellA: cell.ID, CellB: partner.ID, Label: cell.Label()}
		for i, member := range []*Cell{cell, partner} {
			o := sides[i].outcomes[member.ID]
			*[]*store.CellStatus{&p.StatusA, &p.StatusB}[i] = o.Status
			p.estimates[i] = make(map[string]sample)
			quantities, err := measuredQuantities(member, o)
			if err != nil {
				return err
			}
			for _, e := range quantities {
				if _, known := p.estimates[0][e.Name]; i == 0 || !known {
					p.Quantities = append(p.Quantities, ComparedQuantity{Quantity: e.Name})
				}
				p.estimates[i][e.Name] = sample{e.Estimate, member}
			}
		}
		c.Pairs = append(c.Pairs, p)
	}
	for _, cell := range sides[1].cells {
		if _, paired := sides[1].pairs[cell.ID]; !paired {
			c.OnlyB = append(c.OnlyB, UnpairedCell{cell.ID, cell.Label()})
		}
	}
	return nil
}

// finalPrefix begins the names of recorded quantities at the last step of a run.
const finalPrefix = "final_"

// ofPolicy are the recorded quantities of which the value at the last step is compared:
// those of the policy. Those of the samples are the noise of a single step.
var ofPolicy = append(sim.Strata.Parts(), sim.ExpectedReward, sim.TrueReward, sim.Entropy, sim.Collision, sim.KLReference, sim.LogitGap)

// measuredQuantities returns the estimates of a cell that cells.csv has, and the last
// values of its trajectory. A located event is one quantity: the middle between the last
// value without it and the first with it, either of which it can be. Its error is that of
// reading the trajectory.
func measuredQuantities(c *Cell, o *store.Outcome) ([]measure.Named, error) {
	var all []measure.Named
	for _, e := range o.Estimates {
		switch e.Name {
		case sim.LocatedLow:
			event := measure.Estimate{Mean: math.NaN()} // beyond the end of the search
			if high, found := o.Estimate(sim.LocatedHigh); found {
				event = measure.Certain((e.Mean + high.Mean) / 2)
				event.Systematic = (high.Mean - e.Mean) / 2
			}
			all = append(all, measure.Named{Name: locatedEvent, Estimate: event})
		case sim.LocatedHigh, sim.LocatedEnd:
		default:
			if estimate, _ := o.Estimate(e.Name); !matrixEstimate(e.Name) {
				all = append(all, measure.Named{Name: e.Name, Estimate: estimate})
			}
		}
	}
	recorded, err := o.Trajectory(ofPolicy...)
	if recorded == nil || len(recorded.Steps) == 0 {
		return all, err
	}
	last := len(recorded.Steps) - 1
	for _, s := range recorded.Quantities {
		final := measure.Certain(float64(s.Mean[last]))
		if !c.deterministic() {
			final = measure.Estimate{Mean: final.Mean, StdErr: float64(s.StdErr[last]), DF: c.Settings.Run.Replicas - 1}
			if !(final.StdErr > 0) { // all replicas equal, from which no error can be known
				final.DF = 0
			}
		}
		all = append(all, measure.Named{Name: finalPrefix + string(s.Quantity), Estimate: final})
	}
	return all, nil
}

// addSets adds what the checks of either folder judge across cells, each number once.
func (c *Comparison) addSets(sides *[2]side) {
	seen := make(map[string]bool)
	for i := range sides {
		for _, planned := range sides[i].plan.Checks {
			check := planned.Check
			for _, set := range planned.Sets {
				numbers, all := sides[i].pairsOf(set.members())
				if numbers == nil || !all {
					continue
				}
				compared := ComparedSet{Claim: check.Claim.Name, Label: set.Label}
				compared.Quantity = claims[check.Claim].quantities(check, set.Cells)[0]
				if check.Over == config.GroupSizeKey && check.Prediction == rom.LeadingOrder {
					compared.Quantity += fmt.Sprintf(" from G = %d on", check.SmallestJudged())
				}
				for n := range sides {
					compared.estimates[n].Estimate = sides[n].across(check, set, numbers)
				}
				if key := fmt.Sprint(compared.Claim, numbers, compared.estimates); !seen[key] {
					seen[key] = true
					c.Sets = append(c.Sets, compared)
				}
			}
		}
	}
}

// across returns what a check finds in a set of cells that consists of the members of pairs.
// Only slopes have a statistical error: the other claims across cells are about G = ∞, and
// their intervals are those of a search.
func (s *side) across(check *config.Check, set CellSet, numbers []int) measure.Estimate {
	set.Cells = nil
	for _, n := range numbers {
		set.Cells = append(set.Cells, s.paired[n])
	}
	f := newJudgement(check, s.plan.IntervalConfidence(), s.evidence).find(set)[0]
	switch {
	case f.diverged.diverged > 0:
		return measure.Certain(math.NaN())
	case f.fit != (measure.Estimate{}):
		return f.fit
	}
	e := measure.Certain(f.measured)
	e.Systematic = (f.hi - f.lo) / 2
	return e
}

// pairsOf returns the indices of the pairs of cells, and whether all of them have one.
func (s *side) pairsOf(ids []string) (numbers []int, all bool) {
	for _, id := range ids {
		n, paired := s.pairs[id]
		if !paired {
			return nil, false
		}
		numbers = append(numbers, n)
	}
	return numbers, true
}

// compare compares the quantities of all pairs and sets.
func (c *Comparison) compare() {
	n := len(c.Sets)
	for _, p := range c.Pairs {
		n += len(p.Quantities)
	}
	c.IntervalConfidence = 1 - (1-c.Confidence)/float64(max(n, 1))
	for _, p := range c.Pairs {
		for i := range p.Quantities {
			q := &p.Quantities[i]
			var both [2]sample
			for n := range both {
				known := false
				if both[n], known = p.estimates[n][q.Quantity]; !known {
					both[n].Mean = math.NaN()
				}
			}
			q.compare(both, c.IntervalConfidence)
		}
	}
	for i := range c.Sets {
		c.Sets[i].compare(c.Sets[i].estimates, c.IntervalConfidence)
	}
}

// compare sets the values of a quantity in A and B, NaN where there is none, and their
// difference.
func (q *ComparedQuantity) compare(both [2]sample, confidence float64) {
	a, b := both[0], both[1]
	q.A, q.B = store.Number(a.Mean), store.Number(b.Mean)
	nan := store.Number(math.NaN())
	q.Difference, q.Lo, q.Hi, q.Verdict = nan, nan, nan, NotComparable
	if !math.IsNaN(a.Mean) && !math.IsNaN(b.Mean) {
		lo, hi := difference(q.Quantity, a, b, confidence)
		q.Difference, q.Lo, q.Hi, q.Verdict = q.B-q.A, store.Number(lo), store.Number(hi), changeOf(lo, hi)
	}
}

// difference returns the interval of the difference b − a of a quantity, of the given
// confidence in (0, 1); infinite or NaN if an error or a value is not known.
func difference(name string, a, b sample, confidence float64) (lo, hi float64) {
	if isShare(name) { // Newcombe 1998, method 10
		aLo, aHi := a.cell.interval(name, a.Estimate, confidence)
		bLo, bHi := b.cell.interval(name, b.Estimate, confidence)
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

// changedVerdicts lists the verdicts on paired cells that are not the same in both
// folders. Verdicts are paired by claim, quantity, prediction and cells, and in their
// order where these are equal.
func (c *Comparison) changedVerdicts(sides *[2]side) {
	partners := make(map[string][]*Verdict)
	keyOf := func(s *side, v *Verdict) (key string, paired bool) {
		members := v.Members
		if members == nil {
			members = []string{v.Cell}
		}
		numbers, paired := s.pairsOf(members)
		return strings.Join([]string{v.Claim, v.Quantity, string(v.PredictionKind), string(v.Expect), fmt.Sprint(numbers)}, "\n"), paired
	}
	for i := range sides[1].verdicts {
		if key, paired := keyOf(&sides[1], &sides[1].verdicts[i]); paired {
			partners[key] = append(partners[key], &sides[1].verdicts[i])
		}
	}
	for i := range sides[0].verdicts {
		v := &sides[0].verdicts[i]
		key, paired := keyOf(&sides[0], v)
		if !paired || len(partners[key]) == 0 {
			continue
		}
		other := partners[key][0]
		partners[key] = partners[key][1:]
		if v.Verdict == other.Verdict {
			continue
		}
		cell := v.Cell
		if n, single := sides[0].pairs[v.Cell]; single {
			cell = c.Pairs[n].Label
		}
		c.Verdicts = append(c.Verdicts, ChangedVerdict{v.Claim, cell, v.Quantity, string(v.PredictionKind), v.Verdict, other.Verdict})
	}
}

// ComparisonColumns are the columns of a table of compared quantities for people: see
// ComparedQuantity.Cells.
var ComparisonColumns = []string{"cell", "quantity", "A", "B", "B − A", "verdict"}

// Cells returns a compared quantity of the cell with the given label as
// ComparisonColumns. Numbers are rounded; "–" stands for what is missing.
func (q *ComparedQuantity) Cells(label string) []string {
	width := float64(q.Hi) - float64(q.Lo)
	words := map[Change]string{NoneFound: "~ no difference found", NotComparable: "not comparable"}
	verdict := string(q.Verdict)
	if w, translated := words[q.Verdict]; translated {
		verdict = w
	}
	interval := "–"
	if q.Verdict != NotComparable {
		digits := significant(max(math.Abs(float64(q.Lo)), math.Abs(float64(q.Hi))), width)
		interval = fmt.Sprintf("%s [%s, %s]", format(q.Difference, digits), format(q.Lo, digits), format(q.Hi, digits))
	}
	return []string{cmp.Or(label, "–"), q.Quantity, format(q.A, significant(float64(q.A), width)), format(q.B, significant(float64(q.B), width)), interval, verdict}
}

// damagedVerdicts returns the error of a file of verdicts that cannot be read.
func damagedVerdicts(path string, err error) error {
	return &store.DamagedError{Message: fmt.Sprintf("%s: %v: run `grposim check` with its folder, which writes it again", path, err)}
}
