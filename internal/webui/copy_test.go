package webui

import (
	"context"
	"errors"
	"html"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// copying sends the form that makes a copy, as its preview has it.
func (f *fixture) copying(preview *answer) *answer {
	f.t.Helper()
	form := regexp.MustCompile(`(?s)<form method="post" action="([^"]+copy[^"]+)" class="buttons">(.*?)</form>`).FindStringSubmatch(preview.body)
	if form == nil {
		f.t.Fatalf("the page makes no copy:\n%s", preview.body)
	}
	fields := url.Values{}
	for _, m := range regexp.MustCompile(`type="hidden" name="([^"]+)" value="([^"]*)"`).FindAllStringSubmatch(form[2], -1) {
		fields.Add(m[1], html.UnescapeString(m[2]))
	}
	return f.post(html.UnescapeString(form[1]), fields)
}

// TestCopyToADirectory: a preview with bytes, which makes nothing; then the copy, whose page grows
// while it is made.
func TestCopyToADirectory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(".gitignore", "ign/\n")
	f.write("a.txt", "12345")
	f.write("ign/x", "ignored")
	f.write("<b>.txt", "b")
	id := f.track("to be copied")
	f.get(f.at("checkpoint/"+id)).want(http.StatusOK, "Copy to a directory", html.EscapeString(f.at("copy", "of", id)))
	f.get(f.at("changes", "from", "@")).want(http.StatusOK, "Copy the checkpoint to a directory")
	f.get(f.at("copy", "of", id)).want(http.StatusOK, "to be copied", `value="`+html.EscapeString(f.root+"-"+id[:8])+`"`).lacks("It would be made")

	dir := filepath.Join(t.TempDir(), "the <copy>")
	preview := f.get(f.at("copy", "of", id, "dir", dir, "ignored", "1")).want(http.StatusOK, "<strong>3</strong> of the checkpoint, 11 B", "<strong>1</strong> ignored, 7 B", "the &lt;copy&gt;").lacks("the <copy>")
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("after a preview: %v", err)
	}
	f.copying(preview).want(http.StatusOK, "<h1>Copying</h1>", "<progress max=", "of 5 paths", "Done:", "3 files of the checkpoint", "and 1 ignored file", "the &lt;copy&gt;", "</footer>").lacks("the <copy>")
	gittest.AssertEqual(t, "the copy", gittest.Manifest(t, f.root), gittest.Manifest(t, dir))
	f.copying(preview).want(http.StatusBadRequest, "No copy can be made there", "is no empty directory")

	some := filepath.Join(t.TempDir(), "copy")
	f.copying(f.get(f.at("copy", "of", "@", "dir", some, "patterns", "nothing\n\n !x \n")).want(http.StatusOK).lacks("ignored, ")).want(http.StatusOK, "Done:")
	if _, err := os.Lstat(filepath.Join(some, "ign")); err == nil {
		t.Error("what no pattern names was brought")
	}
}

func TestCopyRefusals(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a.txt", "a")
	f.track("")
	before := gittest.Manifest(t, f.root)
	for address, status := range map[string]int{
		f.at("copy"): http.StatusBadRequest, f.at("copy", "of", "0123456789"): http.StatusNotFound,
		f.at("copy", "of", "@", "dir", "relative"): http.StatusBadRequest, f.at("copy", "of", "@", "dir", f.root): http.StatusBadRequest,
		f.at("copy", "of", "@", "dir", filepath.Join(f.root, "in")): http.StatusBadRequest,
	} {
		if a := f.get(address); a.status != status {
			t.Errorf("%s: %d", address, a.status)
		}
	}
	dir := filepath.Join(t.TempDir(), "copy")
	f.post(f.at("copy", "of", "@"), url.Values{"dir": {dir}, "token": {"another"}}).want(http.StatusForbidden)
	f.post(f.at("copy"), url.Values{"dir": {dir}}).want(http.StatusBadRequest)
	f.post(f.at("copy", "of", "@"), url.Values{"dir": {filepath.Join(dir, "deep")}}).want(http.StatusBadRequest, "make it first")
	gittest.AssertEqual(t, "the root", before, gittest.Manifest(t, f.root))
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestCopyThatFailsMidway: the page has begun by then, and says what happened.
func TestCopyThatFailsMidway(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i := range 40 {
		f.write(strings.Repeat("d/", i%3)+"f"+string(rune('a'+i)), strings.Repeat("x", i))
	}
	f.track("")
	dir := filepath.Join(t.TempDir(), "copy")
	f.source = &occupied{f.repo, dir}
	f.post(f.at("copy", "of", "@"), url.Values{"dir": {dir}}).want(http.StatusOK, "<h1>Copying</h1>", `role="alert"`, "No copy can be made there", "by now", "</footer>").lacks("Done:")
}

// occupied puts a file at the place of a copy while the copy is made.
type occupied struct {
	Repo
	dir string
}

func (o *occupied) Checkout(ctx context.Context, spec, dir string, opt cairn.CheckoutOptions) (*cairn.CheckoutResult, error) {
	tell := opt.Progress
	opt.Progress = func(p cairn.Progress) {
		if tell(p); p.Files == 1 {
			if err := os.WriteFile(o.dir, []byte("mine"), 0o600); err != nil {
				panic(err)
			}
		}
	}
	return o.Repo.Checkout(ctx, spec, dir, opt)
}
