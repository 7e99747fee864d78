package config

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"grposim/option"
	"grposim/sim"
)

//go:embed keys.yaml
var keysText []byte

// table has the rows of keys.yaml: of a file, of its base and of a check.
var table = DecodeTable[struct{ File, Base, Check []Row }]("keys.yaml", keysText)

// DecodeTable decodes an embedded file. It panics where that is not of the type.
func DecodeTable[T any](name string, text []byte) (t T) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&t); err != nil {
		panic("config: " + name + ": " + err.Error())
	}
	return t
}

// LazyTable returns DecodeTable of a file that few commands read, at its first call.
func LazyTable[T any](name string, text []byte) func() T {
	return sync.OnceValue(func() T { return DecodeTable[T](name, text) })
}

// Keys is the key table, from which the loader, --set, axes, conditions, the JSON
// Schema and the reference document are derived. A file nests at the dots of a path.
var Keys = func() []Key {
	keys := Each(table.Base, func(r Row) Key { return r.key(reflect.TypeFor[Settings]()) })
	for i := range keys {
		k := &keys[i]
		if k.Kind == WordValue {
			k.Default = k.Words[0]
		}
		if k.Row.Idle == "" {
			continue
		}
		param, op, values := parseTest(k.Row.Idle)
		other := &keys[slices.IndexFunc(keys, func(k Key) bool { return k.Path == param })]
		if op == "!=" {
			named := func(word string) bool { return slices.Contains(values, word) }
			values = slices.DeleteFunc(slices.Clone(other.Words), named)
		}
		k.Idle = Condition{Param: param, Values: Each(values, other.parse)}
	}
	return keys
}()

// kinds are the kinds of keys by the type of their field; of other types the values are words.
var kinds = map[reflect.Type]ValueKind{
	reflect.TypeFor[int]():            IntegerValue,
	reflect.TypeFor[float64]():        NumberValue,
	reflect.TypeFor[*float64]():       NumberValue,
	reflect.TypeFor[uint64]():         SeedValue,
	reflect.TypeFor[ageWeights]():     WeightsValue,
	reflect.TypeFor[[]sim.Quantity](): RecordValue,
	reflect.TypeFor[*PromptMeans]():   MeansValue,
	reflect.TypeFor[[]float64]():      ListValue,
	reflect.TypeFor[Init]():           InitValue,
	reflect.TypeFor[[]option.Arm]():   ArmsValue,
	reflect.TypeFor[*Locate]():        searchValue,
}

type ageWeights = [option.MaxTableAge + 1]float64

// optionWords are the words of the types of package option, as a file writes them.
var optionWords = func() map[reflect.Type][]string {
	words := map[reflect.Type][]string{}
	for _, list := range []any{
		option.Filters, option.Baselines, option.Scales, option.Deviations, option.ImportanceModes,
		option.Corrections, option.KLPlacements, option.KLGradients, option.KLPoints, option.LagKinds,
		option.AgeLaws, option.AgeDraws, option.SampleUses, option.Methods, option.ScheduleKinds,
		option.UpdateStates, option.ParameterKinds, option.PromptOrders,
	} {
		v := reflect.ValueOf(list)
		for i := range v.Len() {
			t := v.Type().Elem()
			words[t] = append(words[t], fmt.Sprint(v.Index(i)))
		}
	}
	return words
}()

// key returns the key of a row, whose field is one of a struct.
func (r Row) key(of reflect.Type) Key {
	k := Key{Row: r, Range: anyNumber, follow: follows[r.Path]}
	for name := range strings.FieldsFuncSeq(r.Field, func(c rune) bool { return c == '.' }) {
		field, known := of.FieldByName(name)
		if !known {
			panic("config: keys.yaml: no field " + r.Field)
		}
		k.index, of = append(k.index, field.Index...), field.Type
	}
	switch kind, is := kinds[of]; {
	case r.Field == "": // of a check, read with others
		k.Kind = NumberValue
	case is:
		k.Kind = kind
	default:
		k.Kind = WordValue
		if words := optionWords[of]; words != nil {
			k.Words = words
		}
	}
	if r.Range != "" {
		last := len(r.Range) - 1
		low, high, _ := strings.Cut(r.Range[1:last], ", ")
		k.Range = Range{LowOpen: r.Range[0] == '(', HighOpen: r.Range[last] == ')'}
		k.Range.Low, _ = strconv.ParseFloat(low, 64)
		k.Range.High, _ = strconv.ParseFloat(high, 64)
	}
	if r.Default != "" {
		k.Default = k.parse(r.Default)
	}
	return k
}

// parse returns the value that a word or a number of the table stands for, or no list. The word of
// a quantity is that of records with it.
func (k *Key) parse(text string) any {
	x, _ := strconv.ParseFloat(text, 64)
	switch {
	case k.Kind == WeightsValue:
		return Weights{}
	case k.Kind == RecordValue && text == "[]":
		return Record{}
	case k.Kind == MeansValue:
		return PromptMeans{}
	case k.Kind == InitValue:
		return Init{Kind: AtFixedPoint}
	case k.Kind == WordValue, k.Kind == RecordValue:
		return text
	case k.Kind == NumberValue:
		return x
	}
	if math.IsInf(x, 1) {
		return option.Infinite
	}
	return int(x)
}

// follows computes the defaults that Key.Follows describes.
var follows = map[string]func(*Settings) any{
	TrueMeansKey:       func(s *Settings) any { return s.Bandit.Means() },
	InitKey:            func(s *Settings) any { return Init{Logits: zeros(s)} },
	"policy.reference": func(s *Settings) any { return zeros(s) },
	ScheduleTotalKey:   func(s *Settings) any { return s.Run.Steps },
}

// zeros has a number for each arm.
func zeros(s *Settings) []float64 { return make([]float64, len(s.Bandit.Arms)) }

// Get returns the key's value, of the type of Kind.
func (k *Key) Get(s *Settings) any {
	field := reflect.ValueOf(s).Elem().FieldByIndex(k.index)
	switch field.Kind() {
	case reflect.Uint8:
		return k.Words[field.Uint()]
	case reflect.String: // "" stands for the first
		return cmp.Or(field.String(), k.Words[0])
	case reflect.Float64:
		return field.Float()
	case reflect.Int:
		return int(field.Int())
	}
	switch v := field.Interface().(type) {
	case []option.Arm:
		return groupArms(v)
	case ageWeights:
		return weightsOf(v)
	case []sim.Quantity:
		return Record(v)
	case *PromptMeans:
		if v == nil {
			return PromptMeans{}
		}
		return *v
	default:
		return v
	}
}

// set assigns a value of the type of Kind.
func (k *Key) set(s *Settings, v any) {
	field := reflect.ValueOf(s).Elem().FieldByIndex(k.index)
	switch v := v.(type) {
	case []ArmGroup:
		s.Bandit.Arms = nil
		for _, g := range v {
			s.Bandit.Arms = append(s.Bandit.Arms, slices.Repeat([]option.Arm{g.Arm}, g.Count)...)
		}
	case Weights:
		s.Lag.Ages.Weights = ageWeights{}
		copy(s.Lag.Ages.Weights[:], v)
	case Record:
		s.Run.Record = append([]sim.Quantity(nil), v...)
	case PromptMeans:
		if s.Prompts.List = nil; len(v) > 0 {
			s.Prompts.List = &v
		}
	case string:
		if field.Kind() == reflect.String {
			field.SetString(v)
		} else {
			field.SetUint(uint64(slices.Index(k.Words, v)))
		}
	default:
		field.Set(reflect.ValueOf(v))
	}
}
