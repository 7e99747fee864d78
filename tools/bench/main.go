// Command bench compares grposim's time per replica-step with itself, at other group sizes, numbers
// of arms and numbers of workers. The two runs of a comparison alternate; its ratio is the median
// over rounds. It also tables the times by arms, G and K, each from one short run.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"grposim/option"
	"grposim/sim"
	"grposim/sim/lanes"
	"grposim/tools/internal/tool"
)

func main() { tool.Main("bench", run) }

func run(ctx context.Context, c *tool.Command) error {
	rounds := c.Int("rounds", 11, "how often each comparison is measured")
	replicaSteps := c.Int("steps", 3_000_000, "replica-steps of each run")
	if err := c.Parse(0); err != nil {
		return err
	}
	if *rounds < 1 || *replicaSteps < 1000 {
		return tool.ErrUsage
	}
	return tables(ctx, c.Stdout, *rounds, *replicaSteps)
}

// process is a cell with Bernoulli arms, an exact KL penalty to the uniform policy, and heavy ball.
// A group size of 0 is 16, an interval of 0 is 4.
type process struct {
	arms, groupSize, interval, workers int
	importance                         option.ImportanceMode
	penaltyAt                          option.KLPoint
}

// compared are the comparisons of grposim with itself: what takes how much of the time of over.
var compared = []struct {
	what, over    string
	process, than process
}{
	{"2 arms, K = 4: G = 65536", "G = 16", process{arms: 2, groupSize: 65536}, process{arms: 2}},
	{"10 arms, K = 4: G = 65536", "G = 1024",
		process{arms: 10, groupSize: 65536}, process{arms: 10, groupSize: 1024}},
	{"2 arms, G = 16, K = 4: ratios", "no ratios",
		process{arms: 2, importance: option.Ratio}, process{arms: 2}},
	{"10 arms, G = 16, K = 4: ratios", "no ratios",
		process{arms: 10, importance: option.Ratio}, process{arms: 10}},
	{"2 arms, G = 16, K = 4: exact KL at the current policy", "at the snapshot",
		process{arms: 2}, process{arms: 2, penaltyAt: option.AtSnapshot}},
	{"10 arms, G = 16, K = 4", "3 arms", process{arms: 10}, process{arms: 3}},
	{"100 arms, G = 16, K = 4", "10 arms", process{arms: 100}, process{arms: 10}},
	{"64 cells of 2 arms, G = 16, K = 4: 2 workers", "1 worker",
		process{arms: 2, workers: 2}, process{arms: 2, workers: 1}},
}

// cell returns the process as a cell of so many replica-steps.
func (p process) cell(replicaSteps, seed int) sim.Cell {
	const replicas, burnIn = 32, 300
	groupSize, interval := cmp.Or(p.groupSize, 16), cmp.Or(p.interval, 4)
	c := sim.Cell{
		ID: "bench", Seed: uint64(seed),
		Estimator: option.Estimator{GroupSize: groupSize, GroupsPerStep: 1,
			Importance: option.Importance{Mode: p.importance},
			KL:         option.KL{Coefficient: 1, At: p.penaltyAt}},
		Lag:       option.Lag{Kind: option.Block, Interval: interval},
		Optimizer: option.Optimizer{LearningRate: 0.05, Momentum: 0.9},
		Init:      make([]float64, p.arms), Reference: make([]float64, p.arms),
		Run: sim.Run{Steps: burnIn + replicaSteps/replicas, BurnIn: burnIn, Replicas: replicas},
	}
	for a := range p.arms {
		mean := (float64(p.arms-a) - 0.5) / float64(p.arms)
		c.Bandit.Arms = append(c.Bandit.Arms, option.Arm{Law: option.Bernoulli, Mean: mean})
		c.Bandit.TrueMeans = append(c.Bandit.TrueMeans, mean)
	}
	return c
}

// time returns nanoseconds per replica-step. With workers it is that of 64 cells.
func (p process) time(ctx context.Context, replicaSteps, seed int) (float64, error) {
	cells := 1
	if p.workers > 0 {
		cells = 64
	}
	steps := max(replicaSteps/cells/max(1, p.arms/2), 64)
	var all []sim.Cell
	work := 0.
	for i := range cells {
		c := p.cell(steps, seed+i)
		work += float64(c.Run.Steps) * float64(c.Run.Replicas)
		all = append(all, c)
	}
	start := time.Now()
	err := sim.Simulate(ctx, all, max(p.workers, 1), func(_ int, r sim.Result) error {
		if r.Status != sim.OK {
			return fmt.Errorf("%d arms: %s", p.arms, r.Status)
		}
		return nil
	})
	return float64(time.Since(start).Nanoseconds()) / work, err
}

// tables prints the comparisons and the table of times.
func tables(ctx context.Context, w io.Writer, rounds, replicaSteps int) error {
	fmt.Fprintf(w, "Measured on %s with %s (%s/%s), vectors of %d bits.\n",
		processor(), runtime.Version(), runtime.GOOS, runtime.GOARCH, lanes.Bits())
	fmt.Fprint(w, "\n| time for | divided by that for | ratio | all rounds | ns |\n|---|---|---:|---|---:|\n")
	for _, row := range compared {
		of := []process{row.than, row.process}
		c, err := tool.Compare(rounds, func(i, round int) (float64, error) {
			return of[i].time(ctx, replicaSteps, round+1)
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %s | %s | **%.2f** | %.2f to %.2f | %.1f |\n",
			row.what, row.over, c.Ratio, c.Least, c.Most, c.Times[1])
	}
	fmt.Fprint(w, "\nNanoseconds per replica-step on one worker, by G / K, "+
		"from one short run each:\n\n| arms ")
	groups, intervals := []int{4, 16, 64, 1024, 65536}, []int{1, 4, 16}
	for _, g := range groups {
		for _, k := range intervals {
			fmt.Fprintf(w, "| %d / %d ", g, k)
		}
	}
	fmt.Fprintf(w, "|\n|---|%s\n", strings.Repeat("---:|", len(groups)*len(intervals)))
	for _, arms := range []int{2, 3, 10, 100} {
		fmt.Fprintf(w, "| %d ", arms)
		for _, g := range groups {
			for _, k := range intervals {
				ns, err := process{arms: arms, groupSize: g, interval: k}.time(ctx, replicaSteps/100, 1)
				if err != nil {
					return err
				}
				fmt.Fprintf(w, "| %.1f ", ns)
			}
		}
		fmt.Fprintln(w, "|")
	}
	return nil
}

// processor returns the model name that Linux gives, or else the architecture.
func processor() string {
	data, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(data)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
