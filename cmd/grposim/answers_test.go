package main

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// questionsPage answers questions; its commands are run by TestAnswers alone.
const questionsPage = "questions.md"

// longestFile is the number of lines of YAML that a question may take.
const longestFile = 12

var boldSpan = regexp.MustCompile(`\*\*(.+?)\*\*`)

// The answers of docs/questions.md are those that its commands print: each bold number of a
// question stands in the output of its command or, where that is reproduce, among the committed
// verdicts of the experiment.
func TestAnswers(t *testing.T) {
	root := moduleRoot(t)
	sections := strings.Split(string(readDocument(t, root, "docs", questionsPage)), "\n### ")[1:]
	t.Chdir(t.TempDir())
	for _, section := range sections {
		title, _, _ := strings.Cut(section, "\n")
		section, _, _ = strings.Cut(section, "\n## ")
		printed, commands := "", 0
		for _, block := range submatches(fencedBlock, section) {
			if name := configName.FindStringSubmatch(block); name != nil {
				write(t, name[1]+".yaml", block)
				if n := strings.Count(block, "\n"); n > longestFile {
					t.Errorf("%s: %d lines of YAML, want at most %d", title, n, longestFile)
				}
				continue
			}
			for line := range strings.Lines(block) {
				line, remark, _ := strings.Cut(line, " #")
				words := strings.Fields(line)
				args, runs := grposimArguments(words)
				if !runs {
					printed += string(readDocument(t, root, "results", words[3], words[4], "verdicts.md"))
					continue
				}
				want := 0
				if declared := exitRemark.FindStringSubmatch(remark); declared != nil {
					want, _ = strconv.Atoi(declared[1])
				}
				stdout, _ := grposim(t, want, args...)
				printed, commands = printed+stdout, commands+1
			}
		}
		printed = strings.Join(strings.Fields(printed), " ")
		answers := submatches(boldSpan, section)
		for _, answer := range answers {
			whole := regexp.MustCompile(`(^|[^0-9.])` + regexp.QuoteMeta(answer) + `($|[^0-9])`)
			if !whole.MatchString(printed) {
				t.Errorf("%s: %s is not in\n%s", title, answer, printed)
			}
		}
		if len(answers) == 0 || commands > 1 {
			t.Errorf("%s: %d answers from %d commands, want some, from one", title, len(answers), commands)
		}
	}
	if len(sections) < 25 {
		t.Errorf("%d questions, want at least 25", len(sections))
	}
}

// answered reports whether a document is one whose commands TestAnswers runs.
func answered(document string) bool { return filepath.Base(document) == questionsPage }
