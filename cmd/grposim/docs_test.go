package main

import (
	"fmt"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// document is a text that shows files and commands.
type document struct {
	name   string
	blocks []string // each a configuration file, which begins with its name, or a command per line
	spans  []string // commands in running text, in which capitals may stand for arguments
}

var (
	fencedBlock   = regexp.MustCompile("(?ms)^ *```(?:sh|yaml)\n(.*?)^ *```$")
	commandSpan   = regexp.MustCompile("`((?:make|go run|go test|grposim) [^`]+)`")
	configName    = regexp.MustCompile(`\Aname: (\S+)\n`)
	makeTarget    = regexp.MustCompile(`(?m)^([a-z-]+):`)
	exitRemark    = regexp.MustCompile(`exit code (\d+)\s*$`)
	quotedCommand = regexp.MustCompile(`"(grposim [^"]+)"`)
)

// documents returns the README, docs/*.md, the package comment of this command, and the
// examples in its help.
func documents(t *testing.T, root string) []document {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all []document
	for _, path := range append(paths, filepath.Join(root, "README.md")) {
		text := string(readDocument(t, path))
		all = append(all, document{path, submatches(fencedBlock, text), submatches(commandSpan, text)})
	}

	const mode = parser.ParseComments | parser.PackageClauseOnly
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, mode)
	if err != nil {
		t.Fatal(err)
	}
	tutorial := document{name: "doc.go", spans: submatches(quotedCommand, file.Doc.Text())}
	for _, block := range new(comment.Parser).Parse(file.Doc.Text()).Content {
		if code, ok := block.(*comment.Code); ok {
			tutorial.blocks = append(tutorial.blocks, code.Text)
		}
	}
	all = append(all, tutorial)

	main := newRoot(nil, nil)
	for _, c := range append([]*cobra.Command{main}, main.Commands()...) {
		all = append(all, document{name: c.CommandPath() + " --help", blocks: []string{c.Example}})
	}
	return all
}

// submatches returns the first submatch of every match.
func submatches(pattern *regexp.Regexp, text string) []string {
	var all []string
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		all = append(all, match[1])
	}
	return all
}

// slowCommand matches the commands of documents that take 0.4 to 4 s of processor time each,
// measured, and what reads their folders; README has none of them. All others together take 6 s.
var slowCommand = regexp.MustCompile(`--simulate|--colour|^map configs/map.yaml|^sweep .*--(out|cache|junit) |^merge|^compare results`)

// Every command that a document shows in a block works: it exits with 0, or with the exit
// code with which the comment behind it ends. Those of grposim are run here,
// in a folder with the repository's configurations, a log, and the files that documents show.
// Of a command that takes too long, or would run the tests inside the tests, and of a
// command in running text, this test checks that what it names exists.
func TestCommandsInDocuments(t *testing.T) {
	runDocuments(t, func(args string) bool { return !slowCommand.MatchString(args) })
}

// runDocuments runs the commands in documents that fast admits, each once.
func runDocuments(t *testing.T, fast func(args string) bool) {
	root := moduleRoot(t)
	dir := t.TempDir()
	for _, shown := range []string{"configs", "docs"} {
		if err := os.Symlink(filepath.Join(root, shown), filepath.Join(dir, shown)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "log.jsonl"), trlLog(160, nil)) // stands for a reader's log
	all := documents(t, root)                                   // before the folder changes
	t.Chdir(dir)
	// number of commands by document, exit code by command
	shown, ran := make(map[string]int), make(map[string]int)
	for _, d := range all {
		for _, block := range d.blocks {
			if name := configName.FindStringSubmatch(block); name != nil {
				file := name[1] + ".yaml"
				write(t, file, block)
				maps.DeleteFunc(ran, func(args string, _ int) bool { return strings.Contains(args, file) })
				continue
			}
			for line := range strings.Lines(block) {
				line, remark, _ := strings.Cut(" "+line, " #")
				words := strings.Fields(line)
				if len(words) == 0 {
					continue
				}
				if err := checkNames(root, words); err != nil {
					t.Errorf("%s: %s: %v", d.name, line, err)
				}
				args, runs := grposimArguments(words)
				if !runs || answered(d.name) {
					continue
				}
				shown[d.name]++
				want := 0
				if declared := exitRemark.FindStringSubmatch(remark); declared != nil {
					want, _ = strconv.Atoi(declared[1])
				}
				command := strings.Join(args, " ")
				if before, again := ran[command]; again && before == want || !fast(command) {
					continue
				}
				ran[command] = want
				stdout, _ := grposim(t, want, args...)
				if narrow(t, command, stdout); t.Failed() {
					t.Fatal(d.name)
				}
			}
		}
		for _, command := range d.spans {
			if err := checkNames(root, strings.Fields(command)); err != nil {
				t.Errorf("%s: %s: %v", d.name, command, err)
			}
		}
	}
	checkGallery(t, root)
	for name, least := range map[string]int{filepath.Join(root, "README.md"): 7, filepath.Join(root, "docs", "sweeps.md"): 7, "doc.go": 1, "grposim sweep --help": 3} {
		if shown[name] < least {
			t.Errorf("%s: %d commands were found, want at least %d", name, shown[name], least)
		}
	}
}

// narrow fails where a command prints a line of more than a readable width for people: what it
// prints is neither data nor a script. A command that is shown is one line.
func narrow(t *testing.T, command, stdout string) {
	t.Helper()
	if forPrograms.MatchString(command) {
		return
	}
	for line := range strings.Lines(stdout) {
		if n := utf8.RuneCountInString(line) - 1; n > readable && !strings.HasPrefix(line, "  grposim ") {
			t.Errorf("%s: a line of %d columns, want at most %d: %s", command, n, readable, line)
		}
	}
}

// forPrograms matches the commands whose lines narrow leaves alone.
var forPrograms = regexp.MustCompile(`^(slurm|kubernetes|completion) | --(json|csv|all)\b`)

var (
	galleryImage = regexp.MustCompile(`(?m)^!\[[^\]]+\]\((\S+\.svg)\)$`)
	galleryMade  = regexp.MustCompile(`# (results/local/\S+\.svg)`)
)

// checkGallery checks that every figure of docs/gallery.md is the file that its command, which
// has been run in the current folder, says that it makes. What reproduce makes is in
// results, which TestLongReproduce compares; -update rewrites the figures.
func checkGallery(t *testing.T, root string) {
	t.Helper()
	sections := strings.Split(string(readDocument(t, root, "docs", "gallery.md")), "\n## ")[1:]
	if len(sections) != 6 {
		t.Errorf("the gallery has %d figures, want 6", len(sections))
	}
	for _, section := range sections {
		image, made := submatches(galleryImage, section), submatches(galleryMade, section)
		if len(image) != 1 || len(made) != 1 {
			t.Errorf("the gallery has %v made as %v, want a figure and its file:\n%s", image, made, section)
			continue
		}
		source := made[0]
		if strings.Contains(section, "\nbin/grposim reproduce ") {
			source = filepath.Join(root, strings.Replace(source, "/local", "", 1))
		}
		golden(t, filepath.Join(root, "docs", image[0]), string(readDocument(t, source)))
	}
}

// grposimArguments returns the arguments of a command line that runs grposim, and
// whether it is run here: reproduce, which can take minutes, is left to TestLongReproduce.
func grposimArguments(words []string) (args []string, runs bool) {
	switch {
	case words[0] == "grposim" || words[0] == "bin/grposim":
		args = words[1:]
	case len(words) > 3 && slices.Equal(words[:3], []string{"go", "run", "./cmd/grposim"}):
		args = words[3:]
	}
	return args, len(args) > 0 && args[0] != "reproduce"
}

// checkNames returns an error if a command names a make target, a package, a test or a
// command of grposim that does not exist.
func checkNames(root string, words []string) error {
	switch {
	case words[0] == "make" && len(words) > 1 && !slices.ContainsFunc(words[2:], func(w string) bool { return !strings.Contains(w, "=") }):
		makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
		if err == nil && !slices.Contains(submatches(makeTarget, string(makefile)), words[1]) {
			err = fmt.Errorf("the Makefile has no such target")
		}
		return err
	case words[0] == "grposim" || words[0] == "bin/grposim":
		main := newRoot(nil, nil)
		main.InitDefaultHelpCmd()
		main.InitDefaultCompletionCmd()
		c, rest, err := main.Find(words[1:])
		if err != nil || c == main {
			return fmt.Errorf("grposim has no such command")
		}
		if c.Name() != "reproduce" || slices.Contains(rest, "--help") {
			return nil
		}
		if err := c.ParseFlags(rest); err != nil {
			return err
		}
		for _, name := range c.Flags().Args() {
			known := experimentNames(c.Flag("suite").Value.String())
			if !slices.Contains(known, name) && !strings.Contains(name, "NAME") {
				return fmt.Errorf("there is no experiment %s", name)
			}
		}
		return nil
	case words[0] == "go" && len(words) > 2 && words[1] == "run":
		_, err := os.Stat(filepath.Join(root, words[2], "main.go"))
		return err
	}
	return fmt.Errorf("no test runs such a command")
}

// The verdicts that docs/sweeps.md explains are those of the committed run.
func TestExplainedVerdicts(t *testing.T) {
	root := moduleRoot(t)
	verdicts := string(readDocument(t, root, "results", "paper", "verdicts.md"))
	_, table, _ := strings.Cut(string(readDocument(t, root, "docs", "sweeps.md")), "<!-- verdicts -->")
	table, _, _ = strings.Cut(table, "<!-- /verdicts -->")
	rows := submatches(regexp.MustCompile(`(?m)^(\| .*\n)`), table)
	if len(rows) < 4 {
		t.Errorf("%d rows of verdicts", len(rows))
	}
	for _, row := range rows {
		if !strings.Contains(verdicts, row) {
			t.Errorf("results/paper/verdicts.md has no row %s", row)
		}
	}
}

func readDocument(t *testing.T, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
