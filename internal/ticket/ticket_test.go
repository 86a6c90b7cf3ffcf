package ticket

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

func newBook(t *testing.T) Book {
	t.Helper()
	return In(filepath.Join(t.TempDir(), "data"))
}

func (b Book) must(t *testing.T, r *Request) string {
	t.Helper()
	id, err := b.Make(r)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func track(root string) *Request {
	return &Request{Root: cairn.Path(root), Track: &Track{Message: "m"}}
}

func step(root, session string) *Request {
	return &Request{Root: cairn.Path(root), Step: &Step{Session: session}}
}

// answer is work that gives a text.
func answer(text string) Work {
	return func(context.Context, *Request, bool) (*Answer, error) {
		data, err := json.Marshal(text)
		return &Answer{Result: data}, err
	}
}

func never(t *testing.T) Work {
	return func(context.Context, *Request, bool) (*Answer, error) {
		t.Error("somebody works on it")
		return nil, errors.New("not this one")
	}
}

// TestRequest: a request can be read back unchanged, with paths of any bytes.
func TestRequest(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	timeout := time.Second
	want := track("/caf\xe9")
	want.Track = NewTrack(cairn.TrackOptions{Message: "m", Author: "me", Verify: true, Paths: []string{"a\xff", "b"}, OnlyPaths: true, AllowPartial: true}, time.Minute)
	want.Flags = Flags{Force: true, MaxFileSize: "1M", MinFree: "0", LockTimeout: &timeout, NoServer: true, Quiet: true}
	got, err := b.Request(b.must(t, want))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if opt := got.Track.Options(); !slices.Equal(opt.Paths, []string{"a\xff", "b"}) || !opt.OnlyPaths || !opt.AllowPartial || !opt.Verify || opt.Author != "me" {
		t.Errorf("%+v", opt)
	}
	if whole := got.Track.Whole().Options(); whole.Paths != nil || whole.OnlyPaths || whole.Message != "m" {
		t.Errorf("%+v", whole)
	}
}

// TestUnknown: a text that is no ticket, or a ticket that was removed, is not found and
// leads to no other file.
func TestUnknown(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	known := b.must(t, track("/r"))
	if err := os.WriteFile(filepath.Join(b.dir, "x.json"), []byte(`{"track":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	damaged := b.must(t, track("/r"))
	if err := os.WriteFile(b.path(damaged, requestSuffix), []byte(`{"track":{},"step":{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", "x", "../tickets/" + known, known + "0", known[:len(known)-1], "s" + known[1:], known[:len(known)-1] + "G", damaged} {
		if _, err := b.Request(id); !errors.Is(err, cairn.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := b.Finish(t.Context(), id, never(t)); !errors.Is(err, cairn.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if _, err := In(t.TempDir()).Request(known); !errors.Is(err, cairn.ErrNotFound) {
		t.Error(err)
	}
}

// TestOneWorks: of many who ask at once one does the work, and all get its answer.
func TestOneWorks(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	for range 200 {
		id := b.must(t, track("/r"))
		var worked atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				a, err := b.Finish(t.Context(), id, func(ctx context.Context, r *Request, died bool) (*Answer, error) {
					worked.Add(1)
					if died {
						t.Error("nobody has died")
					}
					return answer("done")(ctx, r, died)
				})
				if err != nil || string(a.Result) != `"done"` {
					t.Errorf("%+v, %v", a, err)
				}
			})
		}
		all.Wait()
		if worked.Load() != 1 {
			t.Errorf("%d have worked", worked.Load())
		}
		if a, err := b.Finish(t.Context(), id, never(t)); err != nil || string(a.Result) != `"done"` {
			t.Errorf("asked again: %+v, %v", a, err)
		}
	}
}

// TestWaits: a process that comes while another works waits, until its context ends.
func TestWaits(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	id := b.must(t, track("/r"))
	begun, let := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- b.Start(t.Context(), id, func(ctx context.Context, r *Request, died bool) (*Answer, error) {
			close(begun)
			<-let
			return answer("done")(ctx, r, died)
		})
	}()
	<-begun
	if !b.Claimed(id) {
		t.Error("nobody is at work")
	}
	short, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	if _, err := b.Finish(short, id, never(t)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if a := b.Await(short, id); a != nil {
		t.Errorf("%+v", a)
	}
	if err := b.Start(t.Context(), id, never(t)); err != nil {
		t.Errorf("a second one who would work: %v", err)
	}
	if err := b.Sweep(time.Now().Add(2 * Kept)); err != nil || b.Answer(id) != nil {
		t.Errorf("a sweep: %v", err)
	}
	close(let)
	if a, err := b.Finish(t.Context(), id, never(t)); err != nil || string(a.Result) != `"done"` {
		t.Errorf("%+v, %v", a, err)
	}
	if err := <-done; err != nil || b.Claimed(id) {
		t.Error(err)
	}
}

// TestInterrupted: work that was given up has no answer, and the next one is told that
// it is not the first.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	id := b.must(t, track("/r"))
	given := errors.New("given up")
	if _, err := b.Finish(t.Context(), id, func(context.Context, *Request, bool) (*Answer, error) { return nil, given }); !errors.Is(err, given) {
		t.Error(err)
	}
	if b.Answer(id) != nil {
		t.Error("an answer that nobody gave")
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Finish(cancelled, id, never(t)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := b.Finish(t.Context(), id, func(ctx context.Context, r *Request, died bool) (*Answer, error) {
		if !died {
			t.Error("it looks like the first")
		}
		return answer("x")(ctx, r, died)
	}); err != nil {
		t.Error(err)
	}
}

// TestTornAnswer: an answer that cannot be read, as after a loss of power, is none.
func TestTornAnswer(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	for _, torn := range []string{"", "{", "{}", "null", "\x00\x00"} {
		id := b.must(t, track("/r"))
		if err := os.WriteFile(b.path(id, answerSuffix), []byte(torn), 0o600); err != nil {
			t.Fatal(err)
		}
		if a, err := b.Finish(t.Context(), id, answer("anew")); err != nil || string(a.Result) != `"anew"` {
			t.Errorf("%q: %+v, %v", torn, a, err)
		}
	}
}

// TestSteps: the tickets of a session are found by it, in their order, and no others.
func TestSteps(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	if all, pending, err := b.Steps("/r", "s"); err != nil || all != nil || pending != nil {
		t.Errorf("%q, %q, %v", all, pending, err)
	}
	var want []string
	for range 3 {
		want = append(want, b.must(t, step("/r", "s")))
		b.must(t, step("/r", "other"))
		b.must(t, step("/elsewhere", "s"))
		b.must(t, track("/r"))
	}
	if !slices.IsSortedFunc(want, func(a, c string) int { return Made(a).Compare(Made(c)) }) {
		t.Errorf("%q are not in order", want)
	}
	slices.Sort(want) // those of one microsecond
	if _, err := b.Finish(t.Context(), want[1], answer("")); err != nil {
		t.Fatal(err)
	}
	all, pending, err := b.Steps("/r", "s")
	if err != nil || !slices.Equal(all, want) || !slices.Equal(pending, []string{want[0], want[2]}) {
		t.Errorf("%q, %q, %v", all, pending, err)
	}
}

// TestSweep: an old ticket goes with all its files, a new one stays.
func TestSweep(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	if err := b.Sweep(time.Now()); err != nil {
		t.Errorf("without a directory: %v", err)
	}
	done, open := b.must(t, track("/r")), b.must(t, step("/r", "s"))
	if _, err := b.Finish(t.Context(), done, answer("x")); err != nil {
		t.Fatal(err)
	}
	_, _ = b.Finish(t.Context(), open, func(context.Context, *Request, bool) (*Answer, error) { return nil, os.ErrClosed })
	if err := b.Sweep(time.Now().Add(Kept / 2)); err != nil || b.Answer(done) == nil {
		t.Errorf("swept too early: %v", err)
	}
	if err := b.Sweep(time.Now().Add(Kept + time.Minute)); err != nil {
		t.Error(err)
	}
	if names, err := b.names(); err != nil || len(names) > 0 {
		t.Errorf("left over: %q, %v", names, err)
	}
}

// TestSweepMany: of very many answered tickets the oldest go at once.
func TestSweepMany(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	var ids []string
	for range maxKept + 5 {
		id := b.must(t, track("/r"))
		if err := b.write(id, &Answer{Result: []byte(`1`)}); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if err := b.Sweep(time.Now()); err != nil {
		t.Fatal(err)
	}
	left, err := b.List()
	if err != nil || !slices.Equal(left, ids[5:]) {
		t.Errorf("%d left, %v", len(left), err)
	}
}

// TestSwept: a process that gets the lock of a ticket after a sweep removed it finds
// nothing to work on.
func TestSwept(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	id := b.must(t, track("/r"))
	l, ok, err := b.claim(id)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := b.Finish(t.Context(), id, never(t))
		done <- err
	}()
	if err := os.Remove(b.path(id, requestSuffix)); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := <-done; !errors.Is(err, cairn.ErrNotFound) {
		t.Error(err)
	}
}

// TestFaults: an error says on the other side what it said here.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, s := range sentinels {
		if s.err == fs.ErrPermission {
			continue
		}
		in := Failed(errors.Join(errors.New("because"), s.err))
		data, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var out Answer
		if err := json.Unmarshal(data, &out); err != nil {
			t.Fatal(err)
		}
		got := out.Err()
		if got.Error() != "because\n"+s.err.Error() || !errors.Is(got, s.err) {
			t.Errorf("%s: %v", s.name, got)
		}
		for _, other := range sentinels {
			if errors.Is(got, other.err) != errors.Is(s.err, other.err) {
				t.Errorf("%s is taken for %s", s.name, other.name)
			}
		}
	}
	two := Failed(errors.Join(cairn.ErrRoot, fs.ErrPermission)).Err()
	if !errors.Is(two, cairn.ErrRoot) || !errors.Is(two, fs.ErrPermission) || errors.Is(two, cairn.ErrStore) {
		t.Error(two)
	}
	if err := (&Answer{}).Err(); err != nil {
		t.Error(err)
	}
}

// TestReduce: a ticket holds what the settings let into the store, and no more.
func TestReduce(t *testing.T) {
	t.Parallel()
	const token, mask = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8", "[masked: github-token]"
	for _, c := range []struct {
		noPrompts, noMask bool
		want              string
	}{{true, false, ""}, {true, true, ""}, {false, false, mask}, {false, true, token}} {
		meta := map[string]string{session.MetaCommand: token, session.MetaTool: "Bash"}
		r := &Request{Step: &Step{Session: "s", Prompt: token, Meta: meta}}
		r.Reduce(c.noPrompts, c.noMask)
		if r.Step.Prompt != c.want || r.Step.Meta[session.MetaCommand] != c.want || r.Step.Meta[session.MetaTool] != "Bash" || meta[session.MetaCommand] != token {
			t.Errorf("%+v: %+v", c, r.Step)
		}
	}
	(&Request{Track: &Track{}}).Reduce(true, false)
}
