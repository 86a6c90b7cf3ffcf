package repair

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// unreadable returns the fault of a store with a file that the user may not read, as after a command of root; nil for
// none. Such a file is no damage: to set it aside would take whole checkpoints away.
func (r *Doctor) unreadable() (fault *Fault) {
	_ = filepath.WalkDir(r.DB.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			f, oerr := atomicfile.Open(path)
			if oerr == nil {
				return f.Close()
			}
			err = oerr
		}
		if !errors.Is(err, fs.ErrPermission) {
			return nil // the other checks look for damage
		}
		fault = &Fault{
			Kind: "store", Path: state.Path(path), Text: "permission denied; nothing else was looked at",
			Repair: "where another user, such as root, has worked here, give back what lies there: chown -R USER " + r.Opt.DataDir + "; the store may be whole",
		}
		return fs.SkipAll
	})
	return fault
}
