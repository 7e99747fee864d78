package logs

import (
	"bytes"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Dicts of Python, as TRL, ms-swift, slime and SkyRL print them.

// label names the step of the dict after it.
var label = regexp.MustCompile(`(?i)\b(rollout|step|perf|eval|iteration|iter) (\d+): *$`)

// stepsPerRollout returns of how many steps each rollout is that slime counts in labels: then a
// rollout stands at the first of its own.
func (k *console) stepsPerRollout(rows []printedRow) float64 {
	last := make(map[string]float64)
	for _, r := range rows {
		last[r.label] = max(last[r.label], r.step+1)
	}
	steps := 1.0
	if last["rollout"] > 0 && last["step"] > 0 {
		steps = max(1, math.Round(last["step"]/last["rollout"]))
	}
	if steps > 1 {
		k.note("Steps are counted, of which a rollout has %v: it stands at its first.", steps)
	}
	return steps
}

// dicts reads the dicts that begin in a line.
func (k *console) dicts(l line) (any bool) {
	text := l.text
	for failed := 0; failed < mostFailed; {
		i := strings.Index(text, "{'")
		if j := strings.Index(text, `{"`); i < 0 || j >= 0 && j < i {
			i = j
		}
		if i < 0 {
			return any
		}
		any = true
		k.close()
		row := printedRow{line: l.number, step: math.NaN()}
		if named := label.FindStringSubmatch(text[:i]); named != nil {
			row.step, _ = strconv.ParseFloat(named[2], 64) // digits
			row.label = strings.ToLower(named[1])
		} else if k.headed == l.number-1 {
			row.step = k.heading
		}
		if rank.MatchString(text[:i]) {
			row.rank = strings.TrimSpace(text[:i])
		}
		from := &joined{text: []byte(text[i+1:]), from: k.lines}
		p := &parser{collector: k.collector, r: from, line: l.number, wrapped: true}
		p.object()
		switch err := p.err; {
		case err == nil && !k.bad:
			row.cells = k.cells
			k.add(row)
		case len(k.cells) == 0 && !k.bad:
		case err == nil:
			k.unread.add(l.number, text[i:], "a text where a number belongs")
		// It is being written.
		case err == io.EOF && from.end && !bytes.Contains(from.text[len(text)-i-1:], []byte("{'")):
			k.note(lastLine, l.number)
			k.skip(from.used)
			k.dropRow()
			return true
		default:
			k.unread.add(l.number, text[i:], "a dict that breaks off or is mixed with other text")
		}
		k.dropRow()
		if text = text[i+2:]; p.err == nil {
			k.skip(from.used)
			text = string(from.text[from.at:])
		} else {
			failed++
		}
	}
	return true
}

// mostFailed is the largest number of dicts in a line that cannot be read before the rest is left.
const mostFailed = 100

// within is a key of a dict and a number somewhere in a line.
var within = regexp.MustCompile(`'([^']+)': *'?[-+]?[\d.]`)

// bare reads a dict without its braces, in as many lines as it takes. A logger may have set
// something before it.
func (k *console) bare(l line) bool {
	text := unprefixed(l.text)
	step := math.NaN()
	if !strings.HasPrefix(text, "'") {
		at := within.FindStringSubmatchIndex(text)
		if at == nil || !k.newSeries([]byte(text[at[2]:at[3]])).trained() {
			return false
		}
		if named := label.FindStringSubmatch(strings.TrimRight(text[:at[0]], " .…")); named != nil {
			step, _ = strconv.ParseFloat(named[2], 64) // digits
		} else if len(within.FindAllString(text, 2)) < 2 {
			k.unread.add(l.number, l.text, "a dict without its braces, and with a single key")
			return false
		}
		text = text[at[0]:]
	}
	if end := strings.Index(text, `':`); end < 0 || strings.Contains(text, "{") {
		return false
	}
	k.close()
	const most = 50 // lines
	used, read, known := -1, []cell(nil), false
	for n := 0; n < most && len(text) < longJoined || n == 0; n++ {
		if n > 0 {
			next, ok := k.peek(n - 1)
			if !ok || strings.TrimSpace(next.text) == "" {
				break
			}
			text += "\n" + unprefixed(next.text)
		}
		p := &parser{collector: k.collector, r: strings.NewReader(text + "}"), line: l.number,
			wrapped: true}
		p.object()
		known = known || len(k.cells) > 0
		whole := p.err == nil && !k.bad && len(k.cells) > 0
		if whole {
			used, read = n, slices.Clone(k.cells)
		}
		k.dropRow()
		if goesOn := strings.HasSuffix(strings.TrimSpace(text), ","); whole && !goesOn || used >= 0 && !whole {
			break
		}
	}
	if used < 0 {
		if known {
			k.unread.add(l.number, l.text, "a dict without braces that breaks off")
		}
		return true
	}
	k.skip(used)
	k.add(printedRow{line: l.number, step: step, cells: read})
	return true
}
