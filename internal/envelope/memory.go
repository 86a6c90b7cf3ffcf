package envelope

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Pushes is what a store remembers of its sealed pushes, by remote. Others is the key that says that more was known.
type Pushes map[string]*Pushed

// Others stands for remotes of which it is not known any more whether pushes to them are sealed.
const Others = ""

// Pushed is what a store remembers of one remote.
type Pushed struct {
	Recipients []string `json:"recipients"`
	Shown      bool     `json:"shown,omitempty"` // sealed lines of other stores of the project came from there, and nothing else is known
	There      *State   `json:"there,omitempty"` // after the last push
	Begun      *State   `json:"begun,omitempty"` // of a push of whose end nothing is known
}

// State is what a store has on a remote.
type State struct {
	ID     string `json:"id"`
	Proof  string `json:"proof"`
	Number int64  `json:"number"`
	Note   string `json:"note"`  // id of the blob
	About  string `json:"about"` // hash of what the note says beside the parts
	For    string `json:"for"`   // hash of the recipients
	Parts  []Sent `json:"parts"`
	Again  bool   `json:"again,omitempty"` // another program has moved the note, and this store has written it again
}

// Sent is a part with the id of its tree.
type Sent struct {
	Part
	Tree string `json:"tree"`
}

// DecodePushes reads what Encode has written.
func DecodePushes(data []byte) (Pushes, error) {
	var p Pushes
	if err := decodeMap(data, &p); err != nil {
		return nil, fmt.Errorf("what is known of sealed pushes: %w", err)
	}
	for where, at := range p {
		if at == nil {
			delete(p, where)
		}
	}
	return p, nil
}

// Encode writes JSON.
func (p Pushes) Encode() ([]byte, error) { return json.Marshal(p) }

// Forked returns what a fork takes over: for whom pushes are sealed, and nothing of what the store has on remotes.
func (p Pushes) Forked() Pushes {
	out := make(Pushes)
	for where, at := range p {
		out[where] = &Pushed{Recipients: at.Recipients}
	}
	return out
}

// Fingerprint is a hash of recipients in any order. That of none is "".
func Fingerprint(recipients []string) string {
	if len(recipients) == 0 {
		return ""
	}
	list := slices.Compact(slices.Sorted(slices.Values(recipients)))
	sum := sha256.Sum256([]byte(strings.Join(list, "\n")))
	return hex.EncodeToString(sum[:8])
}

// Listed returns the parts as a note lists them.
func (s *State) Listed() []Part {
	list := []Part{}
	for i := range s.Parts {
		list = append(list, s.Parts[i].Part)
	}
	return list
}

// Seen is what a store remembers of the notes that it has read, by id.
type Seen map[string]SeenNote

// SeenNote is what a store remembers of one id.
type SeenNote struct {
	Proof  string   `json:"proof"`
	Number int64    `json:"number"`
	Parts  []string `json:"parts,omitempty"` // names of those whose objects have come
}

// DecodeSeen reads what Encode has written.
func DecodeSeen(data []byte) (Seen, error) {
	var s Seen
	if err := decodeMap(data, &s); err != nil {
		return nil, fmt.Errorf("what is known of sealed notes: %w", err)
	}
	return s, nil
}

// decodeMap reads a JSON object. The null of JSON is none.
func decodeMap[M ~map[string]V, V any](data []byte, into *M) error {
	if err := json.Unmarshal(data, into); err != nil {
		return err
	}
	if *into == nil {
		return errors.New("it holds null")
	}
	return nil
}

// Add takes over what else was read. Of one id the newer note counts, and of one note what says more.
func (s Seen) Add(more Seen) (changed bool) {
	for id, n := range more {
		old, ok := s[id]
		if !ok || n.Number > old.Number || n.Number == old.Number && len(n.Parts) > len(old.Parts) {
			s[id], changed = n, true
		}
	}
	return changed
}

// Encode writes JSON.
func (s Seen) Encode() ([]byte, error) { return json.Marshal(s) }

// Check refuses a note that is older than one that was seen, or that has another proof.
func (s Seen) Check(n *Note) error {
	old, ok := s[n.ID]
	switch {
	case !ok:
		return nil
	case old.Proof != n.Proof:
		return fmt.Errorf("%w: the note of %s lacks the proof that the others had", ErrForeign, n.ID)
	case n.Number < old.Number:
		return fmt.Errorf("%w: note %s has number %d and had %d. Where the remote was restored from a backup, a push from that machine mends it; "+
			"where the machine is gone, git push REMOTE --delete %s drops the note", ErrReplayed, n.ID, n.Number, old.Number, RefNotes+n.ID)
	}
	return nil
}

// Without returns the parts before the index end whose objects have not come.
func (s SeenNote) Without(parts []Part, end int) (list []Part) {
	for _, p := range parts[:end] {
		if !slices.Contains(s.Parts, p.Name()) {
			list = append(list, p)
		}
	}
	return list
}
