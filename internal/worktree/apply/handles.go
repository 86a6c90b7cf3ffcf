package apply

import "github.com/seed-fb9cbc17/cairn/internal/worktree/dir"

// handles holds the open handles of one directory and of those above it.
type handles struct {
	path   string
	levels []handleLevel
}

type handleLevel struct {
	end int // the level's path is path[:end]
	h   *dir.Handle
}

// enter returns the handle of a directory below top, one name at a time and through no symlink.
func (s *handles) enter(top, path string) (*dir.Handle, error) {
	if len(s.levels) == 0 {
		h, err := dir.Open(top)
		if err != nil {
			return nil, err
		}
		s.levels = append(s.levels, handleLevel{0, h})
	}
	for common := dir.CommonPath(s.path, path); len(s.levels) > 1 && s.levels[len(s.levels)-1].end > common; {
		s.levels[len(s.levels)-1].h.Close()
		s.levels = s.levels[:len(s.levels)-1]
	}
	s.path = path
	for at := s.levels[len(s.levels)-1].end; at < len(path); {
		start := at
		if start > 0 {
			start++
		}
		for at = start; at < len(path) && path[at] != '/'; {
			at++
		}
		h, err := s.last().OpenDir(path[start:at])
		if err != nil {
			s.path = path[:s.levels[len(s.levels)-1].end]
			return nil, err
		}
		s.levels = append(s.levels, handleLevel{at, h})
		s.shed()
	}
	return s.last(), nil
}

// shed closes the handles far above. They are opened again, from the top, when they are needed.
func (s *handles) shed() {
	if len(s.levels) <= dir.MaxOpen {
		return
	}
	s.levels[1].h.Close()
	s.levels = append(s.levels[:1], s.levels[2:]...)
}

func (s *handles) last() *dir.Handle { return s.levels[len(s.levels)-1].h }

func (s *handles) close() {
	for _, l := range s.levels {
		l.h.Close()
	}
	s.levels, s.path = nil, ""
}
