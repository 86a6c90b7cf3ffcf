package httpapi

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// Server looks after projects. It is entered through a Door.
type Server struct {
	opt      Options
	projects projects
	events   hub
	mux      *http.ServeMux
	api      huma.API
	requests chan struct{} // a place for each request under way
	streams  chan struct{} // a place for each stream of events
	jobs     chan struct{} // a place for each ticket that is worked on
	working  sync.WaitGroup

	// life ends when the server gives up what is still under way.
	life   context.Context
	giveUp context.CancelFunc

	formToken string
	janitor   sync.WaitGroup
}

// New makes a server. Close must be called in the end.
func New(opt Options) *Server {
	opt.setDefaults()
	s := &Server{
		opt: opt, mux: http.NewServeMux(), formToken: rand.Text(),
		requests: make(chan struct{}, opt.MaxRequests), streams: make(chan struct{}, opt.MaxStreams), jobs: make(chan struct{}, opt.MaxRequests),
	}
	s.life, s.giveUp = context.WithCancel(context.Background())
	s.projects.init(s)
	s.routes()
	s.janitor.Go(s.keepHouse)
	return s
}

// Drain ends the streams of events, which would otherwise never end. Requests go on.
func (s *Server) Drain() { s.events.close() }

// Settle waits until ctx ends for the work of tickets. No request may come meanwhile.
func (s *Server) Settle(ctx context.Context) {
	settled := make(chan struct{})
	go func() { s.working.Wait(); close(settled) }()
	select {
	case <-settled:
	case <-ctx.Done():
	}
}

// Close gives up what is still under way and closes all stores. A restore that had
// begun to write is finished by the next command, a ticket by whoever waits for it.
func (s *Server) Close() error {
	s.Drain()
	s.giveUp()
	s.janitor.Wait()
	s.working.Wait()
	return s.projects.close()
}

// keepHouse closes stores that nobody uses and cleans those whose time has come.
func (s *Server) keepHouse() {
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
			s.cleanDue(now)
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
	s.changeOperations()
	s.pinOperations()
	s.cleanOperations()
	s.sessionOperations()
	s.stepOperations()
	s.eventOperations()
	s.openCodeRoutes()
}

// Mount lets a page answer "/" and everything below "/ui/". It must come before the
// first request.
func (s *Server) Mount(page http.Handler) {
	s.mux.Handle("GET /{$}", page)
	s.mux.Handle("/ui/", page)
}

// FormToken is a secret that a form of the page carries, so that no other site can
// make up its answer. It is another one in each process.
func (s *Server) FormToken(*http.Request) string { return s.formToken }

// writing is the context of what must go on when the client hangs up. A deadline that
// the client has set stays.
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
