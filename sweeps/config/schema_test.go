package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestSchemaFile(t *testing.T) {
	checkGolden(t, "../../configs/schema.json", Schema())
}

func TestReferenceFile(t *testing.T) {
	checkGolden(t, "../../docs/config.md", ReferenceDoc())
}

func TestReferenceExample(t *testing.T) {
	if _, err := Load("example", []byte(referenceExample)); err != nil {
		t.Error(err)
	}
}

// structural is the first line of the bad files that break no rule between keys: the
// schema must refuse them too.
const structural = "# The schema refuses this too.\n"

func TestSchemaAgreesWithLoader(t *testing.T) {
	var root map[string]any
	decoder := json.NewDecoder(bytes.NewReader(Schema()))
	decoder.UseNumber()
	if err := decoder.Decode(&root); err != nil {
		t.Fatal(err)
	}
	s := schema{root}
	validate := func(t *testing.T, file string) error {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n, problems := parseYAML(file, "", data)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return s.validate(root, toJSON(n), "")
	}
	for _, file := range slices.Concat(testFiles(t, "good/*.yaml"), testFiles(t, "../../../configs/paper/*.yaml"), testFiles(t, "../../../configs/trainers/*.yaml")) {
		if err := validate(t, file); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	refused := 0
	for _, file := range testFiles(t, "bad/*.yaml") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(data), structural) {
			continue
		}
		refused++
		if err := validate(t, file); err == nil {
			t.Errorf("%s: the schema accepts it", file)
		}
	}
	if refused == 0 {
		t.Error("no structurally bad file")
	}
}

// Every default in the key table is valid for the schema and for the loader, and reads
// back from the form in which tables show it.
func TestDefaultsAreLegal(t *testing.T) {
	var root map[string]any
	decoder := json.NewDecoder(bytes.NewReader(Schema()))
	decoder.UseNumber()
	if err := decoder.Decode(&root); err != nil {
		t.Fatal(err)
	}
	for _, k := range Keys {
		if k.Default == nil {
			continue
		}
		n, problems := parseYAML(override, k.Path, []byte(Format(k.Default)))
		if len(problems) > 0 {
			t.Fatalf("%s: %v", k.Path, problems)
		}
		l := newReader(nil)
		if v, ok := l.value(k, n, k.Path); !ok || !reflect.DeepEqual(v, k.Default) {
			t.Errorf("%s: %v reads as %v: %v", k.Path, k.Default, v, l.problems)
		}
		if err := (schema{root}).validate(map[string]any{"$ref": "#/$defs/" + k.Path}, toJSON(n), k.Path); err != nil {
			t.Error(err)
		}
	}
}

// toJSON converts the tree to the values that a JSON decoder would return.
func toJSON(n *node) any {
	switch n.kind {
	case list:
		items := []any{}
		for _, item := range n.items {
			items = append(items, toJSON(item))
		}
		return items
	case mapping:
		fields := map[string]any{}
		for _, f := range n.fields {
			fields[f.name] = toJSON(f.value)
		}
		return fields
	case nothing:
		return nil
	case plain:
		if numberSyntax.MatchString(n.text) {
			return json.Number(strings.TrimPrefix(n.text, "+"))
		}
		if n.text == "true" || n.text == "false" {
			return n.text == "true"
		}
	}
	return n.text
}

// schema interprets those keywords of JSON Schema that Schema uses.
type schema struct{ root map[string]any }

func (s schema) validate(rule, v any, path string) error {
	if allowed, isBool := rule.(bool); isBool {
		if !allowed {
			return fmt.Errorf("%s: not allowed here", path)
		}
		return nil
	}
	keywords := rule.(map[string]any)
	for keyword, arg := range keywords {
		if err := s.keyword(keywords, keyword, arg, v, path); err != nil {
			return err
		}
	}
	return nil
}

func (s schema) keyword(rule map[string]any, keyword string, arg, v any, path string) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%s: %s: %s", path, keyword, fmt.Sprintf(format, args...))
	}
	members, _ := v.(map[string]any)
	items, isList := v.([]any)
	count := func() (passed int) {
		for _, option := range arg.([]any) {
			if s.validate(option, v, path) == nil {
				passed++
			}
		}
		return passed
	}
	switch keyword {
	case "$schema", "$defs", "title", "description", "default", "then":
	case "$ref":
		name := strings.TrimPrefix(arg.(string), "#/$defs/")
		target, known := s.root["$defs"].(map[string]any)[name]
		if !known {
			panic("dangling " + arg.(string))
		}
		return s.validate(target, v, path)
	case "type":
		if !hasType(v, arg.(string)) {
			return fail("%v is no %s", v, arg)
		}
	case "const":
		if !equalJSON(arg, v) {
			return fail("%v is not %v", v, arg)
		}
	case "enum":
		if !slices.ContainsFunc(arg.([]any), func(option any) bool { return equalJSON(option, v) }) {
			return fail("%v is none of %v", v, arg)
		}
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		if number, ok := v.(json.Number); ok && !inBound(keyword, rational(number), rational(arg.(json.Number))) {
			return fail("%v against %v", v, arg)
		}
	case "pattern":
		if text, ok := v.(string); ok && !regexp.MustCompile(arg.(string)).MatchString(text) {
			return fail("%q", text)
		}
	case "minItems":
		if n, _ := arg.(json.Number).Int64(); isList && len(items) < int(n) {
			return fail("%d items", len(items))
		}
	case "maxItems":
		if n, _ := arg.(json.Number).Int64(); isList && len(items) > int(n) {
			return fail("%d items", len(items))
		}
	case "minProperties":
		if n, _ := arg.(json.Number).Int64(); members != nil && len(members) < int(n) {
			return fail("%d members", len(members))
		}
	case "items":
		for i, item := range items {
			if err := s.validate(arg, item, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	case "required":
		for _, name := range arg.([]any) {
			if _, has := members[name.(string)]; members != nil && !has {
				return fail("%v is missing", name)
			}
		}
	case "properties":
		for name, inner := range arg.(map[string]any) {
			if value, has := members[name]; has {
				if err := s.validate(inner, value, path+"."+name); err != nil {
					return err
				}
			}
		}
	case "additionalProperties":
		if arg != false {
			panic("additionalProperties other than false")
		}
		for name := range members {
			if _, known := rule["properties"].(map[string]any)[name]; !known {
				return fail("%s is unknown", name)
			}
		}
	case "not":
		if s.validate(arg, v, path) == nil {
			return fail("%v", v)
		}
	case "allOf":
		for _, option := range arg.([]any) {
			if err := s.validate(option, v, path); err != nil {
				return err
			}
		}
	case "anyOf":
		if count() == 0 {
			return fail("%v fits nothing", v)
		}
	case "oneOf":
		if n := count(); n != 1 {
			return fail("%v fits %d", v, n)
		}
	case "if":
		if s.validate(arg, v, path) == nil {
			return s.validate(rule["then"], v, path)
		}
	default:
		panic("unknown keyword " + keyword)
	}
	return nil
}

func hasType(v any, name string) bool {
	switch v := v.(type) {
	case json.Number:
		return name == "number" || name == "integer" && rational(v).IsInt()
	case string:
		return name == "string"
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return false
}

func equalJSON(a, b any) bool {
	x, isNumber := a.(json.Number)
	y, alsoNumber := b.(json.Number)
	if isNumber && alsoNumber {
		return rational(x).Cmp(rational(y)) == 0
	}
	return reflect.DeepEqual(a, b)
}

func rational(n json.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(n.String())
	if !ok {
		panic("no number: " + n.String())
	}
	return r
}

func inBound(keyword string, x, bound *big.Rat) bool {
	switch c := x.Cmp(bound); keyword {
	case "minimum":
		return c >= 0
	case "maximum":
		return c <= 0
	case "exclusiveMinimum":
		return c > 0
	default:
		return c < 0
	}
}
