package webui

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// streams are the event streams of a page: a test cuts and refuses them.
type streams struct {
	t      *testing.T
	open   chan chan string // the events of each stream that begins; a closed channel cuts it
	ended  chan bool        // a stream has ended
	refuse chan bool        // holds a value while streams are refused
}

func newStreams(t *testing.T) *streams {
	return &streams{t, make(chan chan string, 9), make(chan bool, 9), make(chan bool, 1)}
}

func (s *streams) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if len(s.refuse) > 0 {
		http.Error(w, "no", http.StatusTooManyRequests)
		return
	}
	events := make(chan string)
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "retry: 1\n\n")
	http.NewResponseController(w).Flush()
	s.open <- events
	defer func() { s.ended <- true }()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return
			}
			fmt.Fprintf(w, "event: %s\ndata: {}\n\n", e)
			http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

// await waits for something that the page does.
func await[T any](t *testing.T, from chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(patience):
		t.Fatal("the page does nothing")
	}
	return v
}

// A stream that is cut begins again, and the page finds what it has missed. A tab out of sight holds no stream. A
// page whose stream is refused says so. What a search has found stays when an older answer arrives.
func testCutStream(t *testing.T, b *browser) {
	f := story(t)
	s := newStreams(t)
	held, release := make(chan bool, 9), make(chan bool)
	hold := make(chan bool, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		late := httptest.NewRecorder()
		f.handler.ServeHTTP(late, r)
		select {
		case <-hold:
			held <- true
			<-release
		default:
		}
		for name, values := range late.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(late.Code)
		w.Write(late.Body.Bytes())
	})
	mux.Handle("/events", s)
	f.events = "/events"
	server := httptest.NewServer(mux)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	b.open(server.URL + f.at(""))
	shows := func(text string) {
		t.Helper()
		b.until(fmt.Sprintf("document.querySelector('[data-live]').textContent.includes(%q)", text))
	}

	first := await(t, s.open)
	f.write("missed.txt", "x\n")
	f.track("while the stream was cut")
	close(first)
	await(t, s.open)
	shows("while the stream was cut")

	sight := func(hidden bool) {
		t.Helper()
		b.eval(fmt.Sprintf("Object.defineProperty(document, 'hidden', { value: %t, configurable: true }), document.dispatchEvent(new Event('visibilitychange'))", hidden), nil)
	}
	<-s.ended
	sight(true)
	await(t, s.ended)
	f.write("unseen.txt", "x\n")
	f.track("out of sight")
	sight(false)
	events := await(t, s.open)
	shows("out of sight")

	hold <- true
	f.write("slow.txt", "x\n")
	f.track("seen late")
	events <- "track"
	await(t, held)
	b.press("/")
	b.typeText("list.sh")
	b.until("location.search.includes('q=list.sh')")
	hold <- true
	release <- true
	await(t, held) // the page looks again
	if n := b.number("document.querySelectorAll('[data-live] article').length"); n != 1 {
		t.Errorf("%v entries are shown in the place of the one that was searched for", n)
	}
	release <- true

	s.refuse <- true
	close(events)
	b.until("document.getElementById('status').textContent.includes('load it again')")
	b.forget("429")
	b.open("about:blank")
}
