package envelope

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/identity"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
)

// The prefixes of the refs on a remote. No project's key is "sealed" or "parts", so releases that do not know
// them do not look there.
const (
	RefNotes = "refs/cairn/sealed/" // and the id
	RefParts = "refs/cairn/parts/"  // and the id, a slash and the name of the part
)

// The errors that callers distinguish, beside those of a settings.Sealer.
var (
	ErrReplayed = errors.New("the remote shows an older state than it did before")
	ErrForeign  = errors.New("the remote shows a state that its owner has not pushed")
	ErrLater    = errors.New("a later release of cairn wrote it")
)

// Limits of a note from elsewhere.
const (
	MaxNote  = 16 << 20 // bytes, sealed or open
	maxParts = 100_000
)

const noteVersion = 1

// Note is the list of what a store has pushed.
type Note struct {
	Version int             `json:"v"`
	ID      string          `json:"id"`     // the one of its ref
	Proof   string          `json:"proof"`  // the same in every note of the id
	Number  int64           `json:"number"` // grows with each note
	Key     string          `json:"key"`    // of the project
	Store   string          `json:"store"`
	About   json.RawMessage `json:"about"` // the note of an open push
	Parts   []Part          `json:"parts"` // each may need those before it
}

// Part is one pack.
type Part struct {
	Sum  string            `json:"sum"`  // SHA-256 of the sealed bytes, hexadecimal
	Size int64             `json:"size"` // sealed bytes
	Tips map[string]string `json:"tips"` // newest commits that it brought, by the names of their refs below refs/cairn/
}

// Name is the last part of the ref.
func (p *Part) Name() string { return p.Sum[:min(len(p.Sum), 16)] }

// Ref is the ref of a part on a remote.
func (p *Part) Ref(id string) string { return RefParts + id + "/" + p.Name() }

// NewID draws an id or a proof: 32 hexadecimal digits.
func NewID() string {
	var raw [16]byte
	rand.Read(raw[:]) // never fails, see crypto/rand
	return hex.EncodeToString(raw[:])
}

// IsID reports whether a text is an id.
func IsID(text string) bool { return isHex(text, 32) }

func isHex(text string, digits int) bool {
	return len(text) == digits && strings.Trim(text, "0123456789abcdef") == ""
}

// Head is the newest commit of a line, and the part that brought it.
type Head struct {
	ID   object.ID
	Part int
}

// Heads returns the newest commits of all lines in some parts. A later part counts.
func Heads(parts []Part) map[string]Head {
	heads := make(map[string]Head)
	for i, p := range parts {
		for name, text := range p.Tips {
			if id, err := object.ParseID(text); err == nil {
				heads[name] = Head{id, i}
			}
		}
	}
	return heads
}

// Seal encrypts a note for recipients.
func (n *Note) Seal(by settings.Sealer, recipients []string) ([]byte, error) {
	n.Version = noteVersion
	text, err := json.Marshal(n)
	if err == nil && len(text) > MaxNote {
		err = fmt.Errorf("%d bytes are too many", len(text)) // no reader takes it
	}
	if err != nil {
		return nil, fmt.Errorf("seal the note: %w", err)
	}
	var out bytes.Buffer
	w, err := by.Seal(&out, recipients)
	if err != nil {
		return nil, err
	}
	z := gzip.NewWriter(w)
	_, err = z.Write(text)
	if err := errors.Join(err, z.Close(), w.Close()); err != nil {
		return nil, fmt.Errorf("seal the note: %w", err)
	}
	if out.Len() > MaxNote {
		return nil, fmt.Errorf("seal the note: %d bytes are too many", out.Len())
	}
	return out.Bytes(), nil
}

// Open decrypts the note of an id with the content of a file of identities. The error is settings.ErrKey where
// it is for other recipients, ErrLater where this release does not know its form, and settings.ErrIdentity where the identities cannot be used.
func Open(by settings.Sealer, id string, data, identities []byte) (*Note, error) {
	r, err := by.Open(bytes.NewReader(data), identities)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, damaged(err)
	}
	text, err := io.ReadAll(io.LimitReader(z, MaxNote+1))
	if err == nil && len(text) > MaxNote {
		err = errors.New("it is too long")
	}
	if err != nil {
		return nil, damaged(err)
	}
	var form struct{ V int }
	if err := json.Unmarshal(text, &form); err != nil {
		return nil, damaged(err)
	}
	if form.V > noteVersion {
		return nil, fmt.Errorf("the note has version %d: %w", form.V, ErrLater)
	}
	n := new(Note)
	if err := json.Unmarshal(text, n); err != nil {
		return nil, damaged(err)
	}
	return n, n.check(id)
}

func damaged(err error) error {
	if errors.Is(err, settings.ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w: %w", settings.ErrDamaged, err)
}

// check looks at what a note says of itself. Anyone with a recipient can seal one.
func (n *Note) check(id string) error {
	switch {
	case n.Version != noteVersion:
		return damaged(fmt.Errorf("the note has version %d", n.Version))
	case n.ID != id:
		return fmt.Errorf("%w: the note of %.32q lies in the place of %s", ErrForeign, n.ID, id)
	case !isHex(n.Proof, 32) || n.Number <= 0 || !identity.IsKey(n.Key) || !isHex(n.Store, 16) || len(n.Parts) > maxParts:
		return damaged(errors.New("the note makes no sense"))
	}
	for _, p := range n.Parts {
		if !isHex(p.Sum, 64) || p.Size <= 0 {
			return damaged(errors.New("the note lists a part that makes no sense"))
		}
		for name, text := range p.Tips {
			if tip, err := object.ParseID(text); err != nil || tip.IsZero() {
				return damaged(fmt.Errorf("the note lists line %.80q at %.80q", name, text))
			}
		}
	}
	return nil
}
