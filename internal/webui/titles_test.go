package webui

import (
	"net/http"
	"testing"

	"github.com/seed-fb9cbc17/cairn/session"
)

// TestV60_PageShowsPromptsAndCalls: sessions have the name of their first prompt, steps the tools
// and commands that ran; ids are in titles.
func TestV60_PageShowsPromptsAndCalls(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	meta := map[string]string{session.MetaAgent: "codex", session.MetaTool: "shell", session.MetaCommand: "make gen\nrest"}
	f.write("a", "1\n")
	f.stepOf(session.StepBegin{Session: "0c5e", Message: "m1", Step: "toolu_01", Prompt: "Generate the parser.\nQuickly.", Meta: meta}, func() { f.write("sub/gen.go", "package sub\n") })
	f.stepOf(session.StepBegin{Session: "0c5e", Message: "m2", Step: "toolu_02", Prompt: "Now test it."}, func() { f.write("b", "1\n") })
	f.get(f.at("")).want(http.StatusOK, `title="session 0c5e">Generate the parser. …</a>`, "codex", `shell <code>make gen …</code>`, `title="step toolu_01"`).lacks(">0c5e<", ">toolu_01<")
	f.get(f.at("session", "id", "0c5e")).want(http.StatusOK, "<h1>Generate the parser. …</h1>", "make gen")
	f.get(f.at("step", "session", "0c5e", "step", "toolu_01")).want(http.StatusOK, "Generate the parser.", "make gen", "<summary>Ids</summary>")
	for _, query := range []string{"MAKE GEN", "sub/gen", "codex", "parser"} {
		f.get(f.at("", "q", query)).want(http.StatusOK, "Generate the parser.", "gen.go")
	}
	f.get(f.at("", "q", f.root)).want(http.StatusOK, "Nothing fits")
	f.get(f.at("sessions")).want(http.StatusOK, `title="session 0c5e"`, "Now test it.", "2 steps").lacks(">0c5e<")
	f.get(f.at("sessions", "q", "TEST IT")).want(http.StatusOK, "Now test it.")
	f.get(f.at("sessions", "q", "nothing like it")).want(http.StatusOK, "Nothing fits the search")
}

// A session without a title and a prompt says so.
func TestTitles(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]*session.Session{
		"Given":                    {Title: "Given", Latest: &session.Work{Prompt: "newest"}},
		"newest":                   {ID: "id", Latest: &session.Work{Prompt: "newest"}},
		"Session without a prompt": {ID: "id"},
	} {
		if got := titleOf(s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	messages := []session.Message{{Role: "assistant"}, {Prompt: "first\nline"}, {Prompt: "second"}}
	if got := titleOfAll(&session.Session{Latest: &session.Work{Prompt: "newest"}}, messages); got != "first …" {
		t.Errorf("the first prompt is %q", got)
	}
}

// A prompt that is the title of its session is not said twice, also where the title is cut.
func TestPromptOfTitleIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		title, prompt string
		want          bool
	}{
		{"Do it", "Do it", true}, {"Do …", "Do it", true}, {"Do it and th…", "Do it and that", true},
		{"Do it", "Do it now", false}, {"Do …", "Go", false}, {"Do it", "", false},
	} {
		if got := isBeginning(c.title, c.prompt); got != c.want {
			t.Errorf("%q and %q: %v", c.title, c.prompt, got)
		}
	}
}
