package httpapi

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// InProject is what every operation on a project takes.
type InProject struct {
	Directory string `query:"directory" maxLength:"8192" doc:"A registered root, or a directory in it; by default the server's first project. The prefix /project/{id} before any path says the same."`
}

func (in InProject) project() InProject { return in }

// ofProject is the input of an operation on a project. It embeds InProject.
type ofProject interface{ project() InProject }

// body is an answer that is one JSON value.
type body[T any] struct{ Body T }

// endpoint describes an operation to register.
type endpoint struct {
	id, method, path, tag, summary, description string
	status                                      int  // 0 = 200
	create                                      bool // a missing store is made; for operations that add checkpoints
	unfinished                                  any  // the type of the answer with status 202, beside the usual one; nil = none
}

// register adds an operation whose errors become problem documents.
func register[I, O any](s *Server, o endpoint, run func(context.Context, *I) (*O, error)) {
	huma.Register(s.api, s.describe(o), func(ctx context.Context, in *I) (*O, error) {
		out, err := run(ctx, in)
		if err != nil {
			return nil, s.problemOf(ctx, err)
		}
		return out, nil
	})
}

// onProject adds an operation on an open project, whose answer is one JSON value.
func onProject[I ofProject, O any](s *Server, o endpoint, run func(context.Context, *Project, *I) (O, error)) {
	register(s, o, func(ctx context.Context, in *I) (*body[O], error) {
		p, err := s.in(ctx, (*in).project(), o.create)
		if err != nil {
			return nil, err
		}
		out, err := run(ctx, p, in)
		return &body[O]{out}, err
	})
}

// silently adds an operation on an open project without an answer.
func silently[I ofProject](s *Server, o endpoint, run func(context.Context, *Project, *I) error) {
	o.status = http.StatusNoContent
	register(s, o, func(ctx context.Context, in *I) (*struct{}, error) {
		p, err := s.in(ctx, (*in).project(), o.create)
		if err != nil {
			return nil, err
		}
		return nil, run(ctx, p, in)
	})
}

func (s *Server) describe(o endpoint) huma.Operation {
	schema := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "")
	op := huma.Operation{
		OperationID: o.id, Method: o.method, Path: o.path, Tags: []string{o.tag},
		Summary: o.summary, Description: o.description, DefaultStatus: either(o.status, http.StatusOK),
		MaxBodyBytes: s.opt.MaxBody + 1, BodyReadTimeout: -1,
		RejectUnknownQueryParameters: true,
		Responses: map[string]*huma.Response{"default": {
			Description: "A problem document (RFC 9457). Its type is urn:cairn:problem: and the kind.",
			Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: schema}},
		}},
	}
	if o.unfinished != nil {
		answer := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(o.unfinished), true, "")
		op.Responses["202"] = &huma.Response{Description: "Not done yet.", Content: map[string]*huma.MediaType{"application/json": {Schema: answer}}}
	}
	return op
}

// apiConfig is huma's configuration without its own pages, which load scripts from other
// sites, and without links to schemas.
func (s *Server) apiConfig() huma.Config {
	config := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "cairn", Version: apiVersion,
				Description: "Checkpoints of a working directory and trustworthy undo. Paths in JSON count from the root and have '/' as separator; " +
					"a byte that is not UTF-8 is U+0000 and its two hex digits. A hash is a tree id, a checkpoint id, a unique prefix of either, @, @~N or the name of a pin.",
			},
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry("#/components/schemas/", schemaName),
				SecuritySchemes: map[string]*huma.SecurityScheme{"token": {
					Type: "http", Scheme: "bearer", Description: "Not wanted on the Unix socket.",
				}},
			},
			Security: []map[string][]string{{"token": {}}, {}},
		},
		OpenAPIPath:   "",
		Formats:       map[string]huma.Format{"application/json": huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{tidyProblem},
	}
	for t, twin := range twins {
		config.Components.Schemas.RegisterTypeAlias(t, twin)
	}
	return config
}

// apiVersion is the version of the operations. It grows when a client could notice a
// change.
const apiVersion = "2.6.1"

// twins map types with a JSON form of their own to types that describe this form.
var twins = map[reflect.Type]reflect.Type{
	reflect.TypeFor[cairn.Change]():    reflect.TypeFor[Change](),
	reflect.TypeFor[cairn.Patch]():     reflect.TypeFor[Patch](),
	reflect.TypeFor[cairn.TreeEntry](): reflect.TypeFor[TreeEntry](),
}

// schemaNames are the names that clients know types of the library by.
var schemaNames = map[reflect.Type]string{
	reflect.TypeFor[cairn.CleanResult]():     "Cleaned",
	reflect.TypeFor[session.ForkPoint]():     "Fork",
	reflect.TypeFor[session.Boundary]():      "Revert",
	reflect.TypeFor[session.CheckpointRef](): "Checkpoint",
}

func schemaName(t reflect.Type, hint string) string {
	at := t
	for at.Kind() == reflect.Pointer {
		at = at.Elem()
	}
	if name, ok := schemaNames[at]; ok {
		return name
	}
	return huma.DefaultSchemaNamer(t, hint)
}

func schemaOf[T any](s *Server) *huma.Schema {
	t := reflect.TypeFor[T]()
	return s.api.OpenAPI().Components.Schemas.Schema(t, true, t.Name())
}

// answer notes the status of an answer, and the first error of writing it.
type answer struct {
	http.ResponseWriter
	status int
	failed error
}

func (a *answer) WriteHeader(code int) {
	if a.status == 0 && code >= 200 {
		a.status = code
	}
	a.ResponseWriter.WriteHeader(code)
}

func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	n, err := a.ResponseWriter.Write(p)
	if err != nil && a.failed == nil {
		a.failed = err
	}
	return n, err
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// nowhere keeps the header of an answer and drops the body.
type nowhere struct{ header http.Header }

func (n *nowhere) Header() http.Header { return n.header }

func (n *nowhere) Write(p []byte) (int, error) { return len(p), nil }

func (n *nowhere) WriteHeader(int) {}
