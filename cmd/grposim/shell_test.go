package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The script for Slurm gives grposim the words that it was given, whatever they mean to a shell,
// and a file is no flag. sbatch runs the job of the tasks here, and srun writes its arguments into
// a file.
func TestSlurmWords(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	write := func(file, text string, mode os.FileMode) {
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	grposim(t, 0, "init", "--", "-x.yaml")
	write("sbatch", "#!/bin/sh\ncase $1 in --parsable) exec sh;; esac\n", 0o755)
	write("srun", "#!/bin/sh\nshift 2\nprintf '%s\\n' \"$@\" >words\n", 0o755)
	t.Setenv("PATH", here+":"+os.Getenv("PATH"))
	t.Setenv("SLURM_ARRAY_TASK_ID", "1")
	const cache = "it's $(touch PWNED) `touch PWNED` \"END"
	_, errs := grposim(t, 0, "slurm", "--tasks", "1", "--cache", cache, "--set", "run.replicas=[3, 4]", "--out", "-o.sh", "--", "-x.yaml")
	if !strings.Contains(errs, "`sh ./-o.sh`") {
		t.Errorf("got %s", errs)
	}
	if out, err := exec.Command("sh", "./-o.sh").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	words := strings.Split(strings.TrimSpace(string(readDocument(t, "words"))), "\n")
	if want := []string{"sweep", "./-x.yaml", "--set", "run.replicas=[3, 4]", "--shard", "1/1", "--workers", "1", "--cache", cache}; !slices.Equal(words, want) {
		t.Errorf("got %q, want %q", words, want)
	}
	if files, _ := filepath.Glob("PWNED"); files != nil {
		t.Error("a word was run")
	}
}

// Words that end the here-document of a job, or that stdout would not write as they are, are
// refused.
func TestSlurmControlCharacters(t *testing.T) {
	t.Chdir(t.TempDir())
	for flag, value := range map[string]string{"--cache": "c\nEND\ntouch PWNED\n#", "--set": "run.steps=\n10"} {
		_, errs := grposim(t, exitUsage, "slurm", "smoke", "--tasks", "2", flag, value)
		if !strings.Contains(errs, "want ") {
			t.Errorf("%s: got %s", flag, errs)
		}
	}
	if err := os.Mkdir("a\nEND\nb", 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir("a\nEND\nb")
	_, errs := grposim(t, exitUsage, "slurm", "smoke", "--tasks", "2")
	if !strings.Contains(errs, "the folder: got ") {
		t.Errorf("got %s", errs)
	}
}

// The commands of messages are those of a path, which can have spaces or begin like a flag.
func TestCommandsOfMessages(t *testing.T) {
	t.Chdir(t.TempDir())
	for file, want := range map[string]string{"-q.yaml": "`grposim sweep ./-q.yaml`", "a b.yaml": "`grposim sweep 'a b.yaml'`"} {
		if _, errs := grposim(t, 0, "init", "--", file); !strings.Contains(errs, want) {
			t.Errorf("init: got %s, want %s", errs, want)
		}
		if _, errs := grposim(t, exitUsage, "fit", "--", file); !strings.Contains(errs, want) {
			t.Errorf("fit: got %s, want %s", errs, want)
		}
	}
}
