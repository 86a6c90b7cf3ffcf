package httpapi

import (
	"errors"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
)

// sealClosed seals the stores that were closed because no request came, where the settings want that. A store
// with which another process works is tried again later.
func (s *Server) sealClosed() {
	for _, p := range s.projects.list() {
		if !p.wasClosed() {
			continue
		}
		opt, err := s.opt.Settings(p.root)
		if err == nil && opt.Unseal && !cairn.StoreSealed(opt.DataDir, p.root) { // Seal would seal it again
			_, err = cairn.Seal(s.life, opt, cairn.SealOptions{})
		}
		switch {
		case errors.Is(err, cairn.ErrLocked):
			continue
		case err != nil && s.life.Err() == nil:
			s.opt.Logger.Warn("cannot seal a store", "root", p.root, "error", err)
		}
		p.mu.Lock()
		p.idle = false
		p.mu.Unlock()
	}
}

// opened lists the roots whose stores are open, or were closed and not sealed yet.
func (s *Server) opened() (roots []string) {
	for _, p := range s.projects.list() {
		p.mu.Lock()
		if p.handle != nil || p.idle {
			roots = append(roots, p.root)
		}
		p.mu.Unlock()
	}
	return roots
}

// sealLater lets stores be sealed that this server leaves open, because it ends before they are idle.
func (s *Server) sealLater(roots []string) {
	if s.opt.Seal == nil {
		return
	}
	for _, root := range roots {
		if opt, err := s.opt.Settings(root); err == nil && opt.Unseal {
			s.opt.Seal(root)
		}
	}
}

// sealsOthers has the sealed store of another root, a fork, sealed again after a request has opened it. The process that
// seals waits until the request has closed it.
func (p *project) sealsOthers(opt *cairn.Options) {
	settings.OnUnseal(opt, func(root string) {
		if root != p.root && p.server.opt.Seal != nil {
			p.server.opt.Seal(root)
		}
	})
}

func (p *project) wasClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.idle && p.handle == nil
}

// isSealed reports whether the store of a project is sealed. Work in the background leaves it so.
func (p *project) isSealed() bool {
	opt, err := p.server.opt.Settings(p.root)
	return err == nil && cairn.StoreSealed(opt.DataDir, p.root)
}
