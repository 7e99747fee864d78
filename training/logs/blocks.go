package logs

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Rows that are printed over several lines, one or a few values in each.

// grid reads a line of a table whose cells are keys and numbers in turn.
func (k *console) grid(l line) bool {
	text := strings.Map(func(r rune) rune {
		if r == '│' || r == '┃' {
			return '|'
		}
		return r
	}, unprefixed(l.text))
	if !strings.HasPrefix(text, "|") {
		return false
	}
	cells := strings.Split(strings.Trim(strings.TrimSpace(text), "|"), "|")
	for i := 0; i+1 < len(cells); i += 2 {
		key, value := strings.TrimSpace(cells[i]), strings.TrimSpace(cells[i+1])
		if _, has, ok := number([]byte(value)); has && ok && key != "" {
			k.addValue(l, key, value)
		}
	}
	return true
}

// inner are named values of a line, as "Total Rewards:  μ=0.5, σ=0.1".
var inner = regexp.MustCompile(`(\pL+)=([-+]?[\d.]+(?:[eE][-+]?\d+)?)`)

// keyAndValue splits a line "• KEY: VALUE" or "KEY = VALUE".
func keyAndValue(text string) (key, value string, ok bool) {
	text = strings.TrimLeft(text, " \t\r\f•*·-")
	at := strings.IndexAny(text, ":=")
	if at < 1 || text[0] == '_' || !isLetter(rune(text[0])) {
		return "", "", false
	}
	key, value = strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+1:])
	return key, value, value != "" && !strings.ContainsFunc(key, func(r rune) bool { return r != ' ' && r != '@' && !ofKey(r) })
}

// isLetter reports whether a key may begin with a character.
func isLetter(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' || r == '_' }

// ofKey reports whether a key without spaces may go on with a character.
func ofKey(r rune) bool {
	return isLetter(r) || '0' <= r && r <= '9' || r == '.' || r == '/' || r == '-'
}

// single reads a line of one value.
func (k *console) single(l line) bool {
	if !strings.ContainsAny(l.text, ":=") {
		return false
	}
	key, value, ok := keyAndValue(unprefixed(l.text))
	if !ok {
		return false
	}
	if s, seen := k.byKey[key]; seen && s == nil && !k.eval && l.whole && !strings.Contains(value, "=") {
		return true // nobody knows the key
	}
	if named := inner.FindAllStringSubmatch(value, -1); named != nil {
		for _, n := range named {
			k.addValue(l, key+" "+n[1], n[2])
		}
		return true
	}
	if m := keyNumber.FindStringSubmatch("x " + value); m != nil {
		k.addValue(l, key, m[2])
	}
	return true
}

// addValue adds a value to the row that is printed over several lines. A key that it has begins
// the next row.
func (k *console) addValue(l line, key, value string) {
	if !l.whole {
		k.note(lastLine, l.number)
		return
	}
	if k.eval {
		key = "validation/" + key
	}
	k.set(l.number, []byte(key), []byte(value))
	for _, c := range k.cells {
		if slices.ContainsFunc(k.block, func(b cell) bool { return b.of == c.of }) {
			k.close()
		}
		if len(k.block) == 0 {
			k.begins = l.number
		}
		k.block = append(k.block, c)
	}
	k.dropRow()
}

// close ends the row that is printed over several lines.
func (k *console) close() {
	if len(k.block) > 0 {
		k.add(printedRow{form: ofLines, line: k.begins, step: k.heading, cells: k.block})
		k.block = nil
	}
}

var headings = []*regexp.Regexp{
	regexp.MustCompile(`^[=#*\s─-]*Step (\d+)(?:/\d+)?[=#*\s─:-]*$`),
	regexp.MustCompile(`METRICS STEP (\d+)`),
	regexp.MustCompile(`Train step (\d+)/\d+ done`),
	regexp.MustCompile(`(?:^|\s)(?:Step|Iter) (\d+):\s*$`),
}

// isHeading reads a line that says which step the next ones are of, or that they are of
// evaluation.
func (k *console) isHeading(l line) bool {
	if strings.HasSuffix(strings.TrimSpace(l.text), "Results:") {
		k.close()
		k.eval = strings.Contains(l.text, "Validation")
		return true
	}
	if !strings.Contains(strings.ToLower(l.text), "step ") && !strings.Contains(l.text, "Iter ") {
		return false
	}
	for _, heading := range headings {
		if m := heading.FindStringSubmatch(l.text); m != nil {
			k.close()
			k.heading, _ = strconv.ParseFloat(m[1], 64) // digits
			k.headed, k.eval = l.number, false
			return true
		}
	}
	return false
}
