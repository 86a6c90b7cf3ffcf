package cairn_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn"
)

func ExampleRepo_Diff() {
	p := newProject()
	defer p.close()
	p.write("a", "one\n")
	before := p.track()
	p.write("a", "two\n")
	if err := p.repo.Diff(context.Background(), os.Stdout, before, "", cairn.DiffOptions{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// diff --git a/a b/a
	// index 5626abf..f719efd 100644
	// --- a/a
	// +++ b/a
	// @@ -1 +1 @@
	// -one
	// +two
}

func ExampleRepo_DiffFull() {
	p := newProject()
	defer p.close()
	p.write("a", "one\n")
	before := p.track()
	p.write("a", "one\ntwo\n")
	p.write("b", "new\n")
	for d, err := range p.repo.DiffFull(context.Background(), before, "", cairn.DiffOptions{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s %s +%d -%d, %q\n", d.Status, d.File, d.Additions, d.Deletions, d.After)
	}
	// Output:
	// modified a +1 -0, "one\ntwo\n"
	// added b +1 -0, "new\n"
}

func ExampleRepo_Changes() {
	p := newProject()
	defer p.close()
	p.write("a", "one\n")
	p.write("b", "one\n")
	from := p.track()
	p.write("a", "one\ntwo\n")
	p.remove("b")
	to := p.track()
	list, err := p.repo.Changes(context.Background(), from, to)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range list {
		added, deleted, _, err := p.repo.CountLines(&list[i], cairn.DiffOptions{})
		fmt.Println(list[i].Status, list[i].Path, added, deleted, err)
	}
	// Output:
	// modified a 1 0 <nil>
	// deleted b 0 1 <nil>
}

func ExampleRepo_Patch() {
	p := newProject()
	defer p.close()
	before := p.track()
	p.write("a", "one\n")
	patch, err := p.repo.Patch(context.Background(), before, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, file := range patch.Files { // absolute paths
		fmt.Println(filepath.Base(file), patch.Hash == before)
	}
	// Output: a true
}

func ExampleRepo_OpenFile() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	p.write("a", "one\n")
	before := p.track()
	p.remove("a")
	for e, err := range p.repo.List(ctx, before, "") {
		fmt.Println(e.Path, e.Size, err)
	}
	size, content, err := p.repo.OpenFile(ctx, before, "a")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer content.Close()
	text, err := io.ReadAll(content)
	fmt.Printf("%d bytes: %q %v\n", size, text, err)
	// Output:
	// a 4 <nil>
	// 4 bytes: "one\n" <nil>
}

func ExampleRepo_Lookup() {
	p := newProject()
	defer p.close()
	ctx := context.Background()
	p.write("a", "one\n")
	hash := p.track()
	newest, err := p.repo.Lookup(ctx, "@")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(newest.Hash == hash, newest.Author)
	_, err = p.repo.Lookup(ctx, "no such name")
	fmt.Println(errors.Is(err, cairn.ErrNotFound))
	// Output:
	// true user
	// true
}

// A path may have any bytes. JSON has a text for each of them.
func ExamplePath() {
	path := cairn.Path("caf\xe9")
	fmt.Printf("%q\n", path.Encoded())
	var back cairn.Path
	fmt.Println(back.UnmarshalText([]byte(path.Encoded())), back == path)
	fmt.Println(cairn.Path("two\nlines").Quoted())
	// Output:
	// "caf\x00e9"
	// <nil> true
	// "two\nlines"
}
