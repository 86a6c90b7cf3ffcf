package team

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/identity"
	"github.com/seed-fb9cbc17/cairn/internal/transfer"
)

// Options controls a Team. All but the times and the Logger are required.
type Options struct {
	Remote string // a URL or a path of a git repository
	Dir    string // where the caches are, absolute

	// Settings gives the options of the library for the cache of a project: Root and DataDir are set
	// by the Team.
	Settings func() (cairn.Options, error)

	// Register makes a project known that is there to be shown: the root of its cache, and its key.
	Register func(root, key string) error

	Every    time.Duration // least time between two looks at one thing; 0 = DefaultEvery
	Patience time.Duration // how long a request waits that can be answered with an older state; 0 = DefaultPatience
	Timeout  time.Duration // of a look; 0 = DefaultTimeout

	Logger *slog.Logger     // nil = silent
	Now    func() time.Time // nil = time.Now
}

// Defaults of Options.
const (
	DefaultEvery    = 30 * time.Second
	DefaultPatience = 5 * time.Second
	DefaultTimeout  = 10 * time.Minute
)

// Dir is the directory for the caches of a remote below a data directory.
func Dir(dataDir, remote string) string {
	sum := sha256.Sum256([]byte(remote))
	return filepath.Join(dataDir, "team", hex.EncodeToString(sum[:8]))
}

// Team is a remote with its caches.
type Team struct {
	opt     Options
	life    context.Context
	end     context.CancelFunc
	looking sync.WaitGroup

	list look

	mu       sync.Mutex
	projects []cairn.RemoteProject // of the last list
	fetches  map[string]*look      // by key
}

// kept is the file that outlives the process: the last state, for a time without the remote.
type kept struct {
	When     time.Time             `json:"when"` // of the list
	Projects []cairn.RemoteProject `json:"projects"`
	Fetched  map[string]time.Time  `json:"fetched"` // by key
}

const (
	keptFile = "team.json"
	listRoot = "_list" // no key of a project
)

// New opens the caches of a remote. The remote is not asked yet.
func New(opt Options) (*Team, error) {
	opt.setDefaults()
	t := &Team{opt: opt, fetches: make(map[string]*look)}
	if err := os.MkdirAll(opt.Dir, 0o700); err != nil {
		return nil, err
	}
	t.load()
	t.life, t.end = context.WithCancel(context.Background())
	return t, nil
}

func (o *Options) setDefaults() {
	if o.Every == 0 {
		o.Every = DefaultEvery
	}
	if o.Patience == 0 {
		o.Patience = DefaultPatience
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// Close ends all looks.
func (t *Team) Close() {
	t.end()
	t.looking.Wait()
}

// List returns the projects on the remote, with all stores and their sessions.
func (t *Team) List(ctx context.Context) ([]cairn.RemoteProject, Freshness) {
	f := t.at(ctx, &t.list, t.readList)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.projects, f
}

// Project fetches the new checkpoints of a project. The error wraps cairn.ErrNotFound for one that neither the
// list nor a cache has, and is that of the remote where there is no state to show.
func (t *Team) Project(ctx context.Context, key string) (*cairn.RemoteProject, Freshness, error) {
	all, list := t.List(ctx)
	about := &cairn.RemoteProject{Key: key}
	listed := false
	for i := range all {
		if all[i].Key == key {
			about, listed = &all[i], true
		}
	}
	l := t.fetchOf(key, listed)
	if l == nil && list.When.IsZero() { // no list was read
		return nil, list, fmt.Errorf("project %s: %w", key, list.Err)
	}
	if l == nil {
		return nil, Freshness{}, fmt.Errorf("%w: no project %q on the remote", cairn.ErrNotFound, key)
	}
	f := t.at(ctx, l, func(ctx context.Context) error { return t.fetch(ctx, key) })
	if f.When.IsZero() {
		return nil, f, fmt.Errorf("project %s: %w", key, f.Err)
	}
	return about, f, nil
}

// fetchOf returns the look at a project, nil for one that is not known.
func (t *Team) fetchOf(key string, listed bool) *look {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fetches[key] == nil && listed && identity.IsKey(key) {
		t.fetches[key] = new(look)
	}
	return t.fetches[key]
}

func (t *Team) readList(ctx context.Context) error {
	repo, err := t.open(listRoot)
	if err != nil {
		return err
	}
	list, err := repo.ListRemote(ctx, t.opt.Remote, true)
	if err = errors.Join(err, repo.Close()); err != nil {
		return err
	}
	t.mu.Lock()
	t.projects = list
	t.mu.Unlock()
	keys := make([]string, len(list))
	for i := range list {
		keys[i] = list[i].Key
	}
	t.registerAll(keys)
	return t.save("", t.opt.Now())
}

func (t *Team) fetch(ctx context.Context, key string) error {
	repo, err := t.open(key)
	if err != nil {
		return err
	}
	_, err = repo.FetchProject(ctx, t.opt.Remote, key)
	if err = errors.Join(err, repo.Close()); err != nil {
		return err
	}
	return t.save(key, t.opt.Now())
}

// Root is the root of the cache of a project: an empty directory.
func (t *Team) Root(key string) string { return filepath.Join(t.opt.Dir, "roots", key) }

// DataDir is the data directory of the caches.
func (t *Team) DataDir() string { return filepath.Join(t.opt.Dir, "data") }

// register makes the root of a project and makes the project known.
func (t *Team) register(key string) error {
	if !identity.IsKey(key) {
		return fmt.Errorf("%w: unusable key %q", cairn.ErrNotFound, key)
	}
	if err := os.MkdirAll(t.Root(key), 0o700); err != nil {
		return err
	}
	return t.opt.Register(t.Root(key), key)
}

// open opens a cache, and makes it if it is missing.
func (t *Team) open(key string) (*cairn.Repo, error) {
	if err := os.MkdirAll(t.Root(key), 0o700); err != nil {
		return nil, err
	}
	opt, err := t.opt.Settings()
	if err != nil {
		return nil, err
	}
	opt.Root, opt.DataDir, opt.Disabled, opt.MustExist = t.Root(key), t.DataDir(), "", false
	return cairn.Open(opt)
}

// ReadOnly says for people why nothing can be changed.
func (t *Team) ReadOnly() string {
	return "read-only: this server shows the checkpoints that were pushed to " + t.Name()
}

// Name is the remote without a password.
func (t *Team) Name() string { return transfer.Redacted(t.opt.Remote) }

// load reads what the last process knew. A file that cannot be read counts as none.
func (t *Team) load() {
	data, err := os.ReadFile(filepath.Join(t.opt.Dir, keptFile))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var k kept
	if err == nil {
		err = json.Unmarshal(data, &k)
	}
	if err != nil {
		t.opt.Logger.Warn("what was known of the remote is not used", "error", err)
		return
	}
	t.projects, t.list.good = k.Projects, k.When
	for key, when := range k.Fetched {
		t.fetches[key] = &look{good: when}
	}
}

// RegisterKnown registers the projects that the last process knew, so that they are shown while the
// remote is away.
func (t *Team) RegisterKnown() {
	t.mu.Lock()
	known := make(map[string]bool)
	for key := range t.fetches {
		known[key] = true
	}
	for i := range t.projects {
		known[t.projects[i].Key] = true
	}
	t.mu.Unlock()
	t.registerAll(slices.Sorted(maps.Keys(known)))
}

// registerAll registers projects. One that cannot be registered is logged: the others are shown.
func (t *Team) registerAll(keys []string) {
	for _, key := range keys {
		if err := t.register(key); err != nil {
			t.opt.Logger.Warn("a project is not shown", "project", key, "error", err)
		}
	}
}

// save notes when a project, or with "" the list, was read.
func (t *Team) save(key string, when time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := kept{Projects: t.projects, When: t.list.freshness().When, Fetched: make(map[string]time.Time)}
	for key, l := range t.fetches {
		if f := l.freshness(); !f.When.IsZero() {
			k.Fetched[key] = f.When
		}
	}
	if key == "" {
		k.When = when
	} else {
		k.Fetched[key] = when
	}
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(t.opt.Dir, keptFile), 0o600, false, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
