package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// linesEvery is how often progress is told where stderr is not a terminal.
const linesEvery = 10 * time.Second

// progress shows how a sweep gets on: a bar on a terminal, else a line now and
// then.
type progress struct {
	stderr   io.Writer
	terminal bool
	bar      *progressbar.ProgressBar

	name         string
	cells, done  int
	work, worked float64
	told         time.Time
}

func newProgress(stderr io.Writer) *progress {
	file, ok := stderr.(*os.File)
	return &progress{stderr: stderr, terminal: ok && term.IsTerminal(int(file.Fd()))}
}

func (p *progress) Begin(name string, cells, finished int, work float64) {
	p.name, p.cells, p.done, p.work, p.worked, p.told = name, cells, finished, work, 0, time.Now()
	if finished > 0 && finished < cells {
		p.Note(fmt.Sprintf("%s: going on after %d of %d cells", name, finished, cells))
	}
	if p.terminal && finished < cells {
		p.bar = progressbar.NewOptions64(int64(work),
			progressbar.OptionSetWriter(p.stderr),
			progressbar.OptionSetDescription(name),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(100*time.Millisecond))
	}
}

func (p *progress) Cell(work float64) {
	p.done++
	p.worked += work
	if p.bar != nil {
		_ = p.bar.Set64(int64(p.worked)) // a bar that cannot be drawn is no reason to stop
		return
	}
	if time.Since(p.told) >= linesEvery {
		p.told = time.Now()
		p.Note(fmt.Sprintf("%s: %d of %d cells, %.0f %% of the work", p.name, p.done, p.cells, 100*p.worked/p.work))
	}
}

func (p *progress) End() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}

func (p *progress) Note(message string) { fmt.Fprintf(p.stderr, "grposim: %s\n", message) }
