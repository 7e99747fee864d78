//go:build unix

package store

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// lockName is the name, in a results folder, of what is locked: the folder itself.
const lockName = "."

// openLock opens what is locked of a results folder.
func openLock(dir string) (*os.File, error) { return os.Open(dir) }

// tryLock locks an open file or folder until it is closed.
func tryLock(file *os.File) error { return flock(file, unix.LOCK_EX|unix.LOCK_NB) }

// tryShared locks it against tryLock, but not against others that share it.
func tryShared(file *os.File) error { return flock(file, unix.LOCK_SH|unix.LOCK_NB) }

func flock(file *os.File, how int) error {
	for {
		err := unix.Flock(int(file.Fd()), how)
		if !errors.Is(err, unix.EINTR) { // a network file system can be interrupted by a signal
			return err
		}
	}
}

// held reports whether an error of tryLock says that somebody else has locked the file.
func held(err error) bool { return errors.Is(err, unix.EWOULDBLOCK) }

// lockless reports whether an error of tryLock says that the file system has no locks.
func lockless(err error) bool {
	return errors.Is(err, unix.ENOLCK) || errors.Is(err, unix.EOPNOTSUPP) ||
		errors.Is(err, unix.ENOSYS)
}

// writeProtected reports whether an error says that a file system may not be written.
func writeProtected(err error) bool { return errors.Is(err, unix.EROFS) }

// outOfOrder reports whether an error says that a file system is full or faulty.
func outOfOrder(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EIO)
}

// tooLong reports whether an error says that a path is longer than the system takes.
func tooLong(err error) bool { return errors.Is(err, unix.ENAMETOOLONG) }

// replacement is a temporary file that replaces another when it is complete.
type replacement = renameio.PendingFile

// newReplacement creates the temporary file that will replace the file at path, in the same folder.
// It keeps the permissions of that file.
func newReplacement(path string) (*replacement, error) {
	return renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)),
		renameio.WithPermissions(0o644), renameio.WithExistingPermissions())
}

// beforeReplaced is called with an open file that is about to be replaced: it may stay open, and
// locked.
func beforeReplaced(*os.File) error { return nil }

// afterReplaced closes a file that was replaced while it was open.
func afterReplaced(file *os.File) error { return file.Close() }

// CPUSeconds returns the user and system time that this process has used so far, in
// seconds; 0 if the operating system does not say.
func CPUSeconds() float64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	seconds := func(t unix.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}
