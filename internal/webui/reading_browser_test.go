package webui

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/seed-fb9cbc17/cairn/session"
)

// axNode is a node of the accessibility tree, which screen readers read.
type axNode struct {
	Ignored    bool
	Role, Name struct{ Value string }
}

// nodes lists the nodes with a role.
func (b *browser) nodes(role string) (list []axNode) {
	b.t.Helper()
	var tree struct{ Nodes []axNode }
	b.must("Accessibility.getFullAXTree", nil, &tree)
	for _, n := range tree.Nodes {
		if !n.Ignored && strings.EqualFold(n.Role.Value, role) {
			list = append(list, n)
		}
	}
	return list
}

// A screen reader tells what a live region says only if it knew the region before, and names the file
// around a control only if the file has a name.
func testSpoken(t *testing.T, b *browser) {
	f := story(t)
	host := f.serve()
	b.open(host + f.at(""))
	if n := len(b.nodes("status")); n != 1 {
		t.Errorf("the timeline has %d live regions before one says something", n)
	}
	if got := b.number("document.getElementById('status').getBoundingClientRect().height"); got != 0 {
		t.Errorf("a region without a text is %v pixels high", got)
	}
	b.open(host + f.at("changes", "from", f.checkpointOf("before the agent"), "to", "@"))
	if got := b.text("document.getElementById('chosen').role"); got != "status" {
		t.Errorf("what is chosen is told in a region of role %q", got)
	}
	var names []string
	for _, n := range b.nodes("group") {
		names = append(names, n.Name.Value)
	}
	for _, path := range []string{"ledger/account.go", "README.md", "web/old.css"} {
		if !strings.Contains(strings.Join(names, "\n"), path) {
			t.Errorf("no group is named after %s: %q", path, names)
		}
	}
}

// serveWithEvents is serve for a page that follows a stream.
func (f *fixture) serveWithEvents() (host string, s *streams) {
	f.t.Helper()
	s = newStreams(f.t)
	mux := http.NewServeMux()
	mux.Handle("/", f.handler)
	mux.Handle("/events", s)
	f.events = "/events"
	server := httptest.NewServer(mux)
	f.t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL, s
}

// News leaves the focus on its control, and the entries in sight at their places in the window.
func testNewsDisturbNobody(t *testing.T, b *browser) {
	f := newFixture(t)
	for i := range 12 {
		step := session.StepBegin{Session: "s", Message: fmt.Sprint("m", i), Step: fmt.Sprint("s", i), Prompt: fmt.Sprintf("Prompt number %d.", i)}
		f.stepOf(step, func() { f.write("counter.txt", fmt.Sprintln(i)) })
	}
	host, s := f.serveWithEvents()
	b.open(host + f.at(""))
	events := await(t, s.open)
	n := 0
	news := func() {
		t.Helper()
		n++
		text := fmt.Sprint("news ", n)
		f.write("news.txt", text)
		f.track(text)
		events <- "track"
		b.until(fmt.Sprintf("document.querySelector('[data-live]').textContent.includes(%q)", text))
	}
	focused := "`${document.activeElement.tagName} ${document.activeElement.textContent}`"
	for _, at := range []string{"a.prompt", ".turn .acts a", ".turn .steps .acts a"} {
		b.eval(fmt.Sprintf("document.querySelectorAll(%q)[3].focus()", at), nil)
		before := b.text(focused)
		news()
		if got := b.text(focused); got != before {
			t.Errorf("the focus moves from %q to %.60q", before, got)
		}
	}
	b.eval("document.activeElement.blur(), scrollTo({ top: 700, behavior: 'instant' })", nil)
	b.eval("globalThis.read = [...document.querySelectorAll('li[id]')].find((e) => e.getBoundingClientRect().top > 100).id", nil)
	place := "document.getElementById(read).getBoundingClientRect().top"
	before := b.number(place)
	news()
	if got := b.number(place); math.Abs(got-before) >= 1 {
		t.Errorf("what is read moves from %v to %v in the window", before, got)
	}
	b.eval("scrollTo({ top: 0, behavior: 'instant' })", nil)
	news()
	if got := b.number("scrollY"); got != 0 {
		t.Errorf("at the top of the list the news is out of sight by %v pixels", got)
	}
	b.open("about:blank")
}

// A server that is gone shows on the page, and so does one that is back.
func testServerGone(t *testing.T, b *browser) {
	f := story(t)
	host, s := f.serveWithEvents()
	b.open(host + f.at(""))
	events := await(t, s.open)
	close(events)
	again := await(t, s.open) // a stream that was only cut is no reason for a word
	if got := b.text("document.getElementById('status').textContent"); got != "" {
		t.Errorf("after a cut the page says %q", got)
	}
	b.must("Network.enable", nil, nil)
	offline := func(yes bool) {
		t.Helper()
		b.must("Network.emulateNetworkConditions", map[string]any{"offline": yes, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}, nil)
	}
	defer b.must("Network.disable", nil, nil)
	offline(true)
	defer offline(false)
	close(again)
	b.until("document.getElementById('status').textContent.includes('does not answer')")
	offline(false)
	await(t, s.open)
	b.until("document.getElementById('status').textContent.includes('answers again')")
	b.forget("ERR_INTERNET_DISCONNECTED")
	b.open("about:blank")
}

// j and k show a file from its beginning, whichever way it comes into sight.
func testFilesByKey(t *testing.T, b *browser) {
	f := newFixture(t)
	lines := func(word string) string { return strings.Repeat(word+"\n", 80) }
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		f.write(name, lines("before"))
	}
	from := f.track("")
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		f.write(name, lines("after"))
	}
	b.open(f.serve() + f.at("changes", "from", from, "to", f.track("")))
	for _, step := range []struct{ key, path string }{{"j", "a.txt"}, {"j", "b.txt"}, {"j", "c.txt"}, {"k", "b.txt"}, {"k", "a.txt"}} {
		b.press(step.key)
		if got := b.text("document.activeElement.textContent"); !strings.Contains(got, step.path) {
			t.Fatalf("%s leads to %q", step.key, got)
		}
		if top := b.number("document.activeElement.closest('details').getBoundingClientRect().top"); top < 0 || top > 400 {
			t.Errorf("after %s %s begins at %v of a window of 800", step.key, step.path, top)
		}
	}
}

// The colours change in place: search, ticks and focus stay.
func testColoursInPlace(t *testing.T, b *browser) {
	f := story(t)
	host := f.serve()
	b.open(host + f.at(""))
	b.press("/")
	b.typeText("list.sh")
	b.until("location.search.includes('q=list.sh')")
	b.press("Escape")
	b.press("t")
	b.until("document.documentElement.dataset.theme === 'light'")
	if got := b.text("location.search"); !strings.Contains(got, "q=list.sh") {
		t.Errorf("after the colours have changed the address has %q", got)
	}
	b.open(host + f.at("plan", "do", "restore", "to", f.checkpointOf("before the agent")))
	if got := b.text("document.documentElement.dataset.theme"); got != "light" {
		t.Errorf("the next page has the colours %q", got)
	}
	b.eval("document.querySelector('input[name=file]').click(), document.querySelector('button[value=auto]').focus()", nil)
	b.press("Enter")
	b.until("document.documentElement.dataset.theme === undefined")
	if got := b.text("`${document.querySelector('input[name=file]').checked} ${document.activeElement.value} ${document.activeElement.ariaPressed}`"); got != "false auto true" {
		t.Errorf("the box, the focus and the button are %q", got)
	}
}

// "Older entries" by keyboard leads to the first of them, and says how many came.
func testOlderByKey(t *testing.T, b *browser) {
	f := newFixture(t)
	for i := range pageEntries + 5 {
		f.write("a", strings.Repeat("x", i+1))
		f.track(fmt.Sprint("track ", i))
	}
	b.open(f.serve() + f.at(""))
	b.eval("document.querySelector('a[data-more]').focus()", nil)
	b.press("Enter")
	b.until("document.activeElement.textContent.includes('track 4')")
	if got := b.text("document.getElementById('status').textContent"); got != "5 older entries" {
		t.Errorf("the page says %q", got)
	}
}

// A whole file is one choice, however many changes it has: its boxes are no reason for an address without room.
// Boxes that come with the lines of a ticked file are ticked.
func testWholeFileOfManyChanges(t *testing.T, b *browser) {
	f := newFixture(t)
	lines := func(word string) string {
		var out strings.Builder
		for i := range 2 * maxHunks {
			fmt.Fprintf(&out, "same %d\n%s %d\n", i, word, i)
		}
		return out.String()
	}
	f.write("a.txt", lines("before"))
	f.write("b.txt", "before\n")
	from := f.track("")
	f.write("a.txt", lines("after"))
	f.write("b.txt", "after\n")
	b.open(f.serve() + f.at("changes", "from", from, "to", f.track("")))
	b.eval("document.querySelector('input[name=file]').click()", nil)
	b.eval("document.querySelector('details.file').open = false, document.querySelector('details.file').open = true", nil)
	b.until("document.querySelectorAll('input[name=hunk]').length > 1000")
	if got := b.text("[...document.querySelectorAll('details.file')].map((file) => [...file.querySelectorAll('input[name=hunk]')].every((box) => box.checked))"); got != "true,false" {
		t.Errorf("the boxes of the ticked file and of the other are all ticked: %s", got)
	}
	b.loading(func() { b.eval("document.querySelector('.choosing button').click()", nil) })
	if got := b.text("document.querySelector('h1').textContent"); got != "Take back the changes of 1 path" {
		t.Errorf("the preview is %q", got)
	}
}

// With the colours of a system that are few, such as those of high contrast, the chosen tab and the chosen button
// still look different from the others.
func testForcedColours(t *testing.T, b *browser) {
	f := story(t)
	b.must("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "forced-colors", "value": "active"}}}, nil)
	b.open(f.serve() + f.at(""))
	b.screenshot("forced-colours")
	look := "(e) => { const s = getComputedStyle(e); return [s.color, s.borderTopWidth, s.borderTopColor, s.textDecorationLine, s.outlineWidth].join() }"
	for chosen, other := range map[string]string{".tabs a[aria-current]": ".tabs a:not([aria-current])", ".quiet[aria-pressed=true]": ".quiet[aria-pressed=false]"} {
		if b.text(fmt.Sprintf("(%s)(document.querySelector(%q)) === (%s)(document.querySelector(%q))", look, chosen, look, other)) == "true" {
			t.Errorf("%s looks like %s", chosen, other)
		}
	}
	b.eval("document.getElementById('status').textContent = 'a word'", nil)
	if got := b.text("getComputedStyle(document.getElementById('status')).borderTopWidth"); got == "0px" {
		t.Error("what the page says has no edge")
	}
}

// Keys are those of the file around the focus, and a box has them as any other control does. x leads to the button
// that goes on: the confirmation, or the preview of other boxes.
func testKeysAtABox(t *testing.T, b *browser) {
	f := newFixture(t)
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		f.write(name, "before\n")
	}
	from := f.track("")
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		f.write(name, "after\n")
	}
	host, address := f.serve(), f.at("changes", "from", from, "to", f.track(""))
	b.open(host + address)
	b.eval("document.querySelectorAll('input[name=file]')[1].focus()", nil)
	b.press("j")
	if got := b.text("document.activeElement.textContent"); !strings.Contains(got, "c.txt") {
		t.Errorf("j leads from the box of b.txt to %.60q", got)
	}
	b.eval("document.querySelectorAll('input[name=file]')[1].focus()", nil)
	b.loading(func() { b.press("r") })
	if got := b.text("document.querySelector('h1').textContent"); got != "Take back the changes of 1 path" {
		t.Errorf("r at the box of a file leads to %q", got)
	}
	b.open(host + f.at("plan", "do", "revert", "from", from, "to", "@"))
	b.eval("document.querySelector('input[name=file]').focus()", nil)
	b.press("x")
	if got := b.text("document.activeElement.id"); got != "confirm" {
		t.Errorf("x leads from a box to %q", got)
	}
	b.eval("document.querySelector('input[name=file]').focus(), document.activeElement.click()", nil)
	b.press("x")
	if got := b.text("document.activeElement.textContent"); got != "Preview only what is ticked" {
		t.Errorf("after a box was unticked x leads to %.60q", got)
	}
}

// A double click confirms once. The second request would find the plan carried out, and its answer, that the disk has
// moved, would take the place of the result.
func testDoubleClick(t *testing.T, b *browser) {
	f := story(t)
	posts, clicked := make(chan bool, 9), make(chan bool)
	click := sync.OnceFunc(func() { close(clicked) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/posted":
			<-posts
		case r.URL.Path == "/clicked":
			click()
		case r.Method == http.MethodPost:
			posts <- true
			<-clicked
			f.handler.ServeHTTP(w, r)
		default:
			f.handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(click)
	b.open(server.URL + f.at("plan", "do", "restore", "to", f.checkpointOf("before the agent")))
	b.loading(func() {
		b.eval("{ const c = document.getElementById('confirm'); c.click(); fetch('/posted').then(() => { c.click(); return fetch('/clicked'); }); 0 }", nil)
	})
	if got := b.text("document.body.textContent"); !strings.Contains(got, "Done.") || len(posts) > 0 {
		t.Errorf("%d further requests, and the page says %q", len(posts), b.text("document.querySelector('h1').textContent"))
	}
	b.forget("409")
}

// A link to a turn shows that turn, also where its session has more steps than a page.
func TestLinkToOldTurn(t *testing.T) {
	t.Parallel()
	var turns []*turn
	s := &session.Session{ID: "s"}
	for i := range 3 * sessionSteps { // the newest first
		turns = append(turns, &turn{Session: s, Message: fmt.Sprint("m", i)})
	}
	v := &visit{h: &handler{counts: newPairCache[*counts]()}, project: &Project{ID: "p"}}
	for _, i := range []int{0, sessionSteps - 1, sessionSteps, 2*sessionSteps + 7, len(turns) - 1} {
		view, err := v.entryView(turns[i].entry())
		if err != nil {
			t.Fatal(err)
		}
		address, anchor, _ := strings.Cut(view.At, "#")
		v.query = queryOf(t, address)
		page := &sessionPage{Session: s}
		if err := page.fill(v, turns); err != nil {
			t.Fatal(err)
		}
		found := false
		for _, shown := range page.Turns {
			found = found || shown.ID == anchor
		}
		if newest := page.Turns[0].Turn == turns[0]; !found || newest != (i < sessionSteps) || newest != (page.Newest == "") {
			t.Errorf("the link to turn %d shows it: %v, with the newest: %v, and leads back to them by %q", i, found, newest, page.Newest)
		}
	}
}
