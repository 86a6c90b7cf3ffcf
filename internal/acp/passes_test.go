package acp

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestPassesEverything: lines that mean nothing to the proxy arrive unchanged, in both directions.
func TestPassesEverything(t *testing.T) {
	t.Parallel()
	s := newStage(t, someFiles()).start()
	s.newSession("s", s.dir)
	for _, text := range []string{
		``, `   `, `no JSON`, `{"jsonrpc":`, `[]`, `[null]`, `[1,"x",{}]`, `null`, `7`, "\x00\xff\xfe", "{\"a\":\"b\"}\r",
		`{"jsonrpc":"2.0","method":"_zed/unknown","params":{"x":[1,2,{"y":null}]}}`,
		`{"jsonrpc":"2.0","id":null,"method":"unknown"}`, `{"jsonrpc":"2.0","id":1.50,"result":{}}`, `{"jsonrpc":"2.0","id":"no such","error":{"code":1,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"unknown","prompt":[{"type":"text","text":"cairn undo"}]}}`,
		`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":7,"prompt":"x"}}`, `{"jsonrpc":"2.0","id":3,"method":"session/prompt"}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":null}}`, `{"jsonrpc":"2.0","method":"session/update","params":[]}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"outside","status":"completed"}}}`,
		`{"jsonrpc":"2.0","id":"r","method":"fs/write_text_file","params":{"sessionId":"unknown","path":"/x","content":""}}`,
		`{"method":"session/cancel","params":{"sessionId":"s"}}`, `{"method":"$/cancel_request","params":{"requestId":null}}`,
		`{"jsonrpc":"2.0","method":"available_commands_update"}`, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"available_commands_update","availableCommands":7}}}`,
		strings.Repeat(`{"a":`, 3000) + "1" + strings.Repeat("}", 3000),
	} {
		pass(s.editor, s.agent, text)
		pass(s.agent, s.editor, text)
	}
	if got := s.names(); got != "session" {
		t.Errorf("events: %s", got)
	}
}

// TestBatch: the messages of a batch are looked at, and the batch is passed on whole.
func TestBatch(t *testing.T) {
	t.Parallel()
	s := newStage(t, someFiles()).start()
	s.newSession("s", s.dir)
	pass(s.editor, s.agent, `[`+prompt("1", "s", "go")+`,`+prompt("2", "s", "cairn undo")+`]`)
	s.write("new", "x\n")
	pass(s.agent, s.editor, `[`+toolCall("s", "c", "edit", "pending")+`,`+toolUpdate("s", "c", "completed")+`]`)
	pass(s.agent, s.editor, `[`+ends("1", "end_turn")+`,`+ends("2", "refusal")+`]`)
	s.command("3", "s", "cairn undo")
	gittest.AssertTree(t, s.dir, someFiles())
}

// TestUnfinishedLine: the last line of a stream arrives without a newline.
func TestUnfinishedLine(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"jsonrpc":"2.0"`, strings.Repeat("x", 3*maxWhole)} {
		var out bytes.Buffer
		w := &writer{out: &out}
		if err := pump(strings.NewReader("{}\n"+text), w, func([]*message) verdict { return verdict{} }); err != nil || out.String() != "{}\n"+text {
			t.Errorf("%d bytes arrived of %d, %v", out.Len(), len(text), err)
		}
		if !w.mu.TryLock() {
			t.Error("the writer is locked")
		}
	}
}

// generated is a line of a size that no test keeps.
type generated struct {
	head, tail string
	left       int
}

func (g *generated) Read(p []byte) (int, error) {
	switch {
	case g.head != "":
		n := copy(p, g.head)
		g.head = g.head[n:]
		return n, nil
	case g.left > 0:
		n := min(g.left, len(p))
		for i := range p[:n] {
			p[i] = 'x'
		}
		g.left -= n
		return n, nil
	case g.tail != "":
		n := copy(p, g.tail)
		g.tail = g.tail[n:]
		return n, nil
	}
	return 0, io.EOF
}

type counting struct{ n int }

func (c *counting) Write(p []byte) (int, error) {
	c.n += len(p)
	return len(p), nil
}

// TestHugeMessage: a message of 100 MB is passed on in bounded memory, and its method is known
// although it comes last. The newline waits for the verdict.
func TestHugeMessage(t *testing.T) {
	const size = 100 << 20
	head, tail := `{"jsonrpc":"2.0","params":{"content":"\"`, `\\","sessionId":"s","path":"/p"},"id":"w","method":"fs/write_text_file"}`+"\n"
	var out counting
	asked := false
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := pump(&generated{head, tail, size}, &writer{out: &out}, func(list []*message) verdict {
		var in params
		if len(list) == 1 {
			read(list[0].Params, &in)
			asked = list[0].Method == "fs/write_text_file" && list[0].key() == `"w"` && in.Session == "s" && in.Path == "/p"
		}
		if want := len(head) + size + len(tail) - 1; out.n != want {
			t.Errorf("%d bytes have been passed on before the verdict, want %d", out.n, want)
		}
		return verdict{}
	})
	runtime.ReadMemStats(&after)
	if want := len(head) + size + len(tail); err != nil || !asked || out.n != want {
		t.Errorf("%d bytes of %d, asked %v, %v", out.n, want, asked, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("%d bytes were allocated for %d", used, size)
	}
}

// TestDigest: a digest is JSON with the same structure, however its strings are cut.
func TestDigest(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"x", `\"`, `\\`, `\u00e9`, "é", `\ud83d\ude00`, `\n`} {
		for shift := range 7 {
			var d digest
			long := strings.Repeat(".", shift) + strings.Repeat(unit, maxText)
			d.add([]byte(`{"a":"\\\"","b":["` + long + `",{"method":"m"}]}`))
			d.add([]byte(`,`))
			text := strings.TrimSuffix(string(d.data), ",")
			var v struct{ B []any }
			read([]byte(text), &v)
			if len(v.B) != 2 || v.B[1].(map[string]any)["method"] != "m" || len(text) > maxText+100 {
				t.Errorf("%q, %d: a digest of %d bytes: %.30s … %s", unit, shift, len(text), text, text[max(0, len(text)-40):])
			}
		}
	}
	files := strings.Repeat(`"`+strings.Repeat("x", maxText)+`",`, 200) // a prompt with many files
	var many digest
	many.add([]byte(`{"params":[` + files + `0],"method":"session/prompt"}`))
	if list := decode(&many, nil); len(list) != 1 || list[0].Method != "session/prompt" {
		t.Errorf("a message with many long strings is not read, lost %v", many.lost)
	}
	var d digest
	d.add(bytes.Repeat([]byte("[],"), maxDigest))
	if !d.lost || len(d.data) > 0 || decode(&d, nil) != nil {
		t.Errorf("a digest of too much structure: %d bytes, lost %v", len(d.data), d.lost)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestBrokenPipe: a pump ends when its lines can no longer be written, and leaves no lock.
func TestBrokenPipe(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{}\n{}\n", strings.Repeat("x", 3*maxWhole) + "\n"} {
		w := &writer{out: broken{}}
		if err := pump(strings.NewReader(text), w, func([]*message) verdict { return verdict{} }); !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
		if !w.mu.TryLock() {
			t.Error("the writer is locked")
		}
	}
}
