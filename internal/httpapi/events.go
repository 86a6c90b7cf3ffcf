package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

const (
	eventsPath = "/events"

	// A comment goes out after a time without events, so that each side notices when the
	// other is gone. A reader that does not take it in time is dropped.
	heartbeat    = 15 * time.Second
	writeTimeout = 10 * time.Second
)

func (s *Server) eventOperations() {
	o := s.describe(endpoint{
		id: "events", method: http.MethodGet, path: eventsPath, tag: "events", summary: "What happens, as it happens",
		description: "Server-sent events, whose data is one Event each; the first is a hello. Only what this server does is told. " +
			"A reader that falls behind is dropped: it connects again and looks for itself.",
	})
	o.Responses["200"] = &huma.Response{
		Description: "A stream that does not end.",
		Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: schemaOf[Event](s)}},
	}
	huma.Register(s.api, o, func(ctx context.Context, in *struct {
		Directory string `query:"directory" maxLength:"8192" doc:"Only this project; by default all of them."`
	}) (*huma.StreamResponse, error) {
		id := ""
		if p, ok := ctx.Value(projectKey{}).(*project); ok {
			id = p.id
		} else if in.Directory != "" {
			p, err := s.projects.find(in.Directory)
			if err != nil {
				return nil, s.problemOf(ctx, err)
			}
			id = p.id
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) { s.listen(hc, id) }}, nil
	})
}

func (s *Server) listen(hc huma.Context, project string) {
	_, w := humago.Unwrap(hc)
	ear, leave := s.events.listen(project)
	defer leave()
	hc.SetHeader("Content-Type", "text/event-stream")
	hc.SetStatus(http.StatusOK)
	control := http.NewResponseController(w)
	send := func(format string, args ...any) bool {
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) // not every connection has one
		if _, err := fmt.Fprintf(w, format, args...); err != nil {
			return false
		}
		return control.Flush() == nil
	}
	hello := fmt.Sprintf(`{"type":%q,"time":%q}`, EventHello, time.Now().UTC().Format(time.RFC3339Nano))
	if !send("event: %s\ndata: %s\n\n", EventHello, hello) {
		return
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-hc.Context().Done():
			return
		case m, ok := <-ear.queue:
			if !ok || !send("id: %d\nevent: %s\ndata: %s\n\n", m.id, m.kind, m.data) {
				return
			}
		case <-beat.C:
			if !send(": alive\n\n") {
				return
			}
		}
	}
}
