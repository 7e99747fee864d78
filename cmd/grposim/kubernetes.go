package main

import (
	_ "embed"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// maxConfigMap is the size of the largest configuration that a ConfigMap takes, in bytes.
const maxConfigMap = 1_000_000

//go:embed kubernetes.yaml.tmpl
var kubernetesText string

func newKubernetes(stdout, stderr io.Writer) *cobra.Command {
	c, j := newJobs("kubernetes", "kubectl apply -f", kubernetesText, stdout, stderr, func(j *jobs) error {
		problems := []error{checkWord("--cache", j.Cache), checkWord("--image", j.Image)}
		if j.Image == "" {
			problems = append(problems, misuse("--image: got nothing, want an image that holds grposim"))
		}
		if n := len(j.Document); n > maxConfigMap {
			problems = append(problems, misuse("%s: got %d bytes, want at most %d: the size of a ConfigMap",
				j.Config[0], n, maxConfigMap))
		}
		return errors.Join(problems...)
	})
	c.Flags().StringVar(&j.Image, "image", "", "")
	return c
}

// Object returns a name of Kubernetes objects, which is shorter than that of a sweep can
// be, and neither begins nor ends with a hyphen.
func (j *jobs) Object() string {
	return strings.TrimRight("grposim-"+strings.Trim(j.Sweep[:min(len(j.Sweep), 40)], "-"), "-")
}

// noVariables keeps Kubernetes from replacing $(NAME) in an argument.
func noVariables(word string) string { return strings.ReplaceAll(word, "$", "$$") }
