package gitcommit

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/usergit"
)

// blobAt is a captured blob at a path of the repository, whose attributes decide what git makes of it.
type blobAt struct{ path, id string }

// layer is contents that go through git at once: no two of one path, and none below another.
type layer struct {
	open       map[string]func() (io.ReadCloser, error)
	ids        map[string]string // of the captured blobs
	dirs       map[string]bool   // above the paths
	attributes bool              // they are attributes files, which would decide about others
}

func newLayer(attributes bool) *layer {
	return &layer{make(map[string]func() (io.ReadCloser, error)), make(map[string]string), make(map[string]bool), attributes}
}

// add adds a content, unless it has to wait for another layer.
func (l *layer) add(name, id string, open func() (io.ReadCloser, error)) {
	if l.open[name] != nil || l.dirs[name] || l.attributes != (path.Base(name) == usergit.Attributes) {
		return
	}
	above := make(map[string]bool)
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if l.open[dir] != nil {
			return
		}
		above[dir] = true
	}
	maps.Copy(l.dirs, above)
	l.open[name], l.ids[name] = open, id
}

// clean finds the blobs that git makes of the contents before and after changes.
func (p *Planner) clean(ctx context.Context, ways [][]history.Change) error {
	for attributes := false; ; {
		l := newLayer(attributes)
		for _, way := range ways {
			for i := range way {
				for _, e := range []*object.Entry{history.OldEntry(&way[i]), history.NewEntry(&way[i])} {
					if err := p.request(l, p.at(way[i].Path), e); err != nil {
						return err
					}
				}
			}
		}
		if len(l.open) == 0 {
			if attributes {
				return nil
			}
			attributes = true
			continue
		}
		made, err := p.Scratch.Clean(ctx, l.open)
		if err != nil {
			return err
		}
		for name, id := range made {
			p.cleaned[blobAt{name, l.ids[name]}] = id
		}
	}
}

// request asks for one blob. The target of a link goes through no filter.
func (p *Planner) request(l *layer, name string, e *object.Entry) error {
	if e == nil {
		return nil
	}
	id := e.ID.String()
	if _, ok := p.cleaned[blobAt{name, id}]; ok {
		return nil
	}
	open := func() (io.ReadCloser, error) {
		_, content, err := p.Open(id)
		return content, err
	}
	if e.Mode.IsFile() {
		l.add(name, id, open)
		return nil
	}
	content, err := open()
	if err != nil {
		return err
	}
	defer content.Close()
	target, err := io.ReadAll(content)
	if err == nil {
		p.cleaned[blobAt{name, id}], err = p.Scratch.Add(target)
	}
	return err
}

// onDisk returns the entry that git would make of a path on disk. The first call reads all paths.
func (p *Planner) onDisk(ctx context.Context, name string) (usergit.Entry, error) {
	if p.disk != nil {
		return p.disk[name], nil
	}
	disk, modes := make(map[string]usergit.Entry), make(map[string]string)
	for _, attributes := range []bool{false, true} {
		l := newLayer(attributes)
		for _, way := range p.ways {
			name := p.at(way[0].Path)
			at := filepath.Join(p.Repo.Top, filepath.FromSlash(name))
			info, err := os.Lstat(at)
			if err != nil || !info.Mode().IsRegular() || p.throughLink(name) {
				continue
			}
			l.add(name, "", func() (io.ReadCloser, error) { return os.Open(at) })
			modes[name] = p.mode(info.Mode()&0o100 != 0)
		}
		if len(l.open) == 0 {
			continue
		}
		made, err := p.Scratch.Clean(ctx, l.open)
		if err != nil {
			return usergit.Entry{}, fmt.Errorf("read the work tree: %w", err)
		}
		for name, id := range made {
			disk[name] = usergit.Entry{Mode: modes[name], ID: id}
		}
	}
	p.disk = disk
	return disk[name], nil
}

// throughLink reports whether a directory of a path is a symlink. For git nothing lies behind it.
func (p *Planner) throughLink(name string) bool {
	for i, c := range name {
		if c != '/' {
			continue
		}
		if info, err := os.Lstat(filepath.Join(p.Repo.Top, filepath.FromSlash(name[:i]))); err != nil || !info.IsDir() {
			return true
		}
	}
	return false
}

// mode is the mode that git gives a regular file.
func (p *Planner) mode(executable bool) string {
	if executable && p.trustsModes {
		return usergit.ModeExec
	}
	return usergit.ModeFile
}
