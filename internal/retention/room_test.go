package retention

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

const mib = 1 << 20

// The largest size of a store at which a capture still fits, by the budget and by the free disk.
func TestMostBytes(t *testing.T) {
	t.Parallel()
	const none = settings.NoBytes
	for _, c := range []struct {
		name            string
		budget, minFree int64
		need, size      int64
		free            int64
		want            int64
	}{
		{"no capture waits: the budget", 100, 50, 0, 40, 0, 100},
		{"no limit at all", none, 0, 0, 40, 0, none},
		{"the capture's bytes come off the budget", 100, 0, 30, 40, 30, 70},
		{"a full disk of which nothing has to stay free", 100, 0, 30, 40, 0, 10},
		{"the disk has room", 100, 50, 30, 40, 1000, 70},
		{"the disk is the tighter limit", 100, 50, 30, 90, 60, 70},        // 20 short of 80: 90-20
		{"only the disk is a limit", none, 50, 30, 90, 60, 70},            // the same without a budget
		{"no capture fits into an empty store", none, 50, 30, 10, 0, -70}, // 80 short
		{"no budget, the disk has room", none, 50, 30, 90, 1000, none},
		{"no budget, and nothing to leave free", none, 0, 30, 90, 20, 80},
	} {
		f := newAged(t)
		f.FreeSpace = func() (int64, error) { return c.free, nil }
		got, err := f.mostBytes(settings.Retention{MaxBytes: c.budget, MinFree: c.minFree}, c.need, c.size)
		if err != nil || got != c.want {
			t.Errorf("%s: %d, %v, want %d", c.name, got, err, c.want)
		}
	}
}

// CleanForRoom says whether another attempt of the capture makes sense.
func TestCleanForRoom(t *testing.T) {
	t.Parallel()
	short := &state.Shortage{Need: 7, Text: "too little", Step: "raise max_bytes"}
	broken := errors.New("broken")
	holds := &holders{newest: 3, bytes: mib}
	for name, c := range map[string]struct {
		done  *CleanResult
		err   error
		again bool
		said  []string
	}{
		"room was made":                     {&CleanResult{Freed: 1}, nil, true, nil},
		"it fits as it is":                  {&CleanResult{fits: true}, nil, true, nil},
		"another process keeps it busy":     {&CleanResult{Incomplete: true}, nil, true, nil},
		"the system returns space later":    {&CleanResult{Freed: 1, OverBudget: 1, holds: holds}, nil, true, nil},
		"another process has cleaned":       {nil, ErrBusy, true, nil},
		"nothing could go":                  {&CleanResult{}, nil, false, []string{"too little"}},
		"the newest and pins hold it":       {&CleanResult{OverBudget: 1, holds: holds}, nil, false, []string{"too little", "newest 3 checkpoints", "raise max_bytes"}},
		"the store is damaged":              {&CleanResult{Blocked: state.CauseOf(broken)}, nil, false, []string{"too little", "doctor", "broken"}},
		"the cleaning itself fails":         {nil, broken, false, []string{"too little", "broken"}},
		"over budget, but nothing holds it": {&CleanResult{OverBudget: 1}, nil, true, nil},
	} {
		f := newAged(t)
		f.Opt.Retention = &settings.Retention{}
		f.RunClean = func(_ context.Context, opt CleanOptions) (*CleanResult, error) {
			if opt.need != short.Need {
				t.Errorf("%s: cleaned for %d bytes, want %d", name, opt.need, short.Need)
			}
			return c.done, c.err
		}
		err := f.CleanForRoom(t.Context(), fmt.Errorf("track: %w", short))
		if (err == nil) != c.again {
			t.Errorf("%s: %v", name, err)
		}
		for _, text := range c.said {
			if err != nil && !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %q does not say %q", name, err, text)
			}
		}
		if err != nil && !errors.Is(err, state.ErrNoSpace) {
			t.Errorf("%s: %v is no want of space", name, err)
		}
	}
}

// TestCleanForRoomCountsKnownNeeds: a full disk or an exceeded quota names no number of bytes, and the free disk may be
// larger than the budget: the cleaning has to try. A capture that is known to need more than the budget is told to raise
// that, whichever limit it met first.
func TestCleanForRoomCountsKnownNeeds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cause error
		again bool
	}{
		"the system has no space":          {fmt.Errorf("%w: a quota", state.ErrNoSpace), true},
		"larger than the budget":           {&state.Shortage{Need: 11, Text: "t", Step: "raise max_bytes"}, false},
		"larger than the budget, disk low": {&state.Shortage{Need: 11, Text: "t", Step: "min_free_bytes, or free the disk"}, false},
		"as large as the budget":           {&state.Shortage{Need: 10, Text: "t", Step: "raise max_bytes"}, true},
	} {
		f := newAged(t)
		f.Opt.Retention, f.Room.MaxBytes = &settings.Retention{}, 10
		f.FreeSpace = func() (int64, error) { return 1 << 40, nil }
		f.RunClean = func(context.Context, CleanOptions) (*CleanResult, error) { return &CleanResult{Freed: 1}, nil }
		err := f.CleanForRoom(t.Context(), c.cause)
		if (err == nil) != c.again || err != nil && !strings.HasSuffix(err.Error(), ": raise max_bytes") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The limits of the store take the place of those of its policy.
func TestCleanForRoomTakesTheLimits(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	f.Opt.Retention = &settings.Retention{MaxBytes: 1, MinFree: 2, KeepLast: 3}
	var got CleanOptions
	f.RunClean = func(_ context.Context, opt CleanOptions) (*CleanResult, error) {
		got = opt
		return &CleanResult{fits: true}, nil
	}
	if err := f.CleanForRoom(t.Context(), &state.Shortage{Need: 1}); err != nil {
		t.Fatal(err)
	}
	if got.MaxBytes != 1 || got.MinFree != 2 || got.KeepLast != 3 {
		t.Errorf("cleaned by %+v", got.Retention)
	}
}

// The system's full disk names no number of bytes: a part of the store is assumed, one MiB at
// least, beyond the free space.
func TestNeeded(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	f.FreeSpace = func() (int64, error) { return 5, nil }
	for _, c := range []struct {
		cause error
		want  int64
	}{
		{&state.Shortage{Need: 7}, 7},
		{&state.Shortage{}, 1},
		{state.ErrNoSpace, 5 + mib},
	} {
		if got, err := f.needed(c.cause); err != nil || got != c.want {
			t.Errorf("%v: %d bytes, %v, want %d", c.cause, got, err, c.want)
		}
	}
}

// Half of the free space may be used where less than the policy's would stay free. While a capture waits, a pack stays
// small. Otherwise packs have no limit.
func TestReserve(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	f.FreeSpace = func() (int64, error) { return 10 * mib, nil }
	keep := settings.Retention{MinFree: 8 * mib}
	for _, c := range []struct {
		need          int64
		reserve, pack int64
	}{{0, 5 * mib, 0}, {1, 5 * mib, minCopied}} {
		opt := CleanOptions{Retention: keep, need: c.need}
		if got := f.reserve(opt); got != c.reserve {
			t.Errorf("need %d: %d bytes stay free, want %d", c.need, got, c.reserve)
		}
		if got := f.copyAtOnce(opt); got != c.pack {
			t.Errorf("need %d: packs of %d bytes, want %d", c.need, got, c.pack)
		}
	}
	f.FreeSpace = func() (int64, error) { return 0, nil }
	if got := f.copyAtOnce(CleanOptions{Retention: keep, need: 1}); got != 1 {
		t.Errorf("on a full disk packs of %d bytes, want the smallest", got)
	}
}

// A new store records its budget once: a tenth of the free disk, 5 GiB at most. It does not
// shrink with the disk.
func TestDefaultBudget(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	if got := f.DefaultBudget(); got != maxDefaultBudget {
		t.Errorf("without a record %d bytes", got)
	}
	for text, want := range map[string]int64{
		"123\n": 123, "": maxDefaultBudget, "0\n": maxDefaultBudget, "-5\n": maxDefaultBudget, "many\n": maxDefaultBudget,
		"21160767": maxDefaultBudget, "0160767481\n": maxDefaultBudget, "\x00\x00": maxDefaultBudget, "99160767480\n": maxDefaultBudget,
	} {
		if err := f.DB.WritePrivate(odb.PrivateBudget, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := f.DefaultBudget(); got != want {
			t.Errorf("recorded %q: %d bytes, want %d", text, got, want)
		}
	}
}

// TestBudgetAfterPowerLoss: a budget whose file a loss of power left empty is recorded again.
func TestBudgetAfterPowerLoss(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	f.Opt.Retention = &settings.Retention{}
	f.FreeSpace = func() (int64, error) { return 0, nil }
	if err := f.DB.WritePrivate(odb.PrivateBudget, nil); err != nil {
		t.Fatal(err)
	}
	f.AdoptRetention()
	got, known := f.recordedBudget()
	if !known || f.Room.MaxBytes != got {
		t.Errorf("recorded %d bytes (%v), and captures keep to %d", got, known, f.Room.MaxBytes)
	}
}

// The limits of Options.Retention hold for captures, too, unless captures have their own.
func TestAdoptRetention(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opt                settings.Options
		wantBytes, wantMin int64
		recorded           bool
	}{
		"no policy":            {settings.Options{}, 0, 0, false},
		"defaults":             {settings.Options{Retention: &settings.Retention{}}, -1, settings.DefaultMinFree, true}, // -1: the recorded budget
		"limits of the policy": {settings.Options{Retention: &settings.Retention{MaxBytes: 5, MinFree: 6}}, 5, 6, true},
		"no limits":            {settings.Options{Retention: &settings.Retention{MaxBytes: settings.NoLimit, MinFree: settings.NoLimit}}, 0, 0, true},
		"not a new store":      {settings.Options{Retention: &settings.Retention{}, MustExist: true}, maxDefaultBudget, settings.DefaultMinFree, false},
		"switched off":         {settings.Options{Retention: &settings.Retention{}, Disabled: "by a test"}, maxDefaultBudget, settings.DefaultMinFree, false},
	} {
		f := newAged(t)
		f.Opt = c.opt
		f.AdoptRetention()
		want := c.wantBytes
		if want < 0 {
			want = f.DefaultBudget()
		}
		if f.Room.MaxBytes != want || f.Room.MinFree != c.wantMin {
			t.Errorf("%s: budget %d, want %d; free %d, want %d", name, f.Room.MaxBytes, want, f.Room.MinFree, c.wantMin)
		}
		_, err := f.DB.ReadPrivate(odb.PrivateBudget)
		if (err == nil) != c.recorded {
			t.Errorf("%s: the record of the budget: %v", name, err)
		}
		if c.recorded && f.Due(day) {
			t.Errorf("%s: a new store is cleaned at once", name)
		}
	}
}

// The message names what holds the space and the steps that lift the limit.
func TestHoldersText(t *testing.T) {
	t.Parallel()
	h := &holders{newest: 3, bytes: 2 * mib}
	if text := h.text("raise max_bytes"); !strings.Contains(text, "newest 3 checkpoints") || !strings.HasSuffix(text, "lower keep_last or raise max_bytes") || strings.Contains(text, "unpin") {
		t.Errorf("without pins: %q", text)
	}
	for i := range maxNamedPins + 2 {
		h.pins = append(h.pins, pinHold{fmt.Sprintf("p%d\n", i), mib})
	}
	text := h.text("free the disk")
	for _, want := range []string{`"p0\n"`, `"p9\n"`, "2 more", "cairn unpin NAME", "lower keep_last or free the disk"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not say %s", text, want)
		}
	}
	if strings.Contains(text, "p10") {
		t.Errorf("%q names all pins", text)
	}
}

// A pin counts what it alone keeps alive, the largest first.
func TestHolders(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	small, large := f.trackAgo(3*day, "x"), f.trackAgo(2*day, strings.Repeat("large ", 100))
	f.setRef("refs/cairn/pins/small", small)
	f.setRef("refs/cairn/pins/large", large)
	newest := f.trackAgo(0, "now")
	f.setRef("refs/cairn/pins/newest", newest)
	s, err := NewSurvey(t.Context(), f.Store)
	if err != nil {
		t.Fatal(err)
	}
	s.spare(1)
	size, err := f.DB.StoredSizes()
	if err != nil {
		t.Fatal(err)
	}
	h, err := s.holders(t.Context(), size)
	if err != nil || h.newest != 1 || h.bytes <= 0 {
		t.Errorf("%+v, %v", h, err)
	}
	if names := strings.Join(h.names(), " "); names != "large small" { // the newest checkpoint lives without its pin
		t.Errorf("pins %q hold the store", names)
	}
}

// Usage counts checkpoints and lines, and tells the span of their times.
func TestUsage(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	f.trackAgo(2*day, "a")
	pinned := f.trackAgo(2*day-1, "b")
	f.trackAgo(0, "c")
	f.setRef("refs/cairn/pins/p", pinned)
	got, err := f.Usage(t.Context())
	if err != nil || got.Checkpoints != 3 || got.Lines != 2 || got.Pins != 1 || !got.Cleaned.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
	if !got.Oldest.Equal(noon.Add(-2*day)) || !got.Newest.Equal(noon) {
		t.Errorf("from %v to %v", got.Oldest, got.Newest)
	}
	f.clean(CleanOptions{})
	if got, err = f.Usage(t.Context()); err != nil || !got.Cleaned.Equal(noon) || got.Size <= 0 {
		t.Errorf("after a cleaning: %+v, %v", got, err)
	}
}
