package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// FuzzRequest: no request, whatever is in it, makes the server answer 5xx or panic, and
// none changes anything outside the root.
func FuzzRequest(f *testing.F) {
	for _, seed := range [][3]string{
		{"GET", "/status", ""},
		{"GET", "/checkpoints?limit=2&after=x", ""},
		{"GET", "/checkpoints/@~1/files?path=d", ""},
		{"GET", "/checkpoints/%40/file?path=a%00b", ""},
		{"GET", "/checkpoints/dead/exists?path=..%2F..%2Fx", ""},
		{"GET", "/diff?from=@~1&to=@&path=d&path=a.txt&context=-1", ""},
		{"GET", "/diff/text?context=0", ""},
		{"GET", "/patch?to=nosuch", ""},
		{"GET", "/blame?path=a.txt&hash=@&lines=1,2&deleted=true", ""},
		{"GET", "/blame?path=..%2Fx&lines=,&limit=0", ""},
		{"GET", "/log?path=a.txt&S=b&grep=%28&since=2020-01-01T00:00:00Z&after=x", ""},
		{"GET", "/log?path=%00&sessionID=@&until=never", ""},
		{"GET", "/grep?pattern=%5B%5Ea%5D&path=d&deleted=true&word=true", ""},
		{"GET", "/grep?pattern=(&fixed=true&hash=@~1&limit=1", ""},
		{"GET", "/show?of=s:@&context=-1&path=", ""},
		{"GET", "/show?of=@~99:-1", ""},
		{"GET", "/operations?limit=1000", ""},
		{"GET", "/session/s/diff?messageID=m1&stepID=1", ""},
		{"GET", "/session/%2e%2e%2f/history", ""},
		{"GET", "/project/0123456789abcdef/status?directory=%2Ftmp", ""},
		{"GET", "/events?directory=/x", ""},
		{"GET", "/opencode/session/s/diff?messageID=m1", ""},
		{"HEAD", "/openapi.json", ""},
		{"OPTIONS", "*", ""},
		{"POST", "/track", `{"message":"x","paths":["a.txt","\u0000ff"],"onlyPaths":true,"deadline":1}`},
		{"POST", "/tickets", `{"track":{"message":"x","paths":["a.txt"],"onlyPaths":true,"rest":true}}`},
		{"POST", "/tickets", `{"step":{"sessionID":"s","stepID":"2","paths":["\u0000ff"]}}`},
		{"GET", "/tickets/t0660d572b091541c264e?wait=1", ""},
		{"POST", "/plan", `{"action":"restore","hash":"@~1","paths":["."],"keepNew":true}`},
		{"POST", "/apply", `{"action":"revert","from":"@~1","to":"@","onConflict":"keep"}`},
		{"POST", "/apply", `{"action":"revert","patches":[{"hash":"@","files":["/etc/passwd","../x","a.txt"]}]}`},
		{"POST", "/undo", `{"dryRun":true}`},
		{"POST", "/redo", `{"paths":["d"],"planID":"0123456789abcdef"}`},
		{"GET", "/git?from=@~1&to=@", ""},
		{"POST", "/git/restore", `{"hash":"@","parts":["refs","index"],"dryRun":true}`},
		{"POST", "/git/restore", `{"hash":"@~1","planID":"0123456789abcdef"}`},
		{"POST", "/undo", `{"git":true,"paths":["a.txt"]}`},
		{"POST", "/apply", `{"action":"redo","git":true}`},
		{"POST", "/session/s/revert", `{"start":true,"git":true,"dryRun":true}`},
		{"POST", "/projects", `{"directory":"/","exact":true}`},
		{"POST", "/gc", `{"dryRun":true,"thorough":true}`},
		{"POST", "/sessions", `{"id":"s","parent":"s","meta":{"a":"b"}}`},
		{"POST", "/session/s/messages", `{"messageID":"m1","role":"user","parts":[{"id":"p","type":"text"}]}`},
		{"POST", "/session/s/steps", `{"messageID":"m1","stepID":"1","paths":["a.txt"]}`},
		{"POST", "/session/s/steps/1/hint", `{"paths":["../../etc/passwd"]}`},
		{"POST", "/session/s/steps/1/end", `{"parts":[{"id":"t","type":"tool","meta":{}}]}`},
		{"POST", "/session/s/revert", `{"messageID":"m1","partID":"p","endOpen":true}`},
		{"GET", "/session/s/hunks?turn=-1&stepID=1", ""},
		{"GET", "/session/%40/hunks?turn=99999999999999999999&messageID=m1", ""},
		{"POST", "/session/s/revert", `{"turn":1,"hunks":["0123456789ab","dead"],"dryRun":true}`},
		{"POST", "/session/s/revert", `{"turn":-1,"stepID":"1","lines":[{"path":"../x","from":1,"to":9223372036854775807}]}`},
		{"POST", "/session/s/revert", `{"hunks":[],"lines":[{"path":"a.txt\u0000ff","from":2,"to":1}],"start":true}`},
		{"POST", "/apply", `{"action":"revert","from":"@~1","to":"@","lines":[{"path":"a.txt","from":1,"to":3}]}`},
		{"POST", "/session/s/unrevert", `{}`},
		{"POST", "/session/s/fork", `{"id":"\u0000","messageID":"m1"}`},
		{"POST", "/opencode/session/s/revert", `{"messageID":"m1"}`},
		{"POST", "/opencode/session/s/fork", ``},
		{"PUT", "/pins/%2e%2e", `{"hash":"@"}`},
		{"DELETE", "/pins/x", ""},
		{"DELETE", "/session/s", ""},
		{"DELETE", "/projects/x", ""},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	dir, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	fx := &fixture{t: f, dataDir: filepath.Join(dir, "data"), root: filepath.Join(dir, "project")}
	gittest.Create(f, fx.root, someTree)
	fx.server = fx.open(func(o *Options) {
		// Only the fixture's root may be registered: a fuzzed request must not reach
		// other directories of this machine.
		inner := o.Settings
		o.Settings = func(root string) (cairn.Options, error) {
			if root != fx.root {
				return cairn.Options{}, fmt.Errorf("%w: not this one", cairn.ErrRoot)
			}
			return inner(root)
		}
		o.Logger = nil
	})
	f.Cleanup(func() { fx.server.Close() })
	fx.server.Drain() // streams of events end at once
	fx.door = fx.server.PrivateDoor()
	fx.track()
	fx.write("b.txt", "b\n")
	fx.track()
	f.Fuzz(func(t *testing.T, method, target, body string) {
		raw := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", method, target, len(body), body)
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
		if err != nil {
			t.Skip("no request")
		}
		w := httptest.NewRecorder()
		fx.door.ServeHTTP(w, r.WithContext(t.Context()))
		if w.Code >= 500 {
			t.Fatalf("%s %q: status %d: %.500s", method, target, w.Code, w.Body)
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 2 {
			t.Fatalf("beside the root: %v, %v", entries, err)
		}
		if _, err := fx.server.Register(fx.root, true); err != nil {
			t.Fatal(err)
		}
	})
}
