package config

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"

	"grposim/option"
	"grposim/rom"
)

// object is a JSON object; encoding/json writes its keys sorted.
type object = map[string]any

// Schema returns the JSON Schema (draft 2020-12) of a configuration, for editors. It
// covers the values of each key. Rules between keys (lengths, burn_in below steps, the
// cells that a check selects) are checked by Load only.
func Schema() []byte {
	root := object{
		"$schema":              "https://json-schema.org/draft/2020-12/schema",
		"title":                "grposim configuration",
		"type":                 "object",
		"additionalProperties": false,
		"$defs":                schemaDefinitions(),
	}
	properties, required := schemaSection("")
	for _, key := range fileKeys {
		if key.ofFile() {
			properties[key.Path] = key.described()
		} else {
			properties[key.Path] = schemaRef(key.Path)
		}
	}
	root["properties"] = properties
	root["required"] = []string{"name"}
	root["if"] = object{"not": object{"anyOf": []any{object{"required": []string{"sweep"}}, object{"required": []string{"variants"}}, object{"required": []string{extendsKey}}}}}
	root["then"] = required // a sweep, or another file, may give any key

	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // descriptions contain & and <
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(root); err != nil {
		panic("config: " + err.Error()) // tables hold plain words and finite numbers
	}
	return out.Bytes()
}

// fileKeySchemas are the schemas of the keys of a file beside those of the base.
var fileKeySchemas = map[string]func() object{
	"name":       func() object { return object{"type": "string", "pattern": nameSyntax.String()} },
	"claim":      func() object { return object{"type": "string"} },
	extendsKey:   func() object { return object{"type": "string"} },
	"sweep":      func() object { return object{"type": "array", "items": schemaRef("axis")} },
	"variants":   func() object { return object{"type": "array", "items": schemaRef("variant")} },
	"checks":     func() object { return object{"type": "array", "items": schemaRef("check")} },
	"confidence": func() object { return schemaWith(schemaRange("number", openUnit), object{"default": 0.99}) },
}

// described is the schema of the key with its meaning.
func (key *fileKey) described() object {
	return schemaWith(fileKeySchemas[key.Path](), object{"description": key.Doc})
}

// ofFile reports whether no other part of the schema refers to the key.
func (key *fileKey) ofFile() bool {
	return slices.Contains([]string{extendsKey, "variants", "checks"}, key.Path)
}

// schemaRef refers to a definition.
func schemaRef(name string) object { return object{"$ref": "#/$defs/" + name} }

// schemaSection returns the properties of a section of the key table, subsections
// included, and the schema that its required keys are given; nil: it has none.
func schemaSection(path string) (properties, required object) {
	properties = object{}
	var names []string
	inner := object{}
	for _, name := range sectionNames(path) {
		full := name
		if path != "" {
			full = path + "." + name
		}
		if k, isKey := LookupKey(full); isKey {
			properties[name] = schemaRef(full)
			if k.Required() {
				names = append(names, name)
			}
			continue
		}
		section, rule := schemaSection(full)
		properties[name] = object{"type": "object", "additionalProperties": false, "properties": section}
		if rule != nil {
			names = append(names, name)
			inner[name] = rule
		}
	}
	if names != nil {
		required = object{"required": names, "properties": inner}
	}
	return properties, required
}

// schemaDefinitions lists the definitions to which schemaRef refers.
func schemaDefinitions() object {
	definitions := object{
		"arm": schemaArm(),
		"axis": object{"oneOf": []any{
			schemaRef("parameter"),
			object{
				"type": "object", "additionalProperties": false, "required": []string{"zip"},
				"properties": object{"zip": object{"type": "array", "minItems": 2, "items": schemaRef("parameter")}},
			},
		}},
		"parameter": schemaParameter(),
		"variant": object{
			"type": "object", "additionalProperties": false, "required": []string{"name"},
			"properties": object{"name": schemaRef("name"), "set": schemaRef("assignments"), "sweep": schemaRef("sweep")},
		},
		"assignments": schemaAssignments(func(Key) bool { return true }),
		"fault":       schemaWith(schemaAssignments(Key.Faulty), object{"minProperties": 1}),
		"where":       schemaWhere(),
		"check":       schemaCheck(),
	}
	for _, key := range fileKeys {
		if !key.ofFile() {
			definitions[key.Path] = key.described()
		}
	}
	for _, k := range Keys {
		definition := schemaWith(schemaValue(k), object{"description": k.Doc})
		switch {
		case k.Default != nil:
			definition["default"] = k.Default
		case k.Follows != "":
			definition["description"] = k.Doc + " Default: " + k.Follows + "."
		}
		definitions[k.Path] = definition
	}
	return definitions
}

// schemaWith returns the union of two objects without a common key.
func schemaWith(a, b object) object {
	joined := object{}
	for _, part := range []object{a, b} {
		for name, v := range part {
			joined[name] = v
		}
	}
	return joined
}

// schemaValue is the schema of a value of a key.
func schemaValue(k Key) object {
	numbers := object{"type": "array", "items": object{"type": "number"}}
	switch k.Kind {
	case IntegerValue:
		if k.Path == GroupSizeKey {
			return object{"anyOf": []any{schemaInteger(k.Range), object{"const": "inf"}}}
		}
		return schemaInteger(k.Range)
	case SeedValue:
		return object{"type": "integer", "minimum": 0, "maximum": uint64(math.MaxUint64)}
	case NumberValue:
		return schemaRange("number", k.Range)
	case WordValue:
		return object{"enum": k.Words}
	case WeightsValue:
		return object{"type": "array", "items": schemaRange("number", k.Range), "maxItems": option.MaxTableAge + 1}
	case RecordValue:
		return object{"type": "array", "maxItems": maxRecord, "uniqueItems": true, "items": object{"anyOf": []any{
			object{"enum": recordNames}, object{"type": "string", "pattern": "^" + passWord + "[1-9][0-9]*$"},
		}}}
	case MeansValue:
		pair := object{"type": "array", "items": schemaRange("number", k.Range), "minItems": 2, "maxItems": 2}
		return object{"type": "array", "items": pair, "maxItems": maxPrompts}
	case ListValue:
		return numbers
	case InitValue:
		return object{"anyOf": []any{numbers, object{"const": fixedPointWord}, object{
			"type": "object", "additionalProperties": false, "required": []string{offsetField},
			"properties": object{offsetField: object{"type": "number"}},
		}}}
	case searchValue:
		return schemaParts(locateParts(&Locate{}))
	default:
		one := object{"type": "array", "minItems": 1, "maxItems": 1, "items": schemaWith(schemaRef("arm"), object{
			"type": "object", "required": []string{"count"}, "properties": object{"count": object{"minimum": 2}},
		})}
		several := object{"type": "array", "minItems": 2, "items": schemaRef("arm")}
		return object{"anyOf": []any{several, one}}
	}
}

// schemaParts is the schema of a mapping with these parts.
func schemaParts(parts []part) object {
	properties, required := object{}, []string{}
	for _, p := range parts {
		if p.refused != "" {
			continue
		}
		properties[p.Path] = schemaValue(p.Key)
		if !p.optional {
			required = append(required, p.Path)
		}
	}
	return object{"type": "object", "additionalProperties": false, "required": required, "properties": properties}
}

// schemaArm is the schema of an item of bandit.arms.
func schemaArm() object {
	var laws []any
	for _, law := range option.Laws {
		arm := schemaParts(armParts(law, new(string), new(ArmGroup)))
		properties := arm["properties"].(object)
		properties["reward"] = object{"const": law}
		properties["count"] = schemaInteger(Range{Low: 1, High: maxArms})
		laws = append(laws, arm)
	}
	return object{"oneOf": laws}
}

// schemaParameter is the schema of an axis over one key.
func schemaParameter() object {
	var options []any
	for _, k := range Keys {
		var forms []any
		form := func(name string, s object) {
			forms = append(forms, object{
				"type": "object", "additionalProperties": false, "required": []string{"param", name},
				"properties": object{"param": true, name: s},
			})
		}
		form("values", object{"type": "array", "minItems": 1, "items": schemaRef(k.Path)})
		if k.whole() || k.Kind == NumberValue {
			end, step := schemaRange("number", k.Range), object{"type": "number"}
			if k.whole() {
				end, step = schemaInteger(k.Range), schemaInteger(anyNumber)
			}
			step["not"] = object{"const": 0}
			form("log", schemaInterval(schemaWith(end, object{"not": object{"maximum": 0}}), "points", schemaInteger(Range{Low: 2, High: maxCells})))
			form("range", schemaInterval(end, "step", step))
		}
		options = append(options, object{
			"if":   object{"type": "object", "required": []string{"param"}, "properties": object{"param": object{"const": k.Path}}},
			"then": object{"oneOf": forms},
		})
	}
	return object{
		"type": "object", "required": []string{"param"},
		"properties": object{"param": object{"enum": keyPaths()}},
		"allOf":      options,
	}
}

// schemaInterval is the schema of log and range; last names the third field and s is its
// schema.
func schemaInterval(end object, last string, s object) object {
	return object{
		"type": "object", "additionalProperties": false, "required": []string{"from", "to", last},
		"properties": object{"from": end, "to": end, last: s},
	}
}

// schemaAssignments is the schema of a mapping of dotted keys to values.
func schemaAssignments(may func(Key) bool) object {
	properties := object{}
	for _, k := range Keys {
		if may(k) {
			properties[k.Path] = schemaRef(k.Path)
		}
	}
	return object{"type": "object", "additionalProperties": false, "properties": properties}
}

// schemaWhere is the schema of `where`: dotted keys, each with a value or a list of
// values.
func schemaWhere() object {
	properties := object{}
	for _, k := range Keys {
		properties[k.Path] = object{"anyOf": []any{
			schemaRef(k.Path),
			object{"type": "array", "minItems": 1, "items": schemaRef(k.Path)},
		}}
	}
	return object{"type": "object", "additionalProperties": false, "properties": properties}
}

// checkSchemas are the schemas of the keys of a check that have no plain value.
var checkSchemas = map[string]func() object{
	"claim":   func() object { return object{"enum": claimNames()} },
	"about":   schemaAbout,
	"where":   func() object { return schemaRef("where") },
	"variant": func() object { return object{"type": "string"} },
	"control": schemaControl,
}

// schemaCheck is the schema of a check, with the requirements of each claim.
func schemaCheck() object {
	var located []string // claims that locate an event and have an exact prediction of it
	for _, claim := range Claims {
		if claim.Event != "" && slices.Contains(claim.Predictions, rom.Exact) {
			located = append(located, claim.Name)
		}
	}
	var hypotheses []any
	for _, relation := range Relations {
		hypotheses = append(hypotheses, object{"required": []string{string(relation)}})
	}
	rules := []any{
		object{"oneOf": []any{
			object{"required": []string{"margin"}}, object{"required": []string{"absolute_margin"}},
			object{"required": []string{string(AtMost)}}, object{"required": []string{string(AtLeast)}},
		}},
		object{"if": object{"anyOf": hypotheses}, "then": object{"properties": object{"expect": false, "control": false, "about": false}}},
		object{ // where a located whole number is compared with a predicted one
			"if": object{"required": []string{"absolute_margin"}, "properties": object{"absolute_margin": object{"const": 0}}},
			"then": object{"required": []string{"locate"}, "properties": object{
				"locate":     object{"properties": object{"param": object{"const": LagIntervalKey}}},
				"claim":      object{"enum": located},
				"prediction": object{"const": rom.Exact},
			}},
		},
	}
	for _, claim := range Claims {
		rules = append(rules, object{
			"if":   object{"required": []string{"claim"}, "properties": object{"claim": object{"const": claim.Name}}},
			"then": schemaClaim(claim),
		})
	}
	properties := object{}
	for _, key := range checkKeys {
		var property object
		if schema := checkSchemas[key.Path]; schema != nil {
			property = schema()
		} else {
			property = schemaValue(key.Key)
		}
		property["description"] = key.Doc
		if key.Default != nil {
			property["default"] = key.Default
		}
		properties[key.Path] = property
	}
	properties["claim"].(object)["description"] = "A row of the claim table."
	return object{
		"type": "object", "additionalProperties": false, "required": []string{"claim"}, "allOf": rules, "properties": properties,
	}
}

// schemaControl is the schema of a planted fault.
func schemaControl() object {
	factors := object{}
	for _, name := range faultNames {
		factors[name] = schemaWith(schemaRange("number", positive), object{"not": object{"const": 1}})
	}
	properties := object{
		"set":   schemaRef("fault"),
		"scale": object{"type": "object", "additionalProperties": false, "minProperties": 1, "properties": factors},
	}
	for _, other := range named {
		properties[other.name] = object{"enum": other.words}
	}
	return object{"type": "object", "additionalProperties": false, "minProperties": 1, "properties": properties}
}

// schemaClaim is the schema of a check of one claim: the keys that it needs, those that
// it refuses, and their values.
func schemaClaim(claim *Claim) object {
	must, properties := []string{}, object{"prediction": object{"enum": claim.Predictions}}
	for _, key := range checkKeys {
		switch {
		case key.refusedBy(claim):
			properties[key.Path] = false
		case key.need != "":
			must = append(must, key.Path)
		}
	}
	if len(claim.Over) > 0 {
		properties["over"] = object{"enum": claim.Over}
	}
	if claim.Has(NeedsAbsolute) {
		properties["margin"] = false
	}
	faults := object{}
	useful, _ := claim.faults()
	for _, name := range controlFields {
		if !slices.Contains(useful, name) {
			faults[name] = false
		}
	}
	properties["control"] = object{"properties": faults}
	fails := object{"properties": object{"prediction": object{"enum": predictions[1:]}}}
	if claim.Predictions[0] == rom.Exact {
		fails["required"] = []string{"prediction"}
	}
	return object{
		"required": must, "properties": properties,
		"if":   object{"required": []string{"expect"}, "properties": object{"expect": object{"const": Fails}}},
		"then": fails,
	}
}

// schemaRange is the JSON Schema of a number in a range; kind is number or integer.
func schemaRange(kind string, r Range) object {
	s := object{"type": kind}
	if !math.IsInf(r.Low, 0) {
		name := "minimum"
		if r.LowOpen {
			name = "exclusiveMinimum"
		}
		s[name] = r.Low
	}
	if !math.IsInf(r.High, 0) {
		name := "maximum"
		if r.HighOpen {
			name = "exclusiveMaximum"
		}
		s[name] = r.High
	}
	return s
}

// schemaInteger is the JSON Schema of an integer in a range, within ±maxInteger.
func schemaInteger(r Range) object {
	r.High = min(r.High, maxInteger)
	r.Low = max(r.Low, -maxInteger)
	return schemaRange("integer", r)
}

// schemaAbout is the schema of `about`.
func schemaAbout() object {
	var rules []any
	without := make(map[string][]string) // by key, the ids of the statements that have none
	for _, s := range checkable() {
		about := About{Statement: s.ID}
		for _, part := range about.parts()[1:3] { // reading and choice
			if part.Words == nil {
				without[part.Path] = append(without[part.Path], s.ID)
				continue
			}
			then := object{"properties": object{part.Path: object{"enum": part.Words}}}
			if !part.optional {
				then["required"] = []string{part.Path}
			}
			rules = append(rules, object{"if": object{"properties": object{"statement": object{"const": s.ID}}}, "then": then})
		}
	}
	for _, key := range []string{"reading", "choice"} {
		rules = append(rules, object{"if": object{"properties": object{"statement": object{"enum": without[key]}}}, "then": object{"properties": object{key: false}}})
	}
	return object{"anyOf": []any{object{"enum": aboutKinds}, object{
		"type": "object", "additionalProperties": false, "required": []string{"statement"}, "allOf": rules,
		"properties": object{
			"statement": object{"enum": statementIDs()}, "reading": object{"type": "string"}, "choice": object{"type": "string"},
			"regime": object{"enum": regimes, "default": Limit},
		},
	}}}
}
