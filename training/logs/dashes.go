package logs

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

// Lines of verl.

var (
	verlStart = regexp.MustCompile(`(?:^|[\s)])(step:\d)`)
	verlPair  = regexp.MustCompile(`^[^\s:]*:(?:np\.\w+\()?[-+]?(?:\d[\d.]*(?:[eE][-+]?\d*)?|nan|inf)\)?$`)
)

// dashes reads a line "step:1 - KEY:NUMBER - KEY:NUMBER …" with the lines in which it goes
// on.
func (k *console) dashes(l line) bool {
	at := verlStart.FindStringSubmatchIndex(l.text)
	if at == nil {
		return false
	}
	k.close()
	text, whole := l.text[at[2]:], l.whole
	for {
		next, ok := k.peek(0)
		more, on := goesOn(text, next.text)
		if !ok || !on || len(more) > longJoined {
			break
		}
		k.skip(1)
		text, whole = more, next.whole
	}
	pairs := strings.Split(strings.TrimSuffix(strings.TrimSpace(text), " -"), " - ")
	switch {
	case !whole && slices.ContainsFunc(k.found, func(r printedRow) bool { return r.form == certain }):
		k.note(lastLine, k.lines.number)
		return true
	case !whole: // a paste, perhaps
		k.note("Line %d, the last, may not be complete: its last value was left out.", k.lines.number)
		pairs = pairs[:len(pairs)-1]
	}
	for _, pair := range pairs {
		if i := strings.LastIndexByte(pair, ':'); i > 0 {
			k.put(l, pair[:i], pair[i+1:])
		} else {
			k.unread.add(l.number, pair, "want KEY:NUMBER")
		}
	}
	k.add(printedRow{line: l.number, step: math.NaN(), cells: k.cells})
	return true
}

// goesOn joins a text of pairs and the next line, which a terminal may have cut anywhere,
// and reports whether that gives pairs. The last of several may be cut again.
func goesOn(text, next string) (joined string, ok bool) {
	next = strings.TrimSpace(next)
	if strings.HasSuffix(text, " -") || strings.HasPrefix(next, "- ") {
		text += " "
	}
	joined = text + next
	shared := strings.LastIndex(text, " - ")
	pieces := strings.Split(joined[max(0, shared):], " - ")
	if shared >= 0 {
		pieces = pieces[1:]
	}
	for i, piece := range pieces {
		piece = strings.TrimSuffix(piece, " -")
		if whole := strings.Count(piece, ":") == 1 && verlPair.MatchString(piece); !whole && (i == 0 ||
			i < len(pieces)-1) {
			return "", false
		}
	}
	return joined, next != ""
}
