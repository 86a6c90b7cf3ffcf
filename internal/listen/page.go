package listen

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/httpapi"
	"github.com/seed-fb9cbc17/cairn/internal/webui"
)

// Page is what a browser sees of a server.
func Page(server *httpapi.Server, logger *slog.Logger) http.Handler {
	return webui.New(webui.Options{
		Projects: func(context.Context) ([]webui.Listed, error) {
			var list []webui.Listed
			for id, root := range server.Roots() {
				list = append(list, webui.Listed{ID: id, Root: root, Last: server.LastUse(root)})
			}
			return list, nil
		},
		Project: func(ctx context.Context, id string) (*webui.Project, error) {
			p, err := server.Project(ctx, id)
			if err != nil {
				return nil, err
			}
			return &webui.Project{ID: p.ID, Root: p.Root, Repo: p.Repo, Sessions: p.Sessions}, nil
		},
		Source: func(ctx context.Context, id string) (cairn.MergeSource, error) {
			p, err := server.Project(ctx, id)
			if err != nil {
				return cairn.MergeSource{}, err
			}
			return cairn.MergeSource{Repo: p.Repo.Repo}, nil
		},
		Fork: func(_ context.Context, dir string) (string, error) {
			root, err := server.Register(dir, true)
			for id, known := range server.Roots() {
				if known == root {
					return id, err
				}
			}
			return "", err
		},
		Token:  server.FormToken,
		Events: func(id string) string { return "/project/" + id + "/events" },
		Status: httpapi.StatusOf,
		Logger: logger,
	})
}
