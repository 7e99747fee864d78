package logs

// The most that is read or kept of a strange file, in bytes where nothing else is said.
const (
	peeked        = 1 << 16   // by which a file is recognised
	longUnpacked  = 256 << 20 // what is packed, or a notebook with its pictures
	longWindow    = 64 << 20  // of zstd
	longLine      = 1 << 20
	longText      = 4096     // a key or a value
	longRecord    = 16 << 20 // a row of CSV: after an open quote it goes on to the end
	longEvent     = 1 << 20  // a record of scalars: 1000 take 100 kB; graphs and images take more
	longParquet   = 1 << 30  // which is read in memory
	longFooter    = 1 << 20  // of Parquet: so many nested lists take half of the stack that Go allows
	longJoined    = 1 << 18  // a dict
	mostJoined    = 2000     // its lines: a configuration that verl prints has hundreds
	mostBare      = 50       // lines of a dict without braces
	mostFailed    = 100      // dicts in a line that cannot be read before the rest is left
	mostBars      = 16       // totals of progress bars
	mostKeys      = 1000     // known keys, and names of unknown ones
	mostValues    = 1 << 23  // rows times columns
	rowSize       = 8        // values that take as much memory as a printed row without cells
	mostRuns      = 100      // of a file
	mostFiles     = 200_000  // of a folder: one that holds more is no run's
	deepestFolder = 8
	deepest       = 50 // levels of nesting in an object
)
