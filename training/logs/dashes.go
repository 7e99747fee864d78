package logs

import (
	"math"
	"regexp"
	"strings"
)

// Lines of verl.

var (
	verlStart = regexp.MustCompile(`(?:^|[\s)])(step:\d)`)
	verlPair  = regexp.MustCompile(`^[^\s:]*:\s?\S+$`)
	digits    = regexp.MustCompile(`^[\d.eE+-]+$`)
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
		if trimmed := strings.TrimLeft(next.text, " \t"); !ok || unprefixed(trimmed) != trimmed || !goesOn(trimmed) {
			break
		}
		k.skip(1)
		if strings.HasSuffix(text, " -") || strings.HasPrefix(next.text, "- ") {
			text += " "
		}
		text, whole = text+next.text, next.whole
	}
	pairs := strings.Split(strings.TrimSuffix(strings.TrimSpace(text), " -"), " - ")
	if !whole {
		k.notes = append(k.notes, lastLine(k.number))
		return true
	}
	for _, pair := range pairs {
		if i := strings.LastIndexByte(pair, ':'); i > 0 {
			k.put(l, pair[:i], pair[i+1:])
		} else {
			k.unread.add(l.number, pair, "want KEY:NUMBER")
		}
	}
	k.endStep(l.number, math.NaN())
	return true
}

// goesOn reports whether a line goes on with pairs KEY:NUMBER that a terminal cut.
func goesOn(text string) bool {
	pieces := strings.Split(strings.TrimPrefix(strings.TrimSpace(text), "- "), " - ")
	if len(pieces) == 1 {
		return digits.MatchString(pieces[0]) || verlPair.MatchString(pieces[0]) && !strings.HasPrefix(pieces[0], "step:")
	}
	return verlPair.MatchString(pieces[1]) && !verlStart.MatchString(text)
}
