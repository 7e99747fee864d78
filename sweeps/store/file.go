package store

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

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

// writeJSON replaces the content of a file by indented JSON, atomically.
func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(path, append(data, '\n'))
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
