package main

import (
	"os"
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
	says(t, 0, "`sh ./-o.sh`", "slurm", "--tasks", "1", "--cache", cache,
		"--set", "run.replicas=[3, 4]", "--out", "-o.sh", "--", "-x.yaml")
	command(t, "sh", "./-o.sh")
	words := strings.Split(strings.TrimSpace(string(readDocument(t, "words"))), "\n")
	want := []string{"sweep", "./-x.yaml", "--set", "run.replicas=[3, 4]",
		"--shard", "1/1", "--workers", "1", "--cache", cache}
	if !slices.Equal(words, want) {
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
	smoke := []string{"slurm", "smoke", "--tasks", "2"}
	says(t, exitUsage, "want ", append(smoke, "--cache", "c\nEND\ntouch PWNED\n#")...)
	says(t, exitUsage, "want ", append(smoke, "--set", "run.steps=\n10")...)
	if err := os.Mkdir("a\nEND\nb", 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir("a\nEND\nb")
	says(t, exitUsage, "the folder: got ", smoke...)
}

// The commands of messages are those of a path, which can have spaces or begin like a flag.
func TestCommandsOfMessages(t *testing.T) {
	t.Chdir(t.TempDir())
	for file, word := range map[string]string{"-q.yaml": "./-q.yaml", "a b.yaml": "'a b.yaml'"} {
		says(t, 0, "`grposim sweep "+word+"`", "init", "--", file)
		says(t, exitUsage, "`grposim sweep "+word+"`", "fit", "--", file)
	}
}
