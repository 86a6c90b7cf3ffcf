package httpapi

import (
	"errors"
	"html/template"
	"net/http"
	"strings"
	"sync"
)

// loginPage is the page for a browser without a valid cookie. It is parsed on first use,
// because every command of the program links this package.
var loginPage = sync.OnceValue(func() *template.Template { return template.Must(template.New("login").Parse(loginText)) })

const loginText = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>cairn: log in</title>
<style>
:root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.5 }
body { max-width: 34rem; margin: 15vh auto; padding: 0 1rem }
code { background: color-mix(in srgb, currentColor 10%, transparent); padding: .15em .4em; border-radius: .3em }
</style>
</head>
<body>
<main>
<h1>Log in to cairn</h1>
<p>{{.Why}}</p>
<p>Type this in a terminal on the machine of the server, and open the link that it prints:</p>
<p><code>{{.Command}}</code></p>
{{if .Remote}}<p>REMOTE is the git repository that this server shows.</p>
{{end}}<p>A link is good for one login. A login lasts until the server or the browser is closed.</p>
<p>Programs send the token instead: <code>Authorization: Bearer TOKEN</code>. The token is in the file
<code>{{if .Remote}}team/REMOTE/{{end}}serve/token</code> of the data directory of cairn, which only its owner can read.</p>
</main>
</body>
</html>
`

// loginCommand prints a login link of this server. One that shows a remote has a socket of its own. The name of the remote
// is not for a browser that has not logged in.
func (s *Server) loginCommand() string {
	if s.opt.ReadOnly == "" {
		return "cairn serve --login"
	}
	return "cairn serve --login --remote REMOTE"
}

// writeLoginPage answers a browser that the door refuses because it has no login. It
// returns false for every other request: programs get the problem document.
func (s *Server) writeLoginPage(w http.ResponseWriter, r *http.Request, err error) bool {
	var p *Problem
	if !errors.As(err, &p) || p.Status != http.StatusUnauthorized || !opensPage(r) {
		return false
	}
	why := "This browser is not logged in, or the server was started again since."
	if r.URL.Path == LoginPath {
		why = "This link was used before, or is older than ten minutes."
	}
	if r.Method != http.MethodGet {
		why += " Nothing was done."
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	w.WriteHeader(http.StatusUnauthorized)
	_ = loginPage().Execute(w, struct {
		Why, Command string
		Remote       bool
	}{why, s.loginCommand(), s.opt.ReadOnly != ""}) // the browser has hung up
	return true
}

// opensPage reports whether a browser asks for a page to show: by a link, or by a form.
func opensPage(r *http.Request) bool {
	if r.Header.Get("Authorization") != "" {
		return false
	}
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		return mode == "navigate"
	}
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}
