package ticket

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/secrets"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Request describes work: one of Track, Step, Message and End is set.
type Request struct {
	Root    cairn.Path `json:"root"` // real path
	Track   *Track     `json:"track,omitempty"`
	Step    *Step      `json:"step,omitempty"`
	Message *Message   `json:"message,omitempty"`
	End     *End       `json:"end,omitempty"`
	Rest    string     `json:"rest,omitempty"` // ticket of the paths outside Track.Paths
	Flags   Flags      `json:"flags,omitzero"`
}

// Track is cairn.TrackOptions with a time limit.
type Track struct {
	Message   string        `json:"message,omitempty"`
	Author    string        `json:"author,omitempty"`
	Verify    bool          `json:"verify,omitempty"`
	Paths     cairn.Paths   `json:"paths,omitempty"`
	OnlyPaths bool          `json:"onlyPaths,omitempty"`
	Partial   bool          `json:"partial,omitempty"`
	Timeout   time.Duration `json:"timeout,omitempty"` // in nanoseconds, from the beginning of the work; 0 = none
}

// Options returns the options for the library.
func (t *Track) Options() cairn.TrackOptions {
	return cairn.TrackOptions{Message: t.Message, Author: t.Author, Verify: t.Verify, Paths: t.Paths, OnlyPaths: t.OnlyPaths, AllowPartial: t.Partial}
}

// NewTrack is the inverse of Options.
func NewTrack(opt cairn.TrackOptions, timeout time.Duration) *Track {
	return &Track{
		Message: opt.Message, Author: opt.Author, Verify: opt.Verify, Paths: opt.Paths,
		OnlyPaths: opt.OnlyPaths, Partial: opt.AllowPartial, Timeout: timeout,
	}
}

// Whole returns the same track without a limit on paths.
func (t *Track) Whole() *Track {
	return &Track{Message: t.Message, Author: t.Author, Verify: t.Verify}
}

// Step is the beginning of a step of a session.
type Step struct {
	Session string            `json:"session"`
	Message string            `json:"message,omitempty"`
	Role    string            `json:"role,omitempty"`
	Step    string            `json:"step,omitempty"`
	Prompt  string            `json:"prompt,omitempty"`
	Paths   cairn.Paths       `json:"paths,omitempty"`
	Meta    map[string]string `json:"meta,omitempty"`
	Owner   json.RawMessage   `json:"owner,omitempty"` // session.Owner
}

// Begin returns the step in the form of package session.
func (s *Step) Begin() session.StepBegin {
	return session.StepBegin{
		Session: s.Session, Message: s.Message, Role: s.Role, Step: s.Step, Prompt: s.Prompt, Paths: s.Paths, Meta: s.Meta, Owner: ownerOf(s.Owner),
	}
}

// NewStep is the inverse of Begin.
func NewStep(b session.StepBegin) *Step {
	return &Step{
		Session: b.Session, Message: b.Message, Role: b.Role, Step: b.Step, Prompt: b.Prompt, Paths: b.Paths, Meta: b.Meta, Owner: ownerText(b.Owner),
	}
}

// Reduce leaves out of a request what the settings keep out of the store: the prompt and the command,
// or the secrets in them.
func (r *Request) Reduce(noPrompts, noMask bool) {
	switch {
	case r.Message != nil && noPrompts:
		r.Message.Prompt = ""
	case r.Message != nil && !noMask:
		r.Message.Prompt = secrets.MaskBeginning(r.Message.Prompt, session.MaxPrompt)
	case r.Step == nil:
	case noPrompts:
		r.Step.Prompt = ""
		r.Step.Meta = maps.Clone(r.Step.Meta)
		delete(r.Step.Meta, session.MetaCommand)
	case !noMask:
		r.Step.Prompt, r.Step.Meta = secrets.MaskBeginning(r.Step.Prompt, session.MaxPrompt), maps.Clone(r.Step.Meta)
		if command := r.Step.Meta[session.MetaCommand]; command != "" {
			r.Step.Meta[session.MetaCommand] = secrets.Mask(command)
		}
	}
}

func ownerText(o *session.Owner) json.RawMessage {
	text, err := json.Marshal(o)
	if err != nil {
		return nil
	}
	return text
}

// ownerOf is the inverse of ownerText. For an invalid text, and for none, it returns an owner that
// is not observable: the owner is never the process that does the work.
func ownerOf(text json.RawMessage) *session.Owner {
	o := new(session.Owner)
	if len(text) == 0 || json.Unmarshal(text, o) != nil {
		return &session.Owner{}
	}
	return o
}

// Flags are the flags of the command line that made the ticket. All other settings come
// from the configuration at the time of the work.
type Flags struct {
	Force       bool           `json:"force,omitempty"`
	MaxFileSize string         `json:"maxFileSize,omitempty"`
	MinFree     string         `json:"minFree,omitempty"`
	LockTimeout *time.Duration `json:"lockTimeout,omitempty"`
	NoServer    bool           `json:"noServer,omitempty"`
	Quiet       bool           `json:"quiet,omitempty"`
	GitDir      string         `json:"gitDir,omitempty"` // as in cairn.Options
	GitWorkTree string         `json:"gitWorkTree,omitempty"`
}

// Answer is the outcome of a request.
type Answer struct {
	Result json.RawMessage `json:"result,omitempty"` // protocol.Track, session.Step or session.Message, unless there are faults
	Faults []Fault         `json:"faults,omitempty"`
	Notes  string          `json:"notes,omitempty"` // messages for stderr
}

// Book holds the tickets of a data directory.
type Book struct{ dir string }

// In returns the book of a data directory. The first ticket makes the book's directory.
func In(dataDir string) Book { return Book{filepath.Join(dataDir, "tickets")} }

// The files of a ticket.
const (
	requestSuffix = ".json"
	lockSuffix    = ".lock"
	begunSuffix   = ".begun"
	answerSuffix  = ".answer"
)

func (b Book) path(id, suffix string) string { return filepath.Join(b.dir, id+suffix) }

// An id is a letter, the time in microseconds and random digits, in hex, so that names
// sort by age. The id of a step or its end, and of a message, ends with the key of its session.
const (
	trackKind, stepKind = 't', 's'
	timeDigits          = 14
	randomDigits        = 6
	keyDigits           = 16
)

// Make writes a new ticket.
func (b Book) Make(r *Request) (id string, err error) {
	data, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("make a ticket: %w", err)
	}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return "", fmt.Errorf("make a ticket: %w", err)
	}
	for {
		id = newID(r, time.Now())
		f, err := os.OpenFile(b.path(id, requestSuffix), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("make a ticket: %w", err)
		}
		_, err = f.Write(data)
		if err = errors.Join(err, f.Close()); err != nil {
			return "", errors.Join(fmt.Errorf("make a ticket: %w", err), os.Remove(f.Name()))
		}
		return id, nil
	}
}

// MakeWithRest writes a ticket for the paths that r names and, before it, a ticket for
// the whole root.
func (b Book) MakeWithRest(r *Request) (id, rest string, err error) {
	if rest, err = b.Make(&Request{Root: r.Root, Track: r.Track.Whole(), Flags: r.Flags}); err != nil {
		return "", "", err
	}
	r.Rest = rest
	id, err = b.Make(r)
	return id, rest, err
}

func newID(r *Request, now time.Time) string {
	var random [randomDigits / 2]byte
	rand.Read(random[:]) // never fails
	kind, key := trackKind, ""
	if id := r.session(); id != "" {
		kind, key = stepKind, sessionKey(string(r.Root), id)
	}
	return fmt.Sprintf("%c%0*x%x%s", kind, timeDigits, max(now.UnixMicro(), 0), random, key)
}

func sessionKey(root, session string) string {
	sum := sha256.Sum256([]byte(root + "\x00" + session))
	return hex.EncodeToString(sum[:keyDigits/2])
}

// madeAt returns the time in an id; ok is false for a text that is no id.
func madeAt(id string) (at time.Time, ok bool) {
	length := 1 + timeDigits + randomDigits
	if strings.HasPrefix(id, string(stepKind)) {
		length += keyDigits
	} else if !strings.HasPrefix(id, string(trackKind)) {
		return at, false
	}
	if len(id) != length || strings.Trim(id[1:], "0123456789abcdef") != "" {
		return at, false
	}
	micro, err := strconv.ParseInt(id[1:1+timeDigits], 16, 64)
	return time.UnixMicro(micro), err == nil
}

// Made returns the time at which a ticket was made.
func Made(id string) time.Time {
	at, _ := madeAt(id)
	return at
}

// unknown returns the error for a ticket that is not in the book.
func unknown(id string) error {
	return fmt.Errorf("%w: ticket %s (it is forgotten a day after it was made)", cairn.ErrNotFound, id)
}

// Request returns the request of a ticket. The error wraps cairn.ErrNotFound for an id
// without a ticket.
func (b Book) Request(id string) (*Request, error) {
	if _, ok := madeAt(id); !ok {
		return nil, fmt.Errorf("%w: %.80q is no ticket", cairn.ErrNotFound, id)
	}
	data, err := os.ReadFile(b.path(id, requestSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, unknown(id)
	}
	if err != nil {
		return nil, fmt.Errorf("ticket: %w", err)
	}
	r := new(Request)
	if err := json.Unmarshal(data, r); err != nil || !One(r.Track != nil, r.Step != nil, r.Message != nil, r.End != nil) {
		return nil, fmt.Errorf("%w: ticket %s is damaged", cairn.ErrNotFound, id)
	}
	return r, nil
}

// Answer returns the answer, nil while there is none. An answer that cannot be read
// counts as none.
func (b Book) Answer(id string) *Answer {
	data, err := os.ReadFile(b.path(id, answerSuffix))
	if err != nil {
		return nil
	}
	a := new(Answer)
	if json.Unmarshal(data, a) != nil || a.Result == nil && a.Faults == nil {
		return nil
	}
	return a
}

func (b Book) write(id string, a *Answer) error {
	data, err := json.Marshal(a)
	if err == nil {
		err = atomicfile.Write(b.path(id, answerSuffix), 0o600, false, func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("answer a ticket: %w", err)
	}
	return nil
}

// names lists the directory in order. A missing directory is empty.
func (b Book) names() ([]string, error) {
	d, err := os.Open(b.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("tickets: %w", err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("tickets: %w", err)
	}
	slices.Sort(names)
	return names, nil
}

// List returns the ids of all tickets, the oldest first.
func (b Book) List() ([]string, error) {
	names, err := b.names()
	var ids []string
	for _, name := range names {
		if id, ok := strings.CutSuffix(name, requestSuffix); ok {
			if _, ok := madeAt(id); ok {
				ids = append(ids, id)
			}
		}
	}
	return ids, err
}

// Steps returns the tickets of a session's steps and messages, the oldest first, and those
// without an answer.
func (b Book) Steps(root, session string) (all, pending []string, err error) {
	names, err := b.names()
	key := sessionKey(root, session)
	for _, name := range names {
		id, ok := strings.CutSuffix(name, requestSuffix)
		if !ok || id == "" || id[0] != stepKind || !strings.HasSuffix(id, key) {
			continue
		}
		all = append(all, id)
		if _, answered := slices.BinarySearch(names, id+answerSuffix); !answered {
			pending = append(pending, id)
		}
	}
	return all, pending, err
}
