package pathtext_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// TestListThroughJSON: a list comes back from JSON with the bytes that it had, whatever
// these are, and JSON has [] for no list at all.
func TestListThroughJSON(t *testing.T) {
	t.Parallel()
	for want, list := range map[string]pathtext.List{
		`[]`:                         nil,
		`["a/b","ü"]`:                {"a/b", "ü"},
		`["\u0000ff","a/\u0000ffb"]`: {"\xff", "a/\xffb"},
	} {
		data, err := json.Marshal(list)
		if err != nil || string(data) != want {
			t.Errorf("%q is %s in JSON, want %s, %v", list, data, want, err)
		}
		var again pathtext.List
		if err := json.Unmarshal(data, &again); err != nil || !slices.Equal(again, list) {
			t.Errorf("%s comes back as %q, want %q, %v", data, again, list, err)
		}
	}
	var list pathtext.List
	if err := json.Unmarshal([]byte(`["a",1]`), &list); err == nil {
		t.Errorf("a number is the path %q", list)
	}
}
