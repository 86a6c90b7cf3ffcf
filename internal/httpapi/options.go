package httpapi

import (
	"context"
	"log/slog"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

// Defaults of Options.
const (
	DefaultMaxBody     = 4 << 20
	DefaultMaxRequests = 256
	DefaultMaxStreams  = 64
	DefaultIdle        = 5 * time.Minute
	DefaultCleanEvery  = time.Hour
)

// Options are the options of a server. Settings is required.
type Options struct {
	Build string // of cairn; shown, and compared with the build of callers

	// Settings gives the options of the library for a root.
	Settings func(root string) (cairn.Options, error)

	// Guard refuses roots that are most likely an accident, such as a home directory. A
	// root that is registered with "exact" skips it. nil = no root is refused.
	Guard func(root string) error

	// Retention returns the rules of cleaning for a root, and whether the server cleans in
	// the background. nil = the defaults, in the background.
	Retention func(root string) (keep cairn.Retention, background bool, err error)

	// Sync begins a push in the background where the settings of a root want that. It is called some
	// time after a checkpoint was made, and does not wait. nil = never.
	Sync func(root string)

	// Sign begins to sign in the background where the settings of a root name a key. It is called when Sync is, before
	// it, and does not wait. nil = never.
	Sign func(root string)

	// Seal begins to seal the store in the background, and what the settings of a root want done before. It is called when
	// the server ends, for roots whose settings open sealed stores, and does not wait. nil = never.
	Seal func(root string)

	CleanEvery time.Duration // between two cleanings in the background; 0 = DefaultCleanEvery, < 0 = none

	// ReadOnly says why no request may change anything; "" = requests may. Where it is set, only GET,
	// HEAD, OPTIONS and PROPFIND are answered, the colours of the page aside.
	ReadOnly string

	// Refresh is called before a project is opened for a request, and with "" before projects are
	// listed. Its error is the answer. nil = stores are opened as they are.
	Refresh func(ctx context.Context, projectID string) error

	MaxBody     int64         // of a request, in bytes; 0 = DefaultMaxBody
	MaxRequests int           // at a time; 0 = DefaultMaxRequests
	MaxStreams  int           // of events, at a time; 0 = DefaultMaxStreams
	Idle        time.Duration // after which a store is closed; 0 = DefaultIdle

	Logger *slog.Logger // nil = silent
}

func (o *Options) setDefaults() {
	o.MaxBody = either(o.MaxBody, DefaultMaxBody)
	o.MaxRequests = either(o.MaxRequests, DefaultMaxRequests)
	o.MaxStreams = either(o.MaxStreams, DefaultMaxStreams)
	o.Idle = either(o.Idle, DefaultIdle)
	o.CleanEvery = either(o.CleanEvery, DefaultCleanEvery)
	if o.Retention == nil {
		o.Retention = func(string) (cairn.Retention, bool, error) { return cairn.Retention{}, true, nil }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

func either[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}
