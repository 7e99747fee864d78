package logs

import (
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Dicts of Python, as TRL, ms-swift, slime and SkyRL print them.

// label names the step of the dict after it.
var label = regexp.MustCompile(`(?i)\b(rollout|step|perf|eval|iteration|iter) (\d+)(?:/\d+)?(?: metrics)?:? *$`)

// labelled returns the step in the label at the end of a text, and what it counts; NaN without one.
func labelled(text string) (step float64, counts string) {
	if m := label.FindStringSubmatch(text); m != nil {
		return digits(m[2]), strings.ToLower(m[1])
	}
	return math.NaN(), ""
}

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

// opening begins a dict.
var opening = regexp.MustCompile(`\{['"]`)

// dicts reads the dicts that begin in a line.
func (k *console) dicts(l line) (any bool) {
	text := l.text
	for failed := 0; failed < mostFailed; {
		at := opening.FindStringIndex(text)
		if at == nil {
			return any
		}
		i := at[0]
		any = true
		k.close()
		row := printedRow{line: l.number}
		if row.step, row.label = labelled(text[:i]); row.label == "" && k.headed == l.number-1 {
			row.step = k.heading
		}
		used, after, ended := 0, new(strings.Builder), false // following lines, their text, their end
		p := &parser{collector: k.collector, from: []byte(text[i+1:]), line: l.number, wrapped: true,
			more: func() ([]byte, error) {
				if used == mostJoined || after.Len() >= longJoined {
					return nil, io.EOF
				}
				next, ok := k.peek(used)
				if !ok {
					ended = true
					return nil, io.EOF
				}
				used++
				text := "\n" + unprefixed(next.text)
				after.WriteString(text)
				return []byte(text), nil
			}}
		p.object()
		switch err := p.err; {
		case err == nil && !k.bad:
			row.cells = k.cells
			k.add(row)
		case len(k.cells) == 0 && !k.bad:
		case err == nil:
			k.cannotRead(l.number, text[i:], "a text where a number belongs")
		// It is being written.
		case err == io.EOF && ended && !strings.Contains(after.String(), "{'"):
			k.note(lastLine, l.number)
			k.skip(used)
			k.dropRow()
			return true
		default:
			k.cannotRead(l.number, text[i:], "a dict that breaks off or is mixed with other text")
		}
		k.dropRow()
		if text = text[i+2:]; p.err == nil {
			k.skip(used)
			text = string(p.from[p.at:])
		} else {
			failed++
		}
	}
	return true
}

// within is a key of a dict and a number somewhere in a line.
var within = regexp.MustCompile(`'([^']+)': *'?[-+]?[\d.]`)

// bare reads a dict without its braces, in as many lines as it takes. A logger may have set
// something before it.
func (k *console) bare(l line) bool {
	text, step, label := unprefixed(l.text), math.NaN(), ""
	if !strings.HasPrefix(text, "'") {
		at := within.FindStringSubmatchIndex(text)
		if at == nil {
			return false
		}
		if s := k.look(text[at[2]:at[3]]); s == nil || !s.isStep && !s.trains {
			return false
		}
		step, label = labelled(strings.TrimRight(text[:at[0]], " .…"))
		if label == "" && len(within.FindAllString(text, 2)) < 2 {
			k.cannotRead(l.number, l.text, "a dict without its braces, and with a single key")
			return false
		}
		text = text[at[0]:]
	}
	if !strings.Contains(text, `':`) || strings.Contains(text, "{") {
		return false
	}
	k.close()
	used, read, known := -1, []cell(nil), false
	for n := range mostBare {
		p := &parser{collector: k.collector, from: []byte(text + "}"), line: l.number,
			wrapped: true}
		p.object()
		known = known || len(k.cells) > 0
		whole := p.err == nil && !k.bad && len(k.cells) > 0
		if whole {
			used, read = n, slices.Clone(k.cells)
		}
		k.dropRow()
		next, ok := k.peek(n)
		goesOn := ok && strings.TrimSpace(next.text) != "" && len(text) < longJoined
		isEnd := used >= 0 && (!whole || !strings.HasSuffix(strings.TrimSpace(text), ","))
		if !goesOn || isEnd {
			break
		}
		text += "\n" + unprefixed(next.text)
	}
	if used < 0 {
		if known {
			k.cannotRead(l.number, l.text, "a dict without braces that breaks off")
		}
		return true
	}
	k.skip(used)
	k.add(printedRow{line: l.number, step: step, cells: read})
	return true
}

// Lines of verl.

var (
	verlStart = regexp.MustCompile(`(?:^|[\s)])(step:\d)`)
	verlPair  = regexp.MustCompile(`^[^\s:]*:(?:np\.\w+\()?[-+]?(?:\d[\d.]*(?:[eE][-+]?\d*)?|nan|inf)\)?$`)
)

// dashes reads a line "step:1 - KEY:NUMBER - KEY:NUMBER …" with the lines in which it goes on.
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
			k.cannotRead(l.number, pair, "want KEY:NUMBER")
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

// Lines of several keys and numbers after a step.

// keyNumber is KEY NUMBER or KEY: NUMBER with a unit.
var keyNumber = regexp.MustCompile(`^(\S.*?)(?:\s*[:=]\s*|\s+)` +
	`([-+]?(?:[\d.,]+(?:[eE][-+]?\d+)?|nan|inf)(?: ?%)?)(?:\s*[a-zA-Z(/±].*)?$`)

// parts returns a reader of lines with parts KEY NUMBER, with a text between them, after a step.
func parts(step, by string, form rowForm) func(*console, line) bool {
	start := regexp.MustCompile(`(?:^|\s)` + step)
	return func(k *console, l line) bool {
		at := start.FindStringSubmatchIndex(l.text)
		if at == nil {
			return false
		}
		k.close()
		step := digits(l.text[at[2]:at[3]])
		all := strings.Split(l.text[at[1]:], by)
		if !l.whole {
			all = all[:len(all)-1] // it may be cut
		}
		for _, part := range all {
			found := k.pairs(part)
			if m := keyNumber.FindStringSubmatch(strings.TrimSpace(part)); m != nil && len(found) < 2 {
				found = []pair{{m[1], m[2]}}
			}
			for _, p := range found {
				k.put(l, p.key, p.value)
			}
		}
		k.add(printedRow{form: form, line: l.number, step: step, cells: k.cells})
		return true
	}
}

// zeroAdvantage are numbers of rollouts, and of those without an advantage.
var zeroAdvantage = regexp.MustCompile(`/([1-9]\d*) rollouts \(.*\bzero_advantage=(\d+)`)

// detected reads which share of the rollouts of the next row prime-rl finds without an advantage.
func (k *console) detected(l line) bool {
	m := zeroAdvantage.FindStringSubmatch(l.text)
	if m != nil {
		k.ahead = []cell{{k.seriesOf(l.number, []byte("zero_advantage")), digits(m[2]) / digits(m[1])}}
	}
	return m != nil
}

var (
	stepWords = regexp.MustCompile(`(?i)\b(?:step|iter|iteration)[ :=#[]+(\d+)\b`)
	// (N/M) of an epoch [E/F] is step (E − 1)·M + N.
	stepShare = regexp.MustCompile(`(?:\[(\d+)/\d+\] *)?\((\d+)/(\d+)\)`)
	// A number after the sign of KEY=NUMBER or KEY: NUMBER.
	numberAfter = regexp.MustCompile(`^\s*([-+]?(?:(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf)(?: ?%)?)` +
		`(?:[\s,;|)\]±]|$)`)
)

// several reads a line with several of KEY=NUMBER or KEY: NUMBER.
func (k *console) several(l line) bool {
	found, known, step := k.pairs(l.text), 0, math.NaN()
	if n := len(found); n > 0 && !l.whole && strings.HasSuffix(l.text, found[n-1].value) {
		found = found[:n-1] // it may be cut
	}
	for _, p := range found {
		if s := k.look(p.key); s != nil && !s.isStep {
			known++
		}
	}
	if known == 0 {
		return false
	}
	if m := stepWords.FindStringSubmatch(l.text); m != nil {
		step = digits(m[1])
	} else if m := stepShare.FindStringSubmatch(l.text); m != nil {
		step = max(0, digits(m[1])-1)*digits(m[3]) + digits(m[2])
	} else if known == 1 {
		return false
	}
	for _, p := range found {
		k.put(l, p.key, p.value)
	}
	k.add(printedRow{form: ofOneLine, line: l.number, step: step, redraw: barText.MatchString(l.text),
		cells: k.cells})
	return true
}

type pair struct{ key, value string }

// pairs finds KEY=NUMBER and KEY: NUMBER, but for those of bars and of places in a program. Of a
// key of several words that nobody knows the last word stands. It must be known, and end no other
// key: a format reward beside a reward is none.
func (k *console) pairs(text string) (found []pair) {
	times := make(map[string]int) // by the last word
	last := func(key string) string { return key[strings.LastIndexByte(key, ' ')+1:] }
	for at := range len(text) {
		if text[at] != '=' && text[at] != ':' {
			continue
		}
		before := strings.TrimRight(text[:at], " \t\r\f")
		word := strings.TrimLeftFunc(lastRun(before), func(r rune) bool { return !isLetter(r) })
		if word == "" || strings.HasSuffix(word, ".py") {
			continue
		}
		from, value := len(before)-len(word), numberAfter.FindStringSubmatchIndex(text[at+1:])
		if value == nil || from > 0 && text[from-1] == ':' && text[len(before)] == ':' ||
			strings.HasPrefix(text[at+value[3]:], "%|") {
			continue
		}
		found = append(found, pair{before[phrase(text, from):], text[at+1+value[2] : at+1+value[3]]})
		times[word]++
	}
	for i, p := range found {
		if word := last(p.key); word != p.key && times[word] == 1 && k.look(p.key) == nil &&
			k.look(word) != nil {
			found[i].key = word
		}
	}
	return found
}

// lastRun returns the characters of a key at the end of a text.
func lastRun(text string) string { return text[len(strings.TrimRightFunc(text, ofKey)):] }

// phrase returns where a key begins that has up to two words before its last one.
func phrase(text string, at int) int {
	for range 2 {
		if at == 0 || text[at-1] != ' ' {
			break
		}
		word := lastRun(text[:at-1])
		if word == "" || !isLetter(rune(word[0])) {
			break
		}
		at -= len(word) + 1
	}
	return at
}

// Rows that are printed over several lines, one or a few values in each.

// frames are replaced by bars.
var frames = strings.NewReplacer("│", "|", "┃", "|")

// grid reads a line of a table whose cells are keys and numbers in turn.
func (k *console) grid(l line) bool {
	text := frames.Replace(unprefixed(l.text))
	if !strings.HasPrefix(text, "|") {
		return false
	}
	cells := strings.Split(strings.Trim(strings.TrimSpace(text), "|"), "|")
	if l.text = cells[0]; len(cells) == 1 { // a frame
		return k.single(l)
	}
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
	strange := func(r rune) bool { return r != ' ' && r != '@' && !ofKey(r) }
	return key, value, value != "" && !strings.ContainsFunc(key, strange)
}

// isLetter reports whether a key may begin with a character.
func isLetter(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' || r == '_' }

// ofKey reports whether a key without spaces may go on with a character.
func ofKey(r rune) bool {
	return isLetter(r) || '0' <= r && r <= '9' || r == '.' || r == '/' || r == '-'
}

// single reads a line of one value.
func (k *console) single(l line) bool {
	key, value, ok := keyAndValue(unprefixed(l.text))
	if !ok || strings.Contains(l.text, "%|") { // a bar
		return false
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
	k.add(printedRow{form: ofLines, line: l.number, step: k.heading, cells: k.cells})
	k.dropRow()
}

// close ends the row that is printed over several lines. Bars that are drawn after it are its own.
func (k *console) close() {
	if k.block > 0 {
		k.found[k.block-1].bars = k.barCells()
	}
	k.block = 0
}

var heading = regexp.MustCompile(`^\W*Step (\d+)(?:/\d+)?\W*$|METRICS STEP (\d+)|Train step (\d+)/\d+ done|` +
	`(?:^|\s)(?:Step|Iter) (\d+):\s*$`)

// isHeading reads a line that says which step the next ones are of, or that they are of evaluation.
func (k *console) isHeading(l line) bool {
	if strings.HasSuffix(strings.TrimSpace(l.text), "Results:") {
		k.close()
		k.eval = strings.Contains(l.text, "Validation")
		return true
	}
	if !strings.Contains(strings.ToLower(l.text), "step ") && !strings.Contains(l.text, "Iter ") {
		return false
	}
	m := heading.FindStringSubmatch(l.text)
	if m != nil {
		k.close()
		k.heading = digits(strings.Join(m[1:], "")) // of one group
		k.headed, k.eval = l.number, false
	}
	return m != nil
}
