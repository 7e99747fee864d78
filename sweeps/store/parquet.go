package store

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/google/renameio/v2"
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

// trajectoryTable writes trajectories.parquet: the cells of a sweep in order, each
// as soon as it and those before it have an outcome.
type TrajectoryTable struct {
	ids     []string // of the cells, in order
	next    int      // the first that is not written
	file    *renameio.PendingFile
	columns *parquet.GenericWriter[trajectoryRow]
	rows    []trajectoryRow // of the last cell
}

// rowsTogether is how many rows are a group, whose columns stand apart: some 7 MB,
// which are in memory until the group is whole.
const rowsTogether = 1 << 16

// newTrajectoryTable begins the table of a results folder for the cells with these
// ids. The caller calls discard in the end.
func NewTrajectoryTable(dir string, ids []string) (*TrajectoryTable, error) {
	file, err := pendingFile(filepath.Join(dir, trajectoriesName))
	if err != nil {
		return nil, err
	}
	columns := parquet.NewGenericWriter[trajectoryRow](file, parquet.CreatedBy("grposim", "1", ""), parquet.MaxRowsPerRowGroup(rowsTogether))
	return &TrajectoryTable{ids: ids, file: file, columns: columns}, nil
}

// follow writes the cells that come next, as far as outcomes has them: the one
// with the given id as it was recorded, others as they are stored.
func (t *TrajectoryTable) Follow(outcomes map[string]*Outcome, id string, recorded *Trajectory) error {
	for ; t.next < len(t.ids); t.next++ {
		o := outcomes[t.ids[t.next]]
		if o == nil {
			break
		}
		trajectory, err := recorded, error(nil)
		if o.ID != id {
			trajectory, err = o.Trajectory()
		}
		if err := errors.Join(err, t.write(o.ID, trajectory)); err != nil {
			return err
		}
	}
	return nil
}

func (t *TrajectoryTable) write(id string, recorded *Trajectory) error {
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

// save writes the cells that are not written yet and puts the file in its place.
func (t *TrajectoryTable) Save(outcomes map[string]*Outcome) error {
	err := errors.Join(t.Follow(outcomes, "", nil), t.columns.Close())
	if err == nil {
		err = t.file.CloseAtomicallyReplace()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", trajectoriesName, err)
	}
	return nil
}

// discard removes a table that was not saved.
func (t *TrajectoryTable) Discard() { _ = t.file.Cleanup() }
