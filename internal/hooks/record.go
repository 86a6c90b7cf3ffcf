package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Record is the history of the hooks of an agent on this machine.
type Record struct {
	Agent    string    `json:"agent"`
	Event    time.Time `json:"event,omitzero"`   // last one that arrived; whole seconds, and up to freshness old
	Step     time.Time `json:"step,omitzero"`    // last one that was captured completely
	Missed   int       `json:"missed,omitempty"` // steps that were not captured since the last one that was
	Failed   time.Time `json:"failed,omitzero"`  // last failure
	Failure  string    `json:"failure,omitempty"`
	LastName string    `json:"name,omitempty"` // of the last event
}

// Records returns the records of all agents below a directory of hooks.
func Records(dir string) ([]Record, error) {
	list, err := os.ReadDir(filepath.Join(dir, "agents"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var records []Record
	for _, entry := range list {
		if name, ok := strings.CutSuffix(entry.Name(), ".json"); ok && !strings.HasPrefix(name, ".") {
			records = append(records, readRecord(filepath.Join(dir, "agents", entry.Name())))
		}
	}
	return records, err
}

func readRecord(path string) Record {
	var r Record
	if data, err := os.ReadFile(path); err == nil && json.Unmarshal(data, &r) != nil {
		return Record{}
	}
	return r
}

// freshness is how old the time of the last event in a record may be. A file need
// not be written for every call.
const freshness = 10 * time.Second

// recorder writes the record and the log of one call.
type recorder struct{ dir, agent string }

// note never records contents of a payload or of the environment: prompts, file contents and keys
// stay out of the record.
func (r recorder) note(h *hook, err error, took time.Duration) {
	if err != nil {
		r.log(h, err, took)
	}
	if name := recordName(r.agent); name != "" {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		r.update(ctx, name, h, err)
	}
}

// recordName is the file name of an agent's record. Adapters choose the name freely,
// so that it could be anything.
func recordName(agent string) string {
	ok := len(agent) > 0 && len(agent) <= 40
	for _, c := range agent {
		ok = ok && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-')
	}
	if !ok {
		return "other"
	}
	return agent
}

func (r recorder) update(ctx context.Context, name string, h *hook, failure error) {
	path := filepath.Join(r.dir, "agents", name+".json")
	now := time.Now().UTC().Truncate(time.Second)
	if was := readRecord(path); failure == nil && !h.did.ended && now.Sub(was.Event).Abs() < freshness {
		return
	}
	unlock, err := turns{r.dir}.lock(ctx, "agent-"+name)
	if err != nil {
		return
	}
	defer unlock()
	rec := readRecord(path)
	rec.Agent, rec.Event = name, now
	if h.event != nil {
		rec.LastName = h.name
	}
	switch {
	case failure != nil:
		rec.Failed, rec.Failure = now, failureText(failure)
		if h.missed(failure) {
			rec.Missed++
		}
	case h.did.ended:
		rec.Step, rec.Missed = now, 0
	}
	if data, err := json.Marshal(rec); err == nil {
		writeSmall(path, data) // a failure to record must not disturb the agent
	}
}

// failureText is one line about a failure, and what it means.
func failureText(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	if busy(err) {
		text = "not in time: " + text
	}
	return text
}

// The log holds failures only. It is moved aside at maxLog bytes, once: together the
// two files never take more than twice that, and a little.
const (
	logName = "hooks.log"
	maxLog  = 512 << 10
)

// LogPath is the log below a directory of hooks.
func LogPath(dir string) string { return filepath.Join(dir, logName) }

func (r recorder) log(h *hook, failure error, took time.Duration) {
	path := LogPath(r.dir)
	if os.MkdirAll(r.dir, 0o700) != nil {
		return
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		os.Rename(path, path+".1") // of two at once one may move the other's first lines, which are lost then
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	attrs := []any{"agent", r.agent, "took", took.Round(time.Millisecond).String()}
	if h.event != nil {
		attrs = append(attrs, "event", h.name, "session", h.session, "dir", h.dir)
	}
	attrs = append(attrs, "error", limited(failure.Error()))
	slog.New(slog.NewJSONHandler(f, nil)).Error("hook failed", attrs...)
}

const maxText = 8 << 10 // of an error in the log, in bytes

func limited(text string) string {
	if len(text) > maxText {
		return fmt.Sprintf("%s… (%d bytes)", text[:maxText], len(text))
	}
	return text
}
