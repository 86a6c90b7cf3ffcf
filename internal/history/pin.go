package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Errors of pins.
var (
	// ErrExists: the name is given to another checkpoint.
	ErrExists = errors.New("already exists")

	// ErrName: no checkpoint, or no project, can have such a name.
	ErrName = errors.New("unusable name")
)

// Pin is a name for a checkpoint. A pinned checkpoint is never cleaned away.
type Pin struct {
	Name       string `json:"name"`
	Checkpoint string `json:"checkpoint"` // the commit
	Hash       string `json:"hash"`       // the tree; "" if the checkpoint cannot be read

	Fetched *Machine `json:"fetched,omitempty"` // whose it is, from FetchedPins
}

// Pin gives a checkpoint a name, which is then accepted like a hash. cairn.Repo.Pin states the
// contract.
func (r *Store) Pin(ctx context.Context, spec, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	return r.Exclusive(ctx, func(*Locked) error {
		c, err := r.Lookup(ctx, spec)
		if err != nil {
			return err
		}
		old, err := r.DB.Ref(pinRef(name))
		switch {
		case err == nil && old == c.id:
			return nil
		case err == nil:
			return fmt.Errorf("%w: %q is the name of checkpoint %s (unpin it first)", ErrExists, name, old)
		case !errors.Is(err, odb.ErrNotFound):
			return err
		}
		return r.DB.SetRef(pinRef(name), c.id)
	})
}

// Unpin removes a name. The checkpoint stays until its line is cleaned away.
func (r *Store) Unpin(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	return r.Exclusive(ctx, func(*Locked) error {
		err := r.DB.DeleteRef(pinRef(name))
		if errors.Is(err, odb.ErrNotFound) {
			return state.NotFound("pin %q", name)
		}
		return err
	})
}

// Pins lists the pins, sorted by the bytes of their names. A pin that cannot be read is left out. A
// pin whose checkpoint cannot be read is listed.
func (r *Store) Pins(ctx context.Context) ([]Pin, error) {
	refs, err := r.DB.Refs(RefPins)
	if err != nil {
		return nil, err
	}
	pins := []Pin{}
	for _, ref := range refs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if pin, ok := r.pinOf(ref, RefPins); ok {
			pins = append(pins, pin)
		}
	}
	slices.SortFunc(pins, func(a, b Pin) int { return strings.Compare(a.Name, b.Name) })
	return pins, nil
}

// pinOf reads the pin of a ref with a prefix.
func (r *Store) pinOf(ref odb.Ref, prefix string) (pin Pin, ok bool) {
	name, ok := PinName(RefPins + strings.TrimPrefix(ref.Name, prefix))
	if !ok || ref.Err != nil {
		r.Log.Warn("pin left out", "ref", ref.Name, "error", ref.Err)
		return pin, false
	}
	pin = Pin{Name: name, Checkpoint: ref.ID.String()}
	if c, err := r.ReadCheckpoint(ref.ID); err == nil {
		pin.Hash = c.Hash
	}
	return pin, true
}

// FetchedPins lists the pins that other stores have pushed, sorted by their names and their stores, as Pins does.
func (r *Store) FetchedPins(ctx context.Context) ([]Pin, error) {
	refs, err := r.fetchedPinRefs("")
	if err != nil {
		return nil, err
	}
	whose := r.whose()
	pins := []Pin{}
	for _, ref := range refs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		store, _ := fetchedName(ref.Name)
		pin, ok := r.pinOf(ref, RefRemotes+store+"/"+namesOfPins)
		if !ok {
			continue
		}
		from := whose(store)
		pin.Fetched = &from
		pins = append(pins, pin)
	}
	slices.SortFunc(pins, func(a, b Pin) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Fetched.Store, b.Fetched.Store))
	})
	return pins, nil
}

// namesOfPins begins the names of pins among the refs of a fetched store.
var namesOfPins = strings.TrimPrefix(RefPins, RefRoot)

// fetchedPinRefs lists the refs of the pins of other stores with a name, "" for all.
func (r *Store) fetchedPinRefs(name string) ([]odb.Ref, error) {
	return r.DB.RefsOf(RefRemotes, func(ref string) bool {
		_, there := fetchedName(ref)
		text, ok := strings.CutPrefix(there, namesOfPins)
		return ok && (name == "" || text == encodeName(name))
	})
}

// fetchedPin returns the checkpoint of a pin of another store, odb.ErrNotFound for none. Stores may have given the name
// to several checkpoints: that is state.ErrAmbiguous.
func (r *Store) fetchedPin(name string) (id object.ID, err error) {
	refs, err := r.fetchedPinRefs(name)
	if err != nil {
		return id, err
	}
	for _, ref := range refs {
		switch {
		case ref.Err != nil:
			return id, ref.Err
		case !id.IsZero() && id != ref.ID:
			return id, fmt.Errorf("%w: %q is the name of %s and of %s on other machines (give the id)", state.ErrAmbiguous, name, id, ref.ID)
		}
		id = ref.ID
	}
	if id.IsZero() {
		err = odb.ErrNotFound
	}
	return id, err
}

// maxName is the length in bytes of the longest name.
const maxName = 200

func checkName(name string) error {
	why := ""
	switch {
	case name == "":
		why = "is empty"
	case len(name) > maxName:
		return fmt.Errorf("%w: has %d bytes, at most %d can be", ErrName, len(name), maxName)
	case !utf8.ValidString(name):
		why = "is not UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		why = "holds a control character"
	case strings.HasPrefix(name, "@"):
		why = "begins with @"
	case strings.Contains(name, ".."):
		why = "holds .."
	case hashPrefix(name):
		why = "looks like a hash"
	default:
		return nil
	}
	return fmt.Errorf("%w: %q %s", ErrName, name, why)
}

// The encoding of names in refs. Every file system and every git must accept them and tell them
// apart. Lower-case letters, digits, '-', '_' and '.' are written as they are. Every other byte is
// '%' and two hex digits. So are upper-case letters, because many file systems ignore case, and
// characters that are special in some place: a dot at either end or after another dot, the dot of a
// final ".lock", the first letter of Windows' device names.
//
// A file name has at most 255 bytes, and git appends to it. Longer names are split into nested
// directories: all pieces but the last end in '+', and all but the first begin with it. No other
// piece does, so no name is a directory of another.
const pieceLength = 180

func pinRef(name string) string { return RefPins + encodeName(name) }

func encodeName(name string) string {
	text := make([]byte, 0, 3*len(name))
	for i := range len(name) {
		if plainInName(name, i) {
			text = append(text, name[i])
		} else {
			text = fmt.Appendf(text, "%%%02x", name[i])
		}
	}
	pieces := slices.Collect(slices.Chunk(text, pieceLength))
	out := string(pieces[0])
	for _, piece := range pieces[1:] {
		out += "+/+" + string(piece)
	}
	return out
}

// plainInName reports whether the byte at i is written as it is.
func plainInName(name string, i int) bool {
	c := name[i]
	switch {
	case c == '.':
		return i > 0 && i < len(name)-1 && name[i-1] != '.' && name[i:] != ".lock"
	case i == 0 && isDevice(name):
		return false
	}
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// isDevice reports whether Windows takes a file of this name for a device. Windows ignores the part
// after a dot.
func isDevice(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	switch strings.TrimRight(stem, "0123456789") {
	case "con", "prn", "aux", "nul", "com", "lpt", "conin", "conout":
		return true
	}
	return false
}

// PinName is the inverse of pinRef. It refuses refs that pinRef does not make, such as one that
// another program has written there.
func PinName(ref string) (name string, ok bool) {
	name, ok = decodeName(strings.TrimPrefix(ref, RefPins))
	return name, ok && checkName(name) == nil
}

// decodeName is the inverse of encodeName. It refuses what encodeName does not make.
func decodeName(text string) (name string, ok bool) {
	whole := strings.ReplaceAll(text, "+/+", "")
	var out []byte
	for i := 0; i < len(whole); i++ {
		c := whole[i]
		if c == '%' {
			if _, err := fmt.Sscanf(whole[i+1:min(i+3, len(whole))], "%02x", &c); err != nil {
				return "", false
			}
			i += 2
		}
		out = append(out, c)
	}
	name = string(out)
	return name, name != "" && encodeName(name) == text
}
