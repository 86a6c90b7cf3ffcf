package usergit

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Add writes a blob as it is.
func (s *Scratch) Add(content []byte) (string, error) {
	sum := s.newHash()
	var object bytes.Buffer
	packed := zlib.NewWriter(&object)
	both := io.MultiWriter(sum, packed)
	fmt.Fprintf(both, "blob %d\x00", len(content))
	if _, err := both.Write(content); err != nil {
		return "", err
	}
	if err := packed.Close(); err != nil {
		return "", err
	}
	id := hex.EncodeToString(sum.Sum(nil))
	dir := filepath.Join(s.dir, "objects", id[:2])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return id, os.WriteFile(filepath.Join(dir, id[2:]), object.Bytes(), 0o600)
}

func (s *Scratch) newHash() hash.Hash {
	if s.idLength == hex.EncodedLen(sha256.Size) {
		return sha256.New()
	}
	return sha1.New()
}

// writeEmpty writes a tree into the repository if it is the empty one. git commit takes it for known and
// does not write it, and git fsck then misses it.
func (s *Scratch) writeEmpty(ctx context.Context, tree string) error {
	sum := s.newHash()
	io.WriteString(sum, "tree 0\x00")
	if tree != hex.EncodeToString(sum.Sum(nil)) {
		return nil
	}
	_, err := s.repo.output(ctx, call{args: []string{"hash-object", "-w", "-t", "tree", "--stdin"}})
	return err
}

// Blob returns the contents of a blob. Those of more than limit bytes are left out.
func (s *Scratch) Blob(ctx context.Context, id string, limit int64) (content []byte, tooLarge bool, err error) {
	if s.reader == nil {
		if s.reader, err = s.newReader(ctx); err != nil {
			return nil, false, err
		}
	}
	return s.reader.read(id, limit)
}

// blobReader is one git that reads all blobs.
type blobReader struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (s *Scratch) newReader(ctx context.Context) (*blobReader, error) {
	r := &blobReader{cmd: s.repo.command(ctx, call{args: []string{"cat-file", "--batch"}, env: s.env()})}
	var err error
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.out = bufio.NewReader(out)
	return r, r.cmd.Start()
}

func (r *blobReader) read(id string, limit int64) ([]byte, bool, error) {
	if _, err := fmt.Fprintln(r.in, id); err != nil {
		return nil, false, fmt.Errorf("git cat-file: %w", err)
	}
	head, err := r.out.ReadString('\n')
	if err != nil {
		return nil, false, fmt.Errorf("git cat-file: %w", err)
	}
	var name, kind string
	var size int64
	if n, _ := fmt.Sscanf(head, "%s %s %d", &name, &kind, &size); n != 3 || kind != "blob" {
		return nil, false, fmt.Errorf("git cat-file: no blob %s: %q", id, head)
	}
	if size > limit {
		_, err = io.CopyN(io.Discard, r.out, size+1)
		return nil, true, err
	}
	content := make([]byte, size+1) // and a line feed
	_, err = io.ReadFull(r.out, content)
	return content[:size], false, err
}

func (r *blobReader) close() error {
	err := r.in.Close()
	if wait := r.cmd.Wait(); wait != nil && !errors.As(wait, new(*exec.ExitError)) {
		err = errors.Join(err, wait)
	}
	return err
}
