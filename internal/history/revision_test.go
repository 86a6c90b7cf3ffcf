package history

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/state"
)

func TestParseRevision(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("0aF9", 10)
	for spec, want := range map[string]revision{
		"@":          {kind: byAge},
		"@~0":        {kind: byAge},
		"@~12":       {kind: byAge, back: 12},
		"abcd":       {kind: byHash, text: "abcd"},
		id:           {kind: byHash, text: strings.ToLower(id)},
		"abc":        {kind: byName, text: "abc"},
		id + "0":     {kind: byName, text: id + "0"},
		"abcg":       {kind: byName, text: "abcg"},
		"Before Two": {kind: byName, text: "Before Two"},
		"~1":         {kind: byName, text: "~1"},
		"":           {kind: byName},
	} {
		if got, err := parseRevision(spec); err != nil || got != want {
			t.Errorf("%q is %+v, %v; want %+v", spec, got, err, want)
		}
	}
	for _, spec := range []string{"@1", "@~", "@~-1", "@~1~1", "@~2147483648", "@~x", "@ ", "@@", "@abcd"} {
		if got, err := parseRevision(spec); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("%q is %+v, %v", spec, got, err)
		}
	}
}
