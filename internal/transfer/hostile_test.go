package transfer

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// fakeRemote speaks git's protocol, version 0, over a TCP connection, and says what it likes.
type fakeRemote struct {
	refs    func(key string) []string // "<id> <name>"
	objects []packed
	pack    []byte // in place of one of objects
	talks   bool   // for ever, in place of sending a pack
	endless bool   // refs
}

// fakeLine is a remote with one good line.
func fakeLine() *fakeRemote {
	blob := blobOf("x\n")
	tree := treeOf(object.Entry{Name: "a", Mode: object.Regular, ID: blob.id()})
	commit := commitOf(tree)
	return &fakeRemote{
		refs: func(key string) []string {
			return []string{commit.id().String() + " refs/cairn/" + key + "/fedcba9876543210/tracks/fine"}
		},
		objects: []packed{commit, tree, blob},
	}
}

// listen answers every connection, and returns the URL for a machine.
func (r *fakeRemote) listen(t *testing.T, m *machine) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("no loopback: %v", err)
	}
	key := state.ProjectID(m.Root)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r.answer(conn, key) // its error means that the client is gone
		}
	}()
	t.Cleanup(func() { l.Close(); <-answered })
	return "git://" + l.Addr().String() + "/x.git"
}

func pkt(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }

// readPkt reads one packet; flush is "".
func readPkt(r io.Reader) (string, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return "", err
	}
	n, err := strconv.ParseUint(string(head[:]), 16, 16)
	if err != nil || n < 4 {
		return "", err
	}
	text := make([]byte, n-4)
	_, err = io.ReadFull(r, text)
	return string(text), err
}

func (r *fakeRemote) answer(conn net.Conn, key string) {
	defer conn.Close()
	in, out := bufio.NewReader(conn), bufio.NewWriter(conn)
	if _, err := readPkt(in); err != nil {
		return
	}
	if !r.advertise(out, key) {
		return
	}
	for wants := true; ; {
		text, err := readPkt(in)
		switch {
		case err != nil:
			return
		case text == "" && !wants:
			out.WriteString(pkt("NAK\n"))
			out.Flush()
		case text == "":
			wants = false
		case strings.HasPrefix(text, "done"):
			out.WriteString(pkt("NAK\n"))
			r.send(out)
			return
		}
	}
}

func (r *fakeRemote) advertise(out *bufio.Writer, key string) bool {
	for i, ref := range r.refs(key) {
		if i == 0 {
			ref += "\x00side-band-64k"
		}
		out.WriteString(pkt(ref + "\n"))
	}
	for i := 0; r.endless; i++ {
		if _, err := out.WriteString(pkt(fmt.Sprintf("%040x refs/heads/%09d\n", i+1, i))); err != nil {
			return false
		}
	}
	out.WriteString("0000")
	return out.Flush() == nil
}

func (r *fakeRemote) send(out *bufio.Writer) {
	for n := 0; r.talks; n++ {
		if _, err := out.WriteString(pkt(fmt.Sprintf("\x02Counting objects: %d\r", n))); err != nil || out.Flush() != nil {
			return
		}
	}
	data := r.pack
	if data == nil {
		data = packOf(int64(len(r.objects)), r.objects...)
	}
	for part := range slices.Chunk(data, 60_000) {
		out.WriteString(pkt("\x01" + string(part)))
	}
	out.WriteString("0000")
	out.Flush()
}

// A remote that names its refs as it likes reaches no ref but those of fetched lines, and no file outside
// the store. What it names well may come.
func TestFetchEvilNames(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	gittest.NewOracle(t)
	const own = "/fedcba9876543210/"
	for why, name := range map[string]string{
		"above":          "refs/cairn/KEY" + own + "tracks/../../../../heads/x",
		"far above":      "refs/cairn/KEY/../../../../../../x",
		"a branch":       "refs/heads/main",
		"HEAD":           "HEAD",
		"another store":  "refs/cairn/sessions/s",
		"the disk":       "refs/cairn/disk",
		"absolute":       "/etc/x",
		"a line feed":    "refs/cairn/KEY" + own + "tracks/a\x01b",
		"an escape":      "refs/cairn/KEY" + own + "tracks/\x1b[2J",
		"a space":        "refs/cairn/KEY" + own + "tracks/a b",
		"a lock":         "refs/cairn/KEY" + own + "tracks/x.lock",
		"a backslash":    "refs/cairn/KEY" + own + `tracks/..\..\x`,
		"a dot":          "refs/cairn/KEY" + own + "tracks/.git",
		"an empty part":  "refs/cairn/KEY" + own + "tracks//x",
		"very long":      "refs/cairn/KEY" + own + "tracks/" + strings.Repeat("x", 5000),
		"very deep":      "refs/cairn/KEY" + own + strings.Repeat("x/", 2000) + "x",
		"a wrong store":  "refs/cairn/KEY/FEDCBA9876543210/tracks/x",
		"a file's child": "refs/cairn/KEY" + own + "tracks/fine/below",
		"no UTF-8":       "refs/cairn/KEY/fedcba987654321\xff/tracks/x",
	} {
		f := newMachine(t)
		f.track(map[string]string{"a": "1\n"})
		good := fakeLine()
		fine := good.refs
		good.refs = func(key string) []string {
			refs := fine(key)
			id, _, _ := strings.Cut(refs[0], " ")
			return append(refs, id+" "+strings.ReplaceAll(name, "KEY", key))
		}
		around, before := aroundStore(t, f), f.listing()
		_, err := f.Fetch(t.Context(), good.listen(t, f))
		if err != nil && strings.ContainsFunc(wording.Printable(err.Error()), func(r rune) bool { return r < ' ' }) {
			t.Errorf("%s: the message has control characters: %q", why, err)
		}
		if now := aroundStore(t, f); !slices.Equal(now, around) {
			t.Errorf("%s: beside the store there is %q, was %q", why, now, around)
		}
		if err != nil {
			f.same(before, why)
			continue
		}
		refs, rerr := f.DB.Refs("refs/")
		if rerr != nil {
			t.Fatal(rerr)
		}
		for _, ref := range refs {
			path := filepath.Join(f.DB.Dir(), filepath.FromSlash(ref.Name))
			if _, old := before[path]; !old && ref.Name != history.RefRemotes+"fedcba9876543210/tracks/fine" {
				t.Errorf("%s: ref %q has come", why, ref.Name)
			}
		}
	}
}

// aroundStore lists the directory that the store lies in.
func aroundStore(t *testing.T, m *machine) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(m.DB.Dir()))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// bombOf is a pack of one object that declares another size than it has.
func bombOf(kind object.Kind, declared uint64, content []byte) []byte {
	var b bytes.Buffer
	b.WriteString("PACK")
	binary.Write(&b, binary.BigEndian, []uint32{2, 1})
	first := byte(kind)<<4 | byte(declared&15)
	for declared >>= 4; ; declared >>= 7 {
		if declared == 0 {
			b.WriteByte(first)
			break
		}
		b.WriteByte(first | 0x80)
		first = byte(declared & 0x7f)
	}
	z := zlib.NewWriter(&b)
	z.Write(content)
	z.Close()
	sum := sha1.Sum(b.Bytes())
	return append(b.Bytes(), sum[:]...)
}

// A pack that promises or inflates to more than it is ends the fetch with its reason.
func TestFetchBomb(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	gittest.NewOracle(t)
	for why, test := range map[string]struct {
		pack []byte
		want string
	}{
		"a tree that declares a terabyte":   {bombOf(object.Tree, 1<<40, []byte("x")), "needs more memory than 256 MiB"},
		"a commit that declares a terabyte": {bombOf(object.Commit, 1<<40, []byte("x")), "needs more memory than 256 MiB"},
		"a blob that declares an exabyte":   {bombOf(object.Blob, 1<<60, []byte("x")), "git: "},
		"a tree that inflates to more":      {bombOf(object.Tree, 10, make([]byte, 8<<20)), "git: "},
		"a blob that inflates to more":      {bombOf(object.Blob, 10, make([]byte, 64<<20)), "git: "},
		"a pack of 4 billion objects":       {append([]byte("PACK\x00\x00\x00\x02\xff\xff\xff\xff"), make([]byte, 64)...), "git: "},
		"no pack":                           {[]byte("no pack at all, but some text"), "git: "},
		"an empty pack":                     {packOf(0), "git: "},
		"half a pack":                       {packOf(3, fakeLine().objects...)[:60], "git: "},
	} {
		f := newMachine(t)
		f.track(map[string]string{"a": "1\n"})
		remote := fakeLine()
		remote.pack = test.pack
		before := f.listing()
		_, err := f.Fetch(t.Context(), remote.listen(t, f))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", why, err, test.want)
		}
		f.same(before, why)
	}
}

// A remote with very many refs of other projects, and many of this one, is fetched from as any other.
func TestFetchManyRefs(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	gittest.NewOracle(t)
	f := newMachine(t)
	f.track(map[string]string{"a": "1\n"})
	remote := fakeLine()
	fine := remote.refs
	const others, more = 300_000, 500
	remote.refs = func(key string) []string {
		refs := fine(key)
		id, name, _ := strings.Cut(refs[0], " ")
		for i := range others {
			refs = append(refs, fmt.Sprintf("%s refs/cairn/%016x/fedcba9876543210/tracks/x", id, i))
		}
		for i := range more {
			refs = append(refs, fmt.Sprintf("%s %s%d", id, name, i))
		}
		return refs
	}
	fetched, err := f.Fetch(t.Context(), remote.listen(t, f))
	if err != nil || len(fetched) != more+1 {
		t.Errorf("fetched %d lines, %v", len(fetched), err)
	}
}

// Links in a repository on disk lead git where they lead; nothing of that but checkpoints comes here.
func TestFetchSymlinks(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := bareRepository(t, o)
	f := newMachine(t)
	c := f.track(map[string]string{"a": "1\n"})
	f.push(dir)
	id, err := f.DB.Identity(false)
	if err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("the secret of another file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	line := filepath.Join(dir, "refs", "cairn", state.ProjectID(f.Root), id, "tracks", "linked")
	if err := os.Symlink(secret, line); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	g := f.other()
	before := g.listing()
	if fetched, err := g.Fetch(t.Context(), dir); err != nil {
		if strings.Contains(err.Error(), "the secret") {
			t.Errorf("the message tells the file: %v", err)
		}
		g.same(before, "a line that is a link")
	} else if len(fetched) != 1 {
		t.Errorf("fetched %q", fetched)
	}
	if err := os.Remove(line); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "objects")
	for _, err := range []error{os.Rename(filepath.Join(dir, "objects"), elsewhere), os.Symlink(elsewhere, filepath.Join(dir, "objects"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	h := f.other()
	h.fetch(dir)
	if _, err := h.Lookup(t.Context(), c.ID); err != nil {
		t.Error(err)
	}
}
