package config

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"grposim/option"
)

// ValueKind is the type of a key's value.
type ValueKind int

const (
	IntegerValue ValueKind = iota // int; grpo.group_size may be option.Infinite
	NumberValue                   // float64, finite
	SeedValue                     // uint64
	WordValue                     // string, one of Key.Words
	WeightsValue                  // Weights
	RecordValue                   // Record
	MeansValue                    // PromptMeans
	ListValue                     // []float64, one entry per arm or per item of bandit.arms
	InitValue                     // Init
	ArmsValue                     // []ArmGroup
	searchValue                   // *Locate; of a check only
)

// Row is a row of keys.yaml, which says more of the columns.
type Row struct {
	Path    string   `yaml:"key"` // the dotted path, unique in the table
	Field   string   // its place in Settings or Check, as Lag.Ages.To; "": it is read with others
	Words   []string // allowed values of a WordValue; nil for other kinds
	Follows string   // in words, the default that depends on other keys; "": Default, or required
	Doc     string   // meaning, for the reference document
	Symbol  string   // in labels and quantities, such as η; "": the last word of Path
	Noun    string   // in titles and on axes, such as learning rate; "": Path
	Unit    string   // on axes; "": none
	Note    string   // ends what is wanted of a number
	// what trainers call it: TRL's GRPOConfig and verl without their sections (docs/primer.md), and
	// usual abbreviations
	Known []string
	// tables of cells have a column for it only if a cell does not hold the default: of the options
	// that trainers add to GRPO (docs/theory-trainers.md §11)
	Sparse bool
	Need   Need     // of a check: claims with this need require the key, others refuse it; "": none
	Claims []string // of a check: the claims that may have the key; nil: all

	Values, Range, Default, Idle string // as text; Values of a key of the file
}

// Key is one dotted key of a configuration.
type Key struct {
	Row
	Kind  ValueKind // the type of the values
	Range Range     // allowed values of an IntegerValue or NumberValue, and entries of a ListValue
	// of the type of Kind; nil: the key is required or its default depends on other keys
	Default any
	Idle    Condition // in a cell where it holds the key has no effect; zero: there is none

	index  []int               // of its field in Settings or Check; nil: none
	follow func(*Settings) any // computes the default that Follows describes; nil: none
}

// Required reports whether a file must give the key.
func (k Key) Required() bool { return k.Default == nil && k.Follows == "" }

// AtDefault reports whether settings hold the key's default.
func (k Key) AtDefault(s *Settings) bool { return atDefault(&k, k.Get(s), s) }

// JSON returns the key's value in the form in which a file or a results folder writes
// it, which encoding/json takes.
func (k Key) JSON(s *Settings) any { return documentValue(k.Get(s)) }

// Set assigns a value of the type of Kind. It changes no other key: defaults that
// depend on the value stay as they are. A list must have one entry per arm; a list of
// another length is the error.
func (k Key) Set(s *Settings, v any) error {
	arms := len(s.Bandit.Arms)
	if n, isList := listLength(v); isList && n != arms {
		return fmt.Errorf("%s: got %s, want %s, one per arm", k.Path, CountWords(n, "number"),
			CountWords(arms, "number"))
	}
	k.set(s, v)
	return nil
}

// IdleIn reports whether the key has no effect in a cell.
func (k Key) IdleIn(s *Settings) bool { return k.Idle.Param != "" && k.Idle.holds(s) }

// Want says in words what a value of the key must be: the end of a message "got X, want Y".
func (k Key) Want() string {
	condition := strings.TrimSuffix(" "+k.Range.String(), " ")
	switch k.Kind {
	case IntegerValue:
		if k.Path == GroupSizeKey {
			condition += ", or inf"
		}
		return "an integer" + condition
	case SeedValue:
		return "an integer in [0, 18446744073709551615]"
	case NumberValue:
		return "a number" + condition + k.Note
	case WordValue:
		return listWords(k.Words)
	case WeightsValue:
		return fmt.Sprintf("a list of at most %d numbers ≥ 0", option.MaxTableAge+1)
	case RecordValue:
		return recordWant
	case MeansValue:
		return "a list of pairs of numbers" + condition + ", one per prompt"
	case ListValue:
		return "a list of numbers, one per arm"
	case searchValue:
		return "{param, from, to, tolerance}, from and to in multiples of " + ruleMeasured
	case InitValue:
		return "a list of numbers, one per arm, or fixed-point, or {fixed_point_offset: x}"
	default:
		return "a list of at least 2 arms"
	}
}

// Paths of the keys that appear in rules between keys.
const (
	SeedKey          = "seed"
	ArmsKey          = "bandit.arms"
	TrueMeansKey     = "bandit.true_means"
	InitKey          = "policy.init"
	GroupSizeKey     = "grpo.group_size"
	LagIntervalKey   = "lag.interval"
	LearningRateKey  = "optimizer.learning_rate"
	MomentumKey      = "optimizer.momentum"
	ScheduleTotalKey = "optimizer.schedule.total"
	StepsKey         = "run.steps"
	BurnInKey        = "run.burn_in"
)

// Each lists what a function returns for the items of a list; nil for an empty one.
func Each[T, U any](list []T, of func(T) U) []U {
	var all []U
	for _, item := range list {
		all = append(all, of(item))
	}
	return all
}

// AddNew appends those of the items that a list does not have.
func AddNew[T comparable](list []T, items ...T) []T {
	for _, item := range items {
		if !slices.Contains(list, item) {
			list = append(list, item)
		}
	}
	return list
}

// ShortName returns the key's symbol, or the last word of its path where it has none.
func (k Key) ShortName() string { return cmp.Or(k.Symbol, lastName(k.Path)) }

// Title names the key in words, such as learning rate η, or by its path where it has
// no noun. The settings decide whether lag.interval is a refresh interval or a delay.
func (k Key) Title(s *Settings) string {
	switch {
	case k.Noun == "":
		return k.Path
	case k.Path == LagIntervalKey && s.Lag.Kind == option.Delay:
		return "delay " + k.Symbol
	}
	return k.Noun + " " + k.Symbol
}

// AxisLabel returns the Title with the unit, such as refresh interval K, optimizer steps.
func (k Key) AxisLabel(s *Settings) string {
	if k.Unit == "" {
		return k.Title(s)
	}
	return k.Title(s) + ", " + k.Unit
}

// OfRun reports whether the key belongs to section `run`: how long and how often a
// cell is simulated. No prediction depends on these keys.
func (k Key) OfRun() bool { return strings.HasPrefix(k.Path, "run.") }

// Faulty reports whether the control of a check can set the key: the theory uses it.
func (k Key) Faulty() bool { return !k.OfRun() && k.Path != SeedKey }

// whole reports whether the key's values are integers.
func (k Key) whole() bool { return k.Kind == IntegerValue || k.Kind == SeedValue }

// Numeric reports whether the key's values are numbers.
func (k Key) Numeric() bool { return k.Kind == IntegerValue || k.Kind == NumberValue }

// Number returns the value of a numeric key, +Inf for option.Infinite. It panics for other keys.
func (k Key) Number(s *Settings) float64 { return numberOf(k.Get(s)) }

// numberOf returns a value of a numeric key as a number.
func numberOf(v any) float64 {
	if v == option.Infinite {
		return math.Inf(1)
	}
	if n, is := v.(int); is {
		return float64(n)
	}
	return v.(float64)
}

// SetNumber assigns a numeric key, an integer key the integer nearest to x.
func (k Key) SetNumber(s *Settings, x float64) { k.set(s, k.valueOf(x)) }

// valueOf returns the value of a key that is a number, an integer key's nearest to x.
func (k *Key) valueOf(x float64) any {
	switch k.Kind {
	case IntegerValue:
		return int(math.Round(x))
	case SeedValue:
		return uint64(math.Round(x))
	}
	return x
}

// ShortName returns the ShortName of the key with a path of the table.
func ShortName(path string) string {
	k, _ := LookupKey(path)
	return k.ShortName()
}

// LookupKey returns the key with a dotted path; false where the table has none.
func LookupKey(path string) (Key, bool) {
	if i := keyIndex(path); i >= 0 {
		return Keys[i], true
	}
	return Key{}, false
}

// keyIndex returns the index in Keys of the key with a path, −1 where there is none.
func keyIndex(path string) int {
	if i, known := keyIndices()[path]; known {
		return i
	}
	return -1
}

var keyIndices = sync.OnceValue(func() map[string]int {
	indices := make(map[string]int)
	for i := range Keys {
		indices[Keys[i].Path] = i
	}
	return indices
})

func keyPaths() []string { return Each(Keys, func(k Key) string { return k.Path }) }

// sectionNames lists the names that may follow a prefix of the paths in Keys; the
// prefix "" gives the sections of a file.
func sectionNames(prefix string) []string {
	if prefix != "" {
		prefix += "."
	}
	var names []string
	for _, k := range Keys {
		if rest, under := strings.CutPrefix(k.Path, prefix); under {
			name, _, _ := strings.Cut(rest, ".")
			names = AddNew(names, name)
		}
	}
	return names
}

// ReferenceText has the templates "keys" and "claims" of the reference, in Markdown.
//
//go:embed reference.md.tmpl
var ReferenceText string

//go:embed example.yaml
var referenceExample string // the smallest file with a sweep and a check

// Reference returns what fills the templates of ReferenceText.
func Reference() map[string]any {
	return map[string]any{"Example": referenceExample, "File": table.File, "Keys": Keys,
		"Checks": checkKeys, "Claims": Claims, "MaxArms": maxArms, "MaxCells": maxCells}
}

// ByDefault says in words what the key is where a file leaves it out.
func (k Key) ByDefault() string {
	switch {
	case k.Default != nil:
		return Format(k.Default)
	case k.Follows != "":
		return k.Follows
	}
	return "required"
}
