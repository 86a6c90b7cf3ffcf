package webui

import (
	"context"
	"crypto/subtle"
	"embed"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Options says what the page shows and how it fits into a server. All functions are
// called from several goroutines.
type Options struct {
	// Projects lists the projects.
	Projects func(context.Context) ([]Listed, error)

	// Project finds one by its id. The error wraps cairn.ErrNotFound for one that is
	// not there.
	Project func(ctx context.Context, id string) (*Project, error)

	// Source opens a project by its id as the source of a merge, until ctx ends. The error wraps
	// cairn.ErrNotFound for one that is not there. nil = directories are not compared.
	Source func(ctx context.Context, id string) (cairn.MergeSource, error)

	// Fork makes the server know a fork of a project, and returns its id. nil = forks are not compared.
	Fork func(ctx context.Context, root string) (id string, err error)

	// Token returns a secret of the visitor's login. It goes into every form and has to
	// come back with it.
	Token func(*http.Request) string

	// Events returns the address of a project's event stream; every message on it makes
	// the page look for news. nil = the page does not update by itself.
	Events func(projectID string) string

	// ReadOnly says why nothing can be changed; "" = everything can. Where it is set there are no
	// previews and no forms, and projects are those of a remote.
	ReadOnly string

	// Notice says how old the list of projects is. nil = it is that of now.
	Notice func(context.Context) string

	// Status answers for errors that are not the library's. nil = they are all 500.
	Status func(error) int

	Logger *slog.Logger     // nil = silent
	Now    func() time.Time // nil = time.Now
}

// Prefix begins all addresses of the page except "/".
const Prefix = "/ui/"

type handler struct {
	opt    Options
	mux    *http.ServeMux
	origin *http.CrossOriginProtection
	counts *pairCache[*counts]
	moves  *pairCache[[]string]
	log    *slog.Logger
}

// New returns the handler of "/" and of everything below Prefix.
func New(opt Options) http.Handler {
	h := &handler{
		opt: opt, mux: http.NewServeMux(), origin: http.NewCrossOriginProtection(),
		counts: newPairCache[*counts](), moves: newPairCache[[]string](), log: opt.Logger,
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if h.opt.Now == nil {
		h.opt.Now = time.Now
	}
	h.mux.HandleFunc("GET /{$}", h.page(h.projects))
	h.mux.HandleFunc("GET /ui/assets/{name}", h.asset)
	h.mux.HandleFunc("POST /ui/theme", h.form(h.theme))
	for pattern, view := range map[string]view{
		"/{$}": h.timeline, "/session": h.session, "/sessions": h.sessions, "/changes": h.changes, "/checkpoint/{id}": h.checkpoint, "/step": h.step,
		"/operation/{id}": h.operation, "/raw": h.raw,
	} {
		h.mux.HandleFunc("GET /ui/p/{project}"+pattern, h.page(h.ofProject(view)))
	}
	h.mux.HandleFunc("/", h.page(func(*visit) error { return errNoPage }))
	if h.opt.ReadOnly == "" {
		h.changing()
	} else {
		h.readOnly()
	}
	return h
}

// changing adds the pages that look at the disk, and those that change it.
func (h *handler) changing() {
	for pattern, view := range map[string]view{"/plan": h.plan, "/blame": h.blame, "/compare": h.compare, "/forks": h.forks, "/copy": h.copyForm} {
		h.mux.HandleFunc("GET /ui/p/{project}"+pattern, h.page(h.ofProject(view)))
	}
	h.mux.HandleFunc("POST /ui/p/{project}/apply", h.form(h.ofProject(h.apply)))
	h.mux.HandleFunc("POST /ui/p/{project}/choose", h.form(h.ofProject(h.choose)))
	h.mux.HandleFunc("POST /ui/p/{project}/copy", h.form(h.ofProject(h.makeCopy)))
	h.mux.HandleFunc("POST /ui/p/{project}/track", h.form(h.ofProject(h.track)))
	for form, page := range map[string]string{"/apply": "plan", "/choose": "plan", "/track": ""} {
		h.mux.HandleFunc("GET /ui/p/{project}"+form, h.page(h.ofProject(func(v *visit) error { return v.insteadOfForm(page) })))
	}
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	head.Set("X-Frame-Options", "DENY")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "same-origin")
	head.Set("Cross-Origin-Opener-Policy", "same-origin")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.mux.ServeHTTP(w, r)
}

// visit is one request on its way to a page.
type visit struct {
	h       *handler
	w       http.ResponseWriter
	r       *http.Request
	query   url.Values
	project *Project
	known   session.WorkCache // sessions that were read for words
	titles  map[string]string // of sessions, by their ids; nil = not read yet
	tested  map[string]bool   // results of tests; nil = not read yet
	goes    *going            // of the way of this request; nil = not read yet
}

func (v *visit) ctx() context.Context { return v.r.Context() }

type view func(*visit) error

// Errors of requests.
var (
	errNoPage = errors.New("there is no such page")
	errInput  = errors.New("unusable address")
	errForm   = errors.New("the form does not belong to this login; go back, load the page again and repeat")
)

// maxQuery bounds addresses, in bytes: a path may have 4,096 bytes, and an address may
// need three for each.
const maxQuery = 64 << 10

// page wraps a view: the query is checked, and an error becomes a page of its own.
func (h *handler) page(show view) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := &visit{h: h, w: w, r: r}
		w.Header().Set("Cache-Control", "no-store")
		if err := v.readQuery(); err != nil {
			v.fail(err)
			return
		}
		if err := show(v); err != nil {
			v.fail(err)
		}
	}
}

func (v *visit) readQuery() (err error) {
	if len(v.r.URL.RawQuery) > maxQuery {
		return errInput
	}
	v.query, err = url.ParseQuery(v.r.URL.RawQuery)
	if err != nil {
		return errInput
	}
	for _, values := range v.query {
		for _, value := range values {
			if strings.IndexByte(value, 0) >= 0 {
				return errInput
			}
		}
	}
	return nil
}

// maxForm bounds the body of a form, in bytes: a plan sends 23 of them for each of its boxes.
const maxForm = 1 << 20

// form wraps a view that changes something. It lets only requests from the page's own
// forms through.
func (h *handler) form(act view) http.HandlerFunc {
	return h.page(func(v *visit) error {
		if err := h.origin.Check(v.r); err != nil {
			return errForm
		}
		v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
		if err := v.r.ParseForm(); err != nil {
			return errInput
		}
		want := h.opt.Token(v.r)
		if want == "" || subtle.ConstantTimeCompare([]byte(v.r.PostForm.Get("token")), []byte(want)) != 1 {
			return errForm
		}
		return act(v)
	})
}

// insteadOfForm leads to a page with the same query. The answer to a form lies at the form's address, and a browser
// that restores its tabs opens it without the form.
func (v *visit) insteadOfForm(page string) error {
	address := v.at(page)
	if len(v.query) > 0 {
		address += "?" + urlValues(v.query).Encode()
	}
	http.Redirect(v.w, v.r, address, http.StatusSeeOther)
	return nil
}

func (h *handler) ofProject(show view) view {
	return func(v *visit) (err error) {
		if v.project, err = h.opt.Project(v.ctx(), v.r.PathValue("project")); err != nil {
			return err
		}
		return show(v)
	}
}

// lacking are the pages that a server without changes does not have.
var lacking = map[string]bool{"plan": true, "blame": true, "compare": true, "copy": true, "track": true}

// at is an address of the visit's project, "" for a page that the server does not have. Values come
// in pairs; empty ones are left out.
func (v *visit) at(page string, pairs ...string) string {
	if v.h != nil && v.h.opt.ReadOnly != "" && lacking[page] {
		return ""
	}
	address := Prefix + "p/" + url.PathEscape(v.project.ID) + "/" + page
	query := make(url.Values)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Add(pairs[i], pairs[i+1])
		}
	}
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return address
}

// statusOf says what an error means to a browser.
func (h *handler) statusOf(err error) int {
	for _, known := range []struct {
		err    error
		status int
	}{
		{errNoPage, http.StatusNotFound}, {errInput, http.StatusBadRequest}, {errForm, http.StatusForbidden}, {errReadOnly, http.StatusForbidden}, {errNothingChosen, http.StatusBadRequest},
		{session.ErrExpired, http.StatusGone}, {cairn.ErrNotFound, http.StatusNotFound}, {cairn.ErrAmbiguous, http.StatusBadRequest},
		{cairn.ErrOutside, http.StatusBadRequest}, {cairn.ErrPlace, http.StatusBadRequest}, {session.ErrID, http.StatusBadRequest}, {cairn.ErrMoved, http.StatusConflict},
		{cairn.ErrConflict, http.StatusConflict}, {cairn.ErrGitRefused, http.StatusConflict}, {cairn.ErrGitNotPlanned, http.StatusConflict}, {session.ErrBusy, http.StatusConflict}, {cairn.ErrLocked, http.StatusServiceUnavailable},
	} {
		if errors.Is(err, known.err) {
			return known.status
		}
	}
	if h.opt.Status != nil {
		return h.opt.Status(err)
	}
	return http.StatusInternalServerError
}

//go:embed assets
var assetFiles embed.FS

// asset serves the style sheet, the script and the icon. Their addresses carry a hash
// of the content, so that browsers may keep them.
func (h *handler) asset(w http.ResponseWriter, r *http.Request) {
	data, err := fs.ReadFile(assetFiles, "assets/"+r.PathValue("name"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	kinds := map[string]string{"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
	_, ext, _ := strings.Cut(r.PathValue("name"), ".")
	w.Header().Set("Content-Type", kinds[ext])
	w.Header().Set("Cache-Control", "max-age=31536000, immutable")
	w.Write(data)
}

// theme remembers dark or light, and goes back.
func (h *handler) theme(v *visit) error {
	choice := v.r.PostForm.Get("theme")
	if choice != "dark" && choice != "light" && choice != "auto" {
		return errInput
	}
	http.SetCookie(v.w, &http.Cookie{Name: themeCookie, Value: choice, Path: "/", MaxAge: 365 * 24 * 3600, SameSite: http.SameSiteLaxMode})
	back := v.r.PostForm.Get("back")
	if back != "/" && !strings.HasPrefix(back, Prefix) {
		back = "/"
	}
	http.Redirect(v.w, v.r, back, http.StatusSeeOther)
	return nil
}

const themeCookie = "cairn_theme"
