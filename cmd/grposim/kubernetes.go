package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"grposim/sweeps/config"
)

// maxConfigMap is the size of the largest configuration that a ConfigMap takes, in bytes.
const maxConfigMap = 1_000_000

func newKubernetes(stdout, stderr io.Writer) *cobra.Command {
	c, j := newJobs("kubernetes", "kubectl apply -f", stdout, stderr, func(j *jobs) error {
		problems := []error{checkWord("--cache", j.Cache), checkWord("--image", j.image)}
		if j.image == "" {
			problems = append(problems, usageError{errors.New("--image: got nothing, want the name of an image that holds grposim")})
		}
		if n := len(j.document); n > maxConfigMap {
			problems = append(problems, usageError{fmt.Errorf("%s: got a configuration of %d bytes, want at most %d: the size of a ConfigMap", j.Config[0], n, maxConfigMap)})
		}
		return errors.Join(problems...)
	}, (*jobs).writeManifest)
	c.Flags().StringVar(&j.image, "image", "", "name of an image that holds grposim; required")
	return c
}

// objectName returns a name of Kubernetes objects, which is shorter than that of a sweep can
// be, and neither begins nor ends with a hyphen.
func objectName(sweep string) string {
	return strings.TrimRight("grposim-"+strings.Trim(sweep[:min(len(sweep), 40)], "-"), "-")
}

// fields are those of an object of a manifest. YAML sorts them by name.
type fields = map[string]any

// writeManifest writes the objects: the configuration, the volume that every node mounts, with the
// folders of the tasks and of the merge, and the two jobs.
func (j *jobs) writeManifest(w io.Writer) error {
	name := objectName(j.Sweep)
	_, err := fmt.Fprintf(w, `# The sweep %[1]s on Kubernetes: %[2]d tasks, and a merge after them. Written by grposim kubernetes.
#   kubectl apply -f FILE
#   kubectl wait --for=condition=Complete --timeout=-1s job/%[3]s &&
#     kubectl patch job/%[3]s-merge -p '{"spec":{"suspend":false}}'
`, j.Sweep, j.Tasks, name)
	for _, object := range []fields{
		{"apiVersion": "v1", "kind": "ConfigMap", "metadata": fields{"name": name}, "data": fields{"sweep.json": j.document}},
		{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": fields{"name": name}, "spec": fields{
			"accessModes": []string{"ReadWriteMany"},
			"resources":   fields{"requests": fields{"storage": fmt.Sprintf("%dGi", j.storage)}},
		}},
		{"apiVersion": "batch/v1", "kind": "Job", "metadata": fields{"name": name}, "spec": j.tasksSpec(name)},
		{"apiVersion": "batch/v1", "kind": "Job", "metadata": fields{"name": name + "-merge"}, "spec": j.mergeSpec(name)},
	} {
		text, failure := config.WriteYAML(object)
		if err = errors.Join(err, failure); err != nil {
			return err
		}
		if _, err = fmt.Fprintf(w, "---\n%s", text); err != nil {
			return err
		}
	}
	return nil
}

// tasksSpec returns the job of the tasks. A wrong configuration (2) is wrong for every one of them.
func (j *jobs) tasksSpec(name string) fields {
	script := fmt.Sprintf(`exec grposim sweep /config/sweep.json --shard "$((JOB_COMPLETION_INDEX + 1))/%d" --workers %d`, j.Tasks, j.Workers)
	if j.Cache != "" {
		// Kubernetes replaces $(NAME) in an argument
		script += " --cache " + strings.ReplaceAll(shellQuote(j.Cache), "$", "$$")
	}
	return fields{
		"completionMode": "Indexed", "completions": j.Tasks, "parallelism": j.Tasks, "backoffLimitPerIndex": 5,
		"podFailurePolicy": failurePolicy(exitUsage),
		"template":         pod(name, container("sweep", j.image, j.Workers, j.Memory, script)),
	}
}

// mergeSpec returns the job of the merge, which waits until the tasks are complete. Another try
// changes no verdict (1, 3).
func (j *jobs) mergeSpec(name string) fields {
	script := fmt.Sprintf(`for i in $(seq %[2]d); do set -- "$@" %[1]s-$i-of-%[2]d; done; exec grposim merge %[1]s "$@"`, j.Results, j.Tasks)
	return fields{
		"suspend": true, "backoffLimit": 5,
		"podFailurePolicy": failurePolicy(exitDisagree, exitUsage, exitInconclusive),
		"template":         pod(name, container("merge", j.image, 1, j.Memory, script)),
	}
}

// failurePolicy gives a job up after the given exit codes, and does not count a pod that is
// terminated, that finds the folder in use still, or that is evicted: what is finished is kept.
func failurePolicy(final ...int) fields {
	return fields{"rules": []fields{
		{"action": "FailJob", "onExitCodes": fields{"operator": "In", "values": final}},
		{"action": "Ignore", "onExitCodes": fields{"operator": "In", "values": []int{exitTryAgain}}},
		{"action": "Ignore", "onPodConditions": []fields{{"type": "DisruptionTarget", "status": "True"}}},
	}}
}

// pod returns the pod of a container, with the configuration and the volume of that name.
func pod(name string, container fields) fields {
	return fields{"spec": fields{
		"restartPolicy":   "Never",
		"securityContext": fields{"runAsNonRoot": true, "runAsUser": 65532, "fsGroup": 65532, "seccompProfile": fields{"type": "RuntimeDefault"}},
		"volumes": []fields{
			{"name": "work", "persistentVolumeClaim": fields{"claimName": name}},
			{"name": "config", "configMap": fields{"name": name}},
		},
		"containers": []fields{container},
	}}
}

// container returns a container that runs a script, with so many processors and MB of memory.
func container(name, image string, processors, memory int, script string) fields {
	limit := fmt.Sprintf("%dM", memory)
	return fields{
		"name": name, "image": image, "workingDir": "/work",
		"securityContext": fields{"allowPrivilegeEscalation": false, "capabilities": fields{"drop": []string{"ALL"}}, "readOnlyRootFilesystem": true},
		"volumeMounts": []fields{
			{"name": "work", "mountPath": "/work"},
			{"name": "config", "mountPath": "/config", "readOnly": true},
		},
		"resources": fields{"requests": fields{"cpu": processors, "memory": limit}, "limits": fields{"memory": limit}},
		"command":   []string{"sh", "-c"},
		"args":      []string{script},
	}
}
