package logs

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Lines of several keys and numbers after a step.

// keyNumber is KEY NUMBER or KEY: NUMBER with a unit.
var keyNumber = regexp.MustCompile(`^(\S.*?)(?:\s*[:=]\s*|\s+)` +
	`([-+]?(?:[\d.,]+(?:[eE][-+]?\d+)?|nan|inf)%?)(?:\s*[a-zA-Z(/].*)?$`)

// parts returns a reader of lines with parts KEY NUMBER, with a text between them, after a step.
func parts(step, by string) func(*console, line) bool {
	start := regexp.MustCompile(`(?:^|\s)` + step)
	return func(k *console, l line) bool {
		at := start.FindStringSubmatchIndex(l.text)
		if at == nil {
			return false
		}
		k.close()
		step, _ := strconv.ParseFloat(l.text[at[2]:at[3]], 64) // digits
		all := strings.Split(l.text[at[1]:], by)
		if !l.whole {
			all = all[:len(all)-1] // it may be cut
		}
		for _, part := range all {
			if m := keyNumber.FindStringSubmatch(strings.TrimSpace(part)); m != nil {
				k.put(l, m[1], m[2])
			}
		}
		k.add(printedRow{line: l.number, step: step, cells: k.cells})
		return true
	}
}

var (
	equals    = regexp.MustCompile(`([A-Za-z_][\w./-]*)\s*[=:]\s*([-+]?(?:\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?|nan|inf)%?)(?:[\s,;|)\]]|$)`)
	stepWords = regexp.MustCompile(`(?i)\b(?:step|iter|iteration)[ :=#]+(\d+)\b`)
	// (N/M) of an epoch [E/F] is step (E − 1)·M + N.
	stepShare = regexp.MustCompile(`(?:\[(\d+)/\d+\] *)?\((\d+)/(\d+)\)`)
)

// paired reports whether a text may have KEY=NUMBER or KEY: NUMBER, without a search for what equals finds.
func paired(text string) bool {
	for at := range len(text) {
		if text[at] != '=' && text[at] != ':' {
			continue
		}
		value := strings.TrimLeft(text[at+1:], " \t\r\f")
		if value == "" || !strings.Contains("+-0123456789ni", value[:1]) {
			continue
		}
		key := strings.TrimRight(text[:at], " \t\r\f")
		for n := len(key) - 1; n >= 0 && ofKey(rune(key[n])); n-- {
			if isLetter(rune(key[n])) {
				return true
			}
		}
	}
	return false
}

// several reads a line with several of KEY=NUMBER or KEY: NUMBER.
func (k *console) several(l line) bool {
	if !paired(l.text) || strings.Count(l.text, "=")+strings.Count(l.text, ":") < 2 && !stepWords.MatchString(l.text) {
		return false
	}
	found := equals.FindAllStringSubmatch(l.text, -1)
	step := math.NaN()
	if m := stepWords.FindStringSubmatch(l.text); m != nil {
		step, _ = strconv.ParseFloat(m[1], 64) // digits
	} else if m := stepShare.FindStringSubmatch(l.text); m != nil {
		var of [3]float64
		for i := range of {
			of[i], _ = strconv.ParseFloat(m[1+i], 64) // digits, or none
		}
		step = max(0, of[0]-1)*of[2] + of[1]
	}
	if n := len(found); n > 0 && !l.whole && strings.HasSuffix(l.text, found[n-1][2]) {
		found = found[:n-1] // it may be cut
	}
	known := 0
	for _, m := range found {
		if s := k.newSeries([]byte(m[1])); s != nil && !s.isStep {
			known++
		}
	}
	if known == 0 || known == 1 && math.IsNaN(step) {
		return false
	}
	for _, m := range found {
		k.put(l, m[1], strings.TrimSuffix(m[2], ","))
	}
	k.add(printedRow{form: ofOneLine, line: l.number, step: step, redraw: bar.MatchString(l.text),
		cells: k.cells})
	return true
}
