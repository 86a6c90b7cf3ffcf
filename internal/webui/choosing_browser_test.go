package webui

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A person ticks one change, looks at the preview, and takes it back. The box of a file follows the
// boxes of its changes, also after more lines were opened.
func testChoose(t *testing.T, b *browser) {
	f := newFixture(t)
	f.write("a.txt", numbered(80))
	from := f.track("")
	changed := strings.NewReplacer("line 10\n", "ten\n", "line 70\n", "seventy\n").Replace(numbered(80))
	f.write("a.txt", changed)
	to := f.track("")
	b.open(f.serve() + f.at("changes", "from", from, "to", to))
	b.eval("document.querySelectorAll('input[name=hunk]')[1].click()", nil)
	if got := b.text("document.querySelector('input[name=file]').indeterminate"); got != "true" {
		t.Errorf("with one change of two the box of the file is indeterminate: %s", got)
	}
	b.eval("document.querySelector('a[data-open]').click()", nil)
	b.until("document.querySelector('.lines').textContent.includes('line 1')")
	b.until("document.getElementById('status').textContent.includes('More lines')")
	if got := b.text("[...document.querySelectorAll('input[name=hunk]')].map((box) => box.checked)"); got != "false,true" {
		t.Errorf("after more lines were opened the boxes are %s", got)
	}
	b.screenshot("choose")
	b.loading(func() { b.eval("document.querySelector('.choosing button').click()", nil) })
	if got := b.text("document.querySelector('h1').textContent"); got != "Take back 1 chosen change" {
		t.Fatalf("the preview is %q", got)
	}
	if f.read("a.txt") != changed {
		t.Fatal("the preview changed the disk")
	}
	b.screenshot("choose-plan")
	b.press("x")
	b.loading(func() { b.press("Enter") })
	b.until("document.body.textContent.includes('Done.')")
	if got := f.read("a.txt"); got != strings.Replace(numbered(80), "line 10\n", "ten\n", 1) {
		t.Errorf("the file is %q", got)
	}
}

// A preview whose boxes have changed cannot be confirmed.
func testChangedChoice(t *testing.T, b *browser) {
	f := story(t)
	b.open(f.serve() + f.at("plan", "do", "restore", "to", f.checkpointOf("before the agent")))
	b.eval("document.querySelector('input[name=file]').click()", nil)
	if b.text("document.getElementById('confirm').disabled") != "true" {
		t.Error("the old preview can be confirmed")
	}
	b.eval("document.querySelector('input[name=file]').click()", nil)
	if b.text("document.getElementById('confirm').disabled") != "false" {
		t.Error("the preview cannot be confirmed after the choice is as before")
	}
}

// The list follows the search while a person types.
func testSearch(t *testing.T, b *browser) {
	f := story(t)
	b.open(f.serve() + f.at(""))
	b.press("/")
	b.typeText("list.sh")
	b.until("document.querySelectorAll('[data-live] article.turn').length === 1")
	if got := b.text("document.activeElement.value + ' ' + location.search"); !strings.HasPrefix(got, "list.sh ") || !strings.Contains(got, "q=list.sh") {
		t.Errorf("the search field and the address are %q", got)
	}
	b.typeText(" nowhere")
	b.until("document.querySelector('[data-live]').textContent.includes('Nothing fits')")
}

// A search that the next letters follow is given up, so that the server does not go on with it.
func testSearchGivenUp(t *testing.T, b *browser) {
	f := story(t)
	begun, ended := make(chan bool, 1), make(chan bool, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("q") == "list" {
			begun <- true
			<-r.Context().Done()
			ended <- true
			return
		}
		f.handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	b.open(server.URL + f.at(""))
	b.press("/")
	b.typeText("list")
	await(t, begun)
	b.typeText(".sh")
	b.until("document.querySelectorAll('[data-live] article.turn').length === 1")
	await(t, ended)
	if got := b.text("document.getElementById('status').textContent"); got != "1 entry found" {
		t.Errorf("the page says %q", got)
	}
}

// A person unticks one change of three in a preview, looks at the preview of the rest, and confirms
// that.
func testPreviewBoxes(t *testing.T, b *browser) {
	f, from, to := twoFiles(t)
	b.open(f.serve() + f.at("plan", "do", "revert", "from", from, "to", to))
	b.eval("document.querySelectorAll('input[name=hunk]')[1].click()", nil)
	if got := b.text("[...document.querySelectorAll('input[name=file]')].map((box) => `${box.checked} ${box.indeterminate}`)"); got != "true true,true false,true false" {
		t.Errorf("the boxes of the files are %s", got)
	}
	if got := b.text("document.getElementById('chosen').textContent"); got != "2 changes, 2 files ticked. Look at the preview of that before you confirm it." {
		t.Errorf("the page says %q", got)
	}
	if b.text("document.getElementById('confirm').disabled") != "true" {
		t.Error("the old preview can be confirmed")
	}
	b.screenshot("preview-boxes")
	b.loading(func() { b.eval("document.querySelector('.choosing button').click()", nil) })
	if got := b.text("document.querySelector('h1').textContent"); got != "Take back 4 chosen changes" {
		t.Fatalf("the preview is %q", got)
	}
	b.loading(func() { b.eval("document.getElementById('confirm').click()", nil) })
	b.until("document.body.textContent.includes('Done.')")
	if got := f.read("a.txt"); got != changedLines(60, "line 30\n,thirty\n") || f.read("b.txt") != "b\n" {
		t.Errorf("a.txt is %q, b.txt %q", got, f.read("b.txt"))
	}
}

// A person unticks a turn and a step of another turn, and takes the rest of the session back.
func testStepBoxes(t *testing.T, b *browser) {
	f := story(t)
	b.open(f.serve() + f.at("plan", "do", "session", "session", "ses_4f1c", "message", "m1"))
	b.eval("document.querySelectorAll('input[name=step]')[1].click()", nil)
	turn := "document.querySelector('.going fieldset input[data-turn]')"
	if got := b.text("`${" + turn + ".checked} ${" + turn + ".indeterminate}`"); got != "true true" {
		t.Errorf("with one step of three the box of the turn is %s", got)
	}
	b.eval("document.querySelectorAll('input[name=step]')[3].click()", nil)
	b.eval(turn+".click()", nil)
	if got := b.text("[...document.querySelectorAll('input[name=step]')].map((box) => box.checked)"); got != "false,false,false,false" {
		t.Errorf("after the box of the turn the steps are %s", got)
	}
	b.eval(turn+".click()", nil)
	if got := b.text("[...document.querySelectorAll('input[name=step]')].map((box) => box.checked)"); got != "true,true,true,false" {
		t.Errorf("after the box of the turn again the steps are %s", got)
	}
	if b.text("document.getElementById('confirm').disabled") != "true" {
		t.Error("the old preview can be confirmed")
	}
	b.screenshot("step-boxes")
	b.loading(func() { b.eval("document.querySelector('.choosing button').click()", nil) })
	if got := b.text("document.querySelector('h1').textContent"); got != "Take back 3 chosen steps" {
		t.Fatalf("the preview is %q", got)
	}
	b.loading(func() { b.eval("document.getElementById('confirm').click()", nil) })
	b.until("document.body.textContent.includes('Done.')")
	if f.read("ledger/account.go") != goBefore || !f.isThere("bin/list.sh") {
		t.Error("not exactly the ticked turn went back")
	}
}
