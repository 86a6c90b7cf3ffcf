package verify_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestSignedAndResumedAgain: a signed head of a session that was only resumed here is still on its line when the session
// goes on with what another machine did since. A head with work, beside a line that lacks it, is a finding.
func TestSignedAndResumedAgain(t *testing.T) {
	t.Parallel()
	p, _, _ := signed(t)
	g := worked(t)
	g.opt.Sign = p.opt.Sign
	g.open()
	remote := filepath.Join(t.TempDir(), "fleet.git")
	gittest.NewOracle(t).In(filepath.Dir(remote), "init", "-q", "--bare", remote)
	for _, m := range []*project{p, g} {
		if err := m.repo.SetProjectID(t.Context(), "shop"); err != nil {
			t.Fatal(err)
		}
	}
	if err := session.New(g.repo).Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	head := ""
	for _, step := range []string{"3", "4", "5"} {
		p.step("s", step, "step "+step+"\n")
		if _, err := p.repo.Push(t.Context(), remote); err != nil {
			t.Fatal(err)
		}
		if _, err := g.repo.Fetch(t.Context(), remote); err != nil {
			t.Fatal(err)
		}
		if _, err := session.New(g.repo).Resume(t.Context(), "s", cairn.RestoreOptions{}); err != nil {
			t.Fatal(err)
		}
		g.sign()
		head = g.git("rev-parse", sessionRef)
		if s := g.signatureOf(g.sound(cairn.VerifyOptions{}), sessionRef); s == nil || s.Checkpoint != head {
			t.Errorf("signed %+v, the head is %s", s, head)
		}
	}
	g.step("s", "6", "mine\n")
	g.sign()
	worked, line := g.git("rev-parse", sessionRef), g.git("rev-parse", head+"^1")
	g.git("update-ref", sessionRef, g.forge(head, func(text string) string {
		_, rest, _ := strings.Cut(text, "\nauthor ")
		return "tree " + g.git("rev-parse", head+"^{tree}") + "\nparent " + line + "\nparent " + worked + "\nauthor " + rest
	}))
	if r := g.verify(cairn.VerifyOptions{}); !slices.Equal(kinds(r.Findings), []string{"head"}) {
		t.Errorf("findings %v", r.Findings)
	}
	g.git("update-ref", sessionRef, worked)
	g.open()
	for _, step := range []string{"7", "8"} { // the second time nothing names what lay beside any more
		g.step("s", step, "mine\n")
		g.thin()
		if r := g.sound(cairn.VerifyOptions{}); !slices.Contains(kinds(r.Gaps), "thinned") {
			t.Errorf("gaps %v", r.Gaps)
		}
	}
}
