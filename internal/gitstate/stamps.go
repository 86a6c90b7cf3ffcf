package gitstate

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/git"
)

// Stamps tell by stat alone whether a repository still is as it was read. Each git changes a file by
// renaming another one over it, which shows in the directory. So the directories of loose refs stand
// for the refs. As long as there are few refs, the files are looked at as well.
type Stamps struct {
	Paths []string `json:"paths"`

	// Absent are paths where nothing was. As long as their directories are as they were, none of them
	// needs to be looked at.
	Absent []string `json:"absent,omitempty"`
	Dirs   []string `json:"dirs,omitempty"`
	DirSum string   `json:"dirSum,omitempty"`

	Sum string `json:"sum"` // of the stat data; "" = never the same: a path was changed so recently that its next change may not show
}

const (
	// maxStampedRefs is the number of loose refs up to which each file is looked at.
	maxStampedRefs = 500

	// slack is the age from which the next change of a file surely gets another time.
	slack = 100 * time.Millisecond
)

// stamper collects stamps. A path is looked at before it is read.
type stamper struct {
	paths, refs   []string
	stamps, refAt []git.Stamp
	crowded       bool
	dirs          map[string]git.Stamp // directories, looked at before everything in them
}

func (s *stamper) see(path string) {
	s.paths, s.stamps = append(s.paths, path), append(s.stamps, git.StampOf(path))
}

// seeDirs looks at directories that stand for what they lack.
func (s *stamper) seeDirs(dirs ...string) {
	s.dirs = make(map[string]git.Stamp, len(dirs))
	for _, dir := range dirs {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			s.dirs[dir] = git.StampOf(dir)
		}
	}
}

// seeRef is see for the file of a loose ref.
func (s *stamper) seeRef(path string) {
	if s.crowded = s.crowded || len(s.refs) == maxStampedRefs; !s.crowded {
		s.refs, s.refAt = append(s.refs, path), append(s.refAt, git.StampOf(path))
	}
}

// result returns the stamps of a reading that began at the given time.
func (s *stamper) result(began time.Time) Stamps {
	if !s.crowded {
		s.paths, s.stamps = append(s.paths, s.refs...), append(s.stamps, s.refAt...)
	}
	out := Stamps{Dirs: slices.Sorted(maps.Keys(s.dirs))}
	var there, around []git.Stamp
	for i, path := range s.paths {
		if _, ok := s.dirs[filepath.Dir(path)]; ok && s.stamps[i] == (git.Stamp{}) {
			out.Absent = append(out.Absent, path)
		} else {
			out.Paths, there = append(out.Paths, path), append(there, s.stamps[i])
		}
	}
	for _, dir := range out.Dirs {
		around = append(around, s.dirs[dir])
	}
	var newest, newestDir int64
	out.Sum, newest = sumOf(there)
	out.DirSum, newestDir = sumOf(around)
	if max(newest, newestDir) > began.Add(-slack).UnixNano() {
		out.Sum = ""
	}
	return out
}

// StampsOf returns the stamps of a path that was looked at just before.
func StampsOf(path string) Stamps {
	var s stamper
	s.see(path)
	return s.result(time.Now())
}

func sumOf(stamps []git.Stamp) (sum string, newest int64) {
	h := sha256.New()
	line := make([]byte, 0, 40)
	for _, s := range stamps {
		line = line[:0]
		for _, n := range []uint64{uint64(s.Size), uint64(s.MTime), uint64(s.CTime), s.Ino, uint64(s.Mode)} {
			line = binary.LittleEndian.AppendUint64(line, n)
		}
		h.Write(line)
		newest = max(newest, s.Newest())
	}
	return hex.EncodeToString(h.Sum(nil)), newest
}

// Hold reports whether nothing has changed since.
func (s Stamps) Hold() bool {
	return s.Sum != "" && sumNow(s.Paths) == s.Sum && (sumNow(s.Dirs) == s.DirSum || !slices.ContainsFunc(s.Absent, isThere))
}

func sumNow(paths []string) string {
	now := make([]git.Stamp, len(paths))
	for i, path := range paths {
		now[i] = git.StampOf(path)
	}
	sum, _ := sumOf(now)
	return sum
}

func isThere(path string) bool { return git.StampOf(path) != (git.Stamp{}) }
