package webui
import ("testing";"fmt")
func TestPeek(t *testing.T) {
	f := story(t)
	f.write("README.md", "x")
	f.track("")
	for e, err := range (&Project{ID:"x",Root:f.root,Repo:f.repo,Sessions:f.sessions}).history(t.Context()) {
		if err!=nil {t.Fatal(err)}
		fmt.Println(e.Key, e.When)
	}
	for c, _ := range f.repo.Checkpoints(t.Context()) { fmt.Println(c.When, c.ID[:8], c.Hash[:8], c.Message, c.Author, c.Parent) }
	m,_ := f.sessions.History(t.Context(), "ses_4f1c")
	for _, x := range m { for _, s := range x.Steps { fmt.Println(x.ID, x.Role, s.ID, s.Before.ID[:8], s.Before.Hash[:8], s.After.ID[:8], s.After.Hash[:8], s.Patch.Files) } }
}
