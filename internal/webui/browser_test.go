package webui

import (
	"fmt"
	"image"
	"image/draw"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

const goBefore = `package ledger

import "fmt"

// Account holds what somebody owns.
type Account struct {
	Owner   string
	Balance int
}

// Deposit adds to the balance.
func (a *Account) Deposit(amount int) {
	a.Balance += amount
}

// String implements fmt.Stringer.
func (a *Account) String() string {
	return fmt.Sprintf("%s: %d", a.Owner, a.Balance)
}
`

var goAfter = strings.NewReplacer(
	"func (a *Account) Deposit(amount int) {\n\ta.Balance += amount\n}",
	"func (a *Account) Deposit(amount int64) error {\n\tif amount <= 0 {\n\t\treturn fmt.Errorf(\"deposit of %d: %w\", amount, ErrAmount)\n\t}\n\ta.Balance += amount\n\treturn nil\n}",
	"Balance int\n", "Balance int64 // in cents\n", "import \"fmt\"", "import (\n\t\"errors\"\n\t\"fmt\"\n)\n\n// ErrAmount: nothing, or less, was to be deposited.\nvar ErrAmount = errors.New(\"unusable amount\")",
).Replace(goBefore)

// story is a small project with everything that the timeline shows.
func story(t *testing.T) *fixture {
	f := newFixture(t)
	f.write("ledger/account.go", goBefore)
	f.write("README.md", "# Ledger\n\nKeeps accounts.\n")
	f.write("web/old.css", "body { color: red }\n")
	f.track("before the agent")
	if _, err := f.sessions.Begin(t.Context(), session.SessionBegin{ID: "ses_4f1c", Title: "Ledger in cents", Meta: map[string]string{session.MetaAgent: "claude-code", modelKey: "opus"}}); err != nil {
		t.Fatal(err)
	}
	first := session.StepBegin{Session: "ses_4f1c", Message: "m1", Step: "s1", Prompt: "Deposits must be checked: refuse amounts that are zero or negative, and count in cents."}
	f.stepOf(first, func() { f.write("ledger/account.go", goAfter) })
	first.Step, first.Role = "s2", "assistant"
	first.Message = "m2"
	f.stepOf(first, func() {
		f.write("ledger/account_test.go", "package ledger\n\nimport \"testing\"\n\nfunc TestDeposit(t *testing.T) {\n\tif err := new(Account).Deposit(0); err == nil {\n\t\tt.Error(\"a deposit of nothing is taken\")\n\t}\n}\n")
	})
	first.Step = "s3"
	f.stepOf(first, func() { f.write("README.md", "# Ledger\n\nKeeps accounts, in cents.\n"); f.remove("web/old.css") })
	f.write("notes.txt", "by hand\n")
	f.track("")
	second := session.StepBegin{Session: "ses_4f1c", Message: "m3", Step: "s4", Prompt: "Add a script that lists all accounts."}
	f.stepOf(second, func() {
		f.write("bin/list.sh", "#!/bin/sh\n# Lists all accounts.\nset -eu\nfor f in accounts/*; do\n\techo \"$(basename \"$f\")\"\ndone\n")
	})
	return f
}

// The page in a real Chromium. One browser shows the parts that are due, one after another. Without CAIRN_CRASH the
// views have one look.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: a browser takes seconds")
	}
	t.Parallel()
	b := startBrowser(t)
	for i, part := range []struct {
		name string
		run  func(*testing.T, *browser)
	}{
		{"views", testViews}, {"crowded", testCrowded}, {"projects", testProjects}, {"empty", testEmpty}, {"login", testLogin}, {"revert by keyboard", testRevertByKeyboard}, {"keys", testKeys}, {"live", testLive}, {"cut stream", testCutStream}, {"choose", testChoose}, {"changed choice", testChangedChoice}, {"preview boxes", testPreviewBoxes}, {"step boxes", testStepBoxes}, {"unrevert boxes", testUnrevertBoxes}, {"search", testSearch}, {"git", testGit}, {"outside", testOutside}, {"team", testTeam}, {"machines", testMachines},
		{"spoken", testSpoken}, {"news disturb nobody", testNewsDisturbNobody}, {"server gone", testServerGone}, {"files by key", testFilesByKey}, {"colours in place", testColoursInPlace}, {"older by key", testOlderByKey}, {"double click", testDoubleClick}, {"keys at a box", testKeysAtABox}, {"forced colours", testForcedColours}, {"whole file of many changes", testWholeFileOfManyChanges},
		{"search given up", testSearchGivenUp},
		{"hostile", testHostile}, {"thousand steps", testThousandSteps}, {"long diff", testLongDiff},
	} {
		t.Run(part.name, func(t *testing.T) {
			if !gittest.Due(i) {
				t.Skip("one part in five, or in two with CAIRN_CRASH=K/N: all asks for all")
			}
			b.t = t
			b.size(1280, 800)
			b.colours("light")
			part.run(t, b)
			b.quiet()
		})
	}
}

// serve gives the pages of a fixture an address.
func (f *fixture) serve() string {
	f.t.Helper()
	server := httptest.NewServer(f.handler)
	f.t.Cleanup(server.Close)
	return server.URL
}

func testViews(t *testing.T, b *browser) {
	f := story(t)
	f.confirm(f.get(stepPlan(f, "s3"))).want(http.StatusSeeOther)
	host := f.serve()
	other := f.besides()
	f.forked("another-try", map[string]string{"made-there.txt": "n\n"})
	f.forked("idle-try", nil)
	addresses := append(f.pages(), "/ui/nope", f.at("", "q", "nowhere"), f.at("forks"), f.at("compare"), f.at("compare", "dir", other), f.at("copy", "of", "@"), f.at("copy", "of", "@", "dir", f.root+"-copy", "ignored", "1"), f.at("plan", "do", "merge", "dir", other))
	for i, address := range addresses {
		diff := strings.Contains(address, "step?")
		looks := []struct {
			name, colours string
			width         int
		}{{"light", "light", 1280}, {"dark", "dark", 1280}, {"narrow", "light", 400}}
		if !gittest.Full() {
			looks = looks[i%3 : i%3+1]
		}
		for _, look := range looks {
			b.size(look.width, 800)
			b.colours(look.colours)
			b.open(host + address)
			name := fmt.Sprintf("%02d-%s", i, look.name)
			p := pictureOf(b.screenshot(name))
			if p.colours < 30 {
				t.Errorf("%s (%s) is blank: %d colours", address, look.name, p.colours)
			}
			if dark := look.colours == "dark"; dark && p.brightness > .3 || !dark && p.brightness < .8 {
				t.Errorf("%s (%s) has brightness %.2f", address, look.name, p.brightness)
			}
			if diff && (p.green < 250 || p.red < 50) {
				t.Errorf("%s (%s) shows no added and deleted lines: %d and %d pixels", address, look.name, p.green, p.red)
			}
			if found := b.axe(); found != "[]" {
				t.Errorf("axe finds in %s (%s): %s", address, look.name, found)
			}
			if wide := b.number("document.documentElement.scrollWidth"); int(wide) > look.width {
				t.Errorf("%s is %v pixels wide in a window of %d", address, wide, look.width)
			}
		}
		if n := b.number("document.querySelectorAll('h1').length"); n != 1 {
			t.Errorf("%s has %v first headings", address, n)
		}
		nameless := b.text(`[...document.querySelectorAll("a, button, input:not([type=hidden])")].filter((e) => !(e.textContent.trim() || e.ariaLabel || e.title || e.labels?.[0]?.textContent.trim())).map((e) => e.outerHTML)`)
		if nameless != "" {
			t.Errorf("%s has controls without a name: %s", address, nameless)
		}
		for _, landmark := range []string{"main", "header.bar", "footer.bar"} {
			if b.text("document.querySelector('"+landmark+"') !== null") != "true" {
				t.Errorf("%s has no %s", address, landmark)
			}
		}
	}
	b.forget("404 (Not Found)")
}

// A person reverts a prompt with the keyboard alone, and takes that back.
func testRevertByKeyboard(t *testing.T, b *browser) {
	f := story(t)
	after := f.read("README.md")
	b.open(f.serve() + f.at(""))
	b.walk("Deposits must be checked")
	b.loading(func() { b.press("r") })
	b.until("document.querySelector('h1').textContent.includes('Revert')")
	if f.read("ledger/account.go") != goAfter {
		t.Fatal("the preview changed the disk")
	}
	b.press("x")
	if b.text("document.activeElement.id") != "confirm" {
		t.Fatalf("x leads to %s", b.text("document.activeElement.outerHTML"))
	}
	b.loading(func() { b.press("Enter") })
	b.until("document.body.textContent.includes('Done.')")
	if f.read("ledger/account.go") != goBefore || f.read("web/old.css") != "body { color: red }\n" || f.read("README.md") != "# Ledger\n\nKeeps accounts.\n" {
		t.Error("the files are not byte by byte what they were")
	}
	b.loading(func() { b.press("u") })
	b.press("x")
	b.loading(func() { b.press("Enter") })
	if f.read("ledger/account.go") != goAfter || f.read("README.md") != after {
		t.Error("the undo did not bring the work back")
	}
	b.loading(func() { b.press("h") })
	if b.number("document.querySelectorAll('article.operation').length") != 2 {
		t.Error("the timeline does not show both operations")
	}
}

// walk presses j until the entry in focus has a text.
func (b *browser) walk(text string) {
	b.t.Helper()
	for range 100 {
		b.press("j")
		if strings.Contains(b.text("document.activeElement.closest('[data-item]')?.textContent"), text) {
			return
		}
	}
	b.t.Fatalf("j never came to %q", text)
}

func testKeys(t *testing.T, b *browser) {
	f := story(t)
	b.open(f.serve() + f.at(""))
	b.press("Tab")
	if got := b.text("document.activeElement.className"); got != "skip" {
		t.Errorf("Tab leads to %q first", got)
	}
	b.press("Enter")
	if got := b.text("document.activeElement.id"); got != "main" {
		t.Errorf("the skip link leads to %q", got)
	}
	b.press("?")
	if b.text("document.getElementById('keys').open") != "true" {
		t.Error("? shows no keys")
	}
	b.press("Escape")
	if b.text("document.getElementById('keys').open") != "false" {
		t.Error("Escape leaves the keys open")
	}
	b.press("/")
	b.typeText("list all accounts")
	if got := b.text("document.activeElement.value"); got != "list all accounts" {
		t.Errorf("the filter has %q", got)
	}
	b.loading(func() { b.press("Enter") })
	if !strings.Contains(b.text("document.body.innerText"), "Nothing fits") {
		t.Error("the filter let something through")
	}
	b.press("/")
	b.eval("document.querySelector('[data-filter]').value = ''", nil)
	b.loading(func() { b.press("Enter") })
	b.walk("account.go")
	b.loading(func() { b.press("Enter") })
	if got := b.text("document.querySelector('h1').textContent"); got != "Step 1 of 3" {
		t.Errorf("Enter leads to %q", got)
	}
	b.loading(func() { b.press("v") })
	if b.number("document.querySelectorAll('.lines:not(.split)').length") == 0 {
		t.Error("v does not change the view")
	}
	b.press("j")
	b.press("Enter")
	if b.text("document.querySelector('details.file').open") != "false" {
		t.Error("Enter does not fold the file")
	}
	b.press("e")
	if b.text("document.querySelector('details.file').open") != "true" {
		t.Error("e does not unfold the file")
	}
	b.press("t")
	b.until("document.documentElement.dataset.theme === 'light'")
	b.press("t")
	b.until("document.documentElement.dataset.theme === 'dark'")
	if p := pictureOf(b.screenshot("chosen-dark")); p.brightness > .3 {
		t.Errorf("dark has brightness %.2f", p.brightness)
	}
	b.press("t")
	b.until("document.documentElement.dataset.theme === undefined")
}

// What happens shows up by itself, and the focus stays where it is.
func testLive(t *testing.T, b *browser) {
	f := story(t)
	events := make(chan string)
	mux := http.NewServeMux()
	mux.Handle("/", f.handler)
	mux.HandleFunc("/events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			http.NewResponseController(w).Flush()
			select {
			case e := <-events:
				fmt.Fprintf(w, "event: %s\ndata: {}\n\n", e)
			case <-r.Context().Done():
				return
			}
		}
	})
	f.events = "/events"
	server := httptest.NewServer(mux)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	b.open(server.URL + f.at(""))
	b.walk("account_test.go")
	f.write("late.txt", "x\n")
	f.track("something new")
	select {
	case events <- "track":
	case <-time.After(patience):
		t.Fatal("the page does not listen")
	}
	b.until("document.querySelector('[data-live]').textContent.includes('something new')")
	b.until("document.getElementById('status').textContent.includes('1 new entry')")
	if got := b.text("document.activeElement.textContent"); !strings.Contains(got, "account_test.go") {
		t.Errorf("the focus is at %q now", got)
	}
	b.open("about:blank")
}

// Texts that would be scripts are texts. A dialog would be a complaint.
func testHostile(t *testing.T, b *browser) {
	f := newFixture(t)
	f.write("a.html", "<p>\n")
	f.track("")
	name := strings.ReplaceAll(hostile, "/", "∕")
	f.stepOf(session.StepBegin{Session: "s" + hostile, Message: "m", Step: "t" + hostile, Prompt: hostile}, func() {
		f.write(name, hostile+"\n")
		f.write("a.html", hostile)
	})
	host := f.serve()
	for _, address := range []string{f.at(""), f.at("session", "id", "s"+hostile), f.at("step", "session", "s"+hostile, "step", "t"+hostile), f.at("plan", "do", "session", "session", "s"+hostile, "message", "m")} {
		b.open(host + address)
		if n := b.number("document.querySelectorAll('script').length + document.querySelectorAll('img').length"); n != 2 {
			t.Errorf("%s has %v scripts and pictures", address, n)
		}
	}
}

// A timeline of 1,000 steps is quick to open and to walk. Times are told, not judged.
func testThousandSteps(t *testing.T, b *browser) {
	f := newFixture(t)
	const prompts, steps = 100, 10
	for i := range prompts {
		for j := range steps {
			s := session.StepBegin{Session: fmt.Sprint("ses_", i%7), Message: fmt.Sprint("m", i), Step: fmt.Sprintf("s%d.%d", i, j), Prompt: fmt.Sprintf("Prompt number %d.", i)}
			f.stepOf(s, func() { f.write("counter.txt", fmt.Sprintf("%d\n%d\n", i, j)) })
		}
	}
	host := f.serve()
	before := time.Now()
	page := f.get(f.at("")).want(http.StatusOK)
	t.Logf("%d steps: the first page has %d KB and takes %v to make", prompts*steps, len(page.body)>>10, time.Since(before).Round(time.Millisecond))
	if len(page.body) > 300<<10 {
		t.Errorf("the first page has %d bytes", len(page.body))
	}
	before = time.Now()
	b.open(host + f.at(""))
	t.Logf("opened in the browser after %v", time.Since(before).Round(time.Millisecond))
	first := int(b.number("document.querySelectorAll('[data-item]').length"))
	before = time.Now()
	for range first + 5 { // over the end of the page, which brings the next one
		b.press("j")
	}
	b.until(fmt.Sprintf("document.querySelectorAll('[data-item]').length > %d", first))
	t.Logf("walked over %d entries in %v", first, time.Since(before).Round(time.Millisecond))
	b.press("j")
	b.until("document.activeElement.closest('[data-item]') !== null")
	b.screenshot("thousand")
	before = time.Now()
	f.get(f.at("", "q", "number 3.")).want(http.StatusOK, "Prompt number 3.")
	t.Logf("filtered down to the oldest in %v", time.Since(before).Round(time.Millisecond))
	session := f.get(f.at("session", "id", "ses_0")).want(http.StatusOK)
	if len(session.body) > 300<<10 {
		t.Errorf("the page of a session has %d bytes", len(session.body))
	}
}

// A diff of 10,000 lines is folded at first, and usable when it is unfolded.
func testLongDiff(t *testing.T, b *browser) {
	f := newFixture(t)
	const n = 10000
	text := func(word string) string {
		var out strings.Builder
		for i := range n {
			fmt.Fprintf(&out, "\tresult[%d] = compute(%d, %q) // of line %d\n", i, i, word, i)
		}
		return out.String()
	}
	f.write("generated.go", text("old"))
	f.write("small.txt", "1\n")
	from := f.track("")
	f.write("generated.go", text("new"))
	f.write("small.txt", "2\n")
	to := f.track("")
	b.open(f.serve() + f.at("changes", "from", from, "to", to))
	if b.text("[...document.querySelectorAll('details.file')].map((f) => f.open)") != "false,true" {
		t.Fatal("not exactly the long file is folded")
	}
	before := time.Now()
	b.press("j")
	b.press("Enter")
	b.until(fmt.Sprintf("document.querySelectorAll('details.file:first-child tr:not(.pick)').length === %d", n))
	b.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))", nil)
	t.Logf("%d changed lines unfolded and drawn after %v", n, time.Since(before).Round(time.Millisecond))
	b.screenshot("long-top")
	before = time.Now()
	b.eval("document.querySelector('details.file:first-child tr:last-child').closest('div').parentElement.lastElementChild.scrollIntoView({block: 'end', behavior: 'instant'})", nil)
	b.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))", nil)
	t.Logf("jumped to the end and drew it in %v", time.Since(before).Round(time.Millisecond))
	if p := pictureOf(b.screenshot("long-end")); p.green < 250 || p.red < 250 {
		t.Errorf("the end shows no lines: %+v", p)
	}
	before = time.Now()
	b.press("Enter")
	if b.text("document.querySelector('details.file').open") != "false" {
		t.Error("the long file does not fold again")
	}
	t.Logf("folded in %v", time.Since(before).Round(time.Millisecond))
}

// picture sums up what a screenshot shows.
type picture struct {
	colours    int     // different ones
	brightness float64 // of the average pixel, 0 to 1
	green, red int     // pixels with the tints of added and deleted lines
}

// pictureOf looks at every fourth pixel.
func pictureOf(m image.Image) (p picture) {
	pixels := image.NewRGBA(m.Bounds())
	draw.Draw(pixels, m.Bounds(), m, m.Bounds().Min, draw.Src)
	seen := make(map[[3]byte]bool)
	n := 0
	for y := 0; y < m.Bounds().Dy(); y += 2 {
		row := pixels.Pix[y*pixels.Stride : (y+1)*pixels.Stride]
		for ; len(row) >= 8; row = row[8:] {
			r, g, b := int(row[0]), int(row[1]), int(row[2])
			seen[[3]byte(row[:3])] = true
			p.brightness += float64(r+g+b) / 3 / 255
			n++
			switch {
			case g > r+8 && g > b+4:
				p.green++
			case r > g+8 && r > b+8:
				p.red++
			}
		}
	}
	p.colours, p.brightness = len(seen), p.brightness/float64(n)
	return p
}
