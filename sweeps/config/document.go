package config

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"grposim/option"
	"grposim/sim"
)

// Document writes the configuration as JSON, which is also YAML: Restore reads it back
// into the same Spec. A results folder keeps the document, and can be judged again
// without the original file.
func (s *Spec) Document() []byte {
	document := map[string]any{"name": s.Name, "claim": s.Claim, "confidence": s.Confidence}
	base := s.baseDraft()
	for i, k := range Keys {
		v := base[i]
		if v == nil {
			v = k.Default // written out, because a later version may have another default
		}
		if v != nil { // else its default follows other keys
			nest(document, k.Path, documentValue(v))
		}
	}
	if len(s.Sweep) > 0 {
		document["sweep"] = documentAxes(s.Sweep)
	}
	if len(s.Variants) > 0 {
		document["variants"] = Each(s.Variants, func(v Variant) any {
			return map[string]any{"name": v.Name, "set": documentSet(v.Set), "sweep": documentAxes(v.Sweep)}
		})
	}
	if len(s.Checks) > 0 {
		document["checks"] = Each(s.Checks, func(c Check) any {
			check := map[string]any{}
			for _, key := range checkKeys {
				if value := key.written(&c); value != nil {
					check[key.Path] = value
				}
			}
			return check
		})
	}
	data, err := json.Marshal(document) // sorts keys
	if err != nil {
		panic(err) // a Spec holds finite numbers and plain strings
	}
	return data
}

// documentWhere converts the conditions of a check; nil where it has none.
func documentWhere(c *Check) any {
	where := map[string]any{}
	for _, condition := range c.Where {
		where[condition.Param] = Each(condition.Values, documentValue)
	}
	return unless(len(where) == 0, where)
}

// documentControl converts the planted fault of a check; nil where it has none.
func documentControl(c *Check) any {
	if c.Control == nil {
		return nil
	}
	control, scale := map[string]any{}, map[string]any{}
	for i, factor := range factorsOf(&c.Control.Scale) {
		if *factor != 1 {
			scale[faultNames[i]] = *factor
			control["scale"] = scale
		}
	}
	if len(c.Control.Set) > 0 {
		control["set"] = documentSet(c.Control.Set)
	}
	for i, word := range c.Control.Names.words() {
		if *word != "" {
			control[names[i]] = *word
		}
	}
	return control
}

// documentSet converts assignments to a mapping of dotted keys.
func documentSet(set []Assignment) map[string]any {
	m := map[string]any{}
	for _, a := range set {
		m[a.Param] = documentValue(a.Value)
	}
	return m
}

// documentAxes converts axes to lists of values.
func documentAxes(axes []Axis) []any {
	list := []any{}
	for _, axis := range axes {
		var zip []any
		for j, param := range axis.Params {
			values := Each(axis.Points, func(point []any) any { return documentValue(point[j]) })
			zip = append(zip, map[string]any{"param": param, "values": values})
		}
		if len(zip) == 1 {
			list = append(list, zip[0])
		} else {
			list = append(list, map[string]any{"zip": zip})
		}
	}
	return list
}

// Canonical writes settings as JSON: nested as in a file, keys sorted, numbers in the shortest form
// that reads back as the same number. Keys at their default are left out, so a key added later,
// with a default, changes no cell's id. The keys without are left out too.
func Canonical(s Settings, without ...string) []byte {
	root := map[string]any{}
	for i := range Keys {
		k := &Keys[i]
		v := k.Get(&s)
		if atDefault(k, v, &s) || slices.Contains(without, k.Path) {
			continue
		}
		if k.Kind == ArmsValue { // an id does not depend on how the file counts equal arms
			v = Each(s.Bandit.Arms, func(arm option.Arm) ArmGroup { return ArmGroup{Arm: arm, Count: 1} })
		}
		nest(root, k.Path, documentValue(v))
	}
	data, err := json.Marshal(root) // sorts keys
	if err != nil {
		panic("config: " + err.Error()) // settings are finite numbers and plain strings
	}
	return data
}

// nest stores a value at a dotted path of nested objects.
func nest(root map[string]any, path string, v any) {
	name, rest, inner := strings.Cut(path, ".")
	if !inner {
		root[name] = v
		return
	}
	if root[name] == nil {
		root[name] = map[string]any{}
	}
	nest(root[name].(map[string]any), rest, v)
}

// atDefault reports whether v is the key's default under the settings. An empty list
// counts as the default. −0 is written out.
func atDefault(k *Key, v any, s *Settings) bool {
	if n, isList := listLength(v); isList && n == 0 {
		return true
	}
	byDefault := k.Default
	if k.follow != nil {
		byDefault = k.follow(s)
	}
	return same(v, byDefault)
}

// same reports whether two values of a key are equal, −0 and 0 not. A record is the same as a word
// of one of its quantities.
func same(v, w any) bool {
	switch v := v.(type) {
	case float64:
		x, is := w.(float64)
		return is && math.Float64bits(v) == math.Float64bits(x)
	case int, uint64, string:
		return v == w
	case Record:
		if word, is := w.(string); is {
			return slices.ContainsFunc(v, func(q sim.Quantity) bool { return recordWord(q) == word })
		}
	}
	return w != nil && Format(v) == Format(w)
}

// ForceID identifies a measurement of the on-policy mean force of a cell: it is equal for cells
// with equal `seed`, `bandit`, `grpo`, `policy.reference`, `policy.reference_update` and
// `optimizer.max_norm`, whatever their lag, optimizer and run are besides.
func ForceID(s *Settings) string {
	force := *s
	force.Prompts, force.Lag, force.Run = Prompts{}, option.Lag{}, sim.Run{}
	force.Policy.Init = Init{}
	force.Optimizer = option.Optimizer{MaxNorm: s.Optimizer.MaxNorm}
	return string(Canonical(force))
}

// Compared returns the keys in which the cells may differ that a claim across cells compares
// over a key: that key, and over bandits the refresh interval.
func Compared(over string) []string {
	if over == ArmsKey {
		return []string{ArmsKey, LagIntervalKey}
	}
	return []string{over}
}

// OverID identifies a cell up to the keys Compared over one of Claim.Over: it is equal for the
// cells of a variant that a claim across cells compares. Keys of section `run` are ignored, as is
// optimizer.schedule.total where it equals run.steps, its default.
func OverID(over, variant string, s *Settings) string {
	rest := *s
	if rest.Optimizer.Schedule.Total == rest.Run.Steps {
		rest.Optimizer.Schedule.Total = 0
	}
	rest.Run = sim.Run{}
	return variant + "\n" + string(Canonical(rest, Compared(over)...))
}
