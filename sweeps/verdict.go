package sweeps

import (
	"fmt"

	"grposim/rom"
	"grposim/sweeps/config"
	"grposim/sweeps/store"
)

// Ruling is the outcome of comparing an interval with a prediction.
type Ruling int

const (
	Inconclusive Ruling = iota // the interval straddles the margin
	Agree
	Disagree
	OutOfScope // the theory says of itself that it does not hold here
)

var rulingNames = [...]string{"inconclusive", "agree", "disagree", "out-of-scope"}

func (r Ruling) String() string { return rulingNames[r] }

// MarshalText writes the ruling as it stands in verdicts.json.
func (r Ruling) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (r *Ruling) UnmarshalText(text []byte) error {
	for i, name := range rulingNames {
		if name == string(text) {
			*r = Ruling(i)
			return nil
		}
	}
	return fmt.Errorf("unknown verdict %q", text)
}

// ControlVerdict is what the check said of a theory with a planted fault.
type ControlVerdict struct {
	Fault   string `json:"fault"`
	Verdict Ruling `json:"verdict"`
}

// Verdict is one row of the table: a measured value with its interval against
// a prediction with its margin.
type Verdict struct {
	Experiment     string             `json:"experiment"`
	Variant        string             `json:"variant"`
	Claim          string             `json:"claim"`
	Cell           string             `json:"cell"` // id, or PARAM|other=value,… across cells
	Quantity       string             `json:"quantity"`
	Measured       store.Number       `json:"measured"`
	Lo             store.Number       `json:"lo"`
	Hi             store.Number       `json:"hi"`
	Predicted      store.Number       `json:"predicted"`
	PredictionKind rom.Kind           `json:"prediction_kind"`
	Expect         config.Expectation `json:"expect"`
	Margin         store.Number       `json:"margin"` // absolute
	Verdict        Ruling             `json:"verdict"`
	Because        string             `json:"because"`
	Control        *ControlVerdict    `json:"control"`

	Label string `json:"-"` // the cell's own parameters, for people
	Check int    `json:"-"` // index of the check in the file
}

// Summary counts verdicts.
type Summary struct {
	Agree        int `json:"agree"`
	Disagree     int `json:"disagree"`
	Inconclusive int `json:"inconclusive"`
	OutOfScope   int `json:"out_of_scope"`

	Planted int `json:"-"` // faults planted in verdicts that are in scope
	Caught  int `json:"-"` // those whose control came out disagree
}

// String gives the counts in one line.
func (s Summary) String() string {
	line := fmt.Sprintf("%d agree, %d disagree, %d inconclusive, %d out of scope", s.Agree, s.Disagree, s.Inconclusive, s.OutOfScope)
	if s.Planted > 0 {
		line += fmt.Sprintf("; %d of %d planted faults caught", s.Caught, s.Planted)
	}
	return line
}

// Summarize counts the verdicts of each kind.
func Summarize(verdicts []Verdict) Summary {
	var s Summary
	for _, v := range verdicts {
		switch v.Verdict {
		case Agree:
			s.Agree++
		case Disagree:
			s.Disagree++
		case Inconclusive:
			s.Inconclusive++
		case OutOfScope:
			s.OutOfScope++
		}
		if v.Control != nil && v.Verdict != OutOfScope {
			s.Planted++
			if v.Control.Verdict == Disagree {
				s.Caught++
			}
		}
	}
	return s
}

// Side says from where a prediction may be missed.
type Side int

const (
	FromBothSides Side = iota
	FromBelow          // a measurement above the prediction is as good as any; there is no margin
	Beyond             // what was looked for was not found up to lo, and may be anywhere beyond
)

// Compare rules on a measurement [lo, hi] of something predicted, give or take
// margin. A prediction that is expected to hold agrees when the interval lies
// inside predicted ± margin and disagrees when it lies wholly outside; one
// expected to fail the other way round. An interval that straddles the margin,
// or is not known, decides nothing.
func Compare(lo, hi, predicted, margin float64, side Side, expect config.Expectation) Ruling {
	inside := lo >= predicted-margin && hi <= predicted+margin
	outside := lo > predicted+margin || hi < predicted-margin
	switch {
	case side == FromBelow:
		inside = lo >= predicted
		outside = hi < predicted
	case side == Beyond:
		inside = predicted >= lo
	}
	if expect == config.Fails {
		inside, outside = outside, inside
	}
	switch {
	case inside:
		return Agree
	case outside:
		return Disagree
	default:
		return Inconclusive
	}
}
