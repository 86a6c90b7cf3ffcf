package webui

import (
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// gitStory is a project in a git repository. In its second step an agent throws a commit, a stash and
// a branch away.
type gitStory struct {
	*fixture
	git   *gittest.Oracle
	first string // HEAD before the agent
	made  string // HEAD after its first step
}

func newGitStory(t *testing.T) *gitStory {
	t.Helper()
	gittest.NeedGit(t)
	f := &gitStory{fixture: newFixture(t), git: gittest.NewOracle(t)}
	f.git.Init(f.root)
	f.write("a.txt", "one\n")
	f.first = f.git.Commit(f.root, "one")
	f.git.In(f.root, "branch", "topic")
	f.write("a.txt", "stashed\n")
	f.git.In(f.root, "stash", "-q")
	f.track("before the agent")
	step := session.StepBegin{Session: "git", Message: "m1", Step: "s1", Prompt: "Commit a second file."}
	f.stepOf(step, func() {
		f.write("b.txt", "two\n")
		f.made = f.git.Commit(f.root, "two")
	})
	step.Message, step.Step, step.Prompt = "m2", "s2", "Clean up."
	f.stepOf(step, func() {
		f.git.In(f.root, "reset", "-q", "--hard", "HEAD~1")
		f.git.In(f.root, "stash", "drop", "-q")
		f.git.In(f.root, "branch", "-q", "-D", "topic")
	})
	return f
}

// standing is what git says about its refs and stashes.
func (f *gitStory) standing() string {
	f.t.Helper()
	return f.git.In(f.root, "for-each-ref") + f.git.In(f.root, "stash", "list") + f.git.In(f.root, "status", "--porcelain")
}

// ends are the commits of HEAD and of the branch.
func (f *gitStory) ends() string {
	f.t.Helper()
	return strings.Join(strings.Fields(f.git.In(f.root, "rev-parse", "HEAD", "topic")), " ")
}

// link is the address of the link with a text.
func (a *answer) link(text string) string {
	a.t.Helper()
	m := regexp.MustCompile(`<a [^>]*href="([^"]+)"[^>]*>` + regexp.QuoteMeta(text)).FindStringSubmatch(a.body)
	if m == nil {
		a.t.Fatalf("the page has no link %q:\n%s", text, a.body)
	}
	return html.UnescapeString(m[1])
}

// sure sends the form of the second confirmation.
func (f *fixture) sure(page *answer) *answer {
	f.t.Helper()
	page.want(http.StatusOK, "Change the git repository?")
	form := regexp.MustCompile(`(?s)<form method="post" action="([^"]+)" class="buttons">.*?name="plan" value="([^"]+)".*?name="sure"`).FindStringSubmatch(page.body)
	if form == nil {
		f.t.Fatalf("the page has no second confirmation:\n%s", page.body)
	}
	return f.post(html.UnescapeString(form[1]), url.Values{"plan": {form[2]}, "sure": {"1"}})
}

// lost is what the second step of a gitStory has moved.
func (f *gitStory) lost() string {
	return "main: 1 commit away (" + f.made[:7] + ".." + f.first[:7] + "), 1 branch deleted, 1 stash dropped"
}

func TestGitOnPages(t *testing.T) {
	t.Parallel()
	f := newGitStory(t)
	f.get(f.at("")).want(http.StatusOK, "git: HEAD, refs, index and stash are recorded, and commits kept</p>", "git:</span> "+f.lost())
	f.git.In(f.root, "tag", "by-hand")
	f.get(f.at("")).want(http.StatusOK, "since then: 1 tag created")
	f.get(f.at("session", "id", "git")).want(http.StatusOK, f.lost())
	f.get(f.at("step", "session", "git", "step", "s2")).want(http.StatusOK, f.lost(), "Take git back")
	f.get(f.at("plan", "do", "restore", "to", f.checkpointOf("before the agent"))).want(http.StatusOK, "Git stays as it is", "<li>1 stash dropped</li>")
	f.git.In(f.root, "tag", "-d", "by-hand")
	f.write("c.txt", "by hand\n")
	f.get(f.at("changes", "from", f.track(""))).want(http.StatusOK).lacks("Take git back")
}

// A name such as "@" in an address means another checkpoint after the next one.
func TestGitMovedBetweenNames(t *testing.T) {
	t.Parallel()
	f := newGitStory(t)
	address := f.at("plan", "do", "revert", "from", "@~1", "to", "@")
	f.get(address).want(http.StatusOK, "<li>1 stash dropped</li>")
	f.git.In(f.root, "tag", "by-hand")
	f.write("c.txt", "by hand\n")
	f.track("")
	f.get(address).want(http.StatusOK, "<li>1 tag created</li>").lacks("1 stash dropped")
}

// A turn goes back with what it moved in git, after a second confirmation. The undo and the redo of
// that move git as well.
func TestGitGoesBackOnPages(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	f := newGitStory(t)
	after := f.standing()
	preview := f.get(f.at("plan", "do", "session", "session", "git", "message", "m2")).want(http.StatusOK, "Git stays as it is", "1 stash dropped", "b.txt")
	plan := f.get(preview.link("Preview with git")).want(http.StatusOK, "Changes in git", "create refs/heads/topic at "+f.first[:12], "bring back 1 stash", "b.txt").lacks("Git stays", `name="step"`)
	second := f.confirm(plan).want(http.StatusOK, "1 path on disk goes back with it.", "create refs/heads/topic at")
	if f.standing() != after || f.isThere("b.txt") {
		t.Fatal("the first confirmation changed something")
	}
	f.get(second.link("Back to the preview")).want(http.StatusOK, "Changes in git")
	done := f.sure(second).want(http.StatusSeeOther)
	f.get(done.header.Get("Location")).want(http.StatusOK, "Done.", "1 branch created", "b.txt").lacks("Git stays")
	back := f.standing()
	if f.ends() != f.made+" "+f.first || !strings.Contains(back, "stash@{0}") || f.read("b.txt") != "two\n" {
		t.Errorf("git stands at\n%s", back)
	}
	f.git.Fsck(f.root)
	for _, do := range []struct{ name, standing string }{{"undo", after}, {"redo", back}, {"undo", after}} {
		plan := f.get(f.get(f.at("plan", "do", do.name)).want(http.StatusOK, "Git stays as it is").link("Preview with git"))
		f.sure(f.confirm(plan)).want(http.StatusSeeOther)
		if got := f.standing(); got != do.standing {
			t.Errorf("after the %s git stands at\n%s\nwant\n%s", do.name, got, do.standing)
		}
	}
}

// What one step moved in git goes back alone, and a ref that has moved since stays.
func TestGitOfAStepOnPages(t *testing.T) {
	t.Parallel()
	f := newGitStory(t)
	f.git.In(f.root, "branch", "topic", f.made)
	address := f.get(f.at("step", "session", "git", "step", "s2")).link("Take git back")
	plan := f.get(address).want(http.StatusOK, "Take the git repository back", "Stays in git", "refs/heads/topic").lacks("create refs/heads/topic")
	done := f.sure(f.confirm(plan)).want(http.StatusOK, "Done, but for a part of git", "refs/heads/topic", "To the operation")
	f.get(done.link("To the operation")).want(http.StatusOK, "Stays in git", "refs/heads/topic", "it has moved since")
	if f.ends() != f.made+" "+f.made || f.isThere("b.txt") {
		t.Errorf("not exactly git went back:\n%s", f.standing())
	}
	timeline := f.get(f.at("", "show", "operations")).want(http.StatusOK, "no files changed", "main: 1 commit away")
	f.get(f.at("plan", "do", "undo")).want(http.StatusOK, "There is nothing to undo", "Preview with git")
	if strings.Count(timeline.body, "operation item") != 1 {
		t.Error("not one operation")
	}
}

// A plan of git is carried out as it was shown or not at all.
func TestGitMovedSincePreview(t *testing.T) {
	t.Parallel()
	f := newGitStory(t)
	address := f.at("plan", "do", "session", "session", "git", "message", "m2", "git", "1")
	plan := f.get(address)
	second := f.confirm(plan)
	f.git.In(f.root, "branch", "topic", f.made)
	was := f.standing()
	f.sure(second).want(http.StatusConflict, "The disk has changed since the preview")
	f.confirm(plan).want(http.StatusConflict, "The disk has changed since the preview")
	f.get(f.at("plan", "do", gitDo, "from", "nosuch")).want(http.StatusNotFound)
	for _, bad := range []string{"path", "step", "hunk", "without", "turn"} {
		f.get(address + "&" + bad + "=000000000000").want(http.StatusBadRequest)
	}
	f.get(f.at("plan", "do", gitDo)).want(http.StatusBadRequest)
	f.get(f.at("plan", "do", "restore", "to", "@", "git", "1")).want(http.StatusBadRequest)
	if f.standing() != was {
		t.Error("a refused request changed git")
	}
	f.git.In(f.root, "bisect", "start")
	f.get(address).want(http.StatusConflict, "Git does not allow it", "bisect")
}

// A repository that is gone comes back from the page.
func TestLostRepositoryOnPages(t *testing.T) {
	t.Parallel()
	f := newGitStory(t)
	was := f.standing()
	step := session.StepBegin{Session: "git", Message: "m3", Step: "s3", Prompt: "Start afresh."}
	f.stepOf(step, func() {
		if err := os.RemoveAll(filepath.Join(f.root, ".git")); err != nil {
			t.Fatal(err)
		}
		f.get(f.at("")).want(http.StatusOK, "since then: the repository is gone")
	})
	preview := f.get(f.at("plan", "do", "session", "session", "git", "message", "m3")).want(http.StatusOK, "Git stays as it is", "the repository is gone")
	plan := f.get(preview.link("Preview with git")).want(http.StatusOK, "build")
	f.sure(f.confirm(plan)).want(http.StatusSeeOther)
	if got := f.standing(); got != was {
		t.Errorf("git stands at\n%s\nwant\n%s", got, was)
	}
	f.git.Fsck(f.root)
}
