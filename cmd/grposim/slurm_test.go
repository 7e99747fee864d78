//go:build slurm

package main

import (
	"bytes"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A real Slurm with three nodes runs the script of grposim slurm. One task is terminated and
// another loses its node; both are queued again, and the merge gives the bytes of one sweep.
func TestSlurm(t *testing.T) {
	cluster := startSlurm(t)
	binary, file := program(t), filepath.Join(moduleRoot(t), "cmd/grposim/testdata/slurm/farm.yaml")
	t.Chdir(t.TempDir())
	command(t, binary, "sweep", file, "--out", "whole")
	command(t, binary, "slurm", file, "--tasks", "3", "--out", "farm.sh")
	command(t, "sh", "farm.sh")

	eventually(t, "three tasks have stored a cell", func() bool {
		stored := 0
		journals, _ := filepath.Glob("results/local/farm-*-of-3/cells.jsonl")
		for _, journal := range journals {
			if info, err := os.Stat(journal); err == nil && info.Size() > 0 {
				stored++
			}
		}
		return stored == 3
	})
	var jobs []string // by task
	tasks := command(t, "squeue", "--noheader", "--array", "--name=farm", "--sort=i", "--format=%A %N")
	for task := range strings.Lines(strings.TrimSpace(tasks)) {
		id, node, _ := strings.Cut(strings.TrimSpace(task), " ")
		if jobs = append(jobs, id); len(jobs) == 2 {
			cluster.lose(t, node)
		}
	}
	command(t, "scancel", "--signal=TERM", jobs[0])
	for _, id := range jobs[:2] {
		eventually(t, "task "+id+" is queued again", func() bool {
			state := command(t, "scontrol", "show", "job", id)
			return strings.Contains(state, "Restarts=1") && strings.Contains(state, "JobState=PENDING")
		})
	}
	time.Sleep(5 * time.Second) // Slurm refuses a start in the second in which it ends the last one
	for _, id := range jobs[:2] {
		command(t, "scontrol", "update", "jobid="+id, "starttime=now") // not after two minutes
	}
	eventually(t, "no job is left", func() bool { return command(t, "squeue", "--noheader") == "" })
	for i, id := range jobs {
		state := command(t, "scontrol", "show", "job", id)
		done := strings.Contains(state, "JobState=COMPLETED")
		if once := strings.Contains(state, "Restarts=0 "); once != (i >= 2) || !done {
			t.Errorf("task %d: want COMPLETED, and restarts for the first two:\n%s", i+1, state)
		}
	}
	sameFiles(t, "results/local/farm", "whole")
	if logs, err := filepath.Glob("results/local/farm-logs/*"); err == nil && t.Failed() {
		for _, log := range logs {
			t.Logf("%s:\n%s", log, readDocument(t, log))
		}
	}
}

// slurm is a cluster on this machine.
type slurm struct {
	nodes map[string]*exec.Cmd // slurmd by name
}

// startSlurm starts munged, slurmctld and three slurmd in a folder of their own, and stops
// them, and what they run, when the test ends.
func startSlurm(t *testing.T) *slurm {
	dir, err := os.MkdirTemp("", "slurm") // a short path, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	key := make([]byte, 1024)
	_, _ = rand.Read(key)
	text := readDocument(t, "testdata", "slurm", "slurm.conf")
	for name, data := range map[string][]byte{
		"key":        key,
		"slurm.conf": []byte(strings.NewReplacer("HOST", host, "DIR", dir).Replace(string(text))),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("SLURM_CONF", filepath.Join(dir, "slurm.conf"))
	start := func(name string, args ...string) *exec.Cmd {
		t.Helper()
		c := exec.CommandContext(t.Context(), name, args...)
		c.Cancel, c.WaitDelay = func() error { return c.Process.Signal(syscall.SIGTERM) }, 10*time.Second
		if err := c.Start(); err != nil {
			t.Fatalf("%v: make test-slurm installs Slurm", err)
		}
		t.Cleanup(func() { _ = c.Wait() })
		return c
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	start("munged", "--foreground", "--force", "--key-file="+in("key"), "--socket="+in("munge.socket"),
		"--pid-file="+in("munged.pid"), "--seed-file="+in("seed"), "--log-file="+in("munged.log"))
	eventually(t, "munged listens", func() bool {
		_, err := os.Stat(in("munge.socket"))
		return err == nil
	})
	start("slurmctld", "-D")
	cluster := &slurm{make(map[string]*exec.Cmd)}
	for _, node := range []string{"n1", "n2", "n3"} {
		cluster.nodes[node] = start("slurmd", "-D", "-N", node)
	}
	t.Cleanup(func() { // before the folder is removed
		if t.Failed() {
			t.Log(command(t, "squeue"))
		}
		for node := range cluster.nodes {
			killJobs(t, node)
		}
	})
	eventually(t, "three nodes are idle", func() bool {
		out, _ := exec.Command("sinfo", "--noheader", "--states=idle", "--format=%D").Output()
		return strings.TrimSpace(string(out)) == "3"
	})
	return cluster
}

// lose kills all that runs on a node, its slurmd first, and tells Slurm.
func (s *slurm) lose(t *testing.T, node string) {
	t.Helper()
	if err := s.nodes[node].Process.Kill(); err != nil {
		t.Error(err)
	}
	killJobs(t, node)
	command(t, "scontrol", "update", "nodename="+node, "state=down", "reason=lost")
}

// killJobs kills what a node of this cluster runs: its name is in the environment of a job, and
// slurmstepd has its log open.
func killJobs(t *testing.T, node string) {
	t.Helper()
	conf := os.Getenv("SLURM_CONF")
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		environment, _ := os.ReadFile(filepath.Join(process, "environ"))
		if !bytes.Contains(environment, []byte("SLURM_CONF="+conf+"\x00")) {
			continue
		}
		found := bytes.Contains(environment, []byte("SLURMD_NODENAME="+node+"\x00"))
		files, _ := filepath.Glob(filepath.Join(process, "fd", "*"))
		for _, file := range files {
			target, _ := os.Readlink(file)
			found = found || target == filepath.Join(filepath.Dir(conf), node+".log")
		}
		if id, err := strconv.Atoi(filepath.Base(process)); err == nil && found {
			_ = syscall.Kill(id, syscall.SIGKILL)
		}
	}
}
