package cairn_test

import (
	"context"
	"log"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn"
)

// project is the directory of an example, with its store beside it.
type project struct {
	base, dir string
	repo      *cairn.Repo
}

func newProject() *project {
	base, err := os.MkdirTemp("", "cairn-example")
	check(err)
	p := &project{base: base, dir: filepath.Join(base, "project")}
	check(os.Mkdir(p.dir, 0o755))
	p.repo, err = cairn.Open(cairn.Options{Root: p.dir, DataDir: filepath.Join(base, "data")})
	check(err)
	return p
}

func (p *project) close() {
	check(p.repo.Close())
	check(os.RemoveAll(p.base))
}

func (p *project) write(name, text string) {
	check(os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644))
}

func (p *project) remove(name string) { check(os.Remove(filepath.Join(p.dir, name))) }

// track returns the hash of a new checkpoint.
func (p *project) track() string {
	t, err := p.repo.Track(context.Background(), cairn.TrackOptions{})
	check(err)
	return t.Hash
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
