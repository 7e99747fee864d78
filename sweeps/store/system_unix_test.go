//go:build unix

package store

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A file system without locks is told from a folder in use.
func TestLockErrors(t *testing.T) {
	for _, number := range []syscall.Errno{unix.ENOLCK, unix.EOPNOTSUPP, unix.ENOSYS} {
		var folder *FolderError
		err := lockError("a", number)
		if !errors.As(err, &folder) || !strings.Contains(err.Error(), "a: its file system has no locks") {
			t.Errorf("%v: %v", number, err)
		}
	}
	if err := lockError("a", unix.EIO); !errors.Is(err, unix.EIO) {
		t.Error(err)
	}
}
