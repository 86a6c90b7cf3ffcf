package verify_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// keys are SSH keys of a test, and lists of allowed signers.
type keys struct {
	*testing.T
	dir string
}

func newKeys(t *testing.T) *keys {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is needed")
	}
	return &keys{t, t.TempDir()}
}

// make makes a key and returns the path of its private part.
func (k *keys) make(name, passphrase string) string {
	k.Helper()
	path := filepath.Join(k.dir, name)
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-C", name, "-N", passphrase, "-f", path).CombinedOutput(); err != nil {
		k.Fatalf("%v: %s", err, out)
	}
	return path
}

// allow writes a list with one signer.
func (k *keys) allow(name, options, key string) string {
	k.Helper()
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		k.Fatal(err)
	}
	path := filepath.Join(k.dir, fmt.Sprintf("signers-%d", time.Now().UnixNano()))
	if err := os.WriteFile(path, []byte(strings.Join(strings.Fields(name+" "+options), " ")+" "+string(public)), 0o600); err != nil {
		k.Fatal(err)
	}
	return path
}

// signed is a project with a session whose head is signed.
func signed(t *testing.T) (p *project, k *keys, signers string) {
	t.Helper()
	k = newKeys(t)
	p = worked(t)
	p.opt.Sign = k.make("key", "")
	p.open()
	p.sign()
	return p, k, k.allow("me@example.org", "", p.opt.Sign)
}

func (p *project) sign() []string {
	p.Helper()
	lines, err := p.repo.Sign(p.Context())
	if err != nil {
		p.Fatal(err)
	}
	return lines
}

func (p *project) signatureOf(r *cairn.VerifyReport, ref string) *cairn.VerifySigned {
	for i := range r.Signatures {
		if r.Signatures[i].Ref == ref {
			return &r.Signatures[i]
		}
	}
	return nil
}

// TestSignedHeads: a head that was signed is told with its signer and with the checkpoints since. A head
// that has not moved is not signed again.
func TestSignedHeads(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	p, _, signers := signed(t)
	head := p.git("rev-parse", sessionRef)
	if lines := p.sign(); len(lines) > 0 {
		t.Errorf("signed again: %q", lines)
	}
	p.step("s", "3", "more\n")
	for range 2 {
		r := p.sound(cairn.VerifyOptions{Signers: signers})
		s := p.signatureOf(r, sessionRef)
		if s == nil || s.Checkpoint != head || s.Signer != "me@example.org" || s.Unsigned == 0 {
			t.Fatalf("%+v in %+v", s, r.Signatures)
		}
		if s := p.signatureOf(p.sound(cairn.VerifyOptions{}), sessionRef); s == nil || s.Signer != "" {
			t.Errorf("without a list: %+v", s)
		}
		if lines := p.sign(); !slices.Contains(lines, "sessions/s") {
			t.Errorf("signed %q", lines)
		}
		if s := p.signatureOf(p.sound(cairn.VerifyOptions{Signers: signers}), sessionRef); s == nil || s.Unsigned != 0 {
			t.Errorf("after the second signature: %+v", s)
		}
		head = p.git("rev-parse", sessionRef)
		p.step("s", "4", "and more\n")
	}
}

// TestSignedAndChanged: what cairn does to a signed line is a gap, and what another hand does a finding.
func TestSignedAndChanged(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	type change struct {
		name          string
		do            func(p *project, k *keys)
		finding, text string // "" = none
		gap           string
	}
	for _, c := range []change{
		{"purged and signed", func(p *project, _ *keys) { p.purge() }, "", "", "rewritten"},
		{"purged, signed and purged again", func(p *project, _ *keys) {
			p.purge()
			p.sign()
			p.purge("a")
		}, "", "", "rewritten"},
		{"purged without a key", func(p *project, _ *keys) { p.opt.Sign = ""; p.open(); p.purge() }, "head", "no signed statement says so", "rewritten"},
		{"purged with a key that is gone", func(p *project, _ *keys) { os.Remove(p.opt.Sign); p.purge() }, "head", "no signed statement says so", "rewritten"},
		{"purged with another key", func(p *project, k *keys) { p.opt.Sign = k.make("other", ""); p.open(); p.purge() }, "signature", "signer not known", "rewritten"},
		{"the head is changed", func(p *project, _ *keys) {
			p.git("update-ref", sessionRef, p.forge(sessionRef, func(text string) string { return strings.Replace(text, "author agent", "author user ", 1) }))
		}, "head", "does not hold it", ""},
		{"the ref goes back", func(p *project, _ *keys) { p.git("update-ref", sessionRef, sessionRef+"~1") }, "head", "does not hold it", ""},
		{"the lists are swapped", func(p *project, _ *keys) {
			p.git("update-ref", "refs/cairn/signatures/sessions/s", "refs/cairn/signatures/sessions/other")
		}, "signature", "about another line", ""},
		{"a list is no list", func(p *project, _ *keys) {
			p.git("update-ref", "refs/cairn/signatures/sessions/s", p.git("rev-parse", sessionRef))
		}, "signature", "corrupt", ""},
		{"a statement is changed", func(p *project, _ *keys) { p.restate("sessions/s", "number 1", "number 2") }, "signature", "bad signature", ""},
		{"a head is changed in its statement", func(p *project, _ *keys) {
			p.restate("sessions/s", "head "+p.git("rev-parse", sessionRef), "head "+p.git("rev-parse", sessionRef+"~1"))
		}, "signature", "bad signature", ""},
		{"the line is removed", func(p *project, _ *keys) { p.git("update-ref", "-d", sessionRef) }, "", "", "gone"},
		{"the session is deleted", func(p *project, _ *keys) {
			if err := p.sessions.Delete(p.Context(), "s"); err != nil {
				p.Fatal(err)
			}
		}, "", "", ""},
		{"a cleaning drops the beginning", func(p *project, _ *keys) {
			for n := range 3 {
				p.step("s", fmt.Sprint("new", n), fmt.Sprint(n))
			}
			p.sign()
			if _, err := p.repo.Clean(p.Context(), cairn.CleanOptions{Retention: cairn.Retention{MaxCount: 2, KeepLast: 1}}); err != nil {
				p.Fatal(err)
			}
		}, "", "", "cleaned"},
		{"a cleaning drops the beginning, and leaves objects of it", func(p *project, _ *keys) {
			head := p.git("cat-file", "commit", sessionRef)
			for n := range 3 {
				p.step("s", fmt.Sprint("new", n), fmt.Sprint(n))
			}
			if _, err := p.repo.Clean(p.Context(), cairn.CleanOptions{Retention: cairn.Retention{MaxCount: 2, KeepLast: 1}}); err != nil {
				p.Fatal(err)
			}
			p.oracle.Feed(p.repo.StoreDir(), head+"\n", "hash-object", "-t", "commit", "-w", "--stdin")
		}, "", "", "cleaned"},
		{"a cleaning drops the line, and leaves objects of it", func(p *project, _ *keys) {
			head := p.git("cat-file", "commit", sessionRef)
			for n := range 3 {
				p.step("other", fmt.Sprint("new", n), fmt.Sprint(n))
			}
			if _, err := p.repo.Clean(p.Context(), cairn.CleanOptions{Retention: cairn.Retention{MaxCount: 1, KeepLast: 1}}); err != nil {
				p.Fatal(err)
			}
			p.step("s", "again", "again")
			p.oracle.Feed(p.repo.StoreDir(), head+"\n", "hash-object", "-t", "commit", "-w", "--stdin")
		}, "", "", "cleaned"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, k, signers := signed(t)
			c.do(p, k)
			p.open()
			r := p.verify(cairn.VerifyOptions{Signers: signers})
			if c.finding == "" && !r.Sound || c.finding != "" && !slices.Contains(kinds(r.Findings), c.finding) {
				t.Errorf("findings %v", r.Findings)
			}
			if text := fmt.Sprint(r.Findings); !strings.Contains(text, c.text) {
				t.Errorf("%s does not say %q", text, c.text)
			}
			if c.gap != "" && !slices.Contains(kinds(r.Gaps), c.gap) {
				t.Errorf("gaps %v", r.Gaps)
			}
		})
	}
}

// purge takes out paths, the directory unless others are named.
func (p *project) purge(names ...string) {
	p.Helper()
	if names == nil {
		names = []string{"dir"}
	}
	for i := range names {
		names[i] = filepath.Join(p.root, names[i])
	}
	if _, err := p.repo.Purge(p.Context(), names); err != nil {
		p.Fatal(err)
	}
}

// restate changes the text of the statements of a line.
func (p *project) restate(line, from, to string) {
	p.Helper()
	ref := "refs/cairn/signatures/" + line
	text := p.oracle.In(p.repo.StoreDir(), "cat-file", "blob", ref)
	changed := strings.Replace(text, from, to, 1)
	if changed == text {
		p.Fatalf("%q is not in %s", from, text)
	}
	p.git("update-ref", ref, strings.TrimSpace(p.oracle.Feed(p.repo.StoreDir(), changed, "hash-object", "-w", "--stdin")))
}

// TestStatementsHoldNoPath: neither a purge's statement nor any other names a path or a content.
func TestStatementsHoldNoPath(t *testing.T) {
	t.Parallel()
	p, _, _ := signed(t)
	p.purge()
	p.sign()
	for _, ref := range strings.Fields(p.git("for-each-ref", "--format=%(refname)", "refs/cairn/signatures")) {
		text := p.oracle.In(p.repo.StoreDir(), "cat-file", "blob", ref)
		for _, secret := range []string{"dir", "two", "m-1", p.root} {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds %q: %s", ref, secret, text)
			}
		}
	}
}

// TestSigners: an unknown key and one that was not allowed at the time are findings; one that ended later
// is none.
func TestSigners(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	p, k, signers := signed(t)
	key := p.opt.Sign
	for name, c := range map[string]struct {
		signers string
		sound   bool
	}{
		"known":                {signers, true},
		"valid until later":    {k.allow("me", `valid-before="20990101"`, key), true},
		"ended before":         {k.allow("me", `valid-before="20200101"`, key), false},
		"begins later":         {k.allow("me", `valid-after="20990101"`, key), false},
		"another key":          {k.allow("me", "", k.make("stranger", "")), false},
		"for another purpose":  {k.allow("me", `namespaces="git"`, key), false},
		"for this purpose":     {k.allow("me", `namespaces="git,cairn"`, key), true},
		"several, one of them": {k.allow("me", "", key), true},
	} {
		r := p.verify(cairn.VerifyOptions{Signers: c.signers})
		if r.Sound != c.sound || !c.sound && !slices.Equal(kinds(r.Findings), []string{"signature"}) {
			t.Errorf("%s: sound %v, findings %v", name, r.Sound, r.Findings)
		}
	}
	for _, p := range []*project{p, worked(t)} { // signed or not
		if _, err := p.repo.Verify(t.Context(), cairn.VerifyOptions{Signers: filepath.Join(k.dir, "none")}); err == nil || !strings.Contains(err.Error(), "none") {
			t.Errorf("a list that is not there: %v", err)
		}
	}
}

// TestKeyThatCannotSign: a key that is gone, is no key or has a passphrase that no agent knows is an
// error at once, without a question; nothing is written, and a track goes on.
func TestKeyThatCannotSign(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	k := newKeys(t)
	broken := filepath.Join(k.dir, "broken")
	if err := os.WriteFile(broken, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ key, want string }{
		"gone":       {filepath.Join(k.dir, "none"), "none"},
		"no key":     {broken, "broken"},
		"passphrase": {k.make("locked", "a passphrase"), "locked"},
		"unset":      {"", "no key"},
	} {
		p := newProject(t)
		var log bytes.Buffer
		p.opt.Sign, p.opt.Logger = c.key, slog.New(slog.NewTextHandler(&log, nil))
		p.open()
		p.track()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := p.repo.Sign(ctx)
		if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if refs := p.git("for-each-ref", "refs/cairn/signatures"); refs != "" {
			t.Errorf("%s: %s", name, refs)
		}
		p.purge()
		p.sound(cairn.VerifyOptions{})
		if warned := strings.Contains(log.String(), "without a signature"); warned != (c.key != "") {
			t.Errorf("%s: the log says %s", name, log.String())
		}
	}
}

// TestPushedSignatures: push signs what has moved and sends the signatures along, fetch brings them, and
// the other store verifies them. A key that cannot sign keeps no push.
func TestPushedSignatures(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	p, _, signers := signed(t)
	p.step("s", "5", "five\n")
	remote := filepath.Join(t.TempDir(), "remote.git")
	p.oracle.In(filepath.Dir(remote), "init", "-q", "--bare", remote)
	if _, err := p.repo.Push(t.Context(), remote); err != nil {
		t.Fatal(err)
	}
	head := p.git("rev-parse", sessionRef)
	other := &project{T: t, root: p.root, oracle: p.oracle, opt: p.opt}
	other.opt.DataDir, other.opt.Sign = filepath.Join(t.TempDir(), "data"), ""
	other.open()
	defer other.repo.Close()
	fetch := func() *cairn.VerifySigned {
		t.Helper()
		if _, err := other.repo.Fetch(t.Context(), remote); err != nil {
			t.Fatal(err)
		}
		r := other.sound(cairn.VerifyOptions{Signers: signers})
		for i := range r.Signatures {
			if strings.HasSuffix(r.Signatures[i].Ref, "/sessions/s") {
				return &r.Signatures[i]
			}
		}
		t.Fatalf("%+v", r)
		return nil
	}
	if s := fetch(); s.Checkpoint != head || s.Signer != "me@example.org" || s.Unsigned != 0 {
		t.Errorf("%+v", s)
	}
	p.opt.Sign = filepath.Join(t.TempDir(), "none")
	p.open()
	p.step("s", "6", "six\n")
	if _, err := p.repo.Push(t.Context(), remote); err != nil {
		t.Fatal(err)
	}
	if s := fetch(); s.Checkpoint != head || s.Unsigned == 0 {
		t.Errorf("%+v", s)
	}
	// The remote goes back to an older head: the signature stays here, and shows it.
	p.oracle.In(other.repo.StoreDir(), "update-ref", strings.TrimSpace(p.oracle.In(other.repo.StoreDir(), "for-each-ref", "--format=%(refname)", "refs/cairn/remotes/*/sessions/s")), head+"~1")
	other.open()
	if r := other.verify(cairn.VerifyOptions{Signers: signers}); !slices.Equal(kinds(r.Findings), []string{"head"}) {
		t.Errorf("%+v", r.Findings)
	}
}

// TestPushedAfterAPurge: a line that a purge has rewritten goes on under a second name on a remote, and its signatures
// count there.
func TestPushedAfterAPurge(t *testing.T) {
	t.Parallel()
	p, _, signers := signed(t)
	remote := filepath.Join(t.TempDir(), "remote.git")
	p.oracle.In(filepath.Dir(remote), "init", "-q", "--bare", remote)
	push := func() {
		t.Helper()
		if _, err := p.repo.Push(t.Context(), remote); err != nil {
			t.Fatal(err)
		}
	}
	push()
	p.purge()
	p.step("s", "5", "five\n")
	push()
	other := &project{T: t, root: p.root, oracle: p.oracle, opt: p.opt}
	other.opt.DataDir, other.opt.Sign = filepath.Join(t.TempDir(), "data"), ""
	other.open()
	defer other.repo.Close()
	if _, err := other.repo.Fetch(t.Context(), remote); err != nil {
		t.Fatal(err)
	}
	r := other.sound(cairn.VerifyOptions{Signers: signers})
	head := p.git("rev-parse", sessionRef)
	if !slices.ContainsFunc(r.Signatures, func(s cairn.VerifySigned) bool { return s.Checkpoint == head && s.Unsigned == 0 }) {
		t.Errorf("signatures %+v, want one of %s", r.Signatures, head)
	}
}

// TestMissingProgram: without ssh-keygen, signing and checking say so; the rest of a verification works.
func TestMissingProgram(t *testing.T) { // not parallel: it sets PATH
	p, _, signers := signed(t)
	p.step("s", "7", "seven\n")
	path := os.Getenv("PATH")
	t.Setenv("PATH", t.TempDir())
	_, signErr := p.repo.Sign(t.Context())
	_, err := p.repo.Verify(t.Context(), cairn.VerifyOptions{Signers: signers})
	r, rest := p.repo.Verify(t.Context(), cairn.VerifyOptions{})
	t.Setenv("PATH", path)
	for _, err := range []error{signErr, err} {
		if err == nil || !strings.Contains(err.Error(), "ssh-keygen not found") {
			t.Errorf("%v", err)
		}
	}
	if rest != nil || !r.Sound {
		t.Errorf("%+v, %v", r, rest)
	}
}

// TestAgentSigns: the SSH agent signs with a key that has a passphrase, by the private and the public
// part.
func TestAgentSigns(t *testing.T) { // not parallel: it sets SSH_AUTH_SOCK
	k := newKeys(t)
	if _, err := exec.LookPath("ssh-agent"); err != nil {
		t.Skip("ssh-agent is needed")
	}
	dir, err := os.MkdirTemp("", "a") // the path of a socket has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	agent := exec.Command("ssh-agent", "-D", "-a", socket)
	out, err := agent.StdoutPipe()
	if err == nil {
		err = agent.Start()
	}
	if err != nil {
		t.Skipf("ssh-agent does not start: %v", err)
	}
	t.Cleanup(func() { agent.Process.Kill(); agent.Wait() })
	out.Read(make([]byte, 1)) // it listens when it says so
	t.Setenv("SSH_AUTH_SOCK", socket)
	key := k.make("locked", "")
	if out, err := exec.Command("ssh-add", "-q", key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.Command("ssh-keygen", "-q", "-p", "-P", "", "-N", "a passphrase", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range []string{key, key + ".pub"} {
		p := newProject(t)
		p.opt.Sign = name
		p.open()
		p.track()
		p.sign()
		if r := p.sound(cairn.VerifyOptions{Signers: k.allow("agent", "", key)}); len(r.Signatures) != 1 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
