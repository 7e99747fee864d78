package config

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"

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
	for _, key := range table.File {
		if key.ofFile() {
			properties[key.Path] = key.described()
		} else {
			properties[key.Path] = schemaRef(key.Path)
		}
	}
	root["properties"] = properties
	root["required"] = []string{"name"}
	root["if"] = object{"not": object{"anyOf": []any{object{"required": []string{"sweep"}},
		object{"required": []string{"variants"}}, object{"required": []string{extendsKey}}}}}
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
	"name":     func() object { return object{"type": "string", "pattern": nameSyntax.String()} },
	"claim":    func() object { return object{"type": "string"} },
	extendsKey: func() object { return object{"type": "string"} },
	"sweep":    func() object { return object{"type": "array", "items": schemaRef("axis")} },
	"variants": func() object { return object{"type": "array", "items": schemaRef("variant")} },
	"checks":   func() object { return object{"type": "array", "items": schemaRef("check")} },
	"confidence": func() object {
		return schemaWith(schemaRange("number", openUnit),
			object{"default": 0.99})
	},
}

// described is the schema of the key with its meaning.
func (key *Row) described() object {
	return schemaWith(fileKeySchemas[key.Path](), object{"description": key.Doc})
}

// ofFile reports whether no other part of the schema refers to the key.
func (key *Row) ofFile() bool {
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
		properties[name] = closed(section)
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

// closed is the schema of an object with these properties alone, of which some are required.
func closed(properties object, required ...string) object {
	s := object{"type": "object", "additionalProperties": false, "properties": properties}
	if required != nil {
		s["required"] = required
	}
	return s
}

// listOf is the schema of a list of at least so many items.
func listOf(items object, least int) object {
	return object{"type": "array", "minItems": least, "items": items}
}

// implies is the schema of what follows where a key has a value.
func implies(key string, value any, then object) object {
	return object{"if": object{"required": []string{key},
		"properties": object{key: object{"const": value}}}, "then": then}
}

// schemaDefinitions lists the definitions to which schemaRef refers.
func schemaDefinitions() object {
	definitions := object{
		"arm": schemaArm(),
		"axis": object{"oneOf": []any{schemaRef("parameter"),
			closed(object{"zip": listOf(schemaRef("parameter"), 2)}, "zip")}},
		"parameter": schemaParameter(),
		"variant": closed(object{"set": schemaRef("assignments"), "sweep": schemaRef("sweep"),
			"name": object{"type": "string", "pattern": variantSyntax.String()}}, "name"),
		"assignments": closed(ofKeys(func(Key) bool { return true }, schemaOf)),
		"fault":       schemaWith(closed(ofKeys(Key.Faulty, schemaOf)), object{"minProperties": 1}),
		"where": closed(ofKeys(func(Key) bool { return true }, func(k Key) object {
			return object{"anyOf": []any{schemaOf(k), listOf(schemaOf(k), 1)}}
		})),
		"check": schemaCheck(),
	}
	for _, key := range table.File {
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

// schemaOf refers to the schema of a key.
func schemaOf(k Key) object { return schemaRef(k.Path) }

// ofKeys are properties for the keys that may have one.
func ofKeys(may func(Key) bool, of func(Key) object) object {
	properties := object{}
	for _, k := range Keys {
		if may(k) {
			properties[k.Path] = of(k)
		}
	}
	return properties
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
		return object{"type": "array", "items": schemaRange("number", k.Range),
			"maxItems": option.MaxTableAge + 1}
	case RecordValue:
		return object{"type": "array", "maxItems": maxRecord, "uniqueItems": true,
			"items": object{"anyOf": []any{
				object{"enum": recordNames},
				object{"type": "string", "pattern": "^" + passWord + "[1-9][0-9]*$"},
				object{"type": "string", "pattern": "^" + armWord + "(0|[1-9][0-9]*)$"},
			}}}
	case MeansValue:
		pair := object{"type": "array", "items": schemaRange("number", k.Range), "minItems": 2,
			"maxItems": 2}
		return object{"type": "array", "items": pair, "maxItems": maxPrompts}
	case ListValue:
		return numbers
	case InitValue:
		offset := closed(object{offsetField: object{"type": "number"}}, offsetField)
		return object{"anyOf": []any{numbers, object{"const": fixedPointWord}, offset}}
	case searchValue:
		return schemaParts(locateParts(&Locate{}))
	default:
		one := listOf(schemaWith(schemaRef("arm"), object{
			"type": "object", "required": []string{"count"},
			"properties": object{"count": object{"minimum": 2}},
		}), 1)
		one["maxItems"] = 1
		return object{"anyOf": []any{listOf(schemaRef("arm"), 2), one}}
	}
}

// schemaParts is the schema of a mapping with these parts.
func schemaParts(parts []part) object {
	properties, required := object{}, []string(nil)
	for _, p := range parts {
		if p.refused != "" {
			continue
		}
		properties[p.Path] = schemaValue(p.Key)
		if !p.optional {
			required = append(required, p.Path)
		}
	}
	return closed(properties, required...)
}

// schemaArm is the schema of an item of bandit.arms.
func schemaArm() object {
	var laws []any
	for _, law := range option.Laws {
		arm := schemaParts(armParts(law, new(string), new(ArmGroup)))
		properties := arm["properties"].(object)
		properties["reward"] = object{"const": law.String()}
		laws = append(laws, arm)
	}
	return object{"oneOf": laws}
}

// schemaParameter is the schema of an axis over one key.
func schemaParameter() object {
	var options []any
	interval := func(end object, last string, s object) object {
		return closed(object{"from": end, "to": end, last: s}, "from", "to", last)
	}
	for _, k := range Keys {
		var forms []any
		form := func(name string, s object) {
			forms = append(forms, closed(object{"param": true, name: s}, "param", name))
		}
		form("values", listOf(schemaOf(k), 1))
		if k.whole() || k.Kind == NumberValue {
			end, step := schemaRange("number", k.Range), schemaRange("number", anyNumber.except(0))
			if k.whole() {
				end, step = schemaInteger(k.Range), schemaInteger(anyNumber.except(0))
			}
			form("log", interval(schemaWith(end, object{"not": object{"maximum": 0}}), "points",
				schemaInteger(Range{Low: 2, High: maxCells})))
			form("range", interval(end, "step", step))
		}
		options = append(options, object{
			"if": object{"type": "object", "required": []string{"param"},
				"properties": object{"param": object{"const": k.Path}}},
			"then": object{"oneOf": forms},
		})
	}
	return object{
		"type": "object", "required": []string{"param"},
		"properties": object{"param": object{"enum": keyPaths()}},
		"allOf":      options,
	}
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
		object{"if": object{"anyOf": hypotheses},
			"then": object{"properties": object{"expect": false, "control": false, "about": false}}},
		// where a located whole number is compared with a predicted one
		implies("absolute_margin", 0, object{"required": []string{"locate"}, "properties": object{
			"locate":     object{"properties": object{"param": object{"const": LagIntervalKey}}},
			"claim":      object{"enum": located},
			"prediction": object{"const": rom.Exact},
		}}),
	}
	for _, claim := range Claims {
		rules = append(rules, implies("claim", claim.Name, schemaClaim(claim)))
	}
	properties := object{}
	for _, key := range checkKeys {
		var property object
		if schema := checkSchemas[key.Path]; schema != nil {
			property = schema()
		} else {
			property = schemaValue(key)
		}
		property["description"] = key.Doc
		if key.Default != nil {
			property["default"] = key.Default
		}
		properties[key.Path] = property
	}
	properties["claim"].(object)["description"] = "A row of the claim table."
	return schemaWith(closed(properties, "claim"), object{"allOf": rules})
}

// schemaControl is the schema of a planted fault.
func schemaControl() object {
	factors := object{}
	for _, name := range faultNames {
		factors[name] = schemaRange("number", positive.except(1))
	}
	properties := object{
		"set":   schemaRef("fault"),
		"scale": schemaWith(closed(factors), object{"minProperties": 1}),
	}
	for _, name := range names {
		properties[name] = object{"enum": checkKeyOf(name).Words}
	}
	return schemaWith(closed(properties), object{"minProperties": 1})
}

// schemaClaim is the schema of a check of one claim: the keys that it needs, those that
// it refuses, and their values.
func schemaClaim(claim *Claim) object {
	must, properties := []string{}, object{"prediction": object{"enum": claim.Predictions}}
	for _, key := range checkKeys {
		switch {
		case key.refusedBy(claim):
			properties[key.Path] = false
		case key.Need != "":
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
	return schemaWith(object{"required": must, "properties": properties},
		implies("expect", Fails, fails))
}

// schemaRange is the JSON Schema of a number in a range; kind is number or integer.
func schemaRange(kind string, r Range) object {
	s := object{"type": kind}
	end := func(name string, x float64, open bool) {
		if open {
			name = "exclusive" + strings.ToUpper(name[:1]) + name[1:]
		}
		if !math.IsInf(x, 0) {
			s[name] = x
		}
	}
	end("minimum", r.Low, r.LowOpen)
	end("maximum", r.High, r.HighOpen)
	if r.not != nil {
		s["not"] = object{"const": *r.not}
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
	statement := closed(object{
		"statement": object{"enum": statementIDs()}, "reading": object{"type": "string"},
		"choice": object{"type": "string"},
		"regime": object{"enum": regimes, "default": Limit},
	}, "statement")
	return object{"anyOf": []any{object{"enum": aboutKinds},
		schemaWith(statement, object{"allOf": rules})}}
}
