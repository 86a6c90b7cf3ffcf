package capture

import (
	"encoding/json"
	"errors"
	"testing"
)

// TestReasonsSurviveTheirJSON: an error comes back as its text, and a path with any bytes.
func TestReasonsSurviveTheirJSON(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(Reasons{"a\xff/b": errors.New("permission denied")})
	if err != nil {
		t.Fatal(err)
	}
	var got Reasons
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got["a\xff/b"] == nil || got["a\xff/b"].Error() != "permission denied" {
		t.Errorf("%s came back as %v", data, got)
	}
}
