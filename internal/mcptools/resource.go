package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/url"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/session"
)

const (
	checkpointScheme = "cairn://checkpoint/"
	fileScheme       = "cairn://file/"

	maxFile  = 8 << 20 // bytes of a file that is given out as a resource
	maxFiles = 2000    // of a checkpoint that are listed
)

// addResources offers checkpoints and their files. The templates say how addresses
// are made; the newest checkpoints are listed, too, for clients that only list.
func (t *tools) addResources(s *mcp.Server) {
	s.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "checkpoint", Title: "A checkpoint and its files", MIMEType: "application/json",
		Description: "When it was taken, by whom, and the files in it. Hash is a checkpoint's, @ or @~N.",
		URITemplate: checkpointScheme + "{+hash}",
	}, t.readCheckpoint)
	s.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "file", Title: "A file at a checkpoint",
		Description: "The exact bytes. Path counts from the root; slashes may stand as they are.",
		URITemplate: fileScheme + "{+hash}/{+path}",
	}, t.readFile)
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, req)
			if list, ok := res.(*mcp.ListResourcesResult); ok && err == nil {
				list.Resources, err = t.newest(ctx)
			}
			return res, err
		}
	})
}

func (t *tools) newest(ctx context.Context) ([]*mcp.Resource, error) {
	list := []*mcp.Resource{}
	known := make(session.WorkCache)
	for c, err := range t.repo.Checkpoints(ctx) {
		if err != nil {
			return nil, err
		}
		work, err := t.sessions.WorkOf(ctx, c.ID, known)
		if err != nil {
			return nil, err
		}
		_, what := t.heading(ctx, c, work)
		list = append(list, &mcp.Resource{
			URI: checkpointScheme + c.ID, Name: c.When.UTC().Format(time.RFC3339), Title: oneLine(what), MIMEType: "application/json",
		})
		if len(list) == usualList {
			break
		}
	}
	return list, nil
}

type checkpointResource struct {
	checkpoint
	Files []fileResource `json:"files"`
	More  bool           `json:"more"` // there are further files
}

type fileResource struct {
	URI  string `json:"uri"`
	Path string `json:"path"`
	Mode string `json:"mode"`
	Size int64  `json:"size"`
}

func (t *tools) readCheckpoint(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	spec, err := url.PathUnescape(strings.TrimPrefix(req.Params.URI, checkpointScheme))
	if err != nil {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	c, err := t.repo.Lookup(ctx, spec)
	if err != nil {
		return nil, notFound(req, err)
	}
	work, err := t.sessions.WorkOf(ctx, c.ID, make(session.WorkCache))
	if err != nil {
		return nil, err
	}
	out := checkpointResource{checkpoint: checkpoint{c.Hash, c.ID, c.When, c.Author, c.Message, answers.Verdicts(ctx, t.repo)(c.ID), work}, Files: []fileResource{}}
	for e, err := range t.repo.List(ctx, c.ID, "") {
		if err != nil {
			return nil, err
		}
		if out.More = len(out.Files) == maxFiles; out.More {
			break
		}
		out.Files = append(out.Files, fileResource{fileURI(c.ID, e.Path), pathtext.Encode(e.Path), fmt.Sprintf("%06o", e.Mode), e.Size})
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: string(data)}}}, nil
}

func (t *tools) readFile(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	spec, name, err := parseFileURI(req.Params.URI)
	if err != nil {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	size, file, err := t.repo.OpenFile(ctx, spec, name)
	if err != nil {
		return nil, notFound(req, err)
	}
	defer file.Close()
	if size > maxFile {
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that are given out; cairn cat prints it", pathtext.Quote(name), size, maxFile)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	contents := &mcp.ResourceContents{MIMEType: mimeType(name, data)}
	if isText(data) {
		contents.Text = string(data)
	} else {
		contents.Blob = data
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents}}, nil
}

// notFound returns the protocol's own error for a missing resource.
func notFound(req *mcp.ReadResourceRequest, err error) error {
	if errors.Is(err, cairn.ErrNotFound) || errors.Is(err, cairn.ErrOutside) {
		return mcp.ResourceNotFoundError(req.Params.URI)
	}
	return withHint(err)
}

// fileURI returns the address of a file. Each byte of the path is percent-encoded unless
// it is an unreserved character.
func fileURI(id, name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return fileScheme + id + "/" + strings.Join(parts, "/")
}

func parseFileURI(uri string) (spec, name string, err error) {
	rest, ok := strings.CutPrefix(uri, fileScheme)
	spec, name, found := strings.Cut(rest, "/")
	if !ok || !found {
		return "", "", errArguments
	}
	if spec, err = url.PathUnescape(spec); err != nil {
		return "", "", err
	}
	name, err = url.PathUnescape(name)
	return spec, name, err
}

func isText(data []byte) bool {
	return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
}

// mimeType ignores the name of a text, because some systems take main.ts for a video.
func mimeType(name string, data []byte) string {
	if isText(data) {
		return "text/plain"
	}
	if kind := mime.TypeByExtension(path.Ext(name)); kind != "" {
		return kind
	}
	return "application/octet-stream"
}
