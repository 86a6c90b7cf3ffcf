package httpapi

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/seed-fb9cbc17/cairn/internal/dav"
)

// Server serves projects. Requests enter through a Door.
type Server struct {
	opt      Options
	projects projects
	events   hub
	mux      *http.ServeMux
	api      huma.API
	requests chan struct{} // a place for each request under way
	streams  chan struct{} // a place for each stream of events
	jobs     chan struct{} // a place for each ticket under way
	working  sync.WaitGroup

	davReaders dav.Readers

	// life ends when the server gives up all unfinished work.
	life   context.Context
	giveUp context.CancelFunc

	formToken string
	janitor   sync.WaitGroup
}

// New makes a server. The caller closes it.
func New(opt Options) *Server {
	opt.setDefaults()
	s := &Server{
		opt: opt, mux: http.NewServeMux(), formToken: rand.Text(),
		requests: make(chan struct{}, opt.MaxRequests), streams: make(chan struct{}, opt.MaxStreams), jobs: make(chan struct{}, opt.MaxRequests),
	}
	s.life, s.giveUp = context.WithCancel(context.Background())
	s.projects.init(s)
	s.routes()
	s.janitor.Go(s.maintainStores)
	return s
}

// Drain ends the streams of events, which would otherwise never end. Requests go on.
func (s *Server) Drain() { s.events.close() }

// WaitForTickets waits until ctx ends for the work of tickets, and for calls in [Server.Near] whose callers wait no
// more. No request may come meanwhile.
func (s *Server) WaitForTickets(ctx context.Context) {
	settled := make(chan struct{})
	go func() { s.working.Wait(); close(settled) }()
	select {
	case <-settled:
	case <-ctx.Done():
	}
}

// Close gives up all unfinished work and closes all stores. The next command finishes a restore that
// had begun to write. A process waiting for a ticket does its work.
func (s *Server) Close() error {
	s.Drain()
	s.giveUp()
	s.janitor.Wait()
	s.afterMoves()
	s.working.Wait()
	opened := s.opened()
	err := errors.Join(s.davReaders.Close(), s.projects.close())
	s.sealLater(opened)
	return err
}

// maintainStores closes idle stores and cleans the stores that are due.
func (s *Server) maintainStores() {
	tick := time.NewTicker(max(s.opt.Idle/4, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-s.life.Done():
			return
		case now := <-tick.C:
			if err := s.projects.closeIdle(now.Add(-s.opt.Idle)); err != nil {
				s.opt.Logger.Warn("cannot close a store", "error", err)
			}
			if err := s.davReaders.CloseIdle(now.Add(-s.opt.Idle)); err != nil {
				s.opt.Logger.Warn("cannot close a file", "error", err)
			}
			s.cleanDue(now)
			s.afterMoves()
			s.sealClosed()
		}
	}
}

// routes registers every operation.
func (s *Server) routes() {
	s.api = humago.New(s.mux, s.apiConfig())
	s.api.UseMiddleware(answerProblems)
	s.aboutOperations()
	s.projectOperations()
	s.checkpointOperations()
	s.ticketOperations()
	s.fileOperations()
	s.diffOperations()
	s.pastOperations()
	s.changeOperations()
	s.mergeOperations()
	s.copyOperations()
	s.forkOperations()
	s.remoteOperations()
	s.gitOperations()
	s.pinOperations()
	s.testOperations()
	s.cleanOperations()
	s.verifyOperations()
	s.sessionOperations()
	s.stepOperations()
	s.eventOperations()
	s.openCodeRoutes()
	s.davRoutes()
}

// Mount lets a page answer "/" and everything below "/ui/". It must come before the
// first request.
func (s *Server) Mount(page http.Handler) {
	s.mux.Handle("GET /{$}", page)
	s.mux.Handle("/ui/", page)
}

// FormToken is a secret in each form of the page. Another site does not know it, and so
// cannot send the form. Each process has its own.
func (s *Server) FormToken(*http.Request) string { return s.formToken }

// writing returns the context of a call that goes on when the client hangs up. It keeps
// the client's deadline.
func (s *Server) writing(ctx context.Context) (context.Context, context.CancelFunc) {
	detached, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if deadline, ok := ctx.Deadline(); ok {
		limited, end := context.WithDeadline(detached, deadline)
		context.AfterFunc(detached, end)
		detached = limited
	}
	stop := context.AfterFunc(s.life, cancel)
	return detached, func() { stop(); cancel() }
}
