package cairn

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// besides are the Repos of other roots that a Repo has opened.
type besides struct {
	mu     sync.Mutex
	repos  map[string]*Repo // by root
	closed bool
}

// Beside returns the Repo of another root, for sessions and operations that go over several roots. It
// is opened with Options.ForRoot and closed with r. A root that is gone is ErrRoot, also where it was
// there before.
func (r *Repo) Beside(root string) (*Repo, error) {
	root, err := state.ResolveRoot(root)
	if err != nil {
		return nil, err
	}
	r.beside.mu.Lock()
	defer r.beside.mu.Unlock()
	if r.beside.closed {
		return nil, fmt.Errorf("store %s: %w", r.StoreDir(), os.ErrClosed)
	}
	if known := r.beside.repos[root]; known != nil {
		return known, nil
	}
	opt, err := r.optionsFor(root)
	if err != nil {
		return nil, err
	}
	other, err := Open(opt)
	if err != nil {
		return nil, err
	}
	if r.beside.repos == nil {
		r.beside.repos = make(map[string]*Repo)
	}
	r.beside.repos[root] = other
	return other, nil
}

// optionsFor returns the options for another root. Its store lies where that of r does, because an
// operation of several roots is finished by looking at the stores of all.
func (r *Repo) optionsFor(root string) (Options, error) {
	opt := r.store.Opt
	if opt.ForRoot != nil {
		var err error
		if opt, err = opt.ForRoot(root); err != nil {
			return opt, err
		}
	} else {
		opt.GitDir, opt.GitWorkTree = "", ""
	}
	opt.Root, opt.DataDir, opt.Watch = root, r.store.Opt.DataDir, false
	return opt, nil
}

func (r *Repo) operatorBeside(root string) (*operation.Operator, error) {
	other, err := r.Beside(root)
	if err != nil {
		return nil, err
	}
	return other.operator, nil
}

func (b *besides) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	var errs []error
	for root, other := range b.repos {
		errs = append(errs, other.Close())
		delete(b.repos, root)
	}
	return errors.Join(errs...)
}
