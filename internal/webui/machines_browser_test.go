package webui

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// pusher is a machine that pushes sessions of the project "shop".
type pusher struct {
	*testing.T
	repo   *cairn.Repo
	remote string
}

func newPusher(t *testing.T, remote, user string) *pusher {
	t.Helper()
	root := filepath.Join(t.TempDir(), "shop")
	gittest.Create(t, root, gittest.Tree{"a": gittest.File("one\n")})
	return &pusher{t, shopOf(t, cairn.Options{Root: root, DataDir: t.TempDir(), NoSync: true, Machine: "box", User: user}), remote}
}

func shopOf(t *testing.T, opt cairn.Options) *cairn.Repo {
	t.Helper()
	repo, err := cairn.Open(opt)
	if err == nil {
		t.Cleanup(func() { repo.Close() })
		err = repo.SetProjectID(t.Context(), "shop")
	}
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

// turn records a turn that writes a file, and pushes it.
func (p *pusher) turn(id, message, content string) {
	p.Helper()
	all := session.New(p.repo)
	if _, err := all.BeginStep(p.Context(), session.StepBegin{Session: id, Message: message, Step: message, Role: session.RoleUser, Prompt: "Prompt " + message}); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.repo.Root(), "a"), []byte(content), 0o644); err != nil {
		p.Fatal(err)
	}
	if _, err := all.EndStep(p.Context(), session.StepEnd{Session: id, Step: message}); err != nil {
		p.Fatal(err)
	}
	if _, err := p.repo.Push(p.Context(), p.remote); err != nil {
		p.Fatal(err)
	}
}

// track takes a checkpoint outside of sessions, and pushes it.
func (p *pusher) track(message, content string) (id string) {
	p.Helper()
	if err := os.WriteFile(filepath.Join(p.repo.Root(), "a"), []byte(content), 0o644); err != nil {
		p.Fatal(err)
	}
	t, err := p.repo.Track(p.Context(), cairn.TrackOptions{Message: message})
	if err != nil {
		p.Fatal(err)
	}
	if _, err := p.repo.Push(p.Context(), p.remote); err != nil {
		p.Fatal(err)
	}
	return t.Checkpoint
}

// teamSite serves what machines have pushed, from a store of its own. It fetches for each page.
func teamSite(t *testing.T, remote string) *fixture {
	t.Helper()
	repo := shopOf(t, cairn.Options{Root: t.TempDir(), DataDir: t.TempDir(), NoSync: true})
	project := &Project{ID: "id-shop", Root: repo.Root(), Repo: repo, Sessions: session.New(repo), Name: "shop", Remote: true}
	f := &fixture{t: t, root: repo.Root(), repo: repo}
	f.handler = New(Options{
		ReadOnly: "read-only: a remote",
		Projects: func(ctx context.Context) ([]Listed, error) {
			there, err := repo.ListRemote(ctx, remote, false)
			if err != nil {
				return nil, err
			}
			shop := Listed{ID: "id-shop", Name: "shop"}
			for _, s := range there[0].Stores {
				shop.Stores = append(shop.Stores, ListedStore{Who: s.User + "@" + s.Machine, Root: string(s.Root), Sessions: len(s.Sessions)})
			}
			return []Listed{shop}, nil
		},
		Project: func(ctx context.Context, _ string) (*Project, error) {
			_, err := repo.Fetch(ctx, remote)
			return project, err
		},
		Token: func(*http.Request) string { return testToken },
	})
	return f
}

// testMachines: two machines push, and a browser sees both. A link to a turn shows the same after further pushes of both,
// and on another server.
func testMachines(t *testing.T, b *browser) {
	o := gittest.NewOracle(t)
	remote := filepath.Join(t.TempDir(), "fleet.git")
	o.In(filepath.Dir(remote), "init", "-q", "--bare", "--template=", remote)
	ann, bob := newPusher(t, remote, "ann"), newPusher(t, remote, "bob")
	ann.turn("ses_a", "a1", "by ann\n")
	bob.turn("ses_b", "b1", "by bob\n")
	host := teamSite(t, remote).serve()

	b.open(host + "/")
	for _, who := range []string{"ann@box", "bob@box"} {
		b.until("document.body.textContent.includes('" + who + "')")
	}
	b.loading(func() { b.text("document.querySelector('section.team a').click()") })
	b.until("document.body.textContent.includes('Prompt a1') && document.body.textContent.includes('Prompt b1')")
	b.loading(func() {
		b.text("[...document.querySelectorAll('a[href*=step]')].find((a) => a.href.includes('ses_a')).click()")
	})
	link, diff := b.text("location.pathname + location.search"), b.text("document.querySelector('main').textContent")
	if !strings.Contains(link, "ses_a") || !strings.Contains(diff, "by ann") || strings.Contains(diff, "by bob") {
		t.Fatalf("%s shows %s", link, diff)
	}

	ann.turn("ses_a", "a2", "by ann again\n")
	bob.turn("ses_b", "b2", "by bob again\n")
	bob.turn("ses_c", "c1", "by bob in another session\n")
	b.open(host + "/ui/p/id-shop/")
	for _, prompt := range []string{"a1", "a2", "b1", "b2", "c1"} {
		b.until("document.body.textContent.includes('Prompt " + prompt + "')")
	}
	for why, at := range map[string]string{"after further pushes": host, "on another server": teamSite(t, remote).serve()} {
		b.open(at + link)
		if now := b.text("document.querySelector('main .diff, main table, main').textContent"); !strings.Contains(now, "by ann") || strings.Contains(now, "again") {
			t.Errorf("%s, %s shows %s", why, link, now)
		}
	}
}
