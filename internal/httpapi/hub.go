package httpapi

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Types of events.
const (
	EventHello     = "hello"     // the first of every stream
	EventTrack     = "track"     // a checkpoint was taken
	EventSession   = "session"   // a session or message began, was forked or deleted
	EventStep      = "step"      // a step began or ended
	EventRevert    = "revert"    // the boundary of a session has moved
	EventOperation = "operation" // files were restored, reverted, undone or redone
	EventProgress  = "progress"  // a copy has come so far
	EventCopy      = "copy"      // a directory was made
	EventGC        = "gc"        // a store was cleaned
)

// Event is one message of the stream. Fields without a meaning for its type are empty.
type Event struct {
	Type      string    `json:"type" enum:"hello,track,session,step,revert,operation,progress,copy,gc"`
	Time      time.Time `json:"time"`
	Project   string    `json:"projectID,omitempty" doc:"Id of the project."`
	Directory string    `json:"root,omitempty" doc:"Root of the project."`

	Hash       string `json:"hash,omitempty"`
	Checkpoint string `json:"checkpoint,omitempty"`
	Changed    int    `json:"changed,omitempty" doc:"Paths that a track found changed."`

	Session string `json:"sessionID,omitempty"`
	Message string `json:"messageID,omitempty"`
	Part    string `json:"partID,omitempty"`
	Step    string `json:"stepID,omitempty"`
	State   string `json:"state,omitempty" doc:"begun, ended, message, forked, deleted, reverted, unreverted or committed."`

	Operation string `json:"operation,omitempty"`
	Kind      string `json:"kind,omitempty" doc:"restore, revert, merge, undo or redo."`
	Restored  int    `json:"restored,omitempty"`
	Deleted   int    `json:"deleted,omitempty"`
	Kept      int    `json:"kept,omitempty"`
	Conflicts int    `json:"conflicts,omitempty"`

	Dir   string `json:"dir,omitempty" doc:"A directory that is being made, or was."`
	Files int    `json:"files,omitempty" doc:"Of this directory, so far."`
	Total int    `json:"total,omitempty" doc:"Paths that it will have."`
	Bytes int64  `json:"bytes,omitempty" doc:"Of its files, so far."`

	Freed int64 `json:"freed,omitempty" doc:"Bytes."`
	Size  int64 `json:"size,omitempty" doc:"Bytes of the store."`
}

// queueLength is the number of events that wait for a slow reader before the hub drops
// it. The reader connects again and reads the state.
const queueLength = 256

// hub hands events to its readers. It never waits for a reader.
type hub struct {
	mu     sync.Mutex
	last   uint64
	ears   map[*ear]bool
	closed bool
}

// message is an event ready to be sent.
type message struct {
	id      uint64
	kind    string
	project string
	data    []byte
}

// ear is a reader of one project's events, or with "" of all events.
type ear struct {
	project string
	queue   chan message // closed when the ear is dropped
}

func (h *hub) listen(project string) (e *ear, leave func()) {
	e = &ear{project: project, queue: make(chan message, queueLength)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		close(e.queue)
		return e, func() {}
	}
	if h.ears == nil {
		h.ears = make(map[*ear]bool)
	}
	h.ears[e] = true
	return e, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.drop(e)
	}
}

func (h *hub) drop(e *ear) {
	if h.ears[e] {
		delete(h.ears, e)
		close(e.queue)
	}
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for e := range h.ears {
		h.drop(e)
	}
}

func (h *hub) send(e Event) {
	data, err := json.Marshal(e)
	if err != nil {
		panic("internal error: " + err.Error())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last++
	m := message{id: h.last, kind: e.Type, project: e.Project, data: data}
	for ear := range h.ears {
		if ear.project != "" && ear.project != e.Project {
			continue
		}
		select {
		case ear.queue <- m:
		default:
			h.drop(ear)
		}
	}
}

// tell sends an event of a project.
func (p *project) tell(e Event) {
	e.Time, e.Project, e.Directory = time.Now().UTC(), p.id, pathtext.Encode(p.root)
	p.server.events.send(e)
	if e.Type != EventGC {
		p.moved.Store(true)
	}
}

func (p *project) tellStep(state string, s *session.Step) {
	e := Event{
		Type: EventStep, Session: s.Session, Message: s.Message, Step: s.ID, State: state,
		Hash: s.Before.Hash, Checkpoint: s.Before.ID,
	}
	if !s.Open() {
		e.Hash, e.Checkpoint = s.After.Hash, s.After.ID
	}
	p.tell(e)
}

// tellResult sends the events of a way back, that of each other directory of its session in the project there.
func (p *project) tellResult(kind, session string, res *cairn.Result) {
	p.tellOperation(kind, session, res)
	for i := range res.Elsewhere {
		if other := p.server.projects.at(string(res.Elsewhere[i].Root)); other != nil {
			other.tellOperation(kind, session, res.Elsewhere[i].Result())
		}
	}
}

// tellOperation sends the event of an operation, if there was something to do.
func (p *project) tellOperation(kind, session string, res *cairn.Result) {
	if res.Operation == "" {
		return
	}
	p.tell(Event{
		Type: EventOperation, Kind: kind, Session: session, Operation: res.Operation,
		Restored: len(res.Restored), Deleted: len(res.Deleted), Kept: len(res.Kept), Conflicts: len(res.Conflicts),
	})
}
