// Package sealed encrypts streams for the holders of keys, in the format of age
// (https://age-encryption.org/v1), which the program age reads and writes as well.
//
// A stream that was cut off or altered fails before its end: no reader takes it for whole. Who sealed it
// is not shown; anyone with a recipient can seal.
package sealed

import (
	"bufio"
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"golang.org/x/crypto/ssh"

	"github.com/seed-fb9cbc17/cairn/internal/settings"
)

// The errors that callers distinguish.
var (
	ErrRecipient = settings.ErrRecipient
	ErrIdentity  = settings.ErrIdentity
	ErrKey       = settings.ErrKey
	ErrDamaged   = settings.ErrDamaged
)

// Age is the Sealer of the program.
type Age struct{}

// Check implements settings.Sealer.
func (Age) Check(recipients []string) error { return Check(recipients) }

// Seal implements settings.Sealer.
func (Age) Seal(w io.Writer, recipients []string) (io.WriteCloser, error) { return Seal(w, recipients) }

// Open implements settings.Sealer.
func (Age) Open(r io.Reader, identities []byte) (io.Reader, error) { return Open(r, identities) }

const magic = "age-encryption.org/v1\n"

// recipients reads recipients: age1..., or the text of a public SSH key (ssh-ed25519, ssh-rsa).
func recipients(texts []string) (list []age.Recipient, err error) {
	for _, text := range texts {
		var some []age.Recipient
		if strings.HasPrefix(text, "ssh-") {
			var r age.Recipient
			r, err = agessh.ParseRecipient(text)
			some = []age.Recipient{r}
		} else {
			some, err = age.ParseRecipients(strings.NewReader(text))
		}
		if err != nil {
			return nil, fmt.Errorf("%w %.60q (want age1..., or a public key ssh-ed25519 or ssh-rsa)", ErrRecipient, text)
		}
		list = append(list, some...)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: none is given", ErrRecipient)
	}
	return list, nil
}

// Check returns an error, ErrRecipient, unless Seal takes the recipients.
func Check(texts []string) error {
	_, err := recipients(texts)
	return err
}

// Seal returns a writer that encrypts for all of some recipients. Close ends the stream and leaves w open.
func Seal(w io.Writer, texts []string) (io.WriteCloser, error) {
	list, err := recipients(texts)
	if err != nil {
		return nil, err
	}
	out, err := age.Encrypt(w, list...)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return out, nil
}

// IsSealed reports whether a stream begins as a sealed one, without reading it.
func IsSealed(in *bufio.Reader) bool {
	begin, _ := in.Peek(len(magic))
	return string(begin) == magic
}

// begin is before a private SSH key.
var begin = []byte("-----BEGIN ")

// identities reads a file of private SSH keys and age identities, in any order.
func identities(data []byte) (list []age.Identity, err error) {
	var others []byte // the lines outside of SSH keys
	for {
		key, rest := pem.Decode(data)
		if key == nil {
			break
		}
		id, err := sshIdentity(pem.EncodeToMemory(key))
		if err != nil {
			return nil, err
		}
		list = append(list, id)
		others = append(others, data[:bytes.LastIndex(data[:len(data)-len(rest)], begin)]...)
		data = rest
	}
	others = append(others, data...)
	if len(list) > 0 && !bytes.Contains(others, begin) && !bytes.Contains(others, []byte("AGE-")) {
		return list, nil // the rest is comments
	}
	ages, err := age.ParseIdentities(bytes.NewReader(others))
	if err != nil {
		return nil, fmt.Errorf("%w: no identity of age and no private SSH key: %w", ErrIdentity, err)
	}
	return append(list, ages...), nil
}

func sshIdentity(key []byte) (age.Identity, error) {
	id, err := agessh.ParseIdentity(key)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		return nil, fmt.Errorf("%w: the SSH key has a passphrase, which is not asked for (a copy without one: ssh-keygen -p -f COPY)", ErrIdentity)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIdentity, err)
	}
	return id, nil
}

// Open returns a reader of what was sealed. identity is the content of a file with identities of age
// (AGE-SECRET-KEY-1...), and of private SSH keys without a passphrase. Its errors wrap ErrDamaged.
func Open(in io.Reader, identity []byte) (io.Reader, error) {
	list, err := identities(identity)
	if err != nil {
		return nil, err
	}
	out, err := age.Decrypt(in, list...)
	var none *age.NoIdentityMatchError
	switch {
	case errors.As(err, &none):
		return nil, fmt.Errorf("%w: none of %d identities opens it; have it sealed again for a recipient of yours", ErrKey, len(list))
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return &whole{out}, nil
}

// whole names the reason where a stream ends early or was altered.
type whole struct{ in io.Reader }

// Read implements io.Reader.
func (w *whole) Read(p []byte) (int, error) {
	n, err := w.in.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return n, err
}
