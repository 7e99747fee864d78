package store

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/windows"
)

// lockName is the name, in a results folder, of what is locked: an empty file, since Windows locks
// no folders.
const lockName = "cells.lock"

// openLock opens what is locked of a results folder, and creates it where it is missing.
func openLock(dir string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o644)
}

// lockedByte is the byte of a file that is locked, 2⁶³ − 1, which no file reaches: others cannot
// read a byte that is locked.
const lockedByte = 1<<63 - 1

// tryLock locks an open file until it is closed.
func tryLock(file *os.File) error {
	return lockFile(file, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
}

// tryShared locks it against tryLock, but not against others that share it.
func tryShared(file *os.File) error { return lockFile(file, windows.LOCKFILE_FAIL_IMMEDIATELY) }

func lockFile(file *os.File, flags uint32) error {
	at := windows.Overlapped{Offset: lockedByte & (1<<32 - 1), OffsetHigh: lockedByte >> 32}
	return windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, &at)
}

// held reports whether an error of tryLock says that somebody else has locked the file.
func held(err error) bool { return errors.Is(err, windows.ERROR_LOCK_VIOLATION) }

// lockless reports whether an error of tryLock says that the file system has no locks.
func lockless(err error) bool {
	return errors.Is(err, windows.ERROR_NOT_SUPPORTED) ||
		errors.Is(err, windows.ERROR_INVALID_FUNCTION)
}

// writeProtected reports whether an error says that a file system may not be written.
func writeProtected(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

// outOfOrder reports whether an error says that a file system is full or faulty.
func outOfOrder(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED) || errors.Is(err, windows.ERROR_IO_DEVICE)
}

// tooLong reports whether an error says that a path is longer than the system takes.
func tooLong(err error) bool { return errors.Is(err, windows.ERROR_FILENAME_EXCED_RANGE) }

// replacement is a temporary file that replaces another when it is complete.
type replacement struct {
	*os.File
	path string // of the other
	done bool   // whether it is in place
}

// newReplacement creates the temporary file that will replace the file at path, in the same folder.
func newReplacement(path string) (*replacement, error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path))
	return &replacement{File: file, path: path}, err
}

// patience is how long a file is waited for that another program has open, such as one that reads
// it or looks for viruses in it.
const patience = 2 * time.Second

// CloseAtomicallyReplace writes the file to disk, closes it, and puts it in the place of the other.
// Windows replaces no file that is open.
func (r *replacement) CloseAtomicallyReplace() error {
	if err := errors.Join(r.Sync(), r.Close()); err != nil {
		return err
	}
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		err := os.Rename(r.Name(), r.path)
		r.done = err == nil
		open := errors.Is(err, windows.ERROR_SHARING_VIOLATION) ||
			errors.Is(err, windows.ERROR_ACCESS_DENIED)
		if !open || time.Since(start) > patience {
			return err
		}
	}
}

// Cleanup closes and removes the temporary file unless it is in place.
func (r *replacement) Cleanup() error {
	if r.done {
		return nil
	}
	_ = r.Close() // which CloseAtomicallyReplace may have done
	return os.Remove(r.Name())
}

// beforeReplaced closes an open file that is about to be replaced, and with it the lock on it; that
// on its folder stays.
func beforeReplaced(file *os.File) error { return file.Close() }

// afterReplaced does nothing: beforeReplaced has closed the file.
func afterReplaced(*os.File) error { return nil }

// CPUSeconds returns the user and system time that this process has used so far, in
// seconds; 0 if the operating system does not say.
func CPUSeconds() float64 {
	var created, exited, kernel, user windows.Filetime
	this := windows.CurrentProcess()
	if err := windows.GetProcessTimes(this, &created, &exited, &kernel, &user); err != nil {
		return 0
	}
	seconds := func(t windows.Filetime) float64 { // it counts 100 ns
		return float64(uint64(t.HighDateTime)<<32|uint64(t.LowDateTime)) * 1e-7
	}
	return seconds(kernel) + seconds(user)
}
