package cli

import (
	"errors"
	"testing"
)

func TestOnlyIs(t *testing.T) {
	t.Parallel()
	if !onlyIs(errors.Join(ErrPartly, nil), ErrPartly) || onlyIs(errors.Join(ErrPartly, errors.New("a")), ErrPartly) {
		t.Error("a failure beside errPartly must not be lost")
	}
}
