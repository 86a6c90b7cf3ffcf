package history

import (
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// The time of a session's event and of an operation is that of its record: commits of the same
// second keep their order. A record of another second is not believed.
func TestTimeOf(t *testing.T) {
	t.Parallel()
	whole := time.Unix(1_700_000_000, 0)
	for name, c := range map[string]struct {
		key, value string
		want       time.Time
	}{
		"no record":       {"", "", whole},
		"line":            {LineHeader, `{"v":1,"at":1700000000000000007}`, whole.Add(7)},
		"operation":       {OperationHeader, `{"v":1,"at":1700000000999999999}`, whole.Add(999_999_999)},
		"another second":  {LineHeader, `{"v":1,"at":1700000001000000000}`, whole},
		"not in a record": {LineHeader, `{"v":1}`, whole},
		"track":           {AtHeader, "1700000000000000003", whole.Add(3)},
		"long operation":  {OperationHeader, `{"v":1,"kind":"undo","target":"\",\"at\":9","at":1700000000000000005,"before":"x"}`, whole.Add(5)},
		"torn":            {LineHeader, `{"v":1,"at":17000`, whole},
	} {
		d := &object.CommitData{Committer: object.Signature{When: whole}}
		if c.key != "" {
			d.Extra = []object.Header{{Key: c.key, Value: c.value}}
		}
		if got := time.Unix(0, TimeOf(d)); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
