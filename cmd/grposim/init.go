package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"

	"github.com/spf13/cobra"

	"grposim/configs"
	"grposim/sweeps/config"
)

func newInit(stdout, stderr io.Writer) *cobra.Command {
	return newCommand("init", cobra.MaximumNArgs(1), func(_ *cobra.Command, args []string) error {
		if len(args) == 0 || args[0] == "-" {
			_, err := stdout.Write(configs.First)
			return err
		}
		if args[0] == "" {
			return misuse("got an empty name, want that of a new file")
		}
		file, err := os.OpenFile(args[0], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, os.ErrExist) {
			return misuse("%s: got an existing file, want a new one", args[0])
		} else if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return misuse("%s: got a folder that does not exist, want a new file in one that does", args[0])
		} else if err != nil {
			return err
		}
		text, name := firstNamed(args[0])
		_, err = file.Write(text)
		if err = errors.Join(err, file.Close()); err == nil {
			word := shellQuote(pathWord(args[0]))
			say(stderr, "wrote %s, named %s: try `grposim predict %s`, then `grposim sweep %[3]s`",
				args[0], name, word)
		}
		return err
	})
}

// firstNamed returns the first configuration and its name: that of a file in the characters that
// the name of a configuration may have, where it is one.
func firstNamed(file string) (text []byte, name string) {
	name = strings.Map(func(r rune) rune {
		if r = unicode.ToLower(r); 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
	named := bytes.Replace(configs.First, []byte("\nname: first "), []byte("\nname: "+name+" "), 1)
	if spec, err := config.Load(file, named); err != nil || spec.Name != name {
		return configs.First, "first"
	}
	return named, name
}
