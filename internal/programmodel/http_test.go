//go:build unix

package programmodel

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// overHTTP asks the server for what a command would do, about every second time where there
// is a request for it. The answer is that of a command without a status.
func (w *world) overHTTP(args []string) (a answer, asked bool) {
	if w.serving == nil || w.rng.IntN(2) == 0 {
		return a, false
	}
	q := requestOf(args)
	if q == nil {
		return a, false
	}
	if q.step && !w.nameStep(q) {
		return answer{args: args, code: 4, stderr: "no step of session is open"}, true
	}
	a = w.post(http.MethodPost, q.path, q.body)
	a.args = args
	return a, true
}

// request is what the server is asked for.
type request struct {
	path string
	body map[string]any
	step bool // the path is still without the open step
}

// requestOf translates a command; nil where only the program has it.
func requestOf(args []string) *request {
	c := split(args)
	switch c.words[0] {
	case "track":
		return &request{path: "/track", body: c.body("message", "verify")}
	case "undo", "redo":
		return &request{path: "/" + c.words[0], body: c.body("paths", "onConflict", "dryRun", "planID")}
	case "restore", "revert":
		return c.change()
	case "session":
		return c.session()
	}
	return nil
}

// commandLine is the parts of a command.
type commandLine struct {
	words  []string
	fields map[string]any // by the names that requests have for flags
}

// flagFields has the names of flags in requests, with whether they take a value.
var flagFields = map[string]struct {
	field string
	value bool
}{
	"-m": {"message", true}, "--verify": {"verify", false}, "--keep-new": {"keepNew", false}, "--dry-run": {"dryRun", false}, "--plan": {"planID", true},
	"--on-conflict": {"onConflict", true}, "--end-open": {"endOpen", false}, "--message": {"messageID", true}, "--step": {"stepID", true},
	"--role": {"role", true}, "--prompt": {"prompt", true}, "--patches": {"patches", true},
	"--hunk": {"hunks", true}, "--turn": {"turn", true},
}

func split(args []string) commandLine {
	c := commandLine{fields: make(map[string]any)}
	for i := 0; i < len(args); i++ {
		flag, known := flagFields[args[i]]
		switch {
		case args[i] == "--":
			c.fields["paths"] = pathtext.Texts(args[i+1:])
			return c
		case known && flag.value:
			i++
			c.fields[flag.field] = valueOf(flag.field, args[i])
		case known:
			c.fields[flag.field] = true
		default:
			c.words = append(c.words, args[i])
		}
	}
	return c
}

// valueOf is the value of a flag as requests have it.
func valueOf(field, text string) any {
	switch field {
	case "hunks":
		return strings.Split(text, ",")
	case "turn":
		return json.Number(text)
	}
	return text
}

// body has some of the fields.
func (c *commandLine) body(fields ...string) map[string]any {
	body := make(map[string]any)
	for _, field := range fields {
		if value, ok := c.fields[field]; ok {
			body[field] = value
		}
	}
	return body
}

// change is the request for a restore or a revert.
func (c *commandLine) change() *request {
	if c.fields["patches"] != nil {
		return nil // the command reads them from a file
	}
	q := &request{path: "/apply", body: c.body("paths", "keepNew", "onConflict", "planID", "hunks")}
	if c.fields["dryRun"] != nil {
		q.path = "/plan"
	}
	q.body["action"] = c.words[0]
	from, to, isRange := strings.Cut(c.words[1], "..")
	switch {
	case c.words[0] == "restore":
		q.body["hash"] = c.words[1]
	case isRange:
		q.body["from"], q.body["to"] = from, to
	default:
		q.body["from"] = from
	}
	return q
}

// session is the request for a command of sessions.
func (c *commandLine) session() *request {
	switch verb, id := c.words[1], c.words[len(c.words)-1]; verb {
	case "begin":
		return &request{path: "/sessions", body: map[string]any{"id": id}}
	case "message":
		return &request{path: "/session/" + id + "/messages", body: c.body("messageID", "role", "prompt")}
	case "undo", "redo", "unrevert", "revert":
		return &request{path: "/session/" + id + "/" + verb, body: c.body("messageID", "turn", "hunks", "onConflict", "dryRun", "planID", "endOpen")}
	case "step":
		q := &request{path: "/session/" + id, body: c.body("messageID", "stepID")}
		if q.step = c.words[2] == "end"; !q.step {
			q.path += "/steps"
		}
		return q
	}
	return nil
}

// nameStep completes the path of a request that ends the open step, if there is one.
func (w *world) nameStep(q *request) bool {
	var session struct{ Open string }
	a := w.post(http.MethodGet, q.path, nil)
	if a.code != 0 {
		return false
	}
	w.decode(a, &session)
	q.path += "/steps/" + url.PathEscape(session.Open) + "/end"
	return session.Open != ""
}

// requests counts what servers were asked.
var requests atomic.Uint64

// post sends a request to the server through its socket.
func (w *world) post(method, path string, body map[string]any) answer {
	text, err := json.Marshal(body)
	w.must(err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(text)
	}
	q, err := http.NewRequestWithContext(ctx, method, "http://server"+path, content)
	w.must(err)
	q.Header.Set("Content-Type", "application/json")
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", w.socket)
	}}
	res, err := (&http.Client{Transport: transport}).Do(q)
	if err != nil {
		w.fail("http", "%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	requests.Add(1)
	said, err := io.ReadAll(res.Body)
	w.must(err)
	w.say("%s %s %s: %d %s", method, path, oneLine(string(text), 300), res.StatusCode, oneLine(string(said), 600))
	return w.answerOf(res.StatusCode, string(said))
}

// answerOf is the answer of a command that says the same.
func (w *world) answerOf(status int, said string) answer {
	switch {
	case status < 300:
		return answer{stdout: said, overHTTP: true}
	case status >= 500:
		w.fail("crash", "%d %s", status, said)
	}
	var problem struct{ Detail string }
	if err := json.Unmarshal([]byte(said), &problem); err != nil || problem.Detail == "" {
		w.fail("http", "%d %s is no problem document", status, said)
	}
	a := answer{code: 1, stderr: problem.Detail}
	if status == http.StatusNotFound {
		a.code = 4
	}
	return a
}
