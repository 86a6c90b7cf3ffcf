package mcptools

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

func TestResources(t *testing.T) {
	t.Parallel()
	tree := gittest.Tree{
		"é ü/%25#?.txt": gittest.File("odd name\n"), "bad\xffname": gittest.File("bytes in the name\n"),
		"empty": gittest.File(""), "link": gittest.Link("a.txt"), "main.ts": gittest.File("export {}\n"), "p.png": gittest.File("\x89PNG\x00"),
	}
	for name, node := range begin {
		tree[name] = node
	}
	w := newWorld(t, tree)
	first := w.track()
	w.change()

	list, err := w.client.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 1 || list.Resources[0].URI != checkpointScheme+first.Checkpoint || list.Resources[0].Title != "for the test" {
		t.Fatalf("%+v, %v", list, err)
	}
	templates, err := w.client.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 2 {
		t.Fatalf("%+v, %v", templates, err)
	}
	for _, uri := range []string{list.Resources[0].URI, checkpointScheme + "@", checkpointScheme + first.Hash[:8]} {
		c, err := w.read(uri)
		if err != nil {
			t.Fatalf("%s: %v", uri, err)
		}
		var got checkpointResource
		if err := json.Unmarshal([]byte(c.Text), &got); err != nil || len(got.Files) != len(tree) || got.More || got.Hash != first.Hash {
			t.Fatalf("%s: %+v, %v", uri, got, err)
		}
		for _, f := range got.Files {
			name, err := pathtext.Decode(f.Path)
			if err != nil {
				t.Fatal(err)
			}
			c, err := w.read(f.URI)
			if err != nil {
				t.Errorf("%s: %v", f.URI, err)
				continue
			}
			data := append([]byte(c.Text), c.Blob...)
			_, rc, err := w.repo.OpenFile(t.Context(), first.Hash, name)
			if err != nil {
				t.Fatal(err)
			}
			want, err := io.ReadAll(rc)
			if rc.Close(); err != nil || !bytes.Equal(data, want) || int64(len(data)) != f.Size {
				t.Errorf("%s is %q, not %q", f.URI, data, want)
			}
		}
	}
	for name, want := range map[string]string{"main.ts": "text/plain", "p.png": "image/png", "bytes": "application/octet-stream"} {
		if c, err := w.read(fileScheme + "@/" + name); err != nil || c.MIMEType != want {
			t.Errorf("%s: %+v, %v, want %s", name, c, err, want)
		}
	}
	for _, uri := range []string{
		fileScheme + "@/nothing", fileScheme + "@/../../etc/passwd", fileScheme + "@/%2e%2e/x", fileScheme + "@//etc/passwd", fileScheme + "@/dir",
		fileScheme + "@/%00", fileScheme + "@/%zz", fileScheme + "@", fileScheme + "ffff/a.txt", checkpointScheme + "ffff", checkpointScheme, "file:///etc/passwd",
	} {
		if c, err := w.read(uri); err == nil || !strings.Contains(err.Error(), "esource not found") {
			t.Errorf("%s: %+v, %v", uri, c, err)
		}
	}
}

// TestLimits: no answer grows without bounds.
func TestLimits(t *testing.T) {
	t.Parallel()
	tree := gittest.Tree{"big": gittest.File(strings.Repeat("x", maxFile+1))}
	for i := range maxPaths + 7 {
		tree["many/"+string(rune('a'+i%26))+strings.Repeat("x", i/26)] = gittest.File("x")
	}
	w := newWorld(t, tree)
	w.track()
	if _, err := w.read(fileScheme + "@/big"); err == nil || !strings.Contains(err.Error(), "cairn cat") {
		t.Error(err)
	}
	for range 3 {
		w.track()
	}
	var list checkpointList
	w.call("checkpoints", map[string]any{"limit": 2}, &list)
	if len(list.Checkpoints) != 2 || !list.More {
		t.Errorf("%+v", list)
	}
	if err := os.RemoveAll(filepath.Join(w.dir, "many")); err != nil {
		t.Fatal(err)
	}
	var d diffAnswer
	w.call("diff", map[string]any{"noText": true}, &d)
	if len(d.Files) != maxPaths || d.Unlisted != 7 {
		t.Errorf("%d files, %d unlisted", len(d.Files), d.Unlisted)
	}
	var done outcome
	text := w.call("restore", map[string]any{"hash": "@"}, &done)
	if len(done.Restored) != maxPaths || done.Unlisted != 8 || // the directory counts
		strings.Count(text, "\n") > maxLines+2 {
		t.Errorf("%d restored, %d unlisted\n%s", len(done.Restored), done.Unlisted, text)
	}
}
