package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"grposim/sim"
)

// Cache is a folder of finished cells that sweeps share. A cell of this version of the program
// has a file of its own, named by its id, with its journal line. Several programs may read and
// write it at the same time.
type Cache struct {
	dir      string // of the cells of this version
	readOnly bool   // whether writing has failed
}

// OpenCache returns the cache in a folder, which is created if it is missing. The error is a
// *FolderError if dir is not a folder.
func OpenCache(dir string) (*Cache, error) {
	if err := MakeFolder(dir, "--cache"); err != nil {
		return nil, err
	}
	version := strings.NewReplacer(",", "", " ", "-").Replace(sim.Version)
	return &Cache{dir: filepath.Join(dir, version)}, nil
}

func (c *Cache) path(id string) string { return filepath.Join(c.dir, id[:2], id) }

// Get returns the outcome of a cell with its recorded series in memory, nil if the cache does
// not have it. The error says that its file cannot be used.
func (c *Cache) Get(id string) (*Outcome, error) {
	if err := checkRegular(c.path(id), os.Lstat); err != nil {
		return nil, &DamagedError{err.Error() + ": its cell is computed again"}
	}
	line, err := os.ReadFile(c.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	o, ok := parseLine(line)
	if !ok || o.ID != id || o.Version != sim.Version {
		return nil, &DamagedError{c.path(id) + " is damaged: its cell is computed again"}
	}
	return o, nil
}

// Put adds an outcome that is in a journal, atomically. After the first error it does nothing:
// a cache can be read-only.
func (c *Cache) Put(o *Outcome) error {
	if c.readOnly {
		return nil
	}
	line, err := o.line.read(nil)
	path := c.path(o.ID)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o777)
	}
	if err == nil {
		err = WriteFile(path, line)
	}
	c.readOnly = err != nil
	return err
}
