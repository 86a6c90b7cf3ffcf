package settings

import (
	"errors"
	"io"
)

// Sealer encrypts streams for the holders of keys. A stream that was cut off or altered fails before its end.
type Sealer interface {
	// Check returns an error that is ErrRecipient unless Seal takes the recipients.
	Check(recipients []string) error

	// Seal returns a writer that encrypts for all of some recipients. Close ends the stream and leaves w open.
	Seal(w io.Writer, recipients []string) (io.WriteCloser, error)

	// Open returns a reader of what was sealed. identities is the content of a file. The error is ErrKey where
	// none of them opens it, ErrIdentity where they cannot be used, and ErrDamaged, also of Read.
	Open(r io.Reader, identities []byte) (io.Reader, error)
}

// The errors of a Sealer.
var (
	ErrRecipient = errors.New("unusable recipient")
	ErrIdentity  = errors.New("unusable identity")
	ErrKey       = errors.New("sealed for other keys")
	ErrDamaged   = errors.New("sealed data are cut off or altered")
)
