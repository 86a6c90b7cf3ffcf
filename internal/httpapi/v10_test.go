package httpapi

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestV10_ServerAtTheBudget: tracks and steps go on while the oldest is dropped for them.
// A session says that its beginning went. All answers tell one size.
func TestV10_ServerAtTheBudget(t *testing.T) {
	t.Parallel()
	keep := cairn.Retention{KeepLast: 3, MaxBytes: 600 << 10, MinFree: cairn.NoLimit}
	f := newFixture(t, someTree, func(opt *Options) {
		settings := opt.Settings
		opt.Settings = func(root string) (cairn.Options, error) {
			out, err := settings(root)
			out.Retention = &keep
			return out, err
		}
		opt.Retention = func(string) (cairn.Retention, bool, error) { return keep, true, nil }
	})
	write := func(n int) {
		r := rand.New(rand.NewPCG(uint64(n), 1))
		data := make([]byte, 50<<10)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		if err := os.WriteFile(filepath.Join(f.root, "a.txt"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 16 {
		write(i)
		f.call("POST", "/track", "{}").want(t, 200, nil)
	}
	for i := range 16 {
		step := fmt.Sprint("s", i)
		f.call("POST", "/session/long/steps", StepBegin{MessageID: fmt.Sprint("m", i), StepID: step, Role: session.RoleUser}).want(t, 200, nil)
		write(100 + i)
		f.call("POST", "/session/long/steps/"+step+"/end", "{}").want(t, 200, nil)
	}
	var all []session.Session
	f.call("GET", "/sessions", nil).want(t, 200, &all)
	if len(all) != 1 || !all[0].Truncated || all[0].Steps == 0 || all[0].Steps == 16 {
		t.Errorf("sessions %+v", all)
	}
	var cleaned cairn.CleanResult
	var use cairn.Usage
	var status Status
	wait(t, "one size, once the stat cache is saved", func() bool {
		f.call("POST", "/gc", `{"dryRun":true}`).want(t, 200, &cleaned)
		f.call("GET", "/usage", nil).want(t, 200, &use)
		f.call("GET", "/status", nil).want(t, 200, &status)
		return use.Size == cleaned.Size && status.Size == use.Size
	})
	if use.Size > keep.MaxBytes {
		t.Errorf("%d bytes of %d", use.Size, keep.MaxBytes)
	}
}
