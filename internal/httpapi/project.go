package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/ticket"
	"github.com/seed-fb9cbc17/cairn/session"
)

// maxProjects is the limit on the projects that clients register. A remote has as many as were pushed there.
const maxProjects = 1000

// projects are the registered roots.
type projects struct {
	server *Server
	opt    *Options

	mu     sync.Mutex
	byRoot map[string]*project
	first  *project // the default
}

// project is a root. Its store is open only while it is used, and a while after.
type project struct {
	id, root string
	server   *Server

	mu        sync.Mutex
	handle    *handle
	used      time.Time
	forgotten bool // the server has forgotten it: a store that a call opens now is closed with the call
	idle      bool // the store was closed because no request came, and is to be sealed if the settings want that

	moved   atomic.Bool // an event may have made a checkpoint since the last calls of Options.Sign and Sync
	cleaned time.Time   // when cleaning was last considered; only the housekeeper uses it

	back sync.Mutex // held by a call that changes the user's files
}

func (ps *projects) init(s *Server) {
	ps.server, ps.opt, ps.byRoot = s, &s.opt, make(map[string]*project)
}

// Register registers a directory, or without exact the work tree around it, and returns
// the root. The first project is the default. Registering twice is no error.
func (s *Server) Register(dir string, exact bool) (root string, err error) {
	p, err := s.projects.register(dir, "", exact)
	if err != nil {
		return "", err
	}
	return p.root, nil
}

// RegisterAs registers a root under an id of the caller's, in the place of cairn.ProjectID.
func (s *Server) RegisterAs(root, id string) error {
	_, err := s.projects.register(root, id, true)
	return err
}

func (ps *projects) register(dir, id string, exact bool) (*project, error) {
	root, err := ps.rootOf(dir, exact)
	if err != nil {
		return nil, err
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p := ps.byRoot[root]; p != nil {
		return p, nil
	}
	if id == "" && len(ps.byRoot) >= maxProjects {
		return nil, problem(429, protocol.TooMany, "there are %d projects already; DELETE /projects/{id} forgets one", maxProjects)
	}
	p := &project{id: either(id, cairn.ProjectID(root)), root: root, server: ps.server, cleaned: time.Now()}
	ps.byRoot[root] = p
	if ps.first == nil {
		ps.first = p
	}
	return p, nil
}

// rootOf returns the root for a directory, and checks that its store can be used.
func (ps *projects) rootOf(dir string, exact bool) (root string, err error) {
	if !filepath.IsAbs(dir) || strings.IndexByte(dir, 0) >= 0 {
		return "", badField("body.directory", dir, "expected an absolute path")
	}
	if exact {
		root, err = realpath.Of(dir)
	} else {
		var opt cairn.Options
		if opt, err = ps.opt.Settings(dir); err == nil {
			root, err = cairn.FindRootIn(dir, opt.DataDir)
		}
	}
	if err != nil && !errors.Is(err, cairn.ErrRoot) {
		err = fmt.Errorf("%w: %w", cairn.ErrRoot, err)
	}
	if err != nil {
		return "", err
	}
	if err := isRoot(root); err != nil {
		return "", err
	}
	if ps.opt.Guard != nil && !exact {
		if err := ps.opt.Guard(root); err != nil {
			return "", fmt.Errorf("%w: %w", cairn.ErrRoot, err)
		}
	}
	_, err = ps.opt.Settings(root)
	return root, err
}

// isRoot checks that the real path of a root still is one: a symlink in its place leads to what was never registered.
func isRoot(root string) error {
	real, err := realpath.Of(root)
	if err != nil {
		return fmt.Errorf("%w: %w", cairn.ErrRoot, err)
	}
	if real != root {
		return fmt.Errorf("%w: %s is a symlink to %s now", cairn.ErrRoot, root, real)
	}
	if info, err := os.Lstat(root); err != nil || !info.IsDir() {
		return fmt.Errorf("%w: %s is not a directory", cairn.ErrRoot, root)
	}
	return nil
}

// forget removes a project. Calls in it go on.
func (ps *projects) forget(id string) error {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p := ps.byID(id)
	if p == nil {
		return unregistered("project " + id)
	}
	delete(ps.byRoot, p.root)
	if ps.first == p {
		ps.first = nil
	}
	return p.retire()
}

func (ps *projects) byID(id string) *project {
	for _, p := range ps.byRoot {
		if p.id == id {
			return p
		}
	}
	return nil
}

// lookUp is byID for callers without the lock.
func (ps *projects) lookUp(id string) *project {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.byID(id)
}

func (ps *projects) list() []*project {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	var list []*project
	for _, p := range ps.byRoot {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *project) int { return cmp.Compare(a.root, b.root) })
	return list
}

// find returns the project whose root is dir or the nearest one above it; "" is the
// default one.
func (ps *projects) find(dir string) (*project, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if dir == "" {
		if ps.first == nil {
			return nil, problem(404, protocol.Unregistered, "no default project: say which with ?directory=")
		}
		return ps.first, nil
	}
	if !filepath.IsAbs(dir) || strings.IndexByte(dir, 0) >= 0 {
		return nil, badField("query.directory", dir, "expected an absolute path")
	}
	if p := ps.above(filepath.Clean(dir)); p != nil {
		return p, nil
	}
	if real, err := realpath.Of(dir); err == nil {
		if p := ps.above(real); p != nil {
			return p, nil
		}
	}
	return nil, unregistered("directory " + dir)
}

// at returns the project with a root, nil if it is not registered.
func (ps *projects) at(root string) *project {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.byRoot[root]
}

func (ps *projects) above(dir string) *project {
	for {
		if p := ps.byRoot[dir]; p != nil {
			return p
		}
		up := filepath.Dir(dir)
		if up == dir {
			return nil
		}
		dir = up
	}
}

func unregistered(what string) error {
	return problem(404, protocol.Unregistered, "%s is not registered (POST /projects does that)", what)
}

// projectKey is the context key of the project in a request's path.
type projectKey struct{}

func (s *Server) projectOf(ctx context.Context, directory string) (*project, error) {
	if p, ok := ctx.Value(projectKey{}).(*project); ok {
		return p, nil
	}
	return s.projects.find(directory)
}

// handle is an open store.
type handle struct {
	project  *project
	settings string // with which it was opened
	dataDir  string
	repo     *Repo
	sessions *Sessions
	book     ticket.Book
	users    int
	stale    bool // replaced; closed when its last user goes
}

// acquire returns the open store, and opens it first if it is closed, was removed, or has
// other settings now. The caller releases the handle.
func (p *project) acquire(create bool) (*handle, error) {
	if err := isRoot(p.root); err != nil {
		return nil, err
	}
	opt, err := p.server.opt.Settings(p.root)
	if err != nil {
		return nil, err
	}
	settings := protocol.Settings(p.server.opt.Build, opt)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.handle != nil && (p.handle.settings != settings || p.handle.gone()) {
		if err := p.replaceLocked(); err != nil {
			return nil, err
		}
	}
	if p.handle == nil {
		opt.MustExist = !create
		p.sealsOthers(&opt)
		repo, err := cairn.Open(opt)
		if err != nil {
			return nil, err
		}
		h := &handle{project: p, settings: settings, dataDir: opt.DataDir, book: ticket.In(opt.DataDir)}
		h.repo = &Repo{Repo: repo, handle: h}
		h.sessions = newSessions(h, session.New(repo))
		p.handle = h
	}
	h := p.handle
	h.users++
	if p.forgotten {
		h.stale, p.handle = true, nil
	}
	return h, nil
}

// gone reports whether the store was removed or sealed.
func (h *handle) gone() bool {
	_, err := os.Stat(h.repo.Repo.StoreDir())
	return errors.Is(err, fs.ErrNotExist) || cairn.StoreSealed(h.dataDir, h.project.root)
}

// retain takes the handle a second time.
func (p *project) retain(h *handle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.users++
}

func (p *project) release(h *handle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.users--
	p.used = time.Now()
	if h.stale && h.users == 0 {
		if err := h.repo.Close(); err != nil {
			p.server.opt.Logger.Warn("cannot close a store", "root", p.root, "error", err)
		}
	}
}

// replaceLocked lets go of the handle; its last user closes it.
func (p *project) replaceLocked() (err error) {
	h := p.handle
	p.handle = nil
	if h == nil {
		return nil
	}
	h.stale = true
	if h.users == 0 {
		err = h.repo.Close()
	}
	return err
}

func (p *project) retire() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forgotten = true
	return p.replaceLocked()
}

// closeIdle closes the stores without a use since a time.
func (ps *projects) closeIdle(since time.Time) (err error) {
	for _, p := range ps.list() {
		p.mu.Lock()
		if p.handle != nil && p.handle.users == 0 && p.used.Before(since) {
			err = errors.Join(err, p.replaceLocked())
			p.idle = true
		}
		p.mu.Unlock()
	}
	return err
}

func (ps *projects) close() (err error) {
	for _, p := range ps.list() {
		err = errors.Join(err, p.retire())
	}
	return err
}
