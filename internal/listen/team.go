package listen

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/answers"
	"github.com/seed-fb9cbc17/cairn/internal/httpapi"
	"github.com/seed-fb9cbc17/cairn/internal/team"
	"github.com/seed-fb9cbc17/cairn/internal/webui"
)

// TeamPage is what a browser sees of a server that shows a remote. Addresses have the keys of the
// projects on the remote, so that they mean the same on every such server.
func TeamPage(server *httpapi.Server, shown *team.Team, logger *slog.Logger) http.Handler {
	return webui.New(webui.Options{
		ReadOnly: shown.ReadOnly(),
		Projects: func(ctx context.Context) ([]webui.Listed, error) {
			projects, f := shown.List(ctx)
			if f.When.IsZero() {
				return nil, httpapi.Unreachable(f.Err)
			}
			list := make([]webui.Listed, len(projects))
			for i := range projects {
				list[i] = listed(&projects[i])
			}
			return list, nil
		},
		Notice: func(ctx context.Context) string {
			_, f := shown.List(ctx)
			return notice(f)
		},
		Project: func(ctx context.Context, key string) (*webui.Project, error) {
			about, f, err := shown.Project(ctx, key)
			if err != nil {
				return nil, httpapi.Unreachable(err)
			}
			p, err := server.Project(ctx, key)
			if err != nil {
				return nil, err
			}
			return &webui.Project{
				ID: key, Root: p.Root, Repo: p.Repo, Sessions: p.Sessions,
				Name: answers.ProjectName(about), Notice: notice(f), Remote: true,
			}, nil
		},
		Token:  server.FormToken,
		Status: httpapi.StatusOf,
		Logger: logger,
	})
}

func listed(p *cairn.RemoteProject) webui.Listed {
	l := webui.Listed{ID: p.Key, Name: answers.ProjectName(p)}
	for i := range p.Stores {
		s := &p.Stores[i]
		one := webui.ListedStore{Who: answers.Owner(s), Root: string(s.Root), Sessions: len(s.Sessions)}
		for _, x := range s.Sessions {
			if x.Updated.After(one.Last) {
				one.Last = x.Updated
			}
		}
		if one.Last.After(l.Last) {
			l.Last = one.Last
		}
		l.Stores = append(l.Stores, one)
	}
	return l
}

// notice says how old a state is.
func notice(f team.Freshness) string {
	text := "as of " + f.When.Local().Format(time.DateTime)
	if f.Err != nil {
		text = fmt.Sprintf("the last state, %s: the remote cannot be reached: %v", text, f.Err)
	}
	return text
}
