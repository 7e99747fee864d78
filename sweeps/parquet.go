package sweeps

import (
	"io"
	"os"

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

// writeTrajectories writes trajectories.parquet; a file is one group of rows,
// of which dir holds the columns until they are put together.
func (e *Experiment) writeTrajectories(to io.Writer, dir string) error {
	w := parquet.NewGenericWriter[trajectoryRow](to, parquet.CreatedBy("grposim", "1", ""), parquet.ColumnPageBuffers(scratch(dir)))
	var rows []trajectoryRow
	for i := range e.Plan.Cells {
		o := e.Outcomes[e.Plan.Cells[i].ID]
		t := o.Trajectory()
		if t == nil {
			continue
		}
		rows = rows[:0]
		for _, s := range t.Quantities {
			for n, step := range t.Steps {
				q := &s.Quantiles[n]
				rows = append(rows, trajectoryRow{
					Cell: o.ID, Step: int64(step), Quantity: string(s.Quantity),
					Mean: float64(s.Mean[n]), StandardError: float64(s.StdErr[n]),
					Q05: float64(q[0]), Q25: float64(q[1]), Q50: float64(q[2]), Q75: float64(q[3]), Q95: float64(q[4]),
				})
			}
		}
		if _, err := w.Write(rows); err != nil {
			return err
		}
	}
	return w.Close()
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
