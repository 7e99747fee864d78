package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
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
	like := ""
	c := newCommand("init", cobra.MaximumNArgs(1), func(_ *cobra.Command, args []string) error {
		first := configs.First
		if like != "" {
			preset, err := configs.Files.ReadFile("presets/" + like + ".yaml")
			if err != nil {
				return misuse("--like: got %q, want %s", like, config.JoinWords(config.Presets(), "or"))
			}
			set := strings.ReplaceAll(string(bytes.TrimSpace(preset)), "\n", "\n#   ")
			first = fmt.Appendf(nil, trainerFile, like, set)
		}
		if len(args) == 0 || args[0] == "-" {
			_, err := stdout.Write(first)
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
		text, name := named(first, args[0])
		_, err = file.Write(text)
		if err = errors.Join(err, file.Close()); err == nil {
			word := shellQuote(pathWord(args[0]))
			say(stderr, "wrote %s, named %s: try `grposim predict %s`, then `grposim sweep %[3]s`",
				args[0], name, word)
		}
		return err
	})
	c.Flags().StringVar(&like, "like", "", "")
	complete(c, "like", config.Presets(), cobra.ShellCompDirectiveDefault)
	return c
}

// trainerFile is a first configuration with a trainer's defaults, given its name and its preset.
//
//go:embed trainer.yaml.tmpl
var trainerFile string

// named returns a first configuration with a name, and the name. It is that of a file, in the
// characters that a name may have. Where that is none, all stays as it is.
func named(first []byte, file string) (text []byte, name string) {
	name = strings.Map(func(r rune) rune {
		if r = unicode.ToLower(r); 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
	text = bytes.Replace(first, []byte("\nname: first "), []byte("\nname: "+name+" "), 1)
	if spec, err := config.Load(file, text); err != nil || spec.Name != name {
		return first, "first"
	}
	return text, name
}
