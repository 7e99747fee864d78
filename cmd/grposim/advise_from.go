package main

import (
	"os"
	"strings"

	"grposim/sweeps/config"
)

// aTrainers is what --from reads.
var aTrainers = &input{name: "the configuration of TRL or verl, or a file with its arguments"}

// adviseFrom prints the file that a trainer's configuration makes, with comments on its keys.
func adviseFrom(out *printer, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return aTrainers.refuse(file, misuse("%v", err))
	}
	t, err := config.Translate(file, data)
	if err != nil {
		return err
	}
	return out.print(t, func(p *page) {
		p.printf("# made by `grposim advise --from %s`; the rest is the preset %s\n", pathWord(file), t.Trainer)
		for i, lines := range [][]string{t.Modelled, t.Left, {strings.Join(t.Unknown, ", ")}, t.Learn} {
			if strings.Join(lines, "") == "" {
				continue
			}
			p.printf("#\n# %s:\n", []string{"modelled", "left out, and why", "not known, or nothing of the update",
				"to learn from a run"}[i])
			for _, line := range lines {
				p.paragraph("#     ", "#   "+line)
			}
		}
		p.printf("%s", t.File)
	})
}
