package apply

import (
	"os"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// fineStamps knows on which file systems a file that was looked at gets a later time with
// its next change, however soon that comes (Linux from 6.13 on, see StampsFinely).
//
// What a stat shows of a file that an Executor wrote is lasting there: the temporary file is
// looked at after its contents were verified, and once more under its name. A write that
// began before the second look has moved the time of the contents, which must be that of
// the first; one that began later moves the time that is recorded. This holds for files
// that are written here, not for those that a scan finds: there, a writer may have stamped
// a file before the scan looked, and fill it after the scan has read.
type fineStamps struct {
	look func(*os.File) atomicfile.Fine

	mu   sync.Mutex
	seen map[uint64]atomicfile.Fine // by device
}

func newFineStamps(look func(*os.File) atomicfile.Fine) fineStamps {
	if look == nil {
		look = atomicfile.StampsFinely
	}
	return fineStamps{look: look, seen: make(map[uint64]atomicfile.Fine)}
}

// probe finds out about a device, once, by a file that nobody else knows.
func (s *fineStamps) probe(f *os.File, device uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, done := s.seen[device]; !done && device != 0 {
		s.seen[device] = s.look(f)
	}
}

func (s *fineStamps) of(device uint64) atomicfile.Fine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[device]
}
