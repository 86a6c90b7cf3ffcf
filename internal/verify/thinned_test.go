package verify_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

func (p *project) thin() *cairn.CleanResult {
	p.Helper()
	done, err := p.repo.Clean(p.Context(), cairn.CleanOptions{Thorough: true, Retention: cairn.Retention{
		KeepLast: cairn.NoLimit, MaxBytes: cairn.NoLimit, Keep: cairn.KeepRules{All: 1, Daily: 90 * 24 * time.Hour},
	}})
	if err != nil {
		p.Fatal(err)
	}
	return done
}

// A thinned line is whole: the bytes of each thinned checkpoint are those of its id, so the chain is
// checked through them.
func TestThinnedHistory(t *testing.T) {
	t.Parallel()
	p := worked(t)
	for i := range 8 {
		p.step("s", fmt.Sprint("more", i), fmt.Sprint(i, "\n"))
	}
	before := p.sound(cairn.VerifyOptions{})
	if done := p.thin(); done.Thinned < 10 {
		t.Fatalf("%+v", done)
	}
	after := p.sound(cairn.VerifyOptions{})
	if !slices.Equal(kinds(after.Gaps), []string{"thinned"}) || after.Checkpoints != before.Checkpoints || after.Objects >= before.Objects {
		t.Errorf("%+v, before %+v", after, before)
	}
	p.open()
	p.step("s", "last", "last\n")
	p.thin()
	p.sound(cairn.VerifyOptions{})
}

// A signature of a head that was thinned since holds: its id is that of its bytes.
func TestThinnedSignedHead(t *testing.T) {
	t.Parallel()
	p, _, signers := signed(t)
	const ref = "refs/cairn/sessions/s"
	head := p.signatureOf(p.sound(cairn.VerifyOptions{Signers: signers}), ref).Checkpoint
	for i := range 3 {
		p.step("s", fmt.Sprint("more", i), fmt.Sprint(i, "\n"))
	}
	p.thin()
	if _, err := p.repo.Lookup(t.Context(), head); !errors.Is(err, cairn.ErrThinned) {
		t.Fatalf("the signed head: %v", err)
	}
	s := p.signatureOf(p.sound(cairn.VerifyOptions{Signers: signers}), ref)
	if s == nil || s.Checkpoint != head || s.Unsigned < 6 {
		t.Errorf("%+v", s)
	}
	p.purge()
	if s := p.signatureOf(p.sound(cairn.VerifyOptions{Signers: signers}), ref); s == nil {
		t.Error("no signature after a purge")
	}
}
