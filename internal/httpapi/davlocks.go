package httpapi

import (
	"bytes"
	"net/http"
)

// lockEntry is the property supportedlock as the package webdav writes it for every file and
// directory. Here there are no locks. A name cannot hold these bytes: in XML its brackets are escaped.
const lockEntry = `<D:lockentry xmlns:D="DAV:">` +
	`<D:lockscope><D:exclusive/></D:lockscope>` +
	`<D:locktype><D:write/></D:locktype>` +
	`</D:lockentry>`

// lockless takes lockEntry out of an answer to PROPFIND.
type lockless struct {
	http.ResponseWriter
	held []byte // the beginning of an entry, as far as it has come
}

// Write implements io.Writer. A part that may become an entry waits for the next Write.
func (w *lockless) Write(p []byte) (int, error) {
	text := bytes.ReplaceAll(append(w.held, p...), []byte(lockEntry), nil)
	keep := 0
	for n := min(len(text), len(lockEntry)-1); n > 0; n-- {
		if bytes.HasPrefix([]byte(lockEntry), text[len(text)-n:]) {
			keep = n
			break
		}
	}
	w.held = bytes.Clone(text[len(text)-keep:])
	if _, err := w.ResponseWriter.Write(text[:len(text)-keep]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// end sends the held answer.
func (w *lockless) end() {
	if len(w.held) > 0 {
		_, _ = w.ResponseWriter.Write(w.held) // an error shows in the next request
	}
}

// Unwrap is for http.ResponseController.
func (w *lockless) Unwrap() http.ResponseWriter { return w.ResponseWriter }
