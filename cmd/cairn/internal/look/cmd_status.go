package look

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/config"
	"github.com/seed-fb9cbc17/cairn/internal/console"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const statusManual = `cairn status says what is looked after and what changed since.

Usage:
    cairn status

It prints the root, the store and its size on disk, how much it may have, the
newest checkpoint, how many files differ from it now (cairn diff --name-status
lists them), what was purged, whether checkpoints record git and what moved in
it since, how far the remote of the setting sync, or of the last push, is
behind, in which files captures found secrets, and which settings are not at
their defaults, with who decided. Where cairn serve runs, it says how that finds
what has changed: by watching directories, or by scanning all of them, and why.
Every other command scans by itself. Without any checkpoint the exit status is
4.

With --json:
    {"root", "store", "size", "checkpoint": {"id", "hash", "message",
    "time"}, "changed", "limits": {"maxFileSize", "maxFiles", "maxScanBytes",
    "minFree", "budget"}, "checkpoints", "cleaned", "disabled", "purged",
    "secrets": [{"path", "rule", "line"}],
    "server": {"watching": {"on", "directories", "reason", "sysctl"}},
    "git": {"on", "reason", "moved": []},
    "remote": {"remote", "behind", "pushed", "tried", "failures", "error",
    "sync", "sealed", "retry"},
    "settings": [{"key", "value", "origin"}]}, sizes in bytes, 0 for no limit,
    and times as in RFC 3339. A checkpoint that does not hold everything has
    "scope": "time" if that was over, or "paths" if only some were looked at.
    "server" is there if one runs, "watching" if it has this project open;
    "sysctl" names the setting of the system that would have to be raised for it
    to watch.
`

// standing is the answer of status.
type standing struct {
	Root       cairn.Path       `json:"root"`
	Store      cairn.Path       `json:"store"`
	Size       int64            `json:"size"`
	Checkpoint newestCheckpoint `json:"checkpoint"`
	Changed    int              `json:"changed"`
	Limits     cairn.Limits     `json:"limits"`

	Checkpoints int              `json:"checkpoints"`
	Cleaned     time.Time        `json:"cleaned,omitzero"`
	Disabled    string           `json:"disabled,omitempty"`
	Purged      cairn.Paths      `json:"purged,omitempty"`
	Secrets     []cairn.Secret   `json:"secrets,omitempty"`
	Server      *cli.ServerState `json:"server,omitempty"`
	Git         gitStanding      `json:"git"`

	Remote   *cairn.RemoteStatus `json:"remote,omitempty"` // nil: none is remembered
	Settings []config.Decision   `json:"settings"`
}

type newestCheckpoint struct {
	ID      string    `json:"id"`
	Hash    string    `json:"hash"`
	Message string    `json:"message"`
	Time    time.Time `json:"time"`

	Partial cairn.Extent `json:"scope,omitempty"`

	about string // for people
}

func (c *commands) statusCommand() *cobra.Command {
	return c.Command(cli.Command{
		Use: "status", Short: "what is looked after, and what changed", Manual: statusManual,
		Args: cli.ArgCount(0, 0, "no arguments"), Complete: cobra.NoFileCompletions,
		Run: func(ctx context.Context, _ *cobra.Command, _ []string) error {
			return c.WithRepo(func(repo *cairn.Repo) error {
				s, err := c.statusOf(ctx, repo)
				if err != nil {
					return err
				}
				return c.printStatus(s)
			})
		},
	})
}

func (c *commands) statusOf(ctx context.Context, repo *cairn.Repo) (*standing, error) {
	newest, err := repo.Lookup(ctx, "@")
	if err != nil {
		return nil, err
	}
	changes, err := repo.Changes(ctx, newest.ID, "")
	if err != nil {
		return nil, err
	}
	partial, err := newest.Extent()
	if err != nil {
		return nil, err
	}
	secrets, err := newest.Secrets()
	if err != nil {
		return nil, err
	}
	use, err := repo.Usage(ctx)
	if err != nil {
		return nil, err
	}
	remote, err := repo.RemoteStatus(ctx)
	if err != nil {
		return nil, err
	}
	return &standing{
		Remote: remote,
		Root:   cairn.Path(repo.Root()), Store: cairn.Path(repo.StoreDir()), Size: use.Size, Changed: len(changes),
		Checkpoint:  newestCheckpoint{newest.ID, newest.Hash, newest.Message, newest.When, partial, c.AboutCheckpoint(ctx, session.New(repo), newest, make(session.WorkCache))},
		Limits:      printedLimits(repo.Limits()),
		Server:      c.ServerState(ctx),
		Git:         c.gitStanding(ctx, repo, newest.ID),
		Checkpoints: use.Checkpoints, Cleaned: use.Cleaned,
		Disabled: c.LastOptions.Disabled, Purged: repo.PurgedPaths(), Secrets: secrets, Settings: c.Config.Decisions(),
	}, nil
}

func (c *commands) printStatus(s *standing) error {
	if c.Global.JSON {
		return c.WriteJSON(s)
	}
	paint := c.Palette()
	now := paint.Paint(console.Green, "nothing changed since")
	if s.Changed > 0 {
		now = paint.Paint(console.Red, wording.Count(s.Changed, "file")+" changed since")
	}
	if s.Checkpoint.Partial != "" {
		now += ", " + partialText[s.Checkpoint.Partial]
	}
	fmt.Fprintf(c.Out, "root        %s\nstore       %s (%s)\ncheckpoint  %s, %s\nnow         %s\nholds       %s\nlimits      %s\n",
		c.PlaceLink(string(s.Root)), c.PlaceLink(string(s.Store)), wording.Size(s.Size), paint.Paint(console.Yellow, s.Checkpoint.Hash),
		s.Checkpoint.about, now, c.contentsText(s), limitsText(s.Limits))
	for _, path := range s.Purged {
		fmt.Fprintf(c.Out, "purged      %s\n", pathtext.Quote(path))
	}
	for i := range s.Secrets {
		fmt.Fprintf(c.Out, "secret      %s\n", s.Secrets[i].String())
	}
	if s.Server != nil {
		fmt.Fprintf(c.Out, "server      %s\n", watchingText(s.Server.Watching))
	}
	fmt.Fprintf(c.Out, "git         %s\n", s.Git)
	if s.Remote != nil {
		c.AnswerLine("remote      " + c.remoteText(s.Remote))
	}
	if s.Disabled != "" {
		c.AnswerLine("captures    " + paint.Paint(console.Red, "switched off: "+wording.Printable(s.Disabled)))
	}
	_, err := c.Out.WriteString(cli.SettingLines(c.Config))
	return err
}

// remoteText says how far a remote is behind.
func (c *commands) remoteText(s *cairn.RemoteStatus) string {
	text := wording.Printable(s.Remote) + ", "
	if s.Behind == 0 {
		text += "up to date"
	} else {
		text += wording.Count(s.Behind, "checkpoint") + " behind"
	}
	if s.Sealed > 0 {
		text += ", sealed for " + wording.Count(s.Sealed, "recipient")
	}
	if !s.Pushed.IsZero() {
		text += ", pushed " + wording.Ago(c.Console.Now().Sub(s.Pushed))
	}
	if s.Error != "" {
		text += "; " + wording.Count(s.Failures, "push") + " failed: " + wording.Printable(s.Error)
	}
	if s.Sync && s.Retry.After(c.Console.Now()) {
		text += "; no push in the background before " + s.Retry.Local().Format("15:04")
	}
	return text
}

func watchingText(s *cairn.WatchState) string {
	switch {
	case s == nil:
		return "not looking at this directory just now"
	case s.On:
		return fmt.Sprintf("watching (directories: %d)", s.Directories)
	}
	return "scanning: " + wording.Printable(s.Reason)
}

// contentsText is the number of checkpoints in the store, and the time of the last
// cleaning.
func (c *commands) contentsText(s *standing) string {
	text := wording.Count(s.Checkpoints, "checkpoint")
	if s.Cleaned.IsZero() {
		return text
	}
	return text + ", cleaned " + wording.Ago(c.Console.Now().Sub(s.Cleaned))
}

// partialText names the paths that a partial checkpoint leaves out.
var partialText = map[cairn.Extent]string{
	cairn.ExtentTime:  "without what was not read in time",
	cairn.ExtentPaths: "among the paths that it holds",
}

// printedLimits has 0 for no limit.
func printedLimits(l cairn.Limits) cairn.Limits {
	l.MaxFileSize, l.MaxFiles, l.MaxScanBytes = max(l.MaxFileSize, 0), max(l.MaxFiles, 0), max(l.MaxScanBytes, 0)
	l.MinFree, l.Budget = max(l.MinFree, 0), max(l.Budget, 0)
	return l
}

func limitsText(l cairn.Limits) string {
	var texts []string
	for _, limit := range []struct {
		value      int64
		text, what string
	}{
		{l.MaxFileSize, wording.Size(l.MaxFileSize), " a file"},
		{int64(l.MaxFiles), strconv.Itoa(l.MaxFiles), " files"},
		{l.MaxScanBytes, wording.Size(l.MaxScanBytes), " new at once"},
		{l.Budget, wording.Size(l.Budget), " in the store"},
		{l.MinFree, wording.Size(l.MinFree), " to stay free"},
	} {
		if limit.value > 0 {
			texts = append(texts, limit.text+limit.what)
		}
	}
	return strings.Join(texts, ", ")
}

// gitStanding is the part of status about the git repository.
type gitStanding struct {
	cairn.GitProtection
	Moved []string `json:"moved,omitempty"` // since the newest checkpoint
}

func (c *commands) gitStanding(ctx context.Context, repo *cairn.Repo, checkpoint string) gitStanding {
	s := gitStanding{GitProtection: repo.GitProtection()}
	s.Moved, _ = repo.GitMoved(ctx, checkpoint, "") // what cannot be compared is not said
	return s
}

// String returns the line of status.
func (s gitStanding) String() string {
	return wording.GitStanding(s.On, s.Reason, s.Moved)
}
