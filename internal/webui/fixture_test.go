package webui

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

const testToken = "token-of-this-login"

// fixture is a project with its directory and the handler over it.
type fixture struct {
	t        *testing.T
	root     string
	repo     *cairn.Repo
	sessions *session.Sessions
	handler  http.Handler
	events   string
	source   Repo // in the place of repo, if it is set
	others   []*cairn.Repo
	log      bytes.Buffer
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, root: filepath.Join(t.TempDir(), "project")}
	if err := os.Mkdir(f.root, 0o755); err != nil {
		t.Fatal(err)
	}
	repo, err := cairn.Open(cairn.Options{Root: f.root, DataDir: t.TempDir(), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	f.repo, f.root, f.sessions = repo, repo.Root(), session.New(repo)
	project := &Project{ID: cairn.ProjectID(f.root), Root: f.root, Repo: repo, Sessions: f.sessions}
	f.handler = New(Options{
		Projects: func(context.Context) ([]Listed, error) { return f.listed(), nil },
		Source: func(_ context.Context, id string) (cairn.MergeSource, error) {
			for _, r := range f.others {
				if id == cairn.ProjectID(r.Root()) {
					return cairn.MergeSource{Repo: r}, nil
				}
			}
			return cairn.MergeSource{}, fmt.Errorf("%w: project %s", cairn.ErrNotFound, id)
		},
		Project: func(_ context.Context, id string) (*Project, error) {
			for _, r := range f.others {
				if id == cairn.ProjectID(r.Root()) {
					return &Project{ID: id, Root: r.Root(), Repo: r, Sessions: session.New(r)}, nil
				}
			}
			if id != project.ID {
				return nil, fmt.Errorf("%w: project %s", cairn.ErrNotFound, id)
			}
			if f.source != nil {
				watched := *project
				watched.Repo = f.source
				return &watched, nil
			}
			return project, nil
		},
		Fork:   func(_ context.Context, root string) (string, error) { return cairn.ProjectID(root), nil },
		Token:  func(*http.Request) string { return testToken },
		Events: func(string) string { return f.events },
		Logger: slog.New(slog.NewTextHandler(&f.log, nil)),
	})
	return f
}

// listed are the project and the others.
func (f *fixture) listed() []Listed {
	list := []Listed{{ID: cairn.ProjectID(f.root), Root: f.root}}
	for _, r := range f.others {
		list = append(list, Listed{ID: cairn.ProjectID(r.Root()), Root: r.Root()})
	}
	return list
}

// at is an address of the project's pages.
func (f *fixture) at(page string, pairs ...string) string {
	v := &visit{project: &Project{ID: cairn.ProjectID(f.root)}}
	return v.at(page, pairs...)
}

func (f *fixture) write(name, content string) {
	f.t.Helper()
	path := filepath.Join(f.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) read(name string) string {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join(f.root, filepath.FromSlash(name)))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(data)
}

func (f *fixture) remove(name string) {
	f.t.Helper()
	if err := os.Remove(filepath.Join(f.root, filepath.FromSlash(name))); err != nil {
		f.t.Fatal(err)
	}
}

// track takes a checkpoint and returns its id.
func (f *fixture) track(message string) string {
	f.t.Helper()
	t, err := f.repo.Track(f.t.Context(), cairn.TrackOptions{Message: message})
	if err != nil {
		f.t.Fatal(err)
	}
	return t.Checkpoint
}

// checkpointOf finds a checkpoint by its message.
func (f *fixture) checkpointOf(message string) string {
	f.t.Helper()
	for c, err := range f.repo.Checkpoints(f.t.Context()) {
		if err != nil {
			f.t.Fatal(err)
		}
		if c.Message == message {
			return c.ID
		}
	}
	f.t.Fatalf("no checkpoint %q", message)
	return ""
}

// stepOf runs work as a step of a session.
func (f *fixture) stepOf(s session.StepBegin, work func()) *session.Step {
	f.t.Helper()
	s.Role = cmp.Or(s.Role, session.RoleUser)
	if _, err := f.sessions.BeginStep(f.t.Context(), s); err != nil {
		f.t.Fatal(err)
	}
	work()
	step, err := f.sessions.EndStep(f.t.Context(), session.StepEnd{Session: s.Session, Step: s.Step})
	if err != nil {
		f.t.Fatal(err)
	}
	return step
}

// answer is what a browser got.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   string
	dir    string // above the project
}

func (f *fixture) do(r *http.Request) *answer {
	f.t.Helper()
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return &answer{f.t, w.Code, w.Result().Header, string(body), filepath.Dir(f.root)}
}

func (f *fixture) get(address string) *answer {
	f.t.Helper()
	return f.do(httptest.NewRequest(http.MethodGet, address, nil))
}

// post sends a form as the page itself does.
func (f *fixture) post(address string, fields url.Values) *answer {
	f.t.Helper()
	if fields.Get("token") == "" {
		fields.Set("token", testToken)
	}
	r := httptest.NewRequest(http.MethodPost, address, strings.NewReader(fields.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return f.do(r)
}

func (a *answer) want(status int, parts ...string) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("status %d, want %d:\n%s", a.status, status, a.body)
	}
	for _, part := range parts {
		if !strings.Contains(a.body, part) {
			a.t.Errorf("the page lacks %q:\n%s", part, a.body)
		}
	}
	return a
}

// lacks passes over the directory above the project, whose name ends with random digits.
func (a *answer) lacks(parts ...string) *answer {
	a.t.Helper()
	body := strings.ReplaceAll(a.body, a.dir, "")
	for _, part := range parts {
		if strings.Contains(body, part) {
			a.t.Errorf("the page has %q:\n%s", part, a.body)
		}
	}
	return a
}

func queryOf(t *testing.T, address string) url.Values {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}
