package apply

import (
	"os"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// fineStamps records which file systems give a file a new time with every change after a stat,
// however soon it comes (Linux from 6.13 on, see StampsFinely).
//
// On such a file system the stat of a file that an Executor wrote is lasting. There are two stats:
// one of the temporary file after its contents were verified, and one under its final name. A write
// that began before the second stat has moved the modification time, so the two stats differ. A
// later write moves the recorded time. This does not hold for files that a scan finds: a writer may
// stamp a file before the scan's stat, and write the contents after the scan has read them.
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

// probe tests a device once, with a temporary file that no other process uses.
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
