package session

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/process"
	"github.com/seed-fb9cbc17/cairn/internal/secrets"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// record is the content of one checkpoint of a session's line: the events since the checkpoint
// before, and a digest of the session, so that listing sessions reads one checkpoint of each.
type record struct {
	Version int     `json:"v"`
	Events  []event `json:"events"`
	Now     digest  `json:"now"`
}

const recordVersion = 1

// digest is a summary of a session.
type digest struct {
	ID            string            `json:"id"`
	Parent        string            `json:"parent,omitempty"`
	ParentMessage string            `json:"parentMessage,omitempty"` // of the parent, at the beginning
	ParentStep    string            `json:"parentStep,omitempty"`    // that was open then
	Title         string            `json:"title,omitempty"`         // the host's
	First         string            `json:"first,omitempty"`         // the first prompt, cut; see titleOf
	Meta          map[string]string `json:"meta,omitempty"`
	Created       int64             `json:"created"` // times are nanoseconds since 1970, UTC
	At            int64             `json:"at"`
	Messages      int               `json:"messages"`
	Steps         int               `json:"steps"`
	Open          string            `json:"open,omitempty"`
	OpenMessage   string            `json:"openMessage,omitempty"` // of the step that is open
	Chain         bool              `json:"chain,omitempty"`       // there are reverts: the counts are those without them
	Fork          *ForkPoint        `json:"fork,omitempty"`
	Clock         process.Instant   `json:"clock,omitzero"`    // at the time At
	Work          *Work             `json:"work,omitempty"`    // the newest, as if nothing were reverted
	Further       cairn.Paths       `json:"further,omitempty"` // other roots, sorted
	Told          string            `json:"told,omitempty"`    // the newest operation when the host was last told what went back
}

// Kinds of events.
const (
	kindBegin    = "begin"
	kindMessage  = "message"
	kindParts    = "parts" // more parts of a message
	kindStep     = "step"  // begins; the checkpoint is the state before
	kindHint     = "hint"
	kindOwner    = "owner" // further owners of a step
	kindEnd      = "end"   // the checkpoint is the state after
	kindRevert   = "revert"
	kindUnrevert = "unrevert"
	kindCommit   = "commit" // the revert is final
	kindDrop     = "drop"   // steps leave together with those of the parent
	kindFork     = "fork"
	kindInGit    = "inGit"  // a turn became a commit of the user's repository
	kindResume   = "resume" // the session was fetched and goes on here
	kindTold     = "told"   // the host was told what went back
)

// event is one event of a session. Its kind decides which fields count.
type event struct {
	Kind    string            `json:"kind"`
	Message string            `json:"message,omitempty"`
	Step    string            `json:"step,omitempty"`
	Role    string            `json:"role,omitempty"`
	Prompt  string            `json:"prompt,omitempty"`
	Meta    map[string]string `json:"meta,omitempty"`
	Parts   []Part            `json:"parts,omitempty"`
	Paths   cairn.Paths       `json:"paths,omitempty"`  // hints
	Absent  cairn.Paths       `json:"absent,omitempty"` // of these and of the directories above, from the root: where nothing stood
	Files   cairn.Paths       `json:"files,omitempty"`  // changed by a step, absolute, if they are few
	Changed int               `json:"changed,omitempty"`
	First   cairn.Paths       `json:"first,omitempty"` // of the changed files, if they are many

	Owner *Owner `json:"owner,omitempty"` // of a step

	Root cairn.Path `json:"root,omitempty"` // where the project lay for the events before, see kindResume

	Commit string `json:"commit,omitempty"` // in the user's repository, of a message

	Outside string `json:"outside,omitempty"` // id of the record of paths outside the root, of a step

	// Of a step that begins or ends with an earlier state than that of the checkpoint.
	State *moment `json:"state,omitempty"`

	// Of the end of a step: its owner did not say it. Abandoned: the owner is gone.
	Forced    bool `json:"forced,omitempty"`
	Abandoned bool `json:"abandoned,omitempty"`

	// Of a revert: Message and Part are the boundary as hosts show it, Undone the steps
	// that were taken back. Of a drop: the steps that leave. Of a word to the host: the boundary in
	// effect; Told is the newest operation. Overwritten are those of Undone that this revert, or one before it that is
	// in effect, has taken back with the policy Overwrite.
	Part        string    `json:"part,omitempty"`
	Start       bool      `json:"start,omitempty"`
	Undone      []stepRef `json:"undone,omitempty"`
	Overwritten []stepRef `json:"overwritten,omitempty"`
	Told        string    `json:"told,omitempty"`
}

// moment is a state of the line and its time.
type moment struct {
	ID   string `json:"id"` // checkpoint
	Hash string `json:"hash"`
	At   int64  `json:"at"`
}

type stepRef struct {
	Session string `json:"session"`
	Step    string `json:"step"`
}

// UnmarshalJSON implements json.Unmarshaler. Records of earlier releases have "session"
// and "message".
func (f *ForkPoint) UnmarshalJSON(data []byte) error {
	type plain ForkPoint
	known := struct {
		plain
		OldSession string `json:"session"`
		OldMessage string `json:"message"`
	}{}
	if err := json.Unmarshal(data, &known); err != nil {
		return err
	}
	*f = ForkPoint(known.plain)
	f.Session, f.Message = cmp.Or(f.Session, known.OldSession), cmp.Or(f.Message, known.OldMessage)
	return nil
}

// maxFiles is the number of changed files that a record lists. Beyond it, the list comes from a
// comparison.
const maxFiles = 500

// decode reads the record of a checkpoint, an empty one if there is none.
func (s *Sessions) decode(e *operation.LineEvent) (*record, error) {
	rec := &record{}
	if len(e.Record) == 0 {
		return rec, nil
	}
	if err := json.Unmarshal(e.Record, rec); err != nil {
		return nil, fmt.Errorf("session: %w: record of checkpoint %s: %w", cairn.ErrCorrupt, e.ID, err)
	}
	if rec.Version != recordVersion {
		return nil, fmt.Errorf("session: %w", state.LaterRelease("record of version %d", rec.Version))
	}
	if s.lines.NoPrompts() {
		rec.forgetTexts()
	}
	return rec, nil
}

// begins reports whether a session begins with the record. A later beginning only fills in
// what was lacking: there are messages before it.
func (r *record) begins() bool {
	begins, messages := false, 0
	for _, ev := range r.Events {
		begins = begins || ev.Kind == kindBegin
		if ev.Kind == kindMessage {
			messages++
		}
	}
	return begins && r.Now.Messages <= messages
}

// checkID refuses ids that cannot be stored.
func checkID(what, id string) error {
	why := ""
	switch {
	case id == "":
		why = "is empty"
	case len(id) > MaxID:
		return fmt.Errorf("%w: the %s has %d bytes, at most %d can be", ErrID, what, len(id), MaxID)
	case !utf8.ValidString(id):
		why = "is not UTF-8"
	default:
		return nil
	}
	return fmt.Errorf("%w: the %s %s", ErrID, what, why)
}

// checkIDs checks ids that may be missing.
func checkIDs(what string, ids ...string) error {
	for _, id := range ids {
		if id != "" {
			if err := checkID(what, id); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkParts(parts []Part) error {
	for i := range parts {
		if err := checkID("id of a part", parts[i].ID); err != nil {
			return err
		}
	}
	return nil
}

// MaxPrompt is the number of bytes of a prompt that are stored.
const MaxPrompt = 16 << 10

func shorten(prompt string) string { return wording.Beginning(prompt, MaxPrompt) }

func instant(ns int64) time.Time { return time.Unix(0, ns).UTC() }

// MaxMeta is the largest size of a host's metadata, in bytes of JSON.
const MaxMeta = 16 << 10

func checkMeta(meta map[string]string) error {
	size := 0
	for key, value := range meta {
		size += len(key) + len(value) + len(`"":"",`)
	}
	if size > MaxMeta {
		return fmt.Errorf("%w: metadata of %d bytes, at most %d can be", ErrID, size, MaxMeta)
	}
	return nil
}

// said is a text of the user, or of an agent about it, as it is stored.
func (s *Sessions) said(text string) string {
	if s.lines.NoMask() {
		return shorten(text)
	}
	return secrets.MaskBeginning(text, MaxPrompt)
}

// maskCommands masks the secrets of the commands of an event.
func (s *Sessions) maskCommands(ev *event) {
	if s.lines.NoMask() {
		return
	}
	ev.Meta = maskCommand(ev.Meta)
	var parts []Part
	for _, p := range ev.Parts {
		p.Meta = maskCommand(p.Meta)
		parts = append(parts, p)
	}
	ev.Parts = parts
}

// maskCommand returns the metadata of a step or of a part without secrets in the command of a tool.
func maskCommand(meta map[string]string) map[string]string {
	masked := secrets.Mask(meta[MetaCommand])
	if masked == meta[MetaCommand] {
		return meta
	}
	out := maps.Clone(meta)
	out[MetaCommand] = masked
	return out
}

// moveRoot maps the absolute paths of a record from the root on one machine to that on this one.
// Others stay.
func (r *record) moveRoot(from, to string) {
	if from == "" || from == to {
		return
	}
	if len(from) > 1 && from[1] == ':' { // of Windows
		from = strings.ReplaceAll(from, `\`, "/")
	}
	for i := range r.Events {
		ev := &r.Events[i]
		for _, paths := range []cairn.Paths{ev.Files, ev.First, ev.Paths} {
			for j, path := range paths {
				if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(from, "/")+"/"); ok {
					paths[j] = strings.TrimSuffix(to, "/") + "/" + rest
				}
			}
		}
	}
}

// movedFrom returns the root that the earlier records of a line have, "" for that of this one.
func (r *record) movedFrom() string {
	for i := range r.Events {
		if r.Events[i].Root != "" {
			return string(r.Events[i].Root)
		}
	}
	return ""
}
