package config

import (
	"encoding/json"
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
