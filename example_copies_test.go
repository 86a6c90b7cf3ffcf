package cairn_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn"
)

// A checkout is a directory of its own. It has no history and no tie to the root.
func ExampleRepo_Checkout() {
	p := newProject()
	defer p.close()
	p.write("a", "one\n")
	before := p.track()
	p.write("a", "two\n")
	copied, err := p.repo.Checkout(context.Background(), before, filepath.Join(p.base, "copy"), cairn.CheckoutOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := os.ReadFile(filepath.Join(p.base, "copy", "a"))
	fmt.Printf("%d file, %q %v\n", copied.Files, text, err)
	// Output: 1 file, "one\n" <nil>
}

// A fork is a directory for another agent. Its changes can be compared and merged.
func ExampleRepo_Fork() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	p.write("a", "one\n")
	dir := filepath.Join(p.base, "fork")
	if _, err := p.repo.Fork(ctx, dir, cairn.ForkOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	fork, err := cairn.Open(cairn.Options{Root: dir, DataDir: filepath.Join(p.base, "data")})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer fork.Close()
	check(os.WriteFile(filepath.Join(dir, "a"), []byte("one\nof the fork\n"), 0o644))
	p.write("b", "of the root\n")

	from := cairn.MergeSource{Repo: fork}
	compared, err := p.repo.Compare(ctx, []cairn.MergeSource{from}, cairn.CompareOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range compared.Sources[0].Files {
		fmt.Println(f.Status, f.File)
	}
	result, err := p.repo.Merge(ctx, from, cairn.MergeOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("restored", result.Restored, "in conflict", len(result.Conflicts))
	// Output:
	// modified a
	// restored [a] in conflict 0
}
