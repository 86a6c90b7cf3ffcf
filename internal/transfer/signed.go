package transfer

import (
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/identity"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/signature"
)

// The lists of signed statements about the lines of a store are on a remote under
// refs/cairn/signatures/<key>/<store id>/, with the names of the lines. No project's key is "signatures",
// so releases that know no signatures do not look there.

// signaturesName stands for a list of statements among the names of lines.
const signaturesName = "signatures"

// signedName is the name of a list among the lines of a store.
func signedName(line string) string {
	return strings.TrimPrefix(history.RefSignatures, history.RefRoot) + line
}

// signedSpec is the refspec of the lists below a name.
func signedSpec(name string) string {
	return "+" + history.RefSignatures + name + ":" + history.RefSignatures + name
}

// signedSpecs lists the own lists to push. place is the key and the id of the store.
func (r *Transport) signedSpecs(place string) (specs []pushSpec, err error) {
	refs, err := r.DB.Refs(history.RefSignatures)
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		line := strings.TrimPrefix(ref.Name, history.RefSignatures)
		if ref.Err != nil || strings.HasPrefix(history.RefRoot+line, history.RefRemotes) {
			continue
		}
		specs = append(specs, pushSpec{name: signaturesName, id: ref.ID, to: history.RefSignatures + place + "/" + line, force: true})
	}
	return specs, nil
}

// signaturesOf reads the lists that came from other stores. A list that cannot be read is logged and left
// out: the lines count. So is a list of a line that was not wanted: the line here may be older, and lack what was signed.
func (r *Transport) signaturesOf(q *odb.Quarantine, want *wanted, own string) (list []odb.Ref, err error) {
	refs, err := q.Refs(history.RefSignatures)
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		key, name, _ := strings.Cut(strings.TrimPrefix(ref.Name, history.RefSignatures), "/")
		store, line, ok := strings.Cut(name, "/")
		if ref.Err != nil || !ok || line == "" || !identity.IsKey(key) || !isStoreID(store) || store == own {
			continue
		}
		if want.only != nil && !want.only(store, signedName(line)) {
			continue
		}
		if !readableList(q, ref.ID) {
			r.Log.Warn("signatures left out: the list cannot be read", "store", store, "line", line)
			continue
		}
		to := signature.Ref(strings.TrimPrefix(history.RefRemotes, history.RefRoot) + name)
		if old, err := r.DB.Ref(to); err != nil || old != ref.ID {
			list = append(list, odb.Ref{Name: to, ID: ref.ID})
		}
	}
	return list, nil
}

// readableList reports whether an object of a quarantine is a list of statements.
func readableList(q *odb.Quarantine, id object.ID) bool {
	if q.Kind(id) != object.Blob {
		return false
	}
	_, data, err := q.Read(id)
	if err != nil || len(data) > signature.MaxSize {
		return false
	}
	_, err = signature.Decode(data)
	return err == nil
}

// adoptSignatures sets the refs of lists whose objects are in the store.
func (r *Transport) adoptSignatures(l *history.Locked, list []odb.Ref) error {
	r.Holds(l)
	for _, ref := range list {
		if ok, err := r.DB.Has(ref.ID); err != nil || !ok {
			continue // a cleaning has dropped it meanwhile; the next fetch brings it
		}
		if err := r.DB.SetRef(ref.Name, ref.ID); err != nil {
			return err
		}
	}
	return nil
}
