package config

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

//go:embed trainers.yaml
var trainersText []byte

// trainers has trainers.yaml, which says what the columns are.
var trainers = LazyTable[struct {
	Learn    []string
	Declined map[string]string
	Trainers map[string]struct {
		Keys []struct {
			Key, When, Left string
			Sets            []string
			With            map[string]any
			Is              map[string]map[string]any
		}
		Made []struct {
			Sets, Word, Note string
			Of, Over         []string
		}
	}
}]("trainers.yaml", trainersText)

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
	used   map[string]bool   // those that have a row
	set    map[string]any
}

// translated is the begin of the file: what a trainer's configuration does not say.
const translated = `name: from-%s
extends: %[1]s
# a right answer and a wrong one, and by the policy below 30 %% are right at the start: put yours
bandit: {arms: [{reward: bernoulli, mean: 1}, {reward: bernoulli, mean: 0}]}
`

// Translate reads the configuration of TRL or verl: YAML, or the arguments of a command line.
func Translate(file string, data []byte) (*Translation, error) {
	if problem := unreadable(data); problem != "" {
		return nil, Wrong(file, "%s", problem)
	}
	t := &Translation{Learn: trainers().Learn, values: map[string]string{}, used: map[string]bool{},
		set: map[string]any{LearningRateKey: 0.01, InitKey: []float64{0, 0.85}, "policy.reference": []float64{0, 0.85}}}
	var tree yaml.Node
	err := yaml.Unmarshal(data, &tree)
	if err == nil && tree.Content != nil && tree.Content[0].Kind == yaml.MappingNode {
		t.flatten(tree.Content[0], "")
	} else {
		t.arguments(string(data))
	}
	known := 0
	for _, name := range slices.Sorted(maps.Keys(trainers().Trainers)) {
		n := 0
		for _, k := range trainers().Trainers[name].Keys {
			if k.Left == "" && t.find(k.Key) != "" {
				n++
			}
		}
		if n > known {
			t.Trainer, known = name, n
		}
	}
	if known == 0 {
		return nil, Wrong(file, "got no key that is known, want the configuration of TRL's GRPO or "+
			"of verl as YAML, or the arguments of its command line")
	}
	t.read()
	t.make()
	isUsed := func(name string) bool { return t.used[name] }
	t.Unknown = slices.DeleteFunc(slices.Sorted(maps.Keys(t.values)), isUsed)
	nested := map[string]any{}
	for path, value := range t.set {
		nest(nested, path, value)
	}
	text, err := yaml.Marshal(nested)
	if t.File = fmt.Sprintf(translated, t.Trainer) + string(text); err == nil {
		_, err = ToPredict.Load("what "+file+" makes", []byte(t.File))
	}
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
	return ""
}

// read translates the keys that have a row.
func (t *Translation) read() {
	for _, k := range trainers().Trainers[t.Trainer].Keys {
		name, sets, why := t.find(k.Key), map[string]any{}, k.Left
		if name == "" {
			continue
		}
		value, isKnown := t.values[name], true
		t.used[name], t.used[t.find(k.When)] = true, true
		switch x, err := strconv.ParseFloat(value, 64); {
		case why != "":
		case slices.Contains([]string{"", "null", "None"}, value):
			why = "not set"
		case k.When != "" && !strings.EqualFold(t.values[t.find(k.When)], "true"):
			why = "no effect without " + k.When
		case k.Is != nil:
			sets, isKnown = k.Is[strings.ToLower(value)]
		case err != nil:
			isKnown = false
		case x < 0:
			why = "not set"
		default:
			for _, key := range k.Sets {
				sets[key] = x
			}
			maps.Copy(sets, k.With)
		}
		if !isKnown {
			why = "this value is not modelled: the preset's stays"
		}
		if why != "" {
			t.Left = append(t.Left, name+" "+value+": "+why)
			continue
		}
		maps.Copy(t.set, sets)
		says := Each(slices.Sorted(maps.Keys(sets)), func(key string) string { return fmt.Sprint(key, " ", sets[key]) })
		t.Modelled = append(t.Modelled, name+" "+value+": "+cmp.Or(strings.Join(says, ", "), "the same update here"))
	}
}

// make sets what several keys of the trainer make together.
func (t *Translation) make() {
	for _, m := range trainers().Trainers[t.Trainer].Made {
		if t.find(m.Of[0]) == "" {
			continue
		}
		product, from := 1.0, []string(nil)
		for _, name := range m.Of {
			product *= t.number(name, &from)
		}
		for _, name := range m.Over {
			product /= t.number(name, &from)
		}
		if m.Word != "" && product <= 1 || !(product > 0 && product < 1<<53) {
			continue
		}
		if t.set[m.Sets] = int(math.Round(product)); m.Word != "" {
			t.set[m.Sets] = m.Word
		}
		says, line := strings.Join(slices.Compact(from), ", ")+": ", fmt.Sprint(m.Sets, " ", t.set[m.Sets], m.Note)
		if last := len(t.Modelled) - 1; last >= 0 && strings.HasPrefix(t.Modelled[last], says) {
			says, t.Modelled = t.Modelled[last]+"; ", t.Modelled[:last]
		}
		t.Modelled = append(t.Modelled, says+line)
	}
}

// number returns the number of NAME:DEFAULT, where DEFAULT may be another name, 1 where there is
// none, and adds the names with their values.
func (t *Translation) number(name string, from *[]string) float64 {
	name, usual, _ := strings.Cut(name, ":")
	known := t.find(name)
	if known != "" {
		usual = t.values[known]
		t.used[known], *from = true, append(*from, known+" "+usual)
	}
	if x, err := strconv.ParseFloat(usual, 64); err == nil {
		return x
	} else if known == "" && usual != "" {
		return t.number(usual, from)
	}
	return 1
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

// arguments adds those of a command line: --name value, --name=value, name=value or +name=value,
// with variables of the shell in their places.
func (t *Translation) arguments(text string) {
	words := strings.Fields(strings.NewReplacer("\\\n", " ", "'", "", `"`, "").Replace(text))
	for i, word := range words {
		name, isOption := strings.CutPrefix(word, "--")
		name, value, assigned := strings.Cut(strings.TrimLeft(name, "+"), "=")
		if isOption && !assigned && i+1 < len(words) && !strings.HasPrefix(words[i+1], "--") {
			value = words[i+1]
		}
		if variable, is := strings.CutPrefix(value, "$"); is {
			variable = strings.Trim(variable, "{}")
			value, t.used[variable] = t.values[variable], true
		}
		if isOption || assigned && !strings.ContainsAny(name, "$(){}/:,") {
			t.values[name] = value
		}
	}
}
