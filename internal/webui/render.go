package webui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

//go:embed templates
var templateFiles embed.FS

// templates are parsed when the first page is printed: every command of the program
// links this package.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"visible": visible, "short": short, "plural": plural, "size": size,
		"dir":     func(path any) string { return dirOf(fmt.Sprint(path)) }, // a string or a cairn.Path
		"base":    func(path any) string { return baseOf(fmt.Sprint(path)) },
		"grouped": func(n int) string { return grouped(n) },
		"asset":   assetAddress,
		"iso":     func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"clock":   func(t time.Time) string { return t.Format("15:04:05") },
		"day":     func(t time.Time) string { return t.Format("Monday, 2 January 2006") },
		"sign":    signOf, "letter": statusLetter, "model": modelOf, "whose": whose,
		"fileid": func(path cairn.Path) string { return "f" + hash(string(path)) }, "operation": operationName,
	}).ParseFS(templateFiles, "templates/*.html"))
})

func assetAddress(name string) (string, error) {
	data, err := assetFiles.ReadFile("assets/" + name)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return Prefix + "assets/" + name + "?" + hex.EncodeToString(sum[:6]), nil
}

func statusLetter(s cairn.Status) string { return strings.ToUpper(string(s[:1])) }

// frame is what every page has around its own part.
type frame struct {
	Title   string
	Theme   string // "dark", "light" or "" for the system's
	Token   string
	Here    string // address of this page, for the way back
	Events  string
	Project *Project
	Nav     nav
	Page    any

	ReadOnly string
	Notice   string // how old the page is
}

// nav are the addresses in the header.
type nav struct{ Timeline, Sessions, Changes, Undo, Redo, Track string }

// render prints a page. It is made in full before its first byte is sent, so that a
// failure gets a status and a page of its own.
func (v *visit) render(status int, name, title string, page any) error {
	return v.write(status, name, v.frame(title, page))
}

// frame puts a page into its frame.
func (v *visit) frame(title string, page any) frame {
	f := frame{
		Title: title, Token: v.h.opt.Token(v.r), Here: v.r.URL.RequestURI(), Project: v.project,
		Page: page, ReadOnly: v.h.opt.ReadOnly,
	}
	if v.r.Method != http.MethodGet {
		f.Here = "/"
	}
	if c, err := v.r.Cookie(themeCookie); err == nil && (c.Value == "dark" || c.Value == "light") {
		f.Theme = c.Value
	}
	if v.project != nil {
		f.Nav = nav{v.at(""), v.at("sessions"), v.changesNow(), v.at("plan", "do", "undo"), v.at("plan", "do", "redo"), v.at("track")}
		if v.h.opt.Events != nil {
			f.Events = v.h.opt.Events(v.project.ID)
		}
		f.Notice = v.project.Notice
	}
	return f
}

// changesNow is the page of what has changed on the disk, which a remote does not have.
func (v *visit) changesNow() string {
	if v.h.opt.ReadOnly != "" {
		return ""
	}
	return v.at("changes", "from", "@")
}

func (v *visit) write(status int, name string, data any) error {
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, name, data); err != nil {
		return fmt.Errorf("page %s: %w", name, err)
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	v.w.Write(b.Bytes())
	return nil
}

// failure is a page about an error and its remedy.
type failure struct {
	Heading, Text, Hint string
	Again               string // address to try again with
}

func (v *visit) fail(err error) {
	status, f := v.failure(err)
	if err := v.render(status, "error.html", f.Heading, f); err != nil {
		v.h.log.Error("error page", "error", err)
		http.Error(v.w, f.Heading, status)
	}
}

// failure tells the status of an error, and its text for people.
func (v *visit) failure(err error) (int, *failure) {
	status := v.h.statusOf(err)
	f := &failure{Heading: http.StatusText(status), Text: err.Error()}
	switch {
	case errors.Is(err, cairn.ErrMoved):
		f.Heading = "The disk has changed since the preview"
		f.Hint = "Nothing was done. Look at the new preview before you confirm it."
		f.Again = v.planAgain()
	case errors.Is(err, cairn.ErrGitRefused):
		f.Heading = "Git does not allow it"
		f.Hint = "Nothing was done. The reason is below. Files go back without git."
	case errors.Is(err, session.ErrBusy):
		f.Heading = "The session is busy"
		f.Hint = "A step is running. Nothing was done. Try again when it has ended."
		f.Again = v.planAgain()
	case errors.Is(err, cairn.ErrLocked):
		f.Heading = "Another process works on this project"
		f.Hint = "Nothing was done. Try again in a moment."
	case errors.Is(err, cairn.ErrPlace):
		f.Heading = "No copy can be made there"
		f.Hint = "Nothing was done. Name an absolute path at which nothing or an empty directory is, below a directory that exists."
	case errors.Is(err, errReadOnly):
		f.Heading = "This server is read-only"
		f.Hint = "It shows what machines have pushed. Changes are made on these machines."
	case errors.Is(err, errNothingChosen):
		f.Heading = "Nothing is chosen"
		f.Hint = "Go back, and tick the changes or files that are to be taken back."
	case errors.Is(err, errTooMany):
		f.Heading = "Too many are ticked"
		f.Hint = "An address has no room for so many. Go back, and tick fewer, or all."
	case errors.Is(err, errInput):
		f.Heading = "This address cannot be used"
		f.Hint = "It may be mistyped, or what it names has changed. Go back, and load the page again."
	case status == http.StatusBadGateway:
		f.Heading = "The remote cannot be reached"
		f.Hint = "Nothing of this was fetched before. Try again when the remote is there."
	case status == http.StatusNotFound:
		f.Heading = "Not found"
		f.Hint = "It may have been cleaned away, or the address is mistyped."
	case status == http.StatusInternalServerError:
		if v.ctx().Err() == nil { // else the reader has gone on, as in a search
			v.h.log.Error("page", "address", v.r.URL.Path, "error", err)
		}
		f.Heading = "This did not work"
	}
	return status, f
}
