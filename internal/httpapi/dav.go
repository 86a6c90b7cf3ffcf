package httpapi

import (
	"context"
	"io"
	"io/fs"
	"net/http"
	"strings"

	"golang.org/x/net/webdav"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/dav"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

// davPrefix is where checkpoints are shown over WebDAV, read-only.
const davPrefix = "/dav"

// davMethods are the methods there. There are no locks, so the class is 1.
const davMethods = "OPTIONS, GET, HEAD, PROPFIND"

// davRoutes are no operations of OpenAPI: RFC 4918 describes them.
func (s *Server) davRoutes() {
	s.mux.HandleFunc(davPrefix, s.answerDav)
	s.mux.HandleFunc(davPrefix+"/", s.answerDav)
}

// isDav reports whether a request is one of WebDAV, in a project or not.
func isDav(r *http.Request) bool {
	path := r.URL.Path
	if rest, ok := strings.CutPrefix(path, projectPrefix); ok {
		_, rest, _ = strings.Cut(rest, "/")
		path = "/" + rest
	}
	return path == davPrefix || strings.HasPrefix(path, davPrefix+"/")
}

// davRefusal returns the answer to a method that would write.
func davRefusal(r *http.Request) error {
	switch r.Method {
	case http.MethodOptions, http.MethodGet, http.MethodHead, "PROPFIND":
		return nil
	}
	return problem(http.StatusMethodNotAllowed, protocol.BadRequest, "checkpoints are read-only here: %s is none of %s", shorten(r.Method), davMethods)
}

// answerDav answers a request of WebDAV.
func (s *Server) answerDav(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if r.Method == http.MethodOptions {
		h.Set("DAV", "1")
		h.Set("MS-Author-Via", "DAV")
		h.Set("Allow", davMethods)
		return
	}
	files, prefix, err := s.davFiles(r)
	if err != nil {
		writeProblem(w, r, s.problemOf(r.Context(), err))
		return
	}
	path := strings.TrimPrefix(r.URL.Path, davPrefix)
	info, err := files.Find(path)
	if err != nil {
		writeProblem(w, r, s.problemOf(r.Context(), err))
		return
	}
	switch depth := r.Header.Get("Depth"); {
	case r.Method == "PROPFIND" && depth != "0" && depth != "1":
		refuseDepth(w)
		return
	case depth == "1" && r.Method == "PROPFIND":
		if err := files.List(path); err != nil {
			writeProblem(w, r, s.problemOf(r.Context(), err))
			return
		}
	case r.Method != "PROPFIND" && info.IsDir():
		h.Set("Allow", "OPTIONS, PROPFIND")
		writeProblem(w, r, problem(http.StatusMethodNotAllowed, protocol.BadRequest, "%s is a directory: PROPFIND lists it", shorten(r.URL.Path)))
		return
	case r.Method != "PROPFIND":
		h.Set("Content-Type", davType(info))
		h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	}
	inner := r.Clone(r.Context())
	inner.URL.Path, inner.URL.RawPath = prefix+path, ""
	ignoreDates(inner.Header)
	if r.Method == "PROPFIND" {
		listing := &lockless{ResponseWriter: w}
		defer listing.end()
		w = listing
	}
	(&webdav.Handler{Prefix: prefix, FileSystem: files, LockSystem: noLocks{}}).ServeHTTP(w, inner)
	if err := files.Err(); err != nil && r.Context().Err() == nil {
		broken(s, err)
	}
}

// davType is the type of a file, never one that a browser would run. Unknown names are bytes.
func davType(info fs.FileInfo) string {
	if dav.IsSymlink(info) {
		return dav.SymlinkType
	}
	return contentType(info.Name(), []byte{0})
}

// ignoreDates removes what asks by a date whether the client has the content. An address with @ or a pin may name an
// older checkpoint than before, or another one of the same second. Entity tags tell them apart.
func ignoreDates(h http.Header) {
	h.Del("If-Modified-Since")
	if known := h.Get("If-Range"); known != "" && !strings.HasPrefix(known, `"`) {
		h.Del("Range")
	}
}

// noLocks is a webdav.LockSystem that no method reaches.
type noLocks struct{ webdav.LockSystem }

// refuseDepth answers a PROPFIND that would list everything below a directory (RFC 4918, 9.1).
func refuseDepth(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/xml; charset=utf-8")
	w.WriteHeader(http.StatusForbidden)
	_, _ = io.WriteString(w, `<?xml version="1.0" encoding="utf-8"?>`+"\n"+`<D:error xmlns:D="DAV:"><D:propfind-finite-depth/></D:error>`+"\n")
}

// davFiles returns the file system for a request, and the path at which the client sees it. Of a
// project in the path or the query the checkpoints are at the top.
func (s *Server) davFiles(r *http.Request) (files *dav.FS, prefix string, err error) {
	var show dav.Projects
	prefix = davPrefix
	named, inPath := r.Context().Value(projectKey{}).(*project)
	if directory := r.URL.Query().Get("directory"); !inPath && directory != "" {
		if named, err = s.projects.find(directory); err != nil {
			return nil, "", err
		}
	}
	if inPath {
		prefix = projectPrefix + named.id + davPrefix
	}
	if named != nil {
		show = dav.Projects{List: []dav.Project{{ID: named.id, Root: named.root}}, Default: named.id}
	} else if show, err = s.davProjects(r.Context()); err != nil {
		return nil, "", err
	}
	open := func(id string) (*cairn.Repo, error) {
		p, err := s.Project(r.Context(), id)
		if err != nil {
			return nil, err
		}
		return p.Repo.Repo, nil
	}
	return dav.New(r.Context(), show, &s.davReaders, open), prefix, nil
}

// davProjects lists the projects.
func (s *Server) davProjects(ctx context.Context) (show dav.Projects, err error) {
	if err := s.refresh(ctx, ""); err != nil {
		return show, err
	}
	for _, p := range s.projects.list() {
		show.List = append(show.List, dav.Project{ID: p.id, Root: p.root})
	}
	if p, err := s.projects.find(""); err == nil {
		show.Default = p.id
	}
	return show, nil
}
