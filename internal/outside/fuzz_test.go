package outside

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

// obviousSecret is a rule of its own for some of the paths that may hold credentials.
func obviousSecret(path string) bool {
	parts := strings.Split(strings.ToLower(filepath.ToSlash(path)), "/")
	name := parts[len(parts)-1]
	for _, dir := range parts[:len(parts)-1] {
		if slices.Contains([]string{".ssh", ".aws", ".gnupg", ".kube", ".azure", ".password-store"}, dir) {
			return true
		}
	}
	return slices.Contains([]string{".env", ".netrc", "credentials", "shadow", ".npmrc", ".git-credentials"}, name) ||
		strings.HasPrefix(name, "id_rsa") || strings.HasPrefix(name, ".env.") || strings.HasSuffix(name, ".pem") || strings.HasSuffix(name, ".key")
}

// fuzzFiles makes the files that names mean, where the system takes them, and returns all paths. None of the
// files lies outside dir, and a path may.
func fuzzFiles(dir, names string, content []byte) (paths []string) {
	for name := range strings.SplitSeq(names, "\n") {
		if len(paths) == 20 || len(name) > 200 {
			break
		}
		path := Absolute(dir, name)
		if len(paths)%2 == 0 && filepath.IsAbs(filepath.FromSlash(name)) {
			path = filepath.Join(dir, name)
		}
		paths = append(paths, path)
		if strings.IndexByte(path, 0) < 0 && realpath.Within(path, dir) && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
			os.WriteFile(path, content, 0o600) // a name that cannot be is a case, too
		}
	}
	return paths
}

// FuzzOutside: whatever a tool names, nothing is saved of a path that may hold credentials or of contents with a
// private key, and a plan touches only paths that are listed as saved.
func FuzzOutside(f *testing.F) {
	const key = "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----\n"
	for _, names := range []string{
		"a\nb/c\n", ".ssh/config\n.SSH/x\n.ssh/../free\nx/.ssh/./id", ".env\n.ENV.local\nid_rsa\nid_rsa.pub\nx.PEM\nserver.key",
		"../up\n../../../../etc/passwd\n/etc/shadow\n/proc/self/mem\n/dev/null", "a\na/b\nd/\nd/x\n.\n..\n/", "x\x00y\n\xff\n\xc3\x28/é\nnul\ncon.txt",
		".git/config\nsub/.git/x\n.aws\n.aws/credentials\ncredentials/x", strings.Repeat("d/", 90) + "f", "\n\n", "~/.netrc\n.netrc\\x\na:b",
	} {
		for i, content := range []string{"", "text", key} {
			f.Add(names, []byte(content), []byte("later"), byte(i))
		}
	}
	s := statetest.NewStore(f)
	k := Keeper{Store: s}
	f.Fuzz(func(t *testing.T, names string, content, later []byte, policy byte) {
		dir := place(t)
		paths := fuzzFiles(dir, names, content)
		batch := s.DB.NewBatch()
		defer batch.Discard()
		list, err := k.Save(batch, paths, make(map[string]bool))
		if err != nil {
			t.Fatal(err)
		}
		named, saved := make(map[string]bool), make(map[string]bool)
		for _, path := range paths {
			named[Place(path)] = true
		}
		for _, e := range list {
			switch path := string(e.Path); {
			case !named[path] || Place(path) != path:
				t.Fatalf("%q is saved, which none of %q names", path, paths)
			case e.Left != "" && (e.ID != "" || e.Mode != 0):
				t.Fatalf("%+v is left and saved", e)
			case e.Left == "" && (Secret(path) || obviousSecret(path)):
				t.Fatalf("%q is saved and may hold a secret", path)
			case e.Mode.IsFile() && bytes.Contains(content, []byte("PRIVATE KEY-----")) && bytes.Contains(content, []byte("-----BEGIN ")) && realpath.Within(path, dir):
				t.Fatalf("a private key is saved: %+v", e)
			case e.Left == "":
				saved[path] = true
			}
		}
		ref, err := Add(s.DB, batch, Record{Before: list})
		if err != nil {
			t.Fatal(err)
		}
		if err := batch.Commit(ref); err != nil {
			t.Fatal(err)
		}
		fuzzFiles(dir, names, later)
		planned(t, k, ref.ID, saved, Policy(policy%3))
	})
}

// planned makes the way back of a record, once without an end, and once with the present state as the end.
func planned(t *testing.T, k Keeper, record object.ID, saved map[string]bool, policy Policy) {
	t.Helper()
	w, err := ReadWay(k.Store, []string{record.String(), "", object.EmptyTree.String()})
	if err != nil {
		t.Fatal(err)
	}
	open := &Way{before: w.before, after: map[string]Entry{}}
	for _, e := range k.After(w.Before()) {
		w.after[string(e.Path)] = e
	}
	for _, way := range []*Way{open, w} {
		p, err := k.Make([]*Way{way, way}, policy)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range p.Steps {
			if path := string(step.Before.Path); !saved[path] || string(step.After.Path) != path || filepath.Join(step.Top, filepath.FromSlash(step.Change.Path)) != path {
				t.Fatalf("%q is planned, and saved are %v", path, saved)
			}
		}
		way.Changes()
		if p.ID() == "" {
			t.Fatal("no id")
		}
	}
}
