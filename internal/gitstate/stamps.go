package gitstate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/git"
)

// Stamps tell by stat alone whether a repository still is as it was read. Each git changes a file by
// renaming another one over it, which shows in the directory. So the directories of loose refs stand
// for the refs. As long as there are few refs, the files are looked at as well.
type Stamps struct {
	Paths []string `json:"paths"`
	Sum   string   `json:"sum"` // of the stat data; "" = never the same: a path was changed so recently that its next change may not show
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
}

func (s *stamper) see(path string) {
	s.paths, s.stamps = append(s.paths, path), append(s.stamps, git.StampOf(path))
}

// seeRef is see for the file of a loose ref.
func (s *stamper) seeRef(path string) {
	if s.crowded = s.crowded || len(s.refs) == maxStampedRefs; !s.crowded {
		s.refs, s.refAt = append(s.refs, path), append(s.refAt, git.StampOf(path))
	}
}

// stamps returns what was collected by a reading that began at the given time.
func (s *stamper) result(began time.Time) Stamps {
	if !s.crowded {
		s.paths, s.stamps = append(s.paths, s.refs...), append(s.stamps, s.refAt...)
	}
	sum, newest := sumOf(s.stamps)
	if newest > began.Add(-slack).UnixNano() {
		sum = ""
	}
	return Stamps{Paths: s.paths, Sum: sum}
}

func sumOf(stamps []git.Stamp) (sum string, newest int64) {
	h := sha256.New()
	line := make([]byte, 0, 128)
	for _, s := range stamps {
		line = fmt.Appendf(line[:0], "%d %d %d %d %o\n", s.Size, s.MTime, s.CTime, s.Ino, s.Mode)
		h.Write(line)
		newest = max(newest, s.Newest())
	}
	return hex.EncodeToString(h.Sum(nil)), newest
}

// Hold reports whether nothing has changed since.
func (s Stamps) Hold() bool {
	if s.Sum == "" {
		return false
	}
	now := make([]git.Stamp, len(s.Paths))
	for i, path := range s.Paths {
		now[i] = git.StampOf(path)
	}
	sum, _ := sumOf(now)
	return sum == s.Sum
}
