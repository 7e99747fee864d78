package config

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// maxDepth is how deeply lists and mappings may nest; a legal file needs 9 levels.
const maxDepth = 16

// parseYAML parses one YAML document and refuses YAML that configurations do not allow: anchors,
// aliases, tags, merge keys and further documents. The node is nil where the text is not valid
// YAML. path is the key of the value in an override, "" for a file.
func parseYAML(source, path string, data []byte) (*node, Problems) {
	r := &yamlReader{source: source, path: path}
	r.read(data)
	return r.root, r.problems
}

type nodeKind int

const (
	nothing nodeKind = iota // an empty value
	plain                   // a scalar without quotes
	quoted                  // a scalar with quotes, or a block of text
	list
	mapping
	refused // YAML that configurations do not allow; already reported
)

// node is a node of the tree of a configuration: a scalar, a list or a mapping.
type node struct {
	kind   nodeKind
	at     Place
	text   string  // plain, quoted
	isText bool    // whether YAML resolves the scalar to text
	items  []*node // list
	fields []field // mapping, in order, each name once
}

type field struct {
	name  string
	at    Place
	value *node
}

// describe writes the node as X in a message "got X, want Y".
func (n *node) describe() string {
	switch n.kind {
	case nothing:
		return "nothing"
	case list:
		return "a list of " + CountWords(len(n.items), "item")
	case mapping:
		return "a mapping"
	case plain:
		if numberSyntax.MatchString(n.text) && len(n.text) <= shownText {
			return n.text
		}
	}
	return quoteText(n.text)
}

func (n *node) isScalar() bool { return n.kind == plain || n.kind == quoted }

var (
	integerSyntax = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)
	numberSyntax  = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

	// Messages of yaml.v3. Those of its parser count lines from 0, those of its scanner from 1.
	yamlErrorSyntax = regexp.MustCompile(`(?s)^(?:yaml: )?(?:line ([0-9]+): )?(.*)$`)
	unknownAnchor   = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
	parserMessage   = regexp.MustCompile(`^did not find expected (<document start>|node content|'-' indicator|key$|',' or )`)
)

// yamlReader converts a YAML document to a tree of nodes.
type yamlReader struct {
	source   string // the file's name, or override
	path     string // the key of an override's value; "" for a file
	root     *node
	problems Problems
}

func (r *yamlReader) report(line, column int, path, format string, args ...any) {
	r.problems = append(r.problems, Problem{r.place(line, column), path, fmt.Sprintf(format, args...)})
}

func (r *yamlReader) place(line, column int) Place {
	if r.path != "" {
		return Place{Source: r.source} // the value of a flag is a single line
	}
	return Place{r.source, line, column}
}

func (r *yamlReader) read(data []byte) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if r.refuseCharacters(data); len(r.problems) > 0 {
		return
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	err := decoder.Decode(&document)
	if err == nil {
		err = decoder.Decode(&second)
	}
	switch {
	case err != nil && err != io.EOF:
		r.syntax(data, err)
		return
	case err == nil:
		r.report(second.Line, second.Column, r.path, "got a second document, want one document")
	}
	if document.IsZero() || document.Content[0].Tag == "!!null" {
		r.root = &node{kind: nothing, at: r.place(1, 1)}
		return
	}
	r.root = r.node(document.Content[0], r.path, 1)
}

// syntax reports an error of the parser in the line to which it refers.
func (r *yamlReader) syntax(data []byte, err error) {
	match := yamlErrorSyntax.FindStringSubmatch(err.Error())
	if name := unknownAnchor.FindStringSubmatch(match[2]); name != nil {
		before, _, _ := bytes.Cut(data, []byte("*"+name[1]))
		line := bytes.Count(before, []byte("\n"))
		column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
		r.report(line+1, column+1, r.path, "got the alias %s, want the value written out",
			quoteText("*"+name[1]))
		return
	}
	line, _ := strconv.Atoi("0" + match[1])
	if line == 0 || parserMessage.MatchString(match[2]) {
		line++ // yaml.v3 counts from 0 here, and leaves out line 0
	}
	r.report(line, 0, r.path, "got %s, want valid YAML", quoteText(match[2]))
}

// refuseCharacters reports the first forbidden character of each line: a tab, another control
// character, or a byte that is not UTF-8.
func (r *yamlReader) refuseCharacters(data []byte) {
	for i, line := range strings.Split(string(data), "\n") {
		column := 0
		for at, c := range strings.TrimSuffix(line, "\r") {
			column++
			text, want := "", "plain text"
			if c == '\t' {
				text, want = "a tab", "spaces"
			} else if c == utf8.RuneError && !strings.HasPrefix(line[at:], string(utf8.RuneError)) {
				text = "a byte that is not UTF-8"
			} else if !harmless(c) {
				text = fmt.Sprintf("the control character U+%04X", c)
			}
			if text != "" {
				r.report(i+1, column, r.path, "got %s, want %s", text, want)
				break
			}
		}
	}
}

// harmless reports whether a character is neither a control character nor a line break
// of Unicode other than \n.
func harmless(c rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d' // part of the spelling in some scripts
	return unicode.IsPrint(c) || unicode.In(c, unicode.Zs, unicode.Co) || c == nonJoiner || c == joiner
}

// node converts a YAML node and all nodes below it. Aliases are refused, never followed.
func (r *yamlReader) node(y *yaml.Node, path string, depth int) *node {
	n := &node{kind: refused, at: r.place(y.Line, y.Column)}
	report := func(format string, args ...any) { r.report(y.Line, y.Column, path, format, args...) }
	if y.Anchor != "" {
		report("got the anchor %s, want the value written out", quoteText("&"+y.Anchor))
	}
	switch {
	case y.Kind == yaml.AliasNode:
		report("got the alias %s, want the value written out", quoteText("*"+y.Value))
		return n
	case y.Style&yaml.TaggedStyle != 0:
		report("got an explicit tag, want a value without one")
		return n
	case depth > maxDepth:
		report("got more than %d levels of nesting, want at most %d", maxDepth, maxDepth)
		return n
	}
	switch y.Kind {
	case yaml.ScalarNode:
		n.text = y.Value
		n.isText = y.Tag == "!!str" || y.Tag == "!!timestamp"
		switch {
		case y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0:
			n.kind = quoted
		case y.Tag == "!!null":
			n.kind = nothing
		default:
			n.kind = plain
		}
	case yaml.SequenceNode:
		n.kind = list
		for i, item := range y.Content {
			n.items = append(n.items, r.node(item, fmt.Sprintf("%s[%d]", path, i), depth+1))
		}
	case yaml.MappingNode:
		n.kind = mapping
		first := map[string]int{}
		for i := 0; i < len(y.Content); i += 2 {
			key, value := y.Content[i], y.Content[i+1]
			if key.Tag == "!!merge" {
				r.report(key.Line, key.Column, path, "got a merge key <<, want the keys written out")
				continue
			}
			k := r.node(key, path, depth+1)
			switch k.kind {
			case refused:
				continue
			case nothing, list, mapping:
				r.report(key.Line, key.Column, path, "got %s for a key, want a word", k.describe())
				continue
			}
			name := join(path, k.text)
			v := r.node(value, name, depth+1)
			if line, exists := first[k.text]; exists {
				r.report(key.Line, key.Column, name, "got the key again, want it once (first in line %d)", line)
				continue
			}
			first[k.text] = key.Line
			n.fields = append(n.fields, field{name: k.text, at: k.at, value: v})
		}
	}
	return n
}
