package dav

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Projects are the roots that are shown.
type Projects struct {
	List    []Project
	Default string // id of the project whose checkpoints need no project's name; "" = none
}

// Project is a root.
type Project struct{ ID, Root string }

// segment is the name of a project in a listing.
func (p Project) segment() string {
	base := filepath.Base(p.Root)
	if base == string(filepath.Separator) || base == "." {
		base = "root"
	}
	return base + "-" + p.ID
}

// projectDir is the top.
type projectDir struct {
	Projects
	ctx  context.Context
	open func(id string) (*cairn.Repo, error)
}

func (d *projectDir) list() (nodes []*node, err error) {
	if len(d.List) == 1 && d.List[0].ID == d.Default {
		return d.checkpoints(d.Default).list()
	}
	for _, p := range d.List {
		nodes = append(nodes, &node{name: p.segment(), dir: d.checkpoints(p.ID)})
	}
	return nodes, nil
}

func (d *projectDir) checkpoints(id string) dir {
	return &checkpointDir{ctx: d.ctx, open: func() (*cairn.Repo, error) { return d.open(id) }}
}

// find finds a project, else a checkpoint of the default one. No checkpoint has the id of a project.
func (d *projectDir) find(name string) (*node, error) {
	for _, p := range d.List {
		if name == p.ID || name == p.segment() {
			return &node{name: name, dir: d.checkpoints(p.ID)}, nil
		}
	}
	if d.Default == "" {
		return nil, absent(name)
	}
	return d.checkpoints(d.Default).find(name)
}

// checkpointDir lists the checkpoints of a project.
type checkpointDir struct {
	ctx  context.Context
	open func() (*cairn.Repo, error)
	repo *cairn.Repo
}

func (d *checkpointDir) opened() (_ *cairn.Repo, err error) {
	if d.repo == nil {
		d.repo, err = d.open()
	}
	return d.repo, err
}

// timeForm is the time in a listing, in UTC. No file system refuses a character of it.
const timeForm = "2006-01-02T15-04-05Z"

// idDigits is the number of digits of an id in a listing.
const idDigits = 12

// listedName is the form of the names that a listing gives. It is compiled when a name is looked
// up, because every start of the program would pay for it.
var listedName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ-([0-9a-f]{12})$`)
})

// list lists the newest checkpoint as @, the pins, and all checkpoints by their times.
func (d *checkpointDir) list() ([]*node, error) {
	repo, err := d.opened()
	if err != nil {
		return nil, err
	}
	var nodes []*node
	for c, err := range repo.Checkpoints(d.ctx) {
		if err != nil {
			return nil, err
		}
		if len(nodes) == 0 {
			nodes = append(nodes, checkpointNode(repo, c, "@"))
		}
		nodes = append(nodes, checkpointNode(repo, c, c.When.UTC().Format(timeForm)+"-"+c.ID[:idDigits]))
	}
	pins, err := repo.Pins(d.ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range pins {
		if c, err := repo.Lookup(d.ctx, p.Checkpoint); err == nil && !strings.Contains(p.Name, "/") && p.Hash != "" {
			nodes = append(nodes, checkpointNode(repo, c, p.Name))
		}
	}
	return nodes, nil
}

func (d *checkpointDir) find(name string) (*node, error) {
	repo, err := d.opened()
	if err != nil {
		return nil, err
	}
	spec := name
	if m := listedName().FindStringSubmatch(name); m != nil {
		spec = m[1]
	}
	c, err := repo.Lookup(d.ctx, spec)
	if err != nil {
		return nil, err
	}
	return checkpointNode(repo, c, name), nil
}

func checkpointNode(repo *cairn.Repo, c *cairn.Checkpoint, name string) *node {
	return &node{name: name, time: c.When, dir: &treeDir{repo: repo, at: c}}
}

// treeDir is a directory of a checkpoint.
type treeDir struct {
	repo *cairn.Repo
	at   *cairn.Checkpoint
	path string // "" = the root
}

func (d *treeDir) list() ([]*node, error) {
	entries, err := access.ReadDir(d.repo, d.at, d.path)
	if err != nil {
		return nil, err
	}
	nodes := make([]*node, 0, len(entries))
	for _, e := range entries {
		n := &node{name: e.Name, time: d.at.When, mode: e.Mode, perm: e.Perm, size: e.Size, id: e.ID}
		switch e.Mode {
		case object.Dir:
			n.dir = &treeDir{d.repo, d.at, path.Join(d.path, e.Name)}
		case object.Gitlink:
			continue
		default:
			n.open = func() (io.ReadCloser, error) { return access.OpenBlob(d.repo, e.ID) }
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

func (d *treeDir) find(name string) (*node, error) {
	nodes, err := d.list()
	if errors.Is(err, cairn.ErrNotFound) {
		return nil, absent(path.Join(d.path, name))
	}
	for _, n := range nodes {
		if n.name == name {
			return n, nil
		}
	}
	return nil, cmp.Or(err, absent(path.Join(d.path, name)))
}
