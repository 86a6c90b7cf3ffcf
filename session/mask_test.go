package session_test

import (
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// token has the shape of a token of GitHub.
const token, tokenMask = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8", "[masked: github-token]"

// TestV60_SecretsAreMaskedBeforeTextsAreCut: titles and prompts are cut for the record. A secret at
// the place of the cut does not leave its beginning there.
func TestV60_SecretsAreMaskedBeforeTextsAreCut(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	for i, before := range []int{0, 50, 60, 70, 100, 110, 119, session.MaxPrompt - 60, session.MaxPrompt - 10, session.MaxPrompt} {
		id := strings.Repeat("s", i+1)
		prompt := strings.Repeat("x", max(0, before-1)) + " " + token + " end"
		m, err := f.AddMessage(background, session.MessageBegin{Session: id, Message: "m", Role: session.RoleUser, Prompt: prompt})
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Get(background, id)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{m.Prompt, s.Title, s.Latest.Prompt} {
			if strings.Contains(text, token[:6]) || text == "" {
				t.Errorf("before %d: %s", before, text)
			}
		}
	}
}

// TestV60_SecretsInCommands: the command of a step and of its parts is masked, other metadata is not
// touched, and neither is what the host passed in.
func TestV60_SecretsInCommands(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	meta := func() map[string]string {
		return map[string]string{session.MetaTool: "Bash", session.MetaCommand: "push " + token, "host": token}
	}
	begin, end := meta(), meta()
	if _, err := f.BeginStep(background, session.StepBegin{Session: "s", Message: "m", Step: "1", Meta: begin}); err != nil {
		t.Fatal(err)
	}
	f.write("b", "2")
	part := session.Part{ID: "p", Type: session.PartTool, Meta: end}
	st, err := f.EndStep(background, session.StepEnd{Session: "s", Parts: []session.Part{part}})
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range []string{st.Meta[session.MetaCommand], st.Calls[0].Command} {
		if got != "push "+tokenMask {
			t.Errorf("%s", got)
		}
	}
	if st.Meta["host"] != token || begin[session.MetaCommand] != "push "+token || end[session.MetaCommand] != "push "+token {
		t.Errorf("%v, %v, %v", st.Meta, begin, end)
	}
}

// TestV60_NoMask: without masking texts are stored as they are.
func TestV60_NoMask(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	opt := cairn.Options{Root: f.root, DataDir: t.TempDir(), NoMask: true}
	repo, err := cairn.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	m, err := session.New(repo).AddMessage(background, session.MessageBegin{Session: "s", Message: "m", Role: session.RoleUser, Prompt: token})
	if err != nil || m.Prompt != token {
		t.Errorf("%+v, %v", m, err)
	}
}
