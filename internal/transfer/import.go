package transfer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Import reads a checkpoint from a bundle that Export has written, for this root or another.
// cairn.Repo.Import states the contract.
func (r *Transport) Import(ctx context.Context, rd io.Reader) (c *history.Checkpoint, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("import: %w", err)
		}
	}()
	in := bufio.NewReader(rd)
	id, err := readBundleHead(in)
	if err != nil {
		return nil, err
	}
	pack, err := r.DB.ReceivePack(ctx, in)
	if err != nil {
		return nil, bundleError(err)
	}
	defer func() { err = errors.Join(err, pack.Close()) }()
	if err := auditBundle(pack, id); err != nil {
		return nil, badBundle("%w", err)
	}
	err = r.Exclusive(ctx, func(*history.Locked) error {
		batch := r.DB.NewBatch()
		defer batch.Discard()
		if err := pack.AddTo(ctx, batch); err != nil {
			return bundleError(err)
		}
		if err := batch.Commit(); err != nil {
			return err
		}
		return r.DB.SetRef(history.RefImported+id.String(), id)
	})
	if err != nil {
		return nil, err
	}
	if c, err = r.ReadCheckpoint(id); err == nil {
		r.tellPurged(ctx, []object.ID{history.TreeOf(c)}, "the imported checkpoint")
	}
	return c, err
}

// auditBundle checks that a pack holds one complete checkpoint without history and nothing else.
func auditBundle(pack *odb.Incoming, id object.ID) error {
	a := newAudit(pack)
	c, err := a.checkpoint(id)
	if err != nil {
		return err
	}
	if len(c.Parents) > 0 {
		return errors.New("its checkpoint has a history (cairn export leaves it out)")
	}
	if extra := pack.Len() - 1 - len(a.trees) - len(a.blobs); extra != 0 {
		return fmt.Errorf("it holds %s that its checkpoint does not need", wording.Count(extra, "object"))
	}
	return nil
}

// maxBundleLines limits the head of a bundle. A head that Export writes has three lines.
const maxBundleLines = 16

// readBundleHead reads what precedes the pack and returns the checkpoint's id.
func readBundleHead(in *bufio.Reader) (id object.ID, err error) {
	magic, err := readBundleLine(in)
	if err != nil {
		return id, err
	}
	if magic != "# v2 git bundle" && magic != "# v3 git bundle" {
		return id, badBundle("not a git bundle of version 2 or 3")
	}
	found := false
	for range maxBundleLines {
		line, err := readBundleLine(in)
		switch {
		case err != nil:
			return id, err
		case line == "" && !found:
			return id, badBundle("no checkpoint in it (want a ref %s<id>)", refExported)
		case line == "":
			return id, nil
		case line[0] == '@' && magic == "# v3 git bundle":
			if line != "@object-format=sha1" {
				return id, badBundle("it needs %q, which is not known", line[1:])
			}
			continue
		case line[0] == '-':
			return id, badBundle("it builds on commits that are not in it")
		}
		next, name, err := parseBundleRef(line)
		if err != nil {
			return id, err
		}
		if !id.IsZero() && next != id {
			return id, badBundle("more than one checkpoint in it")
		}
		id = next
		found = found || name != "HEAD"
	}
	return id, badBundle("more than one checkpoint in it")
}

// parseBundleRef accepts HEAD, and a checkpoint's own ref.
func parseBundleRef(line string) (id object.ID, name string, err error) {
	digits, name, _ := strings.Cut(line, " ")
	if id, err = object.ParseID(digits); err != nil || id.IsZero() || digits != id.String() {
		return id, "", badBundle("its head holds %.80q", line)
	}
	if name != "HEAD" && name != refExported+digits {
		return id, "", badBundle("%.200q is not an exported checkpoint", name)
	}
	return id, name, nil
}

// readBundleLine reads a line of bounded length, without its line end.
func readBundleLine(in *bufio.Reader) (string, error) {
	line, err := in.ReadSlice('\n')
	switch {
	case err == io.EOF && len(line) == 0:
		return "", badBundle("it ends early")
	case err == io.EOF:
		return "", badBundle("its head ends early")
	case errors.Is(err, bufio.ErrBufferFull):
		return "", badBundle("a line of its head has no end")
	case err != nil:
		return "", err
	}
	return string(line[:len(line)-1]), nil
}
