package store

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// FolderError says why a results folder cannot be used.
type FolderError struct {
	Message string // one line: the folder, the reason, and what to do
}

// Error returns the message.
func (e *FolderError) Error() string { return e.Message }

// InUseError says that another process has locked a results folder.
type InUseError struct {
	Dir string // the folder
}

// Error says so in one line.
func (e *InUseError) Error() string {
	return e.Dir + " is in use by another grposim: wait for it, or choose another --out"
}

// HoldsResults reports whether dir is a results folder, which has a manifest.
func HoldsResults(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ManifestName))
	return err == nil
}

// FoldersIn returns the paths of the results folders in dir, by name; none if it cannot be read.
func FoldersIn(dir string) (folders []string) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if inside := filepath.Join(dir, entry.Name()); HoldsResults(inside) {
			folders = append(folders, inside)
		}
	}
	return folders
}

// Lock prepares a folder for the results of the sweep called name and locks it
// against other processes; release unlocks it. A missing folder is created. A folder
// with results of another name or with other files only is a *FolderError, one that
// another process has locked an *InUseError. A damaged manifest is as good as none.
func Lock(dir, name string) (release func() error, err error) {
	manifest, err := ReadManifest(dir)
	switch {
	case err == nil && manifest.Name != name:
		return nil, &FolderError{fmt.Sprintf("%s holds the results of %q, not of %q: choose another "+
			"--out, or remove the folder", dir, manifest.Name, name)}
	case err != nil && blocked(dir):
		return nil, &FolderError{dir + " is not a folder: choose another --out"}
	case tooLong(err):
		return nil, &FolderError{err.Error() + ": choose another --out"}
	case errors.Is(err, fs.ErrNotExist), errors.As(err, new(*DamagedError)):
		_, journal := os.Stat(filepath.Join(dir, JournalName))
		entries, err := os.ReadDir(dir)
		if others := slices.DeleteFunc(entries, isLock); err == nil && len(others) > 0 && journal != nil {
			return nil, &FolderError{
				dir + " is not empty and holds no results of grposim: choose another --out"}
		}
	case err != nil:
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		if _, dangling := os.Readlink(dir); dangling == nil {
			err = fmt.Errorf("%s is a symbolic link to nothing: choose another --out", dir)
		}
		return nil, makingError(err, err.Error())
	}
	folder, err := openLock(dir)
	if err != nil {
		return nil, err
	}
	err = lock(dir, folder)
	if err == nil {
		err = RemovePending(dir)
	}
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return folder.Close, nil
}

// blocked reports whether dir cannot be a folder, since it, or what it would lie in, is a file.
// Windows gives for a file in the way the error of a folder that is missing.
func blocked(dir string) bool {
	info, err := os.Stat(dir)
	if above := filepath.Dir(dir); err != nil && above != dir {
		return blocked(above)
	}
	return err == nil && !info.IsDir()
}

// isLock reports whether an entry of a results folder is the file that is locked.
func isLock(entry fs.DirEntry) bool { return entry.Name() == lockName }

// lock locks an open file for the results folder dir, or that folder itself. A file system of
// several machines may lock a folder for each machine alone, and files for all: so the journal
// is locked too.
func lock(dir string, file *os.File) error {
	if err := tryLock(file); err != nil {
		return lockError(dir, err)
	}
	return nil
}

// CheckFree returns an *InUseError if another program has locked a results folder. One that is
// missing, or cannot be locked, is free. A program that would lock it in the same moment finds it
// in use.
func CheckFree(dir string) error {
	file, err := os.Open(filepath.Join(dir, lockName))
	if err != nil {
		return nil
	}
	if held(tryShared(file)) {
		return errors.Join(&InUseError{dir}, file.Close())
	}
	return file.Close() // which unlocks it
}

// MakeFolder makes the folder that a flag of the command line names, unless it is there. The error
// is a *FolderError where another folder may do.
func MakeFolder(dir, flag string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return makingError(err, fmt.Sprintf("%s: %v: choose another %s", dir, err, flag))
	}
	return nil
}

// makingError returns the error of a folder that could not be made. It is a *FolderError unless the
// file system is full, read-only or faulty: then no other path would do.
func makingError(err error, message string) error {
	if writeProtected(err) || outOfOrder(err) {
		return err
	}
	return &FolderError{message}
}

// lockError returns the error of a folder that could not be locked.
func lockError(dir string, err error) error {
	switch {
	case held(err):
		return &InUseError{dir}
	case lockless(err):
		return &FolderError{fmt.Sprintf("%s: its file system has no locks (%v), so that two programs "+
			"could write at the same time: choose an --out on another file system", dir, err)}
	}
	return &fs.PathError{Op: "lock", Path: dir, Err: err}
}

// ReadOnly reports whether an error says that files or folders may not be written.
func ReadOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || writeProtected(err)
}

// WriteFile replaces the content of a file by data, atomically: a crash leaves
// either the old content or the new.
func WriteFile(path string, data []byte) error {
	return ReplaceFile(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// pending matches the names of temporary files of results, which a killed program leaves.
var pending = regexp.MustCompile(`^\..+\.(json|jsonl|csv|parquet|md|html|svg|png|damaged|foreign)\d+$`)

// RemovePending removes the temporary files that killed programs left in a folder of
// results. No other program may be writing there.
func RemovePending(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if name := entry.Name(); pending.MatchString(name) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, name)))
		}
	}
	return err
}

// ReplaceFile replaces the content of a file by the output of write, which is buffered,
// atomically. If write fails, the file keeps its content.
func ReplaceFile(path string, write func(io.Writer) error) error {
	if err := checkRegular(path, os.Lstat); err != nil {
		return err
	}
	file, err := pendingFile(path)
	if err != nil {
		return err
	}
	defer file.Cleanup() // does nothing once the file is in place
	buffer := bufio.NewWriterSize(file, 1<<16)
	if err := write(buffer); err != nil { // of the file too: a failed buffer keeps its error
		return err
	}
	if err := buffer.Flush(); err != nil {
		return err
	}
	return file.CloseAtomicallyReplace()
}

// checkRegular returns a *FolderError if there is something other than a regular file at a path. A
// pipe would be waited for. stat is os.Stat where links are followed, else os.Lstat.
func checkRegular(path string, stat func(string) (fs.FileInfo, error)) error {
	info, err := stat(path)
	if err != nil || info.Mode().IsRegular() {
		return nil
	}
	kind := "special file"
	switch info.Mode().Type() {
	case fs.ModeSymlink:
		kind = "symbolic link"
	case fs.ModeNamedPipe:
		kind = "named pipe"
	case fs.ModeDir:
		kind = "folder"
	}
	return &FolderError{fmt.Sprintf("%s is a %s, want a regular file", path, kind)}
}

// ReadFile reads a file of results. The error is a *FolderError if it is no regular file.
func ReadFile(path string) ([]byte, error) {
	if err := checkRegular(path, os.Stat); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// pendingFile creates the temporary file that will replace the file at path. Both
// are in the same folder, so replacing is a rename.
func pendingFile(path string) (*replacement, error) {
	file, err := newReplacement(path)
	if temporary, is := errors.AsType[*fs.PathError](err); is { // nobody knows its name
		err = &fs.PathError{Op: "write", Path: path, Err: temporary.Err}
	}
	return file, err
}

// checksum returns the sha256 of data in hexadecimal digits.
func checksum(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}
