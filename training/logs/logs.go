// Package logs reads what GRPO trainers record of a run.
//
// OpenAll reads the runs of a file or a folder. It recognises the container of a file from the
// first bytes: a trainer_state.json, JSON lines, console lines, CSV, TensorBoard events, Parquet.
// It recognises the trainer from the keys: the one of which the run has the most. A table gives the
// quantity that each key of a trainer holds, and what the trainer means by it. It is trainers.json,
// which `grposim help log-keys` prints.
//
// A file is read once from front to back, in memory for the rows of the known columns alone. A
// growing file can be read again from its start at any time: a last line that is not complete is
// left out.
//
// What a log does not hold is absent, never zero. A quantity without a key has no column, and a
// value that a row lacks is NaN.
package logs

import (
	"slices"
	"strings"
)

// Log holds the rows that a file records of one training run.
type Log struct {
	File   string // name of the file, or of the folder of event files
	Run    string // name of the run, "" where none is given
	Format Format // container and trainer recognised
	// Table holds the training rows: Steps and Columns.
	Table
	// Evaluation holds the rows of evaluation; nil if there are none.
	Evaluation *Table
	// Averaged is the number of optimizer steps that one row averages (logging_steps of
	// TRL), 1 if a row is a single step. It is the most frequent difference of steps in
	// the logs of trainers that average; a note says where that is not certain.
	Averaged int
	// Resumes holds the steps of training from which a resumed run goes on, increasing.
	Resumes []int
	// Other says what the log is of, where that is no training by GRPO; "" where it is. What is said
	// of groups and their rewards then does not hold.
	Other string
	// Notes say what a user should know of how the file was read, one sentence each.
	Notes []string
}

// Name names the run for people: by the file, and by the run where the file names one.
func (l *Log) Name() string {
	if l.Run == "" {
		return l.File
	}
	return l.File + ", run " + l.Run
}

// Table is a table of series over optimizer steps.
type Table struct {
	Steps   []int    // optimizer steps, ≥ 0, strictly increasing, one per row
	Columns []Column // one per quantity found, in the order of Quantities
}

// Column is the series of one quantity.
type Column struct {
	Quantity Quantity  // canonical name
	Key      string    // the key in the file
	Meaning  string    // what this trainer means by the key, and what is ambiguous
	Values   []float64 // one per row; NaN where missing or not finite
	Below    float64   // a 0 is any number below it, since the file has rounded numbers; 0: exactly 0
	// NotFinite holds the rows in which the file has NaN or an infinite number, increasing.
	NotFinite []int
}

// Format is a container with the trainer whose keys it holds.
type Format struct {
	Trainer   Trainer
	Container Container
}

// String returns the trainer, if known, and the container.
func (f Format) String() string {
	return strings.TrimSpace(string(f.Trainer) + " " + string(f.Container))
}

// Container is the form of a file.
type Container string

// The containers.
const (
	TrainerState Container = "trainer_state.json" // of the transformers library
	JSONLines    Container = "JSON lines"         // an object per row, flat or with nested objects
	Console      Container = "console output"     // lines of metrics among other text
	Pasted       Container = "pasted table"       // a table of a notebook among other text
	WandbHistory Container = "W&B history CSV"    // columns _step, _runtime, …
	WandbChart   Container = "W&B chart CSV"      // columns "RUN - KEY"
	WandbRun     Container = "W&B run file"       // run-ID.wandb
	CSV          Container = "CSV"
	TensorBoard  Container = "TensorBoard events" // files *tfevents* of a folder
	EventChart   Container = "TensorBoard chart"  // CSV or a JSON list with Wall time, Step, Value
	MLflow       Container = "MLflow metrics"     // a file per key, with lines "time value step"
	Parquet      Container = "Parquet"            // flat columns of numbers
)

// Column returns the column of a quantity, and whether there is one.
func (t *Table) Column(q Quantity) (Column, bool) {
	for _, c := range t.Columns {
		if c.Quantity == q {
			return c, true
		}
	}
	return Column{}, false
}

// Prefix returns the first rows of training, at least one, with the evaluations up to the
// last of them. The columns stay, and share their values with the log.
func (l *Log) Prefix(rows int) *Log {
	p := *l
	p.Table = l.Table.prefix(rows)
	last := p.Steps[rows-1]
	if l.Evaluation != nil {
		until, _ := slices.BinarySearch(l.Evaluation.Steps, last+1)
		if p.Evaluation = new(l.Evaluation.prefix(until)); until == 0 {
			p.Evaluation = nil
		}
	}
	resumes, _ := slices.BinarySearch(l.Resumes, last+1)
	p.Resumes = l.Resumes[:resumes]
	return &p
}

func (t *Table) prefix(rows int) Table {
	p := Table{Steps: t.Steps[:rows], Columns: slices.Clone(t.Columns)}
	for i := range p.Columns {
		c := &p.Columns[i]
		c.Values = c.Values[:rows]
		broken, _ := slices.BinarySearch(c.NotFinite, rows)
		c.NotFinite = c.NotFinite[:broken]
	}
	return p
}

// Options says how a file is read.
type Options struct {
	Run     string   // of a file with several runs the name of the one to read; "": all of them
	Percent []string // keys whose values are in per cent
	// Keys of the columns to read as the reward and as a score of evaluation, whatever they hold by
	// their names; "": by their names.
	Reward, TrueReward string
}
