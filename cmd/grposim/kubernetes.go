package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"text/template"

	"github.com/spf13/cobra"
)

//go:embed kubernetes.yaml.tmpl
var kubernetesText string

var kubernetesTemplate = template.Must(template.New("kubernetes").Funcs(template.FuncMap{"json": jsonText}).Parse(kubernetesText))

// kubernetesJobs is the input of the template.
type kubernetesJobs struct {
	*jobs
	Name    string // of the objects
	Image   string
	Config  string // the configuration, JSON
	Results string // folder of results
	Storage int    // of the shared volume, GiB
}

// maxConfigMap is the size of the largest configuration that a ConfigMap takes, in bytes.
const maxConfigMap = 1_000_000

func newKubernetes(stdout, stderr io.Writer) *cobra.Command {
	var (
		flags jobFlags
		image string
	)
	c := newCommand("kubernetes", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		spec, err := flags.readSpec(c, args[0])
		if err != nil {
			return err
		}
		j, err := flags.newJobs(c.Context(), spec)
		if image == "" {
			err = errors.Join(err, usageError{errors.New("--image: got nothing, want the name of an image that holds grposim")})
		}
		if flags.cache != "" && !plainWord.MatchString(flags.cache) {
			err = errors.Join(err, usageError{fmt.Errorf("--cache: got %q, want a path in the volume of letters, digits and ./:=,+@%%-_", flags.cache)})
		}
		document := spec.Document()
		if len(document) > maxConfigMap {
			err = errors.Join(err, usageError{fmt.Errorf("%s: got a configuration of %d bytes, want at most %d: the size of a ConfigMap", args[0], len(document), maxConfigMap)})
		}
		if err != nil {
			return err
		}
		return flags.write(stdout, stderr, kubernetesTemplate, kubernetesJobs{
			jobs: j, Name: objectName(j.Sweep), Image: image, Config: string(document), Results: resultsFolder(j.Sweep),
			Storage: int(math.Ceil(storageFactor * j.Bytes / (1 << 30))),
		}, "kubectl apply -f")
	})
	c.ValidArgsFunction = completeConfiguration
	flags.add(c)
	c.Flags().StringVar(&image, "image", "", "name of an image that holds grposim; required")
	return c
}

// objectName returns a name of Kubernetes objects, which is shorter than that of a sweep can
// be, and neither begins nor ends with a hyphen.
func objectName(sweep string) string {
	return strings.TrimRight("grposim-"+strings.Trim(sweep[:min(len(sweep), 40)], "-"), "-")
}

// jsonText formats a text as JSON, which YAML reads.
func jsonText(text string) (string, error) {
	data, err := json.Marshal(text)
	return string(data), err
}
