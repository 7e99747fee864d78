package sweeps

// Progress receives the progress events of a sweep. All calls but those of Work come from
// one goroutine.
type Progress interface {
	// Begin reports the name of the sweep, the number of its distinct cells, how many
	// of them are finished already, and the work of the others in steps of one replica.
	Begin(name string, cells, finished int, work float64)
	// Work reports that part of the work is done. It is called by several goroutines.
	Work(work float64)
	// Cell reports that one more cell is finished.
	Cell()
	// End reports that the simulation has ended: completed, interrupted or failed.
	End()
	// Part reports that done of total parts of what follows are done: of "judging", say.
	Part(name, what string, done, total int)
	// Note gives a message for the user, of one line. It can come before Begin.
	Note(message string)
}

// NoProgress is a Progress that shows nothing.
type NoProgress struct{}

func (NoProgress) Begin(string, int, int, float64) {}
func (NoProgress) Work(float64)                    {}
func (NoProgress) Cell()                           {}
func (NoProgress) End()                            {}
func (NoProgress) Part(string, string, int, int)   {}
func (NoProgress) Note(string)                     {}
