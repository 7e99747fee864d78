package logs

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Follower reads a log that grows: anew when it has changed, but in at most one of
// restShares parts of the time.
type Follower struct {
	path string
	how  Options

	seen string    // size and time of what was read last
	log  *Log      // what was read last
	err  error     // why it is none
	rest time.Time // not to be read anew before

	pending bool // it has changed since
}

// restShares: reading takes at most one of so many parts of the time.
const restShares = 20

// Follow returns a follower of a file or folder, which need not exist yet.
func Follow(path string, how Options) *Follower { return &Follower{path: path, how: how} }

// Read returns what Open would, or what it returned last where the log has not changed or
// is not to be read anew yet. It does not say whether rows read before are still in the log.
func (f *Follower) Read() (*Log, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		f.seen = ""
		return nil, err
	}
	began := time.Now()
	now := signature(f.path, info)
	if f.pending = now != f.seen && began.Before(f.rest); now != f.seen && !f.pending {
		f.log, f.err = Open(f.path, f.how)
		f.seen, f.rest = now, time.Now().Add(restShares*time.Since(began))
	}
	return f.log, f.err
}

// Pending reports whether the log had changed when Read last returned what it had read before.
func (f *Follower) Pending() bool { return f.pending }

// signature returns the size and time of a file, or of all files in a folder.
func signature(path string, info os.FileInfo) string {
	var b bytes.Buffer
	add := func(name string, info os.FileInfo) {
		fmt.Fprintln(&b, name, info.Size(), info.ModTime().UnixNano())
	}
	if !info.IsDir() {
		add("", info)
		return b.String()
	}
	fmt.Fprintln(&b, "folder") // an empty one has been seen too
	// What is removed meanwhile is not listed.
	_ = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				add(name, info)
			}
		}
		return nil
	})
	return b.String()
}
