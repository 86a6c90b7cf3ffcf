package sealed

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
)

const secret = "a text that no other place holds\n"

func newKey(t testing.TB) (recipient string, identity []byte) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return id.Recipient().String(), []byte("# a comment\n" + id.String() + "\n")
}

func seal(t testing.TB, content string, recipients ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := Seal(&out, recipients)
	if err == nil {
		_, err = io.WriteString(w, content)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func open(data, identity []byte) (string, error) {
	r, err := Open(bytes.NewReader(data), identity)
	if err != nil {
		return "", err
	}
	got, err := io.ReadAll(r)
	return string(got), err
}

// TestSealed: each recipient reads what was sealed, another key does not, and the sealed bytes show
// nothing of it.
func TestSealed(t *testing.T) {
	t.Parallel()
	mine, myKey := newKey(t)
	yours, yourKey := newKey(t)
	_, other := newKey(t)
	for _, content := range []string{"", secret, strings.Repeat(secret, 10000)} {
		data := seal(t, content, mine, yours)
		for _, key := range [][]byte{myKey, yourKey, append(append([]byte{}, other...), myKey...)} {
			if got, err := open(data, key); got != content || err != nil {
				t.Errorf("%d bytes: %v", len(got), err)
			}
		}
		if _, err := open(data, other); !errors.Is(err, ErrKey) {
			t.Errorf("another key: %v", err)
		}
		if bytes.Contains(data, []byte("text that no")) {
			t.Error("the content can be read")
		}
		if !IsSealed(bufio.NewReader(bytes.NewReader(data))) || IsSealed(bufio.NewReader(strings.NewReader(secret))) || IsSealed(bufio.NewReader(strings.NewReader(""))) {
			t.Error("sealed and open are not told apart")
		}
	}
}

// TestDamaged: no stream that was cut off or altered is taken for whole.
func TestDamaged(t *testing.T) {
	t.Parallel()
	mine, key := newKey(t)
	data := seal(t, secret, mine)
	for n := range data {
		if got, err := open(data[:n], key); err == nil {
			t.Fatalf("cut off at %d: %q", n, got)
		}
		altered := bytes.Clone(data)
		altered[n] ^= 1
		if got, err := open(altered, key); err == nil {
			t.Fatalf("altered at %d: %q", n, got)
		}
	}
	if _, err := open(append(bytes.Clone(data), 'x'), key); !errors.Is(err, ErrDamaged) {
		t.Errorf("a byte more: %v", err)
	}
}

// TestKeysThatCannotBeUsed: the error names what is wrong with a key.
func TestKeysThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	mine, key := newKey(t)
	for _, wrong := range [][]string{nil, {""}, {"age1x"}, {"ssh-ed25519 AAAA"}, {mine, "me@example.org"}, {"ecdsa-sha2-nistp256 AAAA"}} {
		if _, err := Seal(io.Discard, wrong); !errors.Is(err, ErrRecipient) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	data := seal(t, secret, mine)
	for _, wrong := range []string{"", "nonsense", "AGE-SECRET-KEY-1X", "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----\n"} {
		if _, err := open(data, []byte(wrong)); !errors.Is(err, ErrIdentity) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if got, err := open(data, key); got != secret || err != nil {
		t.Error(err)
	}
}

// TestSSHKeys: public SSH keys are recipients, and the private ones open. One with a passphrase is an
// error without a question.
func TestSSHKeys(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is needed")
	}
	dir := t.TempDir()
	for _, c := range []struct{ kind, passphrase string }{{"ed25519", ""}, {"rsa", ""}, {"ed25519", "a passphrase"}} {
		path := filepath.Join(dir, c.kind+c.passphrase)
		if out, err := exec.Command("ssh-keygen", "-q", "-t", c.kind, "-N", c.passphrase, "-f", path).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		public, err := os.ReadFile(path + ".pub")
		if err != nil {
			t.Fatal(err)
		}
		private, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := open(seal(t, secret, strings.TrimSpace(string(public))), private)
		if c.passphrase != "" {
			if !errors.Is(err, ErrIdentity) || !strings.Contains(err.Error(), "passphrase") {
				t.Errorf("%s: %v", path, err)
			}
		} else if got != secret || err != nil {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}

// TestSeveralKeysInAFile: each private SSH key in a file opens, wherever it stands, and so does an identity of age
// beside it.
func TestSeveralKeysInAFile(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is needed")
	}
	dir := t.TempDir()
	mine, ages := newKey(t)
	recipients, keys := []string{mine}, []string{string(ages)}
	for _, kind := range []string{"ed25519", "rsa"} {
		path := filepath.Join(dir, kind)
		if out, err := exec.Command("ssh-keygen", "-q", "-t", kind, "-N", "", "-f", path).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		public, failed := os.ReadFile(path + ".pub")
		private, err := os.ReadFile(path)
		if err = errors.Join(failed, err); err != nil {
			t.Fatal(err)
		}
		recipients, keys = append(recipients, strings.TrimSpace(string(public))), append(keys, string(private))
	}
	for _, order := range [][]int{{1, 2}, {2, 1}, {0, 1, 2}, {1, 0, 2}, {2, 1, 0}} {
		var file strings.Builder
		for _, i := range order {
			file.WriteString(keys[i] + "\n# between two keys\n")
		}
		for _, i := range order {
			if got, err := open(seal(t, secret, recipients[i]), []byte(file.String())); got != secret || err != nil {
				t.Errorf("%v, sealed for %d: %q, %v", order, i, got, err)
			}
		}
	}
	broken := strings.Replace(keys[2], "-----END", "", 1)
	for _, file := range []string{keys[1] + broken, broken + keys[1]} {
		if _, err := open(seal(t, secret, recipients[1]), []byte(file)); !errors.Is(err, ErrIdentity) {
			t.Errorf("a key without an end beside a whole one: %v", err)
		}
	}
}

// BenchmarkSeal measures a stream that is sealed and opened, beside one that is copied.
func BenchmarkSeal(b *testing.B) {
	mine, key := newKey(b)
	content := bytes.Repeat([]byte(secret), 1<<20/len(secret)*8)
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(int64(len(content)))
		for range b.N {
			io.Copy(&bytes.Buffer{}, bytes.NewReader(content))
		}
	})
	data := seal(b, string(content), mine)
	b.Run("seal", func(b *testing.B) {
		b.SetBytes(int64(len(content)))
		for range b.N {
			w, err := Seal(io.Discard, []string{mine})
			if err != nil {
				b.Fatal(err)
			}
			w.Write(content)
			w.Close()
		}
	})
	b.Run("open", func(b *testing.B) {
		b.SetBytes(int64(len(content)))
		for range b.N {
			r, err := Open(bytes.NewReader(data), key)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, r); err != nil {
				b.Fatal(err)
			}
		}
	})
}
