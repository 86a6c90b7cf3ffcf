package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

// About names the server.
type About struct {
	Build    string `json:"build" doc:"Which cairn this is."`
	API      string `json:"api" doc:"Version of these operations."`
	Protocol int    `json:"protocol" doc:"Version of what is said over the socket."`
}

// ProjectInfo is a registered root.
type ProjectInfo struct {
	ID      string `json:"id"`
	Root    string `json:"root"`
	Default bool   `json:"default" doc:"Whether requests that name no project mean this one."`

	Disabled string    `json:"disabled,omitempty" doc:"Which setting keeps the project from being captured."`
	Watching *Watching `json:"watching,omitempty" doc:"How the server finds what has changed; absent while it does not have the store open."`
}

// Watching is the way in which the server finds changes.
type Watching struct {
	On          bool   `json:"on" doc:"Whether only what has changed is looked at."`
	Directories int    `json:"directories" doc:"Under watch."`
	Reason      string `json:"reason,omitempty" doc:"Why everything is looked at."`
	Limit       string `json:"sysctl,omitempty" doc:"The setting of the system, as sysctl has it, that would have to be raised."`
}

func (s *Server) aboutOperations() {
	register(s, endpoint{
		id: "about", method: http.MethodGet, path: "/about", tag: "server", summary: "Who answers",
	}, func(context.Context, *struct{}) (*body[About], error) {
		return &body[About]{About{s.opt.Build, apiVersion, protocol.Version}}, nil
	})
	text := sync.OnceValues(s.OpenAPI)
	s.mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) {
		data, err := text()
		if err != nil {
			writeProblem(w, r, s.problemOf(r.Context(), err))
			return
		}
		w.Header().Set("Content-Type", "application/openapi+json")
		_, _ = w.Write(data)
	})
}

// OpenAPI describes all operations but those below /opencode, in OpenAPI 3.1.
func (s *Server) OpenAPI() ([]byte, error) { return json.MarshalIndent(s.api.OpenAPI(), "", " ") }

func (s *Server) projectOperations() {
	register(s, endpoint{
		id: "list-projects", method: http.MethodGet, path: "/projects", tag: "projects", summary: "The registered roots",
	}, func(ctx context.Context, _ *struct{}) (*body[[]ProjectInfo], error) {
		if err := s.refresh(ctx, ""); err != nil {
			return nil, err
		}
		list := []ProjectInfo{}
		for _, p := range s.projects.list() {
			list = append(list, s.info(p))
		}
		return &body[[]ProjectInfo]{list}, nil
	})
	register(s, endpoint{
		id: "register-project", method: http.MethodPost, path: "/projects", tag: "projects", summary: "Make a directory known",
		description: "The root is the git work tree around the directory, or the directory itself where there is none or exact is true. " +
			"Nothing is written. Requests reach registered roots, further directories of their sessions, " +
			"what a session changed outside where a request asks for it, and the new directories of /checkout and /fork.",
	}, func(_ context.Context, in *struct {
		Body struct {
			Directory string `json:"directory" minLength:"1" maxLength:"8192" doc:"Absolute path."`
			Exact     bool   `json:"exact,omitempty" doc:"Take the directory itself as root."`
		}
	}) (*body[ProjectInfo], error) {
		dir, err := pathtext.Decode(in.Body.Directory)
		if err != nil {
			return nil, badField("body.directory", in.Body.Directory, err.Error())
		}
		p, err := s.projects.register(dir, "", in.Body.Exact)
		if err != nil {
			return nil, err
		}
		return &body[ProjectInfo]{s.info(p)}, nil
	})
	register(s, endpoint{
		id: "forget-project", method: http.MethodDelete, path: "/projects/{id}", tag: "projects", status: http.StatusNoContent,
		summary: "Forget a root", description: "Its checkpoints stay. What is under way in it goes on.",
	}, func(_ context.Context, in *struct {
		ID string `path:"id" maxLength:"64"`
	}) (*struct{}, error) {
		return nil, s.projects.forget(in.ID)
	})
}

func (s *Server) info(p *project) ProjectInfo {
	watching, disabled := p.watching(), p.disabled()
	s.projects.mu.Lock()
	defer s.projects.mu.Unlock()
	return ProjectInfo{ID: p.id, Root: pathtext.Encode(p.root), Default: s.projects.first == p, Disabled: disabled, Watching: watching}
}

// disabled returns the setting that keeps the project from being captured, "" if there is none.
// Settings that cannot be read count as none: the call that needs them reports the error.
func (p *project) disabled() string {
	opt, err := p.server.opt.Settings(p.root)
	if err != nil {
		return ""
	}
	return opt.Disabled
}

// watching is nil while the store is closed.
func (p *project) watching() *Watching {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.handle == nil {
		return nil
	}
	w := Watching(p.handle.repo.Watching())
	return &w
}

// rawBytes documents an answer that is no JSON.
func rawBytes(o huma.Operation, contentType, description string) huma.Operation {
	o.Responses["200"] = &huma.Response{
		Description: description,
		Content:     map[string]*huma.MediaType{contentType: {Schema: &huma.Schema{Type: "string", Format: "binary"}}},
	}
	return o
}
