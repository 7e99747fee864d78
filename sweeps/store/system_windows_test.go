package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// A file that somebody reads is replaced as soon as it is closed, and keeps its content where that
// takes too long.
func TestReplacingWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "verdicts.json")
	noError(t, WriteFile(path, []byte("old")))
	for _, row := range []struct {
		read time.Duration
		want string
	}{{2 * patience, "old"}, {patience / 10, "new"}} {
		reader := must(os.Open(path))
		closed := make(chan error)
		time.AfterFunc(row.read, func() { closed <- reader.Close() })
		err := WriteFile(path, []byte("new"))
		refused := errors.Is(err, windows.ERROR_SHARING_VIOLATION) ||
			errors.Is(err, windows.ERROR_ACCESS_DENIED)
		equal(t, row.read, refused, row.want == "old")
		noError(t, <-closed)
		if text, err := os.ReadFile(path); err != nil || string(text) != row.want {
			t.Errorf("read for %v: %q, %v, want %q", row.read, text, err, row.want)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("%v, %v: want one file", left, err)
	}
}

// A file system without locks is told from a folder in use.
func TestLockErrors(t *testing.T) {
	var folder *FolderError
	if err := lockError("a", windows.ERROR_NOT_SUPPORTED); !errors.As(err, &folder) {
		t.Error(err)
	}
	var inUse *InUseError
	if err := lockError("a", windows.ERROR_LOCK_VIOLATION); !errors.As(err, &inUse) {
		t.Error(err)
	}
}
