package httpapi

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/service"
	"github.com/seed-fb9cbc17/cairn/internal/ticket"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Near returns the sessions of a root for a caller in this process, which need no request: what a host records, the
// news and the state of a session. The root is registered, and opened by the first call until ctx ends. All other calls
// go to the sessions that local opens. So do all calls if this server does not take the root or if its settings, as
// [protocol.Settings] has them, are others than those of the caller. A call goes on when its own context ends.
func (s *Server) Near(ctx context.Context, root, settings string, local func() (*session.Sessions, error)) service.Sessions {
	n := &near{life: ctx, server: s, root: root, settings: settings}
	return service.Through(func(ctx context.Context, r service.Request, next service.Next) (any, error) {
		if n.serves(r) {
			p, err := n.project(addsCheckpoints(r))
			switch {
			case r.Kind == service.RequestNews && errors.Is(err, cairn.ErrNotFound):
				return nil, nil // of a root without a store
			case err != nil:
				return nil, err
			}
			return p.patiently(ctx, next)
		}
		all, err := local()
		if err != nil {
			return nil, err
		}
		return next(ctx, all)
	})
}

// near is a root for a caller in this process.
type near struct {
	life           context.Context
	server         *Server
	root, settings string

	register sync.Once
	ours     *project // nil = this server does not take the root

	mu     sync.Mutex
	opened *Project
}

// serves reports whether the server carries out a call.
func (n *near) serves(r service.Request) bool {
	if !r.Records() || n.server.opt.ReadOnly != "" {
		return false
	}
	n.register.Do(func() { n.ours = n.server.taken(n.root, n.settings) })
	return n.ours != nil
}

// taken returns the project of a root that this server takes with such settings, else nil.
func (s *Server) taken(root, settings string) *project {
	opt, err := s.opt.Settings(root)
	if err != nil || protocol.Settings(s.opt.Build, opt) != settings {
		return nil
	}
	return s.projects.registered(root)
}

// NearTicket begins work in the background for a caller in this process, and returns the ticket. An error says that
// nothing is begun, as for a root or settings whose calls [Server.Near] leaves to the caller.
func (s *Server) NearTicket(root, settings string, r *ticket.Request) (string, error) {
	var p *project
	if s.opt.ReadOnly == "" {
		p = s.taken(root, settings)
	}
	if p == nil {
		return "", fmt.Errorf("%w: this server does not take %s", errors.ErrUnsupported, root)
	}
	r.Root = cairn.Path(p.root)
	begun, err := p.beginJob(r, false)
	return begun.Ticket, err
}

// registered returns the project of a root, and registers one that is new, nil if that cannot be. Opening a project looks
// at its root again.
func (ps *projects) registered(root string) *project {
	if p, err := ps.find(root); err == nil && p.root == root {
		return p
	}
	p, err := ps.register(root, "", true)
	if err != nil {
		return nil
	}
	return p
}

// project opens the root once.
func (n *near) project(create bool) (*Project, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.opened != nil {
		return n.opened, nil
	}
	p, err := n.ours.open(n.life, create)
	if err == nil {
		n.opened = p
	}
	return p, err
}

// addsCheckpoints reports whether a call makes a missing store.
func addsCheckpoints(r service.Request) bool {
	switch r.Kind {
	case service.RequestBegin, service.RequestMessage, service.RequestBeginStep:
		return true
	}
	return false
}

// patiently makes a call that goes on when ctx ends, as that of a client does. Until the call ends its store is open,
// and a server that ends waits for it.
func (p *Project) patiently(ctx context.Context, next service.Next) (any, error) {
	type outcome struct {
		out any
		err error
	}
	done := make(chan outcome, 1)
	h := p.Repo.handle
	h.project.retain(h)
	h.project.server.working.Go(func() {
		defer h.project.release(h)
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o = outcome{nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
			}
			done <- o
		}()
		o.out, o.err = next(context.WithoutCancel(ctx), p.Sessions)
	})
	select {
	case o := <-done:
		return o.out, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
