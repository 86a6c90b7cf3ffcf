package webui

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a browser may take for one thing. It is a bound for a machine
// that hangs, not a measure of speed.
const patience = time.Minute

// browser is a headless Chromium, spoken to through two pipes: no port, no library.
// https://chromedevtools.github.io/devtools-protocol/ has the words.
type browser struct {
	t       *testing.T
	to      io.WriteCloser
	process *exec.Cmd
	session string

	mu      sync.Mutex
	next    int
	waiting map[int]chan message
	loaded  chan struct{} // a page was loaded
	broken  error
	noise   []string // what pages complained about
}

type message struct {
	ID        int             `json:"id,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// findChromium returns the program, or skips the test.
func findChromium(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: no way to hand pipes to a browser on Windows")
	}
	for _, name := range []string{os.Getenv("CAIRN_CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"} {
		if program, err := exec.LookPath(name); name != "" && err == nil {
			return program
		}
	}
	t.Skip("SKIPPED: no Chromium on this machine (chromium in PATH, or CAIRN_CHROMIUM)")
	return ""
}

// startBrowser starts Chromium. The first start on a busy machine may fail, so there
// are three tries.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	program := findChromium(t)
	var err error
	for range 3 {
		b := &browser{t: t, waiting: make(map[int]chan message), loaded: make(chan struct{}, 100)}
		if err = b.start(program); err == nil {
			t.Cleanup(b.stop)
			return b
		}
		b.stop()
		t.Logf("Chromium did not start: %v", err)
	}
	t.Fatal(err)
	return nil
}

func (b *browser) start(program string) error {
	profile, err := os.MkdirTemp("", "cairn-chromium-")
	if err != nil {
		return err
	}
	b.t.Cleanup(func() { // after the process has ended
		if err := os.RemoveAll(profile); err != nil {
			b.t.Logf("Chromium's profile is left behind: %v", err)
		}
	})
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return err
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		return err
	}
	b.to = ourOut
	// Containers and root have no use for Chromium's own sandbox and often no way to set it up, and
	// the browser shows only our own page.
	b.process = exec.Command(program, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--force-color-profile=srgb",
		"--user-data-dir="+profile, "about:blank")
	b.process.Env = append(os.Environ(), "HOME="+profile)
	b.process.ExtraFiles = []*os.File{theirIn, theirOut}
	err = b.process.Start()
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		return err
	}
	go b.listen(ourIn)
	return b.attach()
}

// attach takes hold of the page that Chromium opened.
func (b *browser) attach() error {
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	if err := b.ask("Target.getTargets", nil, &targets); err != nil {
		return err
	}
	for _, target := range targets.TargetInfos {
		if target.Type != "page" {
			continue
		}
		var attached struct{ SessionID string }
		if err := b.ask("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached); err != nil {
			return err
		}
		b.session = attached.SessionID
		for _, domain := range []string{"Page.enable", "Runtime.enable", "Log.enable"} {
			if err := b.ask(domain, nil, nil); err != nil {
				return err
			}
		}
		return nil
	}
	return errors.New("Chromium has no page")
}

// stop asks Chromium to end, so that its children do not write into a profile that is
// being removed, and ends it if it will not.
func (b *browser) stop() {
	if b.process == nil || b.process.Process == nil {
		return
	}
	b.session = ""
	if err := b.ask("Browser.close", nil, nil); err != nil {
		b.process.Process.Kill()
	}
	timer := time.AfterFunc(patience, func() { b.process.Process.Kill() })
	defer timer.Stop()
	b.process.Wait()
	b.to.Close()
}

// listen takes what Chromium says, until it ends.
func (b *browser) listen(from io.ReadCloser) {
	defer from.Close()
	in := bufio.NewReaderSize(from, 1<<20)
	for {
		data, err := in.ReadBytes(0)
		if err != nil {
			b.fail(fmt.Errorf("Chromium ended: %w", err))
			return
		}
		var m message
		if err := json.Unmarshal(bytes.TrimSuffix(data, []byte{0}), &m); err != nil {
			b.fail(err)
			return
		}
		b.heard(m)
	}
}

func (b *browser) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broken = err
	for _, c := range b.waiting {
		close(c)
	}
	clear(b.waiting)
}

func (b *browser) heard(m message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case m.ID != 0:
		if c := b.waiting[m.ID]; c != nil {
			c <- m
			delete(b.waiting, m.ID)
		}
	case m.Method == "Page.loadEventFired":
		b.loaded <- struct{}{}
	case m.Method == "Runtime.exceptionThrown", m.Method == "Log.entryAdded", m.Method == "Page.javascriptDialogOpening":
		b.noise = append(b.noise, string(m.Params))
	}
}

// ask says one thing and waits for the answer.
func (b *browser) ask(method string, params, result any) error {
	if params == nil {
		params = struct{}{}
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	answer := make(chan message, 1)
	b.mu.Lock()
	if b.broken != nil {
		b.mu.Unlock()
		return b.broken
	}
	b.next++
	m := message{ID: b.next, SessionID: b.session, Method: method, Params: raw}
	b.waiting[m.ID] = answer
	data, err := json.Marshal(m)
	if err == nil {
		_, err = b.to.Write(append(data, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case m, ok := <-answer:
		if !ok {
			return fmt.Errorf("%s: %w", method, b.broken)
		}
		if m.Error != nil {
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		}
		if result != nil {
			return json.Unmarshal(m.Result, result)
		}
		return nil
	case <-time.After(patience):
		return fmt.Errorf("%s: no answer", method)
	}
}

func (b *browser) must(method string, params, result any) {
	b.t.Helper()
	if err := b.ask(method, params, result); err != nil {
		b.t.Fatal(err)
	}
}

// loading does something that leads to another page, and waits for that.
func (b *browser) loading(f func()) {
	b.t.Helper()
	for len(b.loaded) > 0 {
		<-b.loaded
	}
	f()
	select {
	case <-b.loaded:
	case <-time.After(patience):
		b.t.Fatalf("no page was loaded; this is %s", b.text("location.href"))
	}
}

func (b *browser) open(address string) {
	b.t.Helper()
	b.loading(func() {
		var answer struct{ ErrorText string }
		b.must("Page.navigate", map[string]any{"url": address}, &answer)
		if answer.ErrorText != "" {
			b.t.Fatalf("%s: %s", address, answer.ErrorText)
		}
	})
}

// eval returns what an expression is, once its promise is kept.
func (b *browser) eval(expression string, into any) {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.must("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	if into != nil {
		if err := json.Unmarshal(answer.Result.Value, into); err != nil {
			b.t.Fatalf("%s = %s: %v", expression, answer.Result.Value, err)
		}
	}
}

func (b *browser) text(expression string) (s string) {
	b.t.Helper()
	b.eval("String("+expression+")", &s)
	return s
}

func (b *browser) number(expression string) (n float64) {
	b.t.Helper()
	b.eval(expression, &n)
	return n
}

// until waits inside the page for a condition.
func (b *browser) until(condition string) {
	b.t.Helper()
	b.eval("new Promise((done) => { const look = () => ("+condition+") ? done(true) : setTimeout(look, 10); look(); })", nil)
}

// press pushes and releases a key.
func (b *browser) press(key string) {
	b.t.Helper()
	event := map[string]any{"type": "keyDown", "key": key}
	codes := map[string]int{"Enter": 13, "Tab": 9, "Escape": 27}
	switch code, named := codes[key]; {
	case named:
		event["windowsVirtualKeyCode"], event["code"] = code, key
		if key == "Enter" {
			event["text"] = "\r"
		}
	default:
		event["text"] = key
	}
	b.must("Input.dispatchKeyEvent", event, nil)
	delete(event, "text")
	event["type"] = "keyUp"
	b.must("Input.dispatchKeyEvent", event, nil)
}

func (b *browser) typeText(text string) {
	b.t.Helper()
	b.must("Input.insertText", map[string]any{"text": text}, nil)
}

// size sets the window's size in pixels.
func (b *browser) size(width, height int) {
	b.t.Helper()
	b.must("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
}

// colours sets what the system prefers: "dark" or "light".
func (b *browser) colours(scheme string) {
	b.t.Helper()
	b.must("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// screenshot returns what is seen. With CAIRN_SCREENSHOTS it is kept in that directory.
func (b *browser) screenshot(name string) image.Image {
	b.t.Helper()
	var answer struct{ Data string }
	b.must("Page.captureScreenshot", map[string]any{"format": "png"}, &answer)
	data, err := base64.StdEncoding.DecodeString(answer.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if dir := os.Getenv("CAIRN_SCREENSHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), data, 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		b.t.Fatal(err)
	}
	return picture
}

// axe runs the checks of axe-core over the page and lists what they find. CAIRN_AXE names the file
// axe.min.js; without it there is nothing to run.
func (b *browser) axe() (found string) {
	b.t.Helper()
	file := os.Getenv("CAIRN_AXE")
	if file == "" {
		return "[]"
	}
	source, err := os.ReadFile(file)
	if err != nil {
		b.t.Fatal(err)
	}
	b.eval(string(source)+";0", nil)
	b.eval("axe.run({resultTypes: ['violations']}).then((all) => JSON.stringify(all.violations.map((v) => [v.id, v.nodes.map((n) => n.html)])))", &found)
	return found
}

// quiet fails the test if a page complained: about its script, its policy or a file
// that it could not load.
func (b *browser) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.noise) > 0 {
		b.t.Errorf("the pages complained:\n%s", strings.Join(b.noise, "\n"))
		b.noise = nil
	}
}

// forget takes out complaints that a test has asked for.
func (b *browser) forget(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.noise = slices.DeleteFunc(b.noise, func(noise string) bool { return strings.Contains(noise, text) })
}
