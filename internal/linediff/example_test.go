package linediff_test

import (
	"fmt"
	"os"

	"github.com/seed-fb9cbc17/cairn/internal/linediff"
)

func ExampleWriteUnified() {
	a := []byte("func area() {\n\treturn w * h\n}\n")
	b := []byte("func area() {\n\treturn w * w\n}\n")
	stat, err := linediff.WriteUnified(os.Stdout, a, b, linediff.Options{})
	fmt.Println(stat.Added, stat.Deleted, err)
	// Output:
	// @@ -1,3 +1,3 @@
	//  func area() {
	// -	return w * h
	// +	return w * w
	//  }
	// 1 1 <nil>
}

func ExampleMerge() {
	base, ours, theirs := []byte("a\nb\nc\n"), []byte("A\nb\nc\n"), []byte("a\nb\nC\n")
	merged := linediff.Merge(base, ours, theirs)
	fmt.Printf("%d conflicts, %q\n", merged.Conflicts, merged.Content)
	// Output: 0 conflicts, "A\nb\nC\n"
}
