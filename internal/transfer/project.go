package transfer

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/identity"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// The lines of a store are on a remote under refs/cairn/<key>/<store id>/, with the names that they
// have here. The key is that of the project, see package identity. The store id is random and made
// when it is first needed. So any number of projects and machines share one repository, and no store
// moves the lines of another. A blob under refs/cairn/about/<key>/<store id> says whose the lines
// are. Fetched lines of other stores go to refs/cairn/remotes/<store id>/.

// Project returns what the project is known by, and why that is only its path, nil where there is no
// git repository.
func (r *Transport) Project(ctx context.Context) (p identity.Project, why, err error) {
	known, err := r.knownProject()
	if err != nil {
		return known, nil, err
	}
	return identity.Of(ctx, r.Repository(), r.Root, known)
}

// knownProject reads what the project was known by.
func (r *Transport) knownProject() (identity.Project, error) {
	data, err := r.DB.ReadPrivate(odb.PrivateProject)
	if errors.Is(err, odb.ErrNotFound) {
		return identity.Project{}, nil
	}
	if err != nil {
		return identity.Project{}, err
	}
	p, err := identity.Decode(data)
	if err != nil && !errors.Is(err, identity.ErrLater) {
		err = fmt.Errorf("%w: %w (cairn doctor --fix sets %s aside; then cairn adopt --id again, if an id was given)",
			state.ErrCorrupt, err, r.DB.PrivatePath(string(odb.PrivateProject)))
	}
	return p, err
}

// ensureIdentity returns the id of this store and the project, and writes both if the store lacks them.
func (r *Transport) ensureIdentity(ctx context.Context) (id string, p identity.Project, err error) {
	if p, _, err = r.Project(ctx); err != nil {
		return "", p, err
	}
	known, err := r.knownProject()
	if err != nil {
		return "", p, err
	}
	id, err = r.DB.Identity(false)
	if err == nil && known == p || err != nil && !errors.Is(err, odb.ErrNotFound) {
		return id, p, err
	}
	err = r.Exclusive(ctx, func(l *history.Locked) error {
		if id, err = r.DB.Identity(true); err != nil {
			return err
		}
		return r.writeProject(l, p)
	})
	return id, p, err
}

func (r *Transport) writeProject(l *history.Locked, p identity.Project) error {
	r.Holds(l)
	data, err := p.Encode()
	if err != nil {
		return err
	}
	return r.DB.WritePrivate(odb.PrivateProject, data)
}

// SetProjectID gives the project an id. "" takes the id back.
func (r *Transport) SetProjectID(ctx context.Context, id string) error {
	if id != "" {
		if err := identity.CheckID(id); err != nil {
			return fmt.Errorf("%w: %w", history.ErrName, err)
		}
	}
	return r.Exclusive(ctx, func(l *history.Locked) error {
		p, err := r.knownProject()
		if err != nil {
			return err
		}
		p.Given = id
		return r.writeProject(l, p)
	})
}
