package wording

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

func TestParts(t *testing.T) {
	t.Parallel()
	a, b, c := errors.New("a"), errors.New("b"), errors.New("c")
	wrapped := fmt.Errorf("%w, %w", b, c)
	for _, test := range []struct {
		err  error
		want []error
	}{
		{a, []error{a}},
		{errors.Join(a, b), []error{a, b}},
		{errors.Join(a, errors.Join(b, nil, c)), []error{a, b, c}},
		{wrapped, []error{wrapped}},
		{errors.Join(a, wrapped), []error{a, wrapped}},
	} {
		if got := Parts(test.err); !slices.Equal(got, test.want) {
			t.Errorf("%q has the parts %q, want %q", test.err, got, test.want)
		}
	}
}

// TestMessages: joined errors get a line each, wrapped ones stay together.
func TestMessages(t *testing.T) {
	t.Parallel()
	a, b := errors.New("a"), errors.New("b\nb")
	for _, test := range []struct {
		err  error
		want int
	}{{a, 1}, {errors.Join(a, b), 2}, {errors.Join(errors.Join(a), errors.Join(b, a)), 3}, {b, 1}} {
		if got := Messages(test.err); len(got) != test.want {
			t.Errorf("%q: %d messages, want %d", test.err, len(got), test.want)
		}
	}
}
