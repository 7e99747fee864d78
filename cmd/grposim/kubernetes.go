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
	c := &cobra.Command{
		Use:   "kubernetes FILE|NAME --tasks N --image IMAGE",
		Short: "Write the manifest of a sweep as an Indexed Job and a merge for Kubernetes",
		Long: fmt.Sprintf(`Writes a manifest for Kubernetes 1.33 or later: the configuration as a ConfigMap, a claim of
a volume that all nodes mount, an Indexed Job of N pods, each of which runs "grposim sweep
--shard I/N", and a suspended Job that merges. Its first lines show the commands that
submit it and release the merge. Containerfile, in the source of grposim, is a recipe for
IMAGE; any image with grposim and a POSIX shell will do.

The memory of a pod is %d times the forecast on this machine. A pod that is evicted starts
again and continues after its last finished cell, as often as that happens; a pod that
fails in another way starts again at most 5 times.

With --cache DIR the pods share the finished cells in DIR, a folder of the volume.`, memoryFactor),
		Example: `  grposim kubernetes smoke --tasks 2 --image registry.example/grposim:1
  grposim kubernetes configs/smoke.yaml --tasks 2 --image registry.example/grposim:1 --out smoke-jobs.yaml`,
		ValidArgsFunction: completeConfiguration,
		Args:              arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
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
		},
	}
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
