package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"iter"
	"mime"
	"net/http"
	"path"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/seed-fb9cbc17/cairn"
)

// InFile names a path at a checkpoint.
type InFile struct {
	InProject
	InCheckpoint
	Path string `query:"path" maxLength:"16384" required:"true" doc:"From the root, or absolute inside it; its bytes, percent-encoded."`
}

func (s *Server) fileOperations() {
	streamed[[]cairn.TreeEntry](s, endpoint{
		id: "list-files", method: http.MethodGet, path: "/checkpoints/{hash}/files", tag: "files", summary: "The files of a checkpoint",
		description: "An answer that an error cuts short is broken off, so that it does not look whole.",
	}, "Files and symlinks, ordered by the bytes of their paths.", func(ctx context.Context, p *Project, in *struct {
		InProject
		InCheckpoint
		Path string `query:"path" maxLength:"16384" doc:"A directory or file; by default everything."`
	}) (iter.Seq2[cairn.TreeEntry, error], error) {
		return p.Repo.List(ctx, in.Hash, in.Path), nil
	})
	huma.Register(s.api, rawBytes(s.describe(endpoint{
		id: "get-file", method: http.MethodGet, path: "/checkpoints/{hash}/file", tag: "files", summary: "The bytes of a file at a checkpoint",
		description: "Of a symlink, its text.",
	}), "application/octet-stream", "The bytes. The Content-Type goes by the name; what a browser could run is text/plain."), s.getFile)
	onProject(s, endpoint{
		id: "file-exists", method: http.MethodGet, path: "/checkpoints/{hash}/exists", tag: "files", summary: "Whether a checkpoint has a path",
	}, func(ctx context.Context, p *Project, in *InFile) (Existence, error) {
		yes, err := p.Repo.Exists(ctx, in.Hash, in.Path)
		return Existence{yes}, err
	})
}

// Existence is the answer to a question.
type Existence struct {
	Exists bool `json:"exists"`
}

func (s *Server) getFile(ctx context.Context, in *InFile) (*huma.StreamResponse, error) {
	p, err := s.in(ctx, in.InProject, false)
	if err != nil {
		return nil, s.problemOf(ctx, err)
	}
	size, file, err := p.Repo.OpenFile(ctx, in.Hash, in.Path)
	if err != nil {
		return nil, s.problemOf(ctx, err)
	}
	head := bufio.NewReader(file)
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer file.Close()
		first, err := head.Peek(512)
		if err != nil && err != io.EOF {
			broken(s, err)
		}
		hc.SetHeader("Content-Type", contentType(in.Path, first))
		hc.SetHeader("Content-Length", strconv.FormatInt(size, 10))
		hc.SetHeader("Content-Security-Policy", "default-src 'none'; sandbox")
		hc.SetStatus(http.StatusOK)
		if hc.Method() == http.MethodHead {
			return
		}
		if _, err := io.Copy(hc.BodyWriter(), head); err != nil {
			broken(s, err)
		}
	}}, nil
}

// contentType goes by the name and, for an unknown name, by the first bytes. A type that
// a browser would run becomes plain text.
func contentType(name string, first []byte) string {
	t := mime.TypeByExtension(path.Ext(name))
	if t == "" {
		t = http.DetectContentType(first)
	}
	for _, active := range []string{"html", "xml", "svg", "javascript", "ecmascript", "pdf"} {
		if strings.Contains(strings.ToLower(t), active) {
			return "text/plain; charset=utf-8"
		}
	}
	return t
}

// broken ends an answer that has begun so that the client sees that it is incomplete.
func broken(s *Server, err error) {
	s.opt.Logger.Warn("an answer was broken off", "error", err)
	panic(http.ErrAbortHandler)
}

// streamed adds an operation on an open project that answers with a Form: a JSON array, or
// Diffs, which has one. Memory never holds all of it. An error before the first element
// becomes a problem document.
func streamed[Form, T any, I ofProject](
	s *Server, e endpoint, what string,
	run func(context.Context, *Project, *I) (iter.Seq2[T, error], error),
) {
	open, end := "[", "]"
	if reflect.TypeFor[Form]() == reflect.TypeFor[Diffs]() {
		open, end = `{"diffs":[`, "]}"
	}
	o := s.describe(e)
	o.Responses["200"] = &huma.Response{
		Description: what,
		Content:     map[string]*huma.MediaType{"application/json": {Schema: schemaOf[Form](s)}},
	}
	huma.Register(s.api, o, func(ctx context.Context, in *I) (*huma.StreamResponse, error) {
		p, err := s.in(ctx, (*in).project(), false)
		if err != nil {
			return nil, s.problemOf(ctx, err)
		}
		seq, err := run(ctx, p, in)
		if err != nil {
			return nil, s.problemOf(ctx, err)
		}
		return stream(s, ctx, seq, open, end)
	})
}

// stream answers with a JSON array, element by element.
func stream[T any](s *Server, ctx context.Context, seq iter.Seq2[T, error], open, end string) (*huma.StreamResponse, error) {
	next, stop := iter.Pull2(seq)
	v, err, ok := next()
	if err != nil {
		stop()
		return nil, s.problemOf(ctx, err)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer stop()
		hc.SetHeader("Content-Type", "application/json")
		hc.SetStatus(http.StatusOK)
		w := bufio.NewWriterSize(hc.BodyWriter(), 64<<10)
		w.WriteString(open)
		for n := 0; ok; n++ {
			if n > 0 {
				w.WriteString(",\n")
			}
			data, err := json.Marshal(v)
			if err == nil {
				_, err = w.Write(data)
			}
			if err != nil {
				broken(s, err)
			}
			if v, err, ok = next(); err != nil {
				broken(s, err)
			}
		}
		w.WriteString(end + "\n")
		if err := w.Flush(); err != nil {
			broken(s, err)
		}
	}}, nil
}
