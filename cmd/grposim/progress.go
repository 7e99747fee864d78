package main

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// lineInterval is the shortest time between two lines of progress.
const lineInterval = 10 * time.Second

// progress displays the progress of a sweep: a bar if stderr is a terminal, else lines.
// It implements sweeps.Progress.
type progress struct {
	stderr   io.Writer
	terminal bool
	bar      *progressbar.ProgressBar // nil if there is none
	what     string                   // the bar of Part counts

	mutex        sync.Mutex
	name         string
	cells, done  int       // cells of the sweep, and those of them that are finished
	work, worked float64   // replica-steps to do in this run, and those done
	lastLine     time.Time // time of the last line, at first that of the start
}

// newProgress returns a display on stderr.
func newProgress(stderr io.Writer) *progress {
	file, ok := bare(stderr).(*os.File)
	return &progress{stderr: stderr, terminal: ok && term.IsTerminal(int(file.Fd())), lastLine: time.Now()}
}

func (p *progress) Begin(name string, cells, finished int, work float64) {
	p.name, p.cells, p.done, p.work, p.worked, p.lastLine = name, cells, finished, work, 0, time.Now()
	if p.terminal && finished < cells {
		p.newBar(name, int64(work))
	}
}

func (p *progress) newBar(description string, total int64) {
	p.bar = progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(bare(p.stderr)),
		progressbar.OptionSetDescription(escape(description, "")),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(100*time.Millisecond))
}

func (p *progress) Cell() {
	p.mutex.Lock()
	p.done++
	p.mutex.Unlock()
}

// Work counts finished work in replica-steps, and shows it.
func (p *progress) Work(work float64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.worked += work
	if p.bar != nil {
		_ = p.bar.Set64(int64(p.worked)) // the sweep continues if the bar cannot be drawn
		return
	}
	if time.Since(p.lastLine) >= lineInterval {
		p.lastLine = time.Now()
		say(p.stderr, "%s: %d of %d cells, %.0f %% of the work",
			p.name, p.done, p.cells, 100*p.worked/p.work)
	}
}

func (p *progress) End() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}

func (p *progress) Part(name, what string, done, total int) {
	switch {
	case p.terminal:
		if p.what != what {
			p.End()
		}
		if p.bar == nil {
			p.what = what
			p.newBar(name+": "+what, int64(total))
		}
		_ = p.bar.Set(done)
		if done == total {
			p.End()
		}
	case time.Since(p.lastLine) >= lineInterval:
		p.lastLine = time.Now()
		say(p.stderr, "%s: %s, %d of %d", name, what, done, total)
	}
}

func (p *progress) Note(message string) { printLines(p.stderr, message) }
