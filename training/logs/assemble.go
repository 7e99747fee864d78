package logs

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

func (c *collector) log() (*Log, error) {
	if len(c.rows) == 0 && len(c.err.Problems) > 0 {
		return nil, &c.err
	}
	t := c.trainer()
	a := assembly{collector: c, trainer: t, steps: c.stepSeries()}
	l := &Log{File: c.err.File, Run: c.run, Format: Format{c.writer(t), c.container}, Averaged: 1}
	a.sumCounts()
	a.train = a.columns(training)
	if other, shown := c.other(); shown != "" && !other.task {
		isReward := func(s source) bool { return strings.HasPrefix(string(s.quantity), "reward") }
		a.train = slices.DeleteFunc(a.train, isReward)
	}
	switch {
	case c.how.Reward != "" && !slices.ContainsFunc(a.train,
		func(s source) bool { return s.quantity == Reward && strings.EqualFold(s.of.key, c.how.Reward) }):
		c.err.add(0, "--reward: got no column %s; %s", quote(c.how.Reward), c.keysSeen())
	case c.container == TrainerState && len(c.rows) == 0:
		c.err.add(0, "got a log_history without rows, want at least one")
	case !slices.ContainsFunc(a.train, source.tells):
		c.err.add(0, "got no key of training that is known, want reward, "+
			"critic/score/mean or another of grposim help log-keys; %s", c.keysSeen())
	default:
		l.Table = a.table(training)
		l.tellSolved()
		if e := a.table(evaluating); len(e.Steps) > 0 && len(e.Columns) > 0 {
			l.Evaluation = &e
		}
		switch {
		case len(c.err.Problems) > 0:
		case len(l.Steps) == 0:
			c.err.add(0, "got no row of training with a step, want at least one")
			c.tellNotes()
		case len(l.Columns) == 0:
			c.err.add(0, "got no value in the rows of training, want at least one; %s", c.keysSeen())
		case a.steps == nil && l.ofSamples():
			c.err.add(0, "got %s without a step, each with a reward of 0 or 1 and nothing else: "+
				"they are single samples, want the means of steps", CountWords(len(l.Steps), "row"))
		}
	}
	if len(c.err.Problems) > 0 {
		return nil, &c.err
	}
	// A step that is not after the first is of another run.
	l.Resumes = slices.DeleteFunc(c.resumes, func(step int) bool { return step <= l.Steps[0] })
	a.spacing(l)
	a.remark(l)
	if more := c.unread - shownUnread; more > 0 {
		c.note("%d more were not understood.", more)
	}
	l.Notes = c.notes
	return l, nil
}

// trainer returns the index of the trainer of which the file has the most keys. The first
// of equals counts.
func (c *collector) trainer() int {
	best, most := 0, -1
	for i, t := range trainers() {
		allowed := slices.Contains(t.Containers, c.container) || c.container != TrainerState
		for _, key := range t.Needs {
			allowed = allowed && c.hasKey(i, key)
		}
		if n := len(known(c, i)); allowed && n > most {
			best, most = i, n
		}
	}
	return best
}

// writer returns the name of trainer i if the file shows that it is the trainer's. It goes by the
// container, or by two keys that general names do not have, or by one that nobody else is likely to
// choose. Such a key has a slash or three words. One short word, as ent, is anybody's abbreviation,
// though it is read as that trainer's.
func (c *collector) writer(i int) Trainer {
	own := 0
	for _, s := range known(c, i) {
		switch key := s.rule(i, training).Key; {
		case s.rule(0, training) != nil:
		case strings.Contains(key, "/"), strings.Count(key, "_") >= 2:
			own += 2
		default:
			own++
		}
	}
	if own < 2 && !slices.Contains(trainers()[i].Containers, c.container) {
		return Plain
	}
	return trainers()[i].Name
}

// known returns the series of which trainer i has the keys.
func known(c *collector, i int) []*series {
	return slices.DeleteFunc(slices.Clone(c.series), func(s *series) bool { return s.rule(i, training) == nil })
}

// hasKey reports whether the file has a key of trainer i with the given rule key.
func (c *collector) hasKey(i int, key string) bool {
	return slices.ContainsFunc(known(c, i), func(s *series) bool { return s.rule(i, training).Key == key })
}

// stepSeries returns the series of steps, nil if there is none.
func (c *collector) stepSeries() *series {
	for _, key := range append(stepKeys, barKey) {
		if s := c.byName[key]; s != nil && len(s.values) > 0 {
			return s
		}
	}
	return nil
}

// keysByLikeness returns keys of the file, of the given series and those that nobody knows. First
// are those that are like a reward's.
func (c *collector) keysByLikeness(of []*series) (keys []string) {
	for _, s := range of {
		keys = append(keys, s.key)
	}
	keys = append(keys, c.unknown...)
	slices.SortStableFunc(keys, func(a, b string) int { return likeReward(b) - likeReward(a) })
	return keys
}

// keysSeen lists keys of the file, those first that are like a reward's.
func (c *collector) keysSeen() string {
	keys := append(c.keysByLikeness(c.series), c.texts...)
	if len(keys) == 0 {
		return "it has no keys"
	}
	return "its keys are " + quoteAll(keys, mostNames) + renaming(keys[0])
}

// renaming says what to do with a key that could be the reward's.
func renaming(key string) string {
	if likeReward(key) == 0 {
		return ""
	}
	return fmt.Sprintf("; if %s is the mean reward, rename it to reward", quote(key))
}

// likeReward is positive for a key that could be a reward's.
func likeReward(key string) int {
	key = strings.ToLower(key)
	if strings.Contains(key, "std") || strings.Contains(key, "eval") {
		return 0
	}
	return 1 + slices.IndexFunc([]string{"acc", "return", "score", "reward"},
		func(word string) bool { return strings.Contains(key, word) })
}

// assembly turns rows into tables.
type assembly struct {
	*collector
	trainer int
	steps   *series  // nil: rows are numbered
	train   []source // of the table of training
}

// source is a column to be made of a series.
type source struct {
	quantity Quantity
	rule     *rule
	of       *series
	training bool // of the table of evaluation: a key of training in rows of evaluation
}

// compare orders sources as Quantities are.
func (s source) compare(t source) int { return cmp.Compare(s.quantity.rank(), t.quantity.rank()) }

// tells reports whether a source is more than a learning rate.
func (s source) tells() bool { return s.quantity != LR }

// columns returns the sources of the table of a part in the order of Quantities.
func (a *assembly) columns(of part) []source {
	rules := trainers()[a.trainer].rules(of)
	var found []source
	take := func(q Quantity, r *rule, s *series) (first bool) {
		first = !slices.ContainsFunc(found, func(x source) bool { return x.quantity == q || x.of == s })
		if first {
			found = append(found, source{quantity: q, rule: r, of: s})
		}
		return first
	}
	named := func(q Quantity, key string) {
		for _, s := range a.series {
			if key != "" && strings.EqualFold(s.key, key) {
				take(q, &rule{Meaning: "Named by the user."}, s)
			}
		}
	}
	if of == training {
		named(Reward, a.how.Reward)
	}
	for i := range rules {
		r := &rules[i]
		if r.Quantity == "" || !a.applies(r) {
			continue
		}
		for _, s := range a.series {
			if m := s.matches[rulesPlace{a.trainer, of}]; m.rule != nil && m.rule.Key == r.Key {
				take(Quantity(strings.Replace(string(r.Quantity), "*", m.name, 1)), r, s)
			}
		}
	}
	named(EvalScore+"/named", a.how.TrueReward)
	if of == training {
		times := make(map[Quantity]int) // that a name says it after the slash
		for _, s := range a.series {
			if s.general != nil {
				times[s.general.Quantity]++
			}
		}
		for _, s := range a.series {
			if r := s.general; r != nil && times[r.Quantity] == 1 && take(r.Quantity, r, s) {
				a.note("%s is read as %s, by what its name says after the slash.", s.key, r.Quantity)
				for row := range a.rows {
					a.rows[row].training = a.rows[row].training || s.has(row)
				}
			}
		}
	}
	slices.SortStableFunc(found, source.compare)
	return found
}

// applies reports whether the conditions of a rule hold for the file.
func (a *assembly) applies(r *rule) bool {
	if r.With != "" && !a.hasKey(a.trainer, r.With) {
		return false
	}
	complete := a.container == TrainerState || a.container == Console || a.container == TensorBoard
	return r.Without == "" || complete && !a.hasKey(a.trainer, r.Without)
}

// sumCounts adds a series of the sum of slime's numbers of groups with equal rewards, one for each
// value of the reward. They are 0 in rows that lack them but have the lengths.
func (a *assembly) sumCounts() {
	sum, lengths := a.look(countOfReward+"*"), a.byName["rollout/response_len/mean"]
	for _, s := range a.series {
		if !strings.HasPrefix(s.name, countOfReward) {
			continue
		}
		for row := range a.rows {
			if lengths.has(row) && !s.has(row) {
				s.put(row, 0)
			}
			if x := s.at(row); s.has(row) {
				if sum.has(row) {
					x += sum.at(row)
				}
				sum.put(row, x)
			}
		}
	}
	if len(sum.values) > 0 && sum.rule(a.trainer, training) != nil {
		a.series = slices.Insert(a.series, 0, sum)
	}
}

// evaluation returns the sources of the table of evaluation. Trainers whose rows of
// evaluation are apart write some keys of training there too.
func (a *assembly) evaluation() []source {
	sources := a.columns(evaluating)
	if trainers()[a.trainer].Evaluation != evalOwns {
		return sources
	}
	for _, s := range a.train {
		s.training = true
		if s.quantity == Reward {
			s.quantity, s.rule = EvalScore, &rule{Meaning: evalReward}
		}
		if !slices.ContainsFunc(sources, func(x source) bool { return x.quantity == s.quantity }) {
			sources = append(sources, s)
		}
	}
	slices.SortStableFunc(sources, source.compare)
	return sources
}

// counts returns the series of which a row of training has one, where rows are numbered. It is the
// reward, or one in all its rows and in more (the loss of a trainer that makes several updates of a
// batch). Without a reward it is all but the learning rate.
func (a *assembly) counts() (these []*series) {
	for _, s := range a.train {
		if s.tells() {
			these = append(these, s.of)
		}
	}
	i := slices.IndexFunc(a.train, func(s source) bool { return s.quantity == Reward })
	if i < 0 {
		return these
	}
	counted, most := a.train[i].of, 0
	for _, s := range these {
		rows, all := 0, true
		for row, info := range a.rows {
			if s.has(row) && !info.evaluates() {
				rows++
			}
			all = all && (s.has(row) || !a.train[i].of.has(row))
		}
		if all && rows > most {
			counted, most = s, rows
		}
	}
	return []*series{counted}
}

func (a *assembly) table(of part) Table {
	own := trainers()[a.trainer].Evaluation == evalOwns
	sources, steps, counts := a.train, a.steps, []*series(nil)
	if steps == nil {
		counts = a.counts()
	}
	var evalSteps *series
	if of == evaluating {
		sources, evalSteps = a.evaluation(), a.byName[evalStepKey]
	}
	var kept, at []int // rows, and their steps
	lost, back, again, numbered := 0, 0, 0, 0
	for row, info := range a.rows {
		evaluates := own && info.evaluates()
		isNumbered := !evaluates && slices.ContainsFunc(counts,
			func(s *series) bool { return s.has(row) })
		if isNumbered {
			numbered++
		}
		switch {
		case of == training && (!info.training || evaluates || steps == nil && !isNumbered):
			continue
		case of == evaluating && own && !info.ofEval:
			continue
		case of == evaluating && !own && !slices.ContainsFunc(sources,
			func(s source) bool { return a.has(s, row) }):
			continue
		}
		x := steps.at(row)
		if math.IsNaN(x) {
			x = evalSteps.at(row)
		}
		if steps == nil {
			x = float64(numbered)
		}
		const most = 1 << 53
		switch {
		case math.IsNaN(x):
			if info.tells || of == evaluating {
				lost++
			}
			continue
		case x != math.Trunc(x) || x < 0 || x > most:
			a.err.add(info.line, "%s: got %v, want an integer of 0 to %d", a.steps.key, x, most)
			continue
		}
		step := int(x)
		// A step is written in parts, or a row again.
		i, has := slices.BinarySearch(at, step)
		if has && agree(sources, kept[i], row) {
			a.merge(sources, kept[i], row)
			continue
		}
		if n := len(at); i < n {
			if at[n-1] > step {
				back++
			}
			if of == training {
				a.resumed(step)
			}
			again += n - i
		}
		at, kept = append(at[:i], step), append(kept[:i], row)
	}
	if lost > 0 {
		a.noteCount(lost, "row", "of %s without %s left out.", of, steps.key)
	}
	a.noteCount(again, "row", "of %s dropped, because a later row has the same step or an earlier one: "+
		"the run was resumed from an earlier step.", of)
	if back > 1 && 2*back > len(at)+again {
		a.err.add(0, "%s: got steps that go back %d times in %s, want rows in the order of the run",
			steps.key, back, CountWords(len(at)+again, "row"))
	}

	t := Table{Steps: at}
	for _, s := range sources {
		c := a.column(s, kept, at)
		isNumber := func(x float64) bool { return !math.IsNaN(x) }
		if s.quantity == Reward || len(c.NotFinite) > 0 || slices.ContainsFunc(c.Values, isNumber) {
			t.Columns = append(t.Columns, c)
			if of == training {
				a.tellColumn(s)
			}
		}
	}
	return t
}

// column makes a column of the rows kept, at their steps.
func (a *assembly) column(s source, kept, at []int) Column {
	c := Column{Quantity: s.quantity, Key: s.of.key, Meaning: s.rule.Meaning, Values: make([]float64, len(kept))}
	if s.of.decimals > 0 {
		c.Below = math.Pow10(-s.of.decimals) / 2 * math.Abs(cmp.Or(s.rule.Scale, 1))
	}
	for i, row := range kept {
		c.Values[i] = math.NaN()
		if a.has(s, row) {
			c.Values[i] = s.value(row)
		}
		if s.of.broken(row) {
			c.NotFinite = append(c.NotFinite, i)
		}
	}
	a.believe(&c, s.rule.Estimator, at)
	return c
}

// tellColumn says what of a column was not read.
func (a *assembly) tellColumn(of source) {
	broken := slices.DeleteFunc(slices.Clone(of.of.values), func(x float64) bool { return !math.IsInf(x, 0) })
	if n := len(broken); n > 0 {
		a.note("%s: %s not finite, read as missing.", of.of.key, CountWords(n, "value"))
	}
	for _, s := range a.series {
		if s != of.of && s.rule(a.trainer, training) == of.rule && of.rule.Quantity == of.quantity {
			a.note("%s left out: %s is read from %s.", s.key, of.quantity, of.of.key)
		}
	}
}

// has reports whether a row has a value for a column. A key of training does not count for one of
// evaluation in rows of training.
func (a *assembly) has(s source, row int) bool {
	return s.of.has(row) && !(s.training && a.rows[row].updates)
}

// value returns the value of a row in the unit of the quantity.
func (s source) value(row int) float64 {
	x := s.of.at(row) * cmp.Or(s.rule.Scale, 1)
	if s.rule.Rest {
		return 1 - x
	}
	return x
}

// agree reports whether no series has different values in two rows.
func agree(sources []source, x, y int) bool {
	return !slices.ContainsFunc(sources, func(s source) bool {
		return s.of.has(x) && s.of.has(y) && s.of.at(x) != s.of.at(y)
	})
}

// merge moves the values of row from to row to: W&B, slime and prime-rl write a step in parts.
func (a *assembly) merge(sources []source, to, from int) {
	for _, s := range sources {
		if s.of.has(from) || s.of.broken(from) && !s.of.has(to) {
			s.of.put(to, s.of.at(from))
		}
	}
}

// spacing finds Averaged from the differences of steps.
func (a *assembly) spacing(l *Log) {
	counts := make(map[int]int)
	for i := 1; i < len(l.Steps); i++ {
		counts[l.Steps[i]-l.Steps[i-1]]++
	}
	usual := 1
	for _, gap := range slices.Sorted(maps.Keys(counts)) {
		if counts[gap] > counts[usual] {
			usual = gap
		}
	}
	uneven := len(l.Steps) - 1 - counts[usual]
	if len(counts) > 0 && 10*uneven > len(l.Steps) {
		a.note("Rows are unevenly spaced: %d of %d distances are not %d.", uneven, len(l.Steps)-1, usual)
	}
	row := trainers()[a.trainer].Row
	if row != singleStep {
		l.Averaged = usual
	}
	wandb := a.container == WandbHistory || a.container == WandbChart
	switch {
	case row == singleStep && usual > 1:
		a.note("Rows are %d steps apart; each is a single step.", usual)
	case row == unknownRow && usual > 1:
		a.note("Rows are %d steps apart and taken for means over %d steps; "+
			"if rows were left out instead, each is a single step.", usual, usual)
	case row == stepAverage && usual > 1 && wandb:
		a.note("Rows are %d steps apart and taken for means over %d steps (logging_steps); "+
			"if W&B left rows out, each is the mean of fewer.", usual, usual)
	}
	if wandb {
		a.note("W&B exports a sample of a long history; the artifact RUN-history:v0 holds all of it.")
	}
}

func (a *assembly) remark(l *Log) {
	switch {
	case a.steps == nil:
		a.note("The file has no steps: rows are numbered, and each may be the mean of several optimizer steps.")
	case trainers()[a.trainer].Row != singleStep && (a.steps.name == "_step" ||
		a.steps.name == "step" && a.container == WandbChart):
		a.note("%s counts the calls that log to W&B: these are optimizer steps only if the trainer "+
			"passes its step to W&B, which TRL does not; a row may be the mean of several.", a.steps.key)
	}
	if l.Evaluation != nil {
		a.note("Evaluation, at %s, has its own table.", CountWords(len(l.Evaluation.Steps), "step"))
	}
	other, shown := a.other()
	_, has := l.Column(Reward)
	more := func(c Column) bool { return !slices.Contains([]Quantity{Loss, GradNorm, LR}, c.Quantity) }
	switch first := a.keysByLikeness(a.series)[0]; {
	case shown != "":
		l.Other = fmt.Sprintf(other.says, shown)
	case !has && l.Evaluation == nil && likeReward(first) == 0 && !slices.ContainsFunc(l.Columns, more):
		l.Other = "a log of training by a loss alone, not of GRPO: it has no reward"
	case !has:
		a.note("The log has no mean reward of training%s.", renaming(first))
	}
	if l.Other != "" {
		a.note("This is %s.", l.Other)
	}
	a.tellUnread()
	for _, key := range a.how.Percent {
		is := func(c Column) bool { return strings.EqualFold(c.Key, key) && c.Quantity.within() == share }
		if !slices.ContainsFunc(l.Columns, is) {
			a.note("--percent %s: the log has no share of that name.", key)
		}
	}
}

// obvious are words of keys that people understand.
var obvious = regexp.MustCompile(`(?i)epoch|time|num_tokens|per_second`)

// tellUnread lists the keys that are not understood, those first that are like a reward's.
func (a *assembly) tellUnread() {
	others := slices.DeleteFunc(slices.Clone(a.series), func(s *series) bool {
		return s == a.steps || s.isStep || s.ends || s.rule(a.trainer, training) != nil || s.rule(a.trainer, evaluating) != nil ||
			slices.ContainsFunc(a.train, func(x source) bool { return x.of == s })
	})
	keys := slices.DeleteFunc(a.keysByLikeness(others), obvious.MatchString)
	a.noteCount(len(keys), "column", "not understood: %s.", quoteAll(keys, 10))
}

// tellSolved finds out whether rLLM's solve_none and solve_all are numbers of groups, as in its
// first versions, or shares. Versions that log the number of tasks log shares. A value that is not
// whole and none above 1 show shares. Where both remain the columns stay numbers, which claim less.
func (l *Log) tellSolved() {
	var these []*Column
	whole, largest := true, 0.0
	for i := range l.Columns {
		if c := &l.Columns[i]; strings.HasPrefix(strings.ToLower(c.Key), "batch/solve_") && (c.Quantity == CountAll0 || c.Quantity == CountAll1) {
			these = append(these, c)
			for _, x := range c.Values {
				if !math.IsNaN(x) {
					whole, largest = whole && x == math.Trunc(x), max(largest, x)
				}
			}
		}
	}
	if _, tasks := l.Column(Groups); largest > 1 || whole && !tasks {
		return
	}
	for _, c := range these {
		c.Quantity = map[Quantity]Quantity{CountAll0: FracAll0, CountAll1: FracAll1}[c.Quantity]
		c.Meaning = strings.Replace(c.Meaning, "Number of", "Share of", 1)
	}
	slices.SortStableFunc(l.Columns, func(x, y Column) int { return x.Quantity.rank() - y.Quantity.rank() })
}
