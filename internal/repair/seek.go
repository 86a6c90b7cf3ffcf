package repair

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// seek brings lost objects back from the places. A tree that comes back may name more lost objects,
// so the search starts again after it.
func (m *mender) seek(ctx context.Context, places []place) error {
	for _, p := range places {
		for len(m.lost) > 0 {
			n, err := m.recoverFrom(ctx, p)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			if n == 0 {
				break
			}
			m.reset()
			if err := m.walk(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// recoverFrom brings back the lost objects of one place and returns their number.
func (m *mender) recoverFrom(ctx context.Context, p place) (n int, err error) {
	if p.prepare != nil {
		if err := p.prepare(ctx, m); err != nil {
			return 0, err
		}
	}
	batch := m.repo.DB.NewBatch()
	defer batch.Discard()
	for id := range m.lost {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		if m.back[id] != "" {
			continue
		}
		ok, err := m.recoverObject(batch, p, id)
		if err != nil {
			return n, err
		}
		if ok {
			m.back[id] = p.name
			n++
		}
	}
	if m.dry() || n == 0 {
		return n, nil
	}
	return n, batch.Commit()
}

// recoverObject adds one object to the batch. It takes only an object that is whole: another place may
// hold it.
func (m *mender) recoverObject(batch *odb.Batch, p place, id object.ID) (bool, error) {
	kind, size, in, err := p.open(id)
	if err != nil {
		return false, nil
	}
	defer in.Close()
	if kind == object.Blob {
		return m.recoverBlob(batch, id, size, in)
	}
	content, err := io.ReadAll(in)
	if err != nil || object.Sum(kind, content) != id {
		return false, nil
	}
	if m.dry() {
		m.held[id] = foundObject{kind, content}
		return true, nil
	}
	_, err = batch.Add(kind, content)
	return err == nil, err
}

func (m *mender) recoverBlob(batch *odb.Batch, id object.ID, size int64, in io.Reader) (bool, error) {
	checked := &failing{r: in}
	if m.dry() {
		h := object.NewHash(object.Blob, size)
		_, err := io.Copy(h, checked)
		return err == nil && object.HashID(h) == id, nil
	}
	got, err := batch.AddBlob(checked, size)
	if checked.err != nil || errors.Is(err, odb.ErrSize) {
		return false, nil // the place is damaged; the batch holds nothing of it
	}
	return err == nil && got == id, err
}

// failing keeps the error of a reader.
type failing struct {
	r   io.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}
