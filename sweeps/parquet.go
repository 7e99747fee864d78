package sweeps

import (
	"io"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"
)

const trajectoriesName = "trajectories.parquet"

// trajectoryRow is a row of trajectories.parquet, in long form. Words are delta
// encoded: parquet-go cuts the runs of a dictionary's indices differently where
// it has vector instructions, and files are the same on every machine.
type trajectoryRow struct {
	Cell          string  `parquet:"cell,delta"`
	Step          int64   `parquet:"step"`
	Quantity      string  `parquet:"quantity,delta"`
	Mean          float64 `parquet:"mean"`
	StandardError float64 `parquet:"standard_error"`
	Q05           float64 `parquet:"q05"`
	Q25           float64 `parquet:"q25"`
	Q50           float64 `parquet:"q50"`
	Q75           float64 `parquet:"q75"`
	Q95           float64 `parquet:"q95"`
}

// trajectoryTable writes trajectories.parquet: the cells of a plan in order, as
// soon as a journal has them. The file is one group of rows: its columns stay
// apart until all are there.
type trajectoryTable struct {
	plan    *Plan
	journal *journal
	next    int                    // cell of the plan
	early   map[string]*Trajectory // of cells finished before their turn, at most mostEarly; others are read again
	columns *parquet.GenericWriter[trajectoryRow]
	file    struct{ io.Writer } // where the columns go together
	rows    []trajectoryRow     // of the last cell
}

// mostEarly is how many trajectories wait in memory for their turn.
const mostEarly = 16

func newTrajectoryTable(plan *Plan, journal *journal) *trajectoryTable {
	t := &trajectoryTable{plan: plan, journal: journal, early: make(map[string]*Trajectory)}
	folder := scratch(filepath.Dir(journal.path))
	t.columns = parquet.NewGenericWriter[trajectoryRow](&t.file, parquet.CreatedBy("grposim", "1", ""), parquet.ColumnPageBuffers(folder))
	return t
}

// add takes over the trajectory of a cell that has just been journaled.
func (t *trajectoryTable) add(id string, recorded *Trajectory) error {
	if len(t.early) < mostEarly {
		t.early[id] = recorded
	}
	return t.follow()
}

// follow writes the cells that come next, as far as the journal has them.
func (t *trajectoryTable) follow() error {
	for ; t.next < len(t.plan.Cells); t.next++ {
		o := t.journal.outcomes[t.plan.Cells[t.next].ID]
		if o == nil {
			break
		}
		recorded, inHand := t.early[o.ID]
		if delete(t.early, o.ID); !inHand {
			recorded = o.Trajectory()
		}
		if err := t.write(o.ID, recorded); err != nil {
			return err
		}
	}
	return t.journal.err()
}

func (t *trajectoryTable) write(id string, recorded *Trajectory) error {
	if recorded == nil {
		return nil
	}
	t.rows = t.rows[:0]
	for _, s := range recorded.Quantities {
		for n, step := range recorded.Steps {
			q := &s.Quantiles[n]
			t.rows = append(t.rows, trajectoryRow{
				Cell: id, Step: int64(step), Quantity: string(s.Quantity),
				Mean: float64(s.Mean[n]), StandardError: float64(s.StdErr[n]),
				Q05: float64(q[0]), Q25: float64(q[1]), Q50: float64(q[2]), Q75: float64(q[3]), Q95: float64(q[4]),
			})
		}
	}
	_, err := t.columns.Write(t.rows)
	return err
}

// save puts the file in its place, with the cells that are missing so far.
func (t *trajectoryTable) save() error {
	if err := t.follow(); err != nil {
		return err
	}
	path := filepath.Join(filepath.Dir(t.journal.path), trajectoriesName)
	return replaceFile(path, func(w io.Writer) error {
		t.file.Writer = w
		return t.columns.Close()
	})
}

// scratch is a folder in which parquet-go keeps finished pages, in files without
// a name: nothing is left of them when the process ends, in whatever way.
type scratch string

// GetBuffer returns an empty file.
func (dir scratch) GetBuffer() io.ReadWriteSeeker {
	file, err := os.CreateTemp(string(dir), ".column-")
	if err != nil {
		return unwritable{err}
	}
	if err := os.Remove(file.Name()); err != nil {
		return unwritable{err}
	}
	return file
}

// PutBuffer gives the file's space back.
func (scratch) PutBuffer(file io.ReadWriteSeeker) { _ = file.(io.Closer).Close() }

// unwritable is the file that could not be made.
type unwritable struct{ err error }

func (u unwritable) Read([]byte) (int, error)       { return 0, u.err }
func (u unwritable) Write([]byte) (int, error)      { return 0, u.err }
func (u unwritable) Seek(int64, int) (int64, error) { return 0, u.err }
func (u unwritable) Close() error                   { return nil }
