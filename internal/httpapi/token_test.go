package httpapi

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

// TestOperationToken: the record of an operation has the token of the request, by which another process finds it.
// A token that comes twice names the first operation alone, and other texts name none.
func TestOperationToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	hash := f.track()
	const token = "0123abcd"
	apply := func(header string) string {
		t.Helper()
		if err := os.WriteFile(filepath.Join(f.root, "new"), []byte(header), 0o600); err != nil {
			t.Fatal(err)
		}
		r := request(t, "POST", "/apply", ChangeRequest{Action: "restore", Hash: hash})
		r.Header.Set(protocol.OperationHeader, header)
		var res cairn.Result
		call(t, f.door, r).want(t, 200, &res)
		return res.Operation
	}
	first := apply(token)
	for _, other := range []string{token, "0123abc", "0123abcdef", "0123abcg", `{"a":1}`} {
		if apply(other) == first {
			t.Fatalf("%s: no operation", other)
		}
	}
	repo, err := cairn.Open(cairn.Options{Root: f.root, DataDir: f.dataDir, NoSync: true, MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	got, err := access.Lines(repo).Recorded(t.Context(), token)
	if err != nil || got == nil || got.Operation != first || len(got.Deleted) != 1 || got.Deleted[0] != "new" {
		t.Errorf("%+v, %v, want %s", got, err, first)
	}
	for _, absent := range []string{"0123abc", "0123abcdef", "0123abcg", "ffffffff"} {
		if got, err := access.Lines(repo).Recorded(t.Context(), absent); err != nil || got != nil {
			t.Errorf("%s: %+v, %v", absent, got, err)
		}
	}
}
