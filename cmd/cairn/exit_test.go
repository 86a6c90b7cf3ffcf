package main

import (
	"errors"
	"testing"
)

func TestOnlyIs(t *testing.T) {
	t.Parallel()
	if !onlyIs(errors.Join(errPartly, nil), errPartly) || onlyIs(errors.Join(errPartly, errors.New("a")), errPartly) {
		t.Error("a failure beside errPartly must not be lost")
	}
}
