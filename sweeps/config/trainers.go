package config

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

//go:embed trainers.yaml
var trainersText []byte

// trainers has trainers.yaml, which says what the columns are.
var trainers = LazyTable[struct {
	Learn             []string
	Declined, Foreign map[string]string
	Trainers          map[string]trainer
}]("trainers.yaml", trainersText)

type trainer struct {
	By, Like        string
	Defaults, Names map[string]string
	Keys            []struct {
		Key, When, Where, Left string
		Sets                   []string
		Most                   float64
		With                   map[string]any
		Is                     map[string]map[string]any
	}
	Made []struct {
		Sets, Where, Word, Note string
		Of, Over                []string
		Least                   float64
	}
}

// Translation is a trainer's configuration in the keys of this program. Its lists have a line for a
// key with its value.
type Translation struct {
	Trainer  string   `json:"trainer"`  // the preset
	Modelled []string `json:"modelled"` // with what each sets here
	Left     []string `json:"left_out"` // with the reason
	Unknown  []string `json:"unknown"`  // keys without a row, without their values
	Learn    []string `json:"learn"`    // what has to be learned from a run
	File     string   `json:"file"`     // the configuration

	values map[string]string // of the trainer's keys
	usual  map[string]string // a word on those that are not given: the trainer's defaults
	of     trainer
	used   map[string]bool // those that have a row
	set    map[string]any
}

// translated is the begin of the file: what a trainer's configuration does not say.
const translated = `name: from-%s
extends: %[1]s
# a right answer and a wrong one, and by the policy below 30 %% are right at the start: put yours
bandit: {arms: [{reward: bernoulli, mean: 1}, {reward: bernoulli, mean: 0}]}
`

// Translate reads the configuration of TRL or verl, or of a trainer with their keys: YAML, the
// arguments of a command line, or those of a call in Python.
func Translate(file string, data []byte) (*Translation, error) {
	if problem := unreadable(data); problem != "" {
		return nil, Wrong(file, "%s", problem)
	}
	t := &Translation{Learn: trainers().Learn, values: map[string]string{},
		usual: map[string]string{}, used: map[string]bool{},
		set: map[string]any{LearningRateKey: 0.01, InitKey: []float64{0, 0.85}, "policy.reference": []float64{0, 0.85}}}
	var tree yaml.Node
	err := yaml.Unmarshal(data, &tree)
	if err == nil && tree.Content != nil && tree.Content[0].Kind == yaml.MappingNode {
		t.flatten(tree.Content[0], "")
	} else {
		t.arguments(string(data))
	}
	for key, preset := range trainers().Foreign {
		if t.values[key] != "" {
			return nil, Wrong(file, "got a trainer that is not translated, want the configuration of TRL or "+
				"of verl, or a file of your own that begins with `extends: %s`", preset)
		}
	}
	known, best := 0, trainer{}
	for _, name := range slices.Sorted(maps.Keys(trainers().Trainers)) {
		row, n := trainers().Trainers[name], 0
		row.Keys = slices.Concat(trainers().Trainers[row.Like].Keys, row.Keys)
		t.of = row
		for _, k := range row.Keys {
			if k.Left == "" && t.find(k.Key) != "" && (row.By == "" || t.find(row.By) != "") {
				n++
			}
		}
		if n > known {
			t.Trainer, best, known = cmp.Or(row.Like, name), row, n
		}
	}
	t.of = best
	if known == 0 {
		return nil, Wrong(file, "got no key that is known, want the configuration of TRL's GRPO or "+
			"of verl as YAML, or the arguments of its command line")
	}
	for key, value := range t.of.Defaults {
		if t.find(key) == "" {
			t.values[key], t.usual[key] = value, " (default)"
		}
	}
	t.read()
	t.make()
	isUsed := func(name string) bool { return t.used[name] || t.usual[name] != "" }
	t.Unknown = slices.DeleteFunc(slices.Sorted(maps.Keys(t.values)), isUsed)
	nested := map[string]any{}
	for path, value := range t.set {
		nest(nested, path, value)
	}
	text, _ := yaml.Marshal(nested) // of words and numbers
	t.File = fmt.Sprintf(translated, t.Trainer) + string(text)
	_, err = ToPredict.Load("what "+file+" makes", []byte(t.File))
	return t, err
}

// find returns a key that is given, else the first name in order that ends in it, else "".
func (t *Translation) find(key string) string {
	if _, given := t.values[key]; given || key == "" {
		return key
	}
	for _, name := range slices.Sorted(maps.Keys(t.values)) {
		if strings.HasSuffix(name, "."+key) {
			return name
		}
	}
	return t.find(t.of.Names[key])
}

// is reports whether a condition NAME=VALUE|VALUE or NAME!=VALUE|VALUE holds; no value: not given.
func (t *Translation) is(condition string) bool {
	name, words, _ := strings.Cut(condition, "=")
	name, not := strings.CutSuffix(name, "!")
	value := strings.ToLower(t.values[t.find(name)])
	return condition == "" || slices.Contains(strings.Split(words, "|"), value) != not
}

var unset = []string{"", "null", "None"}

const unmodelled = "this value is not modelled: the preset's stays"

// read translates the keys that have a row.
func (t *Translation) read() {
	for _, k := range t.of.Keys {
		name, sets, why := t.find(k.Key), map[string]any{}, k.Left
		if name == "" || !t.is(k.Where) {
			continue
		}
		value := t.values[name]
		t.used[name], t.used[t.find(k.When)] = true, true
		switch x, err := strconv.ParseFloat(value, 64); {
		case why != "":
		case slices.Contains(unset, value) || err == nil && x < 0:
			why = "not set"
		case k.When != "" && !strings.EqualFold(t.values[t.find(k.When)], "true"):
			why = "no effect without " + k.When
		case k.Is[strings.ToLower(value)] != nil:
			sets = k.Is[strings.ToLower(value)]
		case k.Is != nil || err != nil,
			x != math.Trunc(x) && Keys[keyIndex(k.Sets[0])].Kind == IntegerValue:
			why = unmodelled
		default:
			for _, key := range k.Sets {
				sets[key] = min(x, cmp.Or(k.Most, x))
			}
			maps.Copy(sets, k.With)
		}
		if why != "" {
			t.Left = append(t.Left, name+" "+value+t.usual[name]+": "+why)
			continue
		}
		maps.Copy(t.set, sets)
		says := Each(slices.Sorted(maps.Keys(sets)), func(key string) string {
			return fmt.Sprint(key, " ", sets[key])
		})
		t.Modelled = append(t.Modelled, name+" "+value+t.usual[name]+": "+
			cmp.Or(strings.Join(says, ", "), "the same update here"))
	}
}

// make sets what several keys of the trainer make together.
func (t *Translation) make() {
	for _, m := range trainers().Trainers[t.Trainer].Made {
		if t.find(m.Of[0]) == "" || !t.is(m.Where) {
			continue
		}
		product, from := 1.0, []string(nil)
		for _, name := range m.Of {
			product *= t.number(name, &from)
		}
		for _, name := range m.Over {
			product /= t.number(name, &from)
		}
		says := strings.Join(slices.Compact(from), ", ") + ": "
		if round := max(math.Round(product), m.Least); m.Word != "" && !(product > 1) {
			continue
		} else if m.Word == "" && !(product > 0 && round < maxInteger &&
			Keys[keyIndex(m.Sets)].Range.Contains(round)) {
			t.Left = append(t.Left, says+unmodelled)
			continue
		} else if t.set[m.Sets] = int(round); m.Word != "" {
			t.set[m.Sets] = m.Word
		}
		t.Modelled = append(t.Modelled, says+fmt.Sprint(m.Sets, " ", t.set[m.Sets], m.Note))
	}
}

// number returns the number of NAME:DEFAULT, and adds the names with their values. DEFAULT may be
// another name. Where there is none it is 1, and 0 where it is no number.
func (t *Translation) number(name string, from *[]string) float64 {
	name, usual, _ := strings.Cut(name, ":")
	known := t.find(name)
	if t.used[known] = true; !slices.Contains(unset, t.values[known]) {
		usual = t.values[known]
		*from = append(*from, known+" "+usual+t.usual[known])
	} else if strings.Trim(usual, "0123456789") != "" {
		return t.number(usual, from)
	}
	x, _ := strconv.ParseFloat(cmp.Or(usual, "1"), 64)
	return x
}

// flatten adds the values of a mapping by their dotted names.
func (t *Translation) flatten(n *yaml.Node, path string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := strings.TrimPrefix(path+"."+n.Content[i].Value, ".")
		if value := n.Content[i+1]; value.Kind == yaml.MappingNode {
			t.flatten(value, name)
		} else {
			t.values[name] = value.Value
		}
	}
}

// notes are comments of a shell or of Python, and spaced the equal signs with space about them.
var notes, spaced = regexp.MustCompile(`(?m)(^|[ \t])#.*$`), regexp.MustCompile(`[ \t]*=[ \t]*`)

// arguments adds those of a command line or a call: --name value, --name=value, --name, name=value
// or +name=value. Variables of the shell are put in their places, ${name:-default} too.
func (t *Translation) arguments(text string) {
	text = spaced.ReplaceAllString(notes.ReplaceAllString(text, ""), "=")
	unquoted := strings.NewReplacer("\\\n", " ", "'", "", `"`, "", "(", " ", ")", " ").Replace(text)
	words := strings.Fields(unquoted)
	for i, word := range words {
		name, isOption := strings.CutPrefix(word, "--")
		name, value, assigned := strings.Cut(strings.TrimLeft(name, "+"), "=")
		if isOption && !assigned {
			if value = "true"; i+1 < len(words) && !strings.HasPrefix(words[i+1], "--") {
				value = words[i+1]
			}
		}
		value = os.Expand(strings.TrimRight(value, ","), func(variable string) string {
			variable, usual, _ := strings.Cut(variable, ":-")
			t.used[variable] = true
			return cmp.Or(t.values[variable], usual)
		})
		if isOption || assigned && !strings.ContainsAny(name, "${}/:,[") {
			t.values[name] = value
		}
	}
}
