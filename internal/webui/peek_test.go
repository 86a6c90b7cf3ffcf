package webui
import ("testing";"fmt";"os/exec";"github.com/seed-fb9cbc17/cairn/session")
func TestPeek(t *testing.T) {
	f := story(t)
	_, _, err := f.sessions.Revert(t.Context(), "ses_4f1c", session.Target{Message:"m1"}, session.RevertOptions{DryRun:true})
	fmt.Println(err)
	for c, _ := range f.repo.Checkpoints(t.Context()) {
	out,_ := exec.Command("git","--git-dir",f.repo.StoreDir(),"ls-tree","-rt",c.ID).CombinedOutput()
	fmt.Println(c.ID, c.Message); fmt.Println(string(out)) }
}
