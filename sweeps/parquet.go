package sweeps

import (
	"errors"
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

// trajectoryTable writes trajectories.parquet: the cells of a plan in order, as
// soon as a journal has them.
type trajectoryTable struct {
	plan    *Plan
	journal *journal
	next    int // cell of the plan
	file    *renameio.PendingFile
	columns *parquet.GenericWriter[trajectoryRow]
	rows    []trajectoryRow // of the last cell
}

// rowsTogether is how many rows are a group, whose columns stand apart: some 7 MB,
// which are in memory until the group is whole.
const rowsTogether = 1 << 16

// newTrajectoryTable begins the table. Whoever has it calls discard in the end.
func newTrajectoryTable(plan *Plan, journal *journal) (*trajectoryTable, error) {
	file, err := pendingFile(filepath.Join(filepath.Dir(journal.path), trajectoriesName))
	if err != nil {
		return nil, err
	}
	columns := parquet.NewGenericWriter[trajectoryRow](file, parquet.CreatedBy("grposim", "1", ""), parquet.MaxRowsPerRowGroup(rowsTogether))
	return &trajectoryTable{plan: plan, journal: journal, file: file, columns: columns}, nil
}

// follow writes the cells that come next, as far as the journal has them: the one
// with the given id, which has just been journaled, as it was recorded; others are
// read again.
func (t *trajectoryTable) follow(id string, recorded *Trajectory) error {
	for ; t.next < len(t.plan.Cells); t.next++ {
		o := t.journal.outcomes[t.plan.Cells[t.next].ID]
		if o == nil {
			break
		}
		trajectory := recorded
		if o.ID != id {
			trajectory = o.Trajectory()
		}
		if err := t.write(o.ID, trajectory); err != nil {
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
	if err := errors.Join(t.follow("", nil), t.columns.Close()); err != nil {
		return err
	}
	return t.file.CloseAtomicallyReplace()
}

// discard removes a table that was not saved.
func (t *trajectoryTable) discard() { _ = t.file.Cleanup() }
