package explore

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"grposim/sweeps/config"
)

// document writes a cell as a configuration file: the keys that are required or not at their
// default, in the order of config.Keys. config.Load reads it back into the same settings.
func document(name string, s *config.Settings) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "name: %s\n", name)
	var given []config.Key
	for _, k := range config.Keys {
		if k.Required() || !k.AtDefault(s) {
			given = append(given, k)
		}
	}
	section(&b, s, given, "")
	return b.String()
}

// section writes the keys whose paths begin with a prefix, each section once.
func section(b *bytes.Buffer, s *config.Settings, keys []config.Key, prefix string) {
	indent := strings.Repeat("  ", strings.Count(prefix, "."))
	var written []string
	for _, k := range keys {
		rest, under := strings.CutPrefix(k.Path, prefix)
		if !under {
			continue
		}
		name, _, deeper := strings.Cut(rest, ".")
		switch {
		case !deeper:
			fmt.Fprintf(b, "%s%s: %s\n", indent, name, config.Format(k.Get(s)))
		case !slices.Contains(written, name):
			written = append(written, name)
			fmt.Fprintf(b, "%s%s:\n", indent, name)
			section(b, s, keys, prefix+name+".")
		}
	}
}

// program is where `make build` leaves grposim, from the folder of the repository.
const program = "bin/grposim"

// command writes a command of grposim with overrides, quoted for a shell.
func command(verb, name string, set []string) string {
	words := []string{program, verb, name}
	for _, s := range set {
		if strings.ContainsAny(s, " {}[]*?&|;<>()$`\"\\!#~'") {
			s = "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		}
		words = append(words, "--set", s)
	}
	return strings.Join(words, " ")
}
