package object_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// store is the repository of an oracle. Objects reach it as a pack, which git takes
// in without a look at them; by any other way it would refuse most of what these
// tests write.
type store struct {
	*gittest.Oracle
	t       *testing.T
	deflate *zlib.Writer
	entries bytes.Buffer
	count   uint32
	held    map[object.ID]bool
}

func newStore(t *testing.T) *store {
	t.Helper()
	return &store{Oracle: gittest.NewOracle(t), t: t, deflate: zlib.NewWriter(nil), held: make(map[object.ID]bool)}
}

// put adds an object to the pack.
func (s *store) put(kind object.Kind, content []byte) object.ID {
	s.t.Helper()
	id := object.Sum(kind, content)
	if s.held[id] {
		return id
	}
	s.held[id] = true
	size := uint64(len(content))
	head := []byte{byte(kind)<<4 | byte(size&15)}
	for size >>= 4; size > 0; size >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(size&0x7f))
	}
	s.entries.Write(head)
	s.deflate.Reset(&s.entries)
	s.deflate.Write(content)
	if err := s.deflate.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.count++
	return id
}

// flush makes git take in the pack.
func (s *store) flush() {
	s.t.Helper()
	pack := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), s.count)
	pack = append(pack, s.entries.Bytes()...)
	sum := sha1.Sum(pack)
	s.Feed(s.Store(), string(append(pack, sum[:]...)), "index-pack", "--stdin")
	s.entries.Reset()
	s.count = 0
}

// complaints returns what git's fsck says about each object, as a list of message
// ids. One bad object is added, so that silence is noticed.
func (s *store) complaints() map[string][]string {
	s.t.Helper()
	s.put(object.Blob, []byte("hello\n"))
	s.put(object.Tree, nil)
	bad := s.put(object.Tree, []byte(raw("100644", "..")))
	s.flush()
	_, err := s.Try(s.Store(), "fsck", "--strict", "--full", "--no-dangling", "--no-progress")
	if err == nil {
		s.t.Fatal("git fsck accepts a bad object")
	}
	said := make(map[string][]string)
	for line := range strings.Lines(err.Error()) {
		words := strings.Fields(line) // error in tree ID: messageID: text
		if i := slices.Index(words, "in"); i >= 0 && len(words) > i+3 {
			id := strings.TrimSuffix(words[i+2], ":")
			said[id] = append(said[id], strings.TrimSuffix(words[i+3], ":"))
		}
	}
	if !slices.Equal(said[bad.String()], []string{"hasDotdot"}) {
		s.t.Fatalf("git fsck cannot be understood: %.1000v", err)
	}
	return said
}

// dotGitPieces make names that are, nearly are, or are not .git.
var dotGitPieces = []string{
	".git", ".git", ".git", ".GIT", "git~1", "GIT~1", ".", "g", "G", "i", "I", "t", "T", ".g", "it", "git",
	" ", " ", ".", ".", ":", ":", `\`, `\`, "x", "~", "1", "~1", "\t", "\x01", "\u200c", "\u200f", "\u2010", "\u202a", "\u202e", "\u202f",
	"\u206a", "\u2069", "\u2070", "\ufeff", "\u0301", "\u0131", "\ufffd", "\ufffe", "\uffff", "\U0001fffe", "\xff", "\xc3", "\xe2\x80",
}

func TestNamesAgainstFsck(t *testing.T) {
	t.Parallel()
	o := newStore(t)
	o.NeedVersion(2, 25)
	rng := rand.New(rand.NewPCG(3, 4))
	names := make(map[string]string)
	for range 10_000 {
		var name string
		for range 1 + rng.IntN(4) {
			name += dotGitPieces[rng.IntN(len(dotGitPieces))]
		}
		names[o.put(object.Tree, []byte(raw("100644", name))).String()] = name
	}
	said := o.complaints()
	for id, name := range names {
		if got, want := object.IsDotGit(name), slices.Contains(said[id], "hasDotgit"); got != want {
			t.Errorf("IsDotGit(%q) = %v, git fsck says %v", name, got, said[id])
		}
		if got, want := object.SafeName(name), len(said[id]) == 0; got != want {
			t.Errorf("SafeName(%q) = %v, git fsck says %v", name, got, said[id])
		}
	}
}

// TestTreesAgainstFsck: ParseTree refuses exactly what fsck calls broken in the
// structure of a tree, and SafeName every name that it does not like.
func TestTreesAgainstFsck(t *testing.T) {
	t.Parallel()
	o := newStore(t)
	o.NeedVersion(2, 29) // finds duplicates with others between them
	rng := rand.New(rand.NewPCG(5, 6))
	trees := make(map[string][]byte)
	for range 10_000 {
		data := randomTree(rng)
		trees[o.put(object.Tree, data).String()] = data
	}
	said := o.complaints()
	broken := 0
	for id, data := range trees {
		entries, err := object.ParseTree(data)
		if want := containsAny(said[id], "badTree", "duplicateEntries", "emptyName", "fullPathname", "hasDot", "hasDotdot", "treeNotSorted"); want != (err != nil) {
			t.Errorf("ParseTree(%q): %v, git fsck says %v", data, err, said[id])
		}
		if err != nil {
			broken++
			continue
		}
		unsafe := slices.ContainsFunc(entries, func(e object.Entry) bool { return !object.SafeName(e.Name) })
		if want := slices.Contains(said[id], "hasDotgit"); unsafe != want {
			t.Errorf("unsafe names in %q: %v, git fsck says %v", data, unsafe, said[id])
		}
	}
	if broken < len(trees)/10 || broken > len(trees)*9/10 {
		t.Errorf("%d of %d random trees are broken: too one-sided", broken, len(trees))
	}
}

func containsAny(list []string, any ...string) bool {
	return slices.ContainsFunc(any, func(s string) bool { return slices.Contains(list, s) })
}

// randomTree is nearly right: a few entries, sorted more often than not, with names
// that are close to each other in git's order and some that must not be.
func randomTree(rng *rand.Rand) []byte {
	names := []string{"a", "a", "a", "a-", "a.", "a.b", "a0", "aa", "b", "\x01", "\xff", ".gitx"}
	hostile := []string{"", ".", "..", "a/b", "/", ".git", "git~1", ".git ", ".g\u200cit", ".git\xff"}
	modes := []string{"100644", "100755", "120000", "40000", "40000", "160000", "100664", "040000", "40755", "120777"}
	type line struct{ mode, name string }
	lines := make([]line, rng.IntN(6))
	for i := range lines {
		lines[i] = line{modes[rng.IntN(len(modes))], names[rng.IntN(len(names))]}
		if rng.IntN(20) == 0 {
			lines[i].name = hostile[rng.IntN(len(hostile))]
		}
	}
	if rng.IntN(4) > 0 {
		slices.SortFunc(lines, func(a, b line) int {
			return object.CompareNames(a.name, strings.HasPrefix(strings.TrimLeft(a.mode, "0"), "4"), b.name, strings.HasPrefix(strings.TrimLeft(b.mode, "0"), "4"))
		})
	}
	var data []byte
	for _, l := range lines {
		id := someID
		if strings.HasPrefix(strings.TrimLeft(l.mode, "0"), "4") {
			id = object.EmptyTree
		}
		data = append(data, l.mode+" "+l.name+"\x00"+string(id[:])...)
	}
	if rng.IntN(20) == 0 {
		data = data[:rng.IntN(len(data)+1)]
	}
	return data
}

func TestBlobsAgainstHashObject(t *testing.T) {
	t.Parallel()
	o := newStore(t)
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(7, 8))
	var paths, want []string
	for _, size := range []int{0, 1, 2, 9, 10, 55, 56, 63, 64, 65, 4095, 4096, 4097, 100_000, 1 << 20} {
		content := make([]byte, size)
		for i := range content {
			content[i] = byte(rng.Uint32())
		}
		path := filepath.Join(dir, fmt.Sprint(size))
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		paths, want = append(paths, path), append(want, object.Sum(object.Blob, content).String())
	}
	out := o.Feed(o.Store(), strings.Join(paths, "\n")+"\n", "hash-object", "--no-filters", "--stdin-paths")
	if diff := cmp.Diff(strings.Fields(out), want); diff != "" {
		t.Errorf("git hash-object, then Sum:\n%s", diff)
	}
}

func TestTreesAgainstMktree(t *testing.T) {
	t.Parallel()
	o := newStore(t)
	rng := rand.New(rand.NewPCG(9, 10))
	var feed strings.Builder
	var want []string
	for range 300 {
		entries := randomEntries(rng)
		for _, e := range entries {
			kind := map[object.Mode]string{object.Dir: "tree", object.Gitlink: "commit"}[e.Mode]
			if kind == "" {
				kind = "blob"
			}
			fmt.Fprintf(&feed, "%s %s %s\t%s\x00", e.Mode, kind, e.ID, e.Name)
		}
		feed.WriteByte(0)
		object.SortEntries(entries)
		want = append(want, object.Sum(object.Tree, object.AppendTree(nil, entries)).String())
	}
	ids := strings.Fields(o.Feed(o.Store(), feed.String(), "mktree", "-z", "--missing", "--batch"))
	if diff := cmp.Diff(ids, want); diff != "" {
		t.Fatalf("git mktree, then AppendTree:\n%s", diff)
	}
	rest := o.Feed(o.Store(), strings.Join(ids, "\n")+"\n", "cat-file", "--batch=%(objectsize)")
	for _, id := range ids {
		var size int
		head, content, _ := strings.Cut(rest, "\n")
		if _, err := fmt.Sscan(head, &size); err != nil || size >= len(content) {
			t.Fatalf("git cat-file: %q, %v", head, err)
		}
		entries, err := object.ParseTree([]byte(content[:size]))
		if got := object.Sum(object.Tree, object.AppendTree(nil, entries)).String(); err != nil || got != id {
			t.Errorf("tree %s read and written again: %s, %v", id, got, err)
		}
		rest = content[size+1:]
	}
}

// randomEntries has names of every byte that a name may hold, each once.
func randomEntries(rng *rand.Rand) []object.Entry {
	modes := []object.Mode{object.Regular, object.Executable, object.Symlink, object.Dir, object.Gitlink}
	taken := make(map[string]bool)
	entries := []object.Entry{}
	for range rng.IntN(30) {
		name := make([]byte, 1+rng.IntN(4))
		for i := range name {
			name[i] = byte(1 + rng.IntN(255))
			if rng.IntN(2) == 0 {
				name[i] = "a-.0a "[rng.IntN(6)]
			}
		}
		s := strings.ReplaceAll(string(name), "/", "\xff")
		if taken[s] || s == "." || s == ".." {
			continue
		}
		taken[s] = true
		e := object.Entry{Name: s, Mode: modes[rng.IntN(len(modes))]}
		for i := range e.ID {
			e.ID[i] = byte(rng.Uint32())
		}
		entries = append(entries, e)
	}
	return entries
}

func TestCommitsAgainstCommitTree(t *testing.T) {
	t.Parallel()
	o := newStore(t)
	tree := o.put(object.Tree, nil)
	o.flush()
	var parents []object.ID
	for _, message := range []string{"one\n", "two lines\nhere\n\n and more\n", "\n", "no newline", "not ASCII é\n", " \n\n\n"} {
		args := []string{"commit-tree", tree.String(), "-F", "-"}
		for _, p := range parents {
			args = append(args, "-p", p.String())
		}
		id := strings.TrimSpace(o.Feed(o.Store(), message, args...))
		want := o.Git("cat-file", "commit", id)
		c := decode(t, want)
		ours := &object.CommitData{Tree: tree, Parents: parents, Author: ada, Committer: ada, Message: c.Message}
		if diff := cmp.Diff(want, encode(t, ours)); diff != "" {
			t.Errorf("git commit-tree, then AppendCommit:\n%s", diff)
		}
		if strings.TrimRight(c.Message, "\n") != strings.TrimRight(message, "\n") {
			t.Errorf("message %q is read as %q", message, c.Message)
		}
		parents = append(parents, object.Sum(object.Commit, []byte(want)))
		if parents[len(parents)-1].String() != id {
			t.Errorf("git says %s, Sum %s", id, parents[len(parents)-1])
		}
	}
}

// TestFsckAcceptsCommits: hostile signatures and a long header of cairn's own are
// nothing to git's fsck, and git reads the signatures as ParseCommit does.
func TestFsckAcceptsCommits(t *testing.T) {
	t.Parallel()
	o := newStore(t)
	tree := o.put(object.Tree, nil)
	rng := rand.New(rand.NewPCG(11, 12))
	commits := make(map[string]*object.CommitData)
	for range 500 {
		c := &object.CommitData{Tree: tree, Author: randomSignature(rng), Committer: randomSignature(rng), Message: "m\n"}
		c.Extra = []object.Header{{"cairn", `{"v":1,"perms":{` + strings.Repeat(`"path\n":"600",`, rng.IntN(1000)) + `}}`}}
		if rng.IntN(4) == 0 {
			c.Extra = append(c.Extra, object.Header{Key: "other", Value: "\n\ntwo\n lines\n"})
		}
		if rng.IntN(2) == 0 {
			c.Message = ""
		}
		data := []byte(encode(t, c))
		commits[o.put(object.Commit, data).String()] = decode(t, string(data))
	}
	long := &object.CommitData{Tree: tree, Author: ada, Committer: ada}
	long.Extra = []object.Header{{"cairn", strings.Repeat(`{"a long path":"600"}`, 1<<18)}}
	commits[o.put(object.Commit, []byte(encode(t, long))).String()] = long

	said := o.complaints()
	var ids strings.Builder
	for id, c := range commits {
		if len(said[id]) > 0 {
			t.Errorf("git fsck says %v about a commit of %+v, %+v", said[id], c.Author, c.Committer)
		}
		ids.WriteString(id + "\n")
	}
	out := o.Feed(o.Store(), ids.String(), "log", "--no-walk=unsorted", "--stdin", "-z", "--encoding=", "--date=raw",
		"--format=%H%n%an%n%ae%n%ad%n%T")
	read := 0
	for text := range strings.SplitSeq(strings.Trim(out, "\x00"), "\x00") {
		fields := strings.Split(text, "\n")
		c := commits[fields[0]]
		if c == nil {
			t.Fatalf("git log: %q", text)
		}
		want := []string{fields[0], c.Author.Name, c.Author.Email, fmt.Sprint(c.Author.When.Unix(), c.Author.When.Format(" -0700")), tree.String()}
		if diff := cmp.Diff(want, fields); diff != "" {
			t.Errorf("ParseCommit, then git log:\n%s", diff)
		}
		read++
	}
	if read != len(commits) {
		t.Errorf("git log shows %d of %d commits", read, len(commits))
	}
}

func randomSignature(rng *rand.Rand) object.Signature {
	pieces := []string{"Ada", "a", " ", "<", ">", "\n", "\x00", "\xff", "é", "\u00a0", ".", ",", `"`, "@", "\t", "\r", "-", "0"}
	text := func() string {
		var s string
		for range rng.IntN(6) {
			s += pieces[rng.IntN(len(pieces))]
		}
		return s
	}
	zone := time.FixedZone("", rng.IntN(60*3600)-30*3600)
	return object.Signature{Name: text(), Email: text(), When: time.Unix(rng.Int64N(1<<33)-1<<30, rng.Int64N(1e9)).In(zone)}
}
