package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
)

// Judged says which program made the files of a results folder from its journal and its
// configuration, and what they are: the same program would make the same files again.
type Judged struct {
	// Program is the sha256 of the executable file that judged and drew, in hexadecimal digits.
	Program string `json:"program"`
	// Files are the sha256 of all files of the folder but the manifest and the lock, by their paths in it.
	Files map[string]string `json:"files"`
	// Infinite are the numbers of verdicts.json that are infinite, which JSON does not have: by
	// name, with the indices of their verdicts.
	Infinite map[string][]int `json:"infinite,omitempty"`
}

// NewJudged describes the files of a locked results folder that the executable with this sha256
// has just made.
func NewJudged(dir, program string, infinite map[string][]int) (*Judged, error) {
	files, err := fileSums(dir)
	return &Judged{program, files, infinite}, err
}

// Holds reports whether the program is the same as then, and the files of the locked results
// folder are. An unknown program, "", is not.
func (j *Judged) Holds(dir, program string) (bool, error) {
	if j == nil || program == "" || j.Program != program {
		return false, nil
	}
	files, err := fileSums(dir)
	return maps.Equal(files, j.Files), err
}

// fileSums returns the sha256 of all files of a folder but its manifest and its lock, by their paths in it.
func fileSums(dir string) (map[string]string, error) {
	sums := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || isLock(entry) {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || name == ManifestName {
			return err
		}
		if !entry.Type().IsRegular() {
			sums[filepath.ToSlash(name)] = entry.Type().String()
			return nil
		}
		sums[filepath.ToSlash(name)], err = fileSum(path)
		return err
	})
	return sums, err
}

// fileSum returns the sha256 of the content of a file.
func fileSum(path string) (sum string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	digest := sha256.New()
	_, err = io.CopyBuffer(digest, struct{ io.Reader }{file}, make([]byte, 1<<18))
	return hex.EncodeToString(digest.Sum(nil)), errors.Join(err, file.Close())
}

// Program returns the sha256 of the executable file of this program; "" if it cannot be read.
var Program = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	sum, err := fileSum(path)
	if err != nil {
		return ""
	}
	return sum
})
