package main

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/console"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestLinks: paths in answers are links to files that there are, whatever bytes their names have,
// and the text without the links is as it is without them.
func TestLinks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("names of any bytes need Linux")
	}
	s := newSeat(t)
	const odd = "sub dir/\x1b]8;;\xff%;ü"
	gittest.Create(t, s.project, gittest.Tree{odd: gittest.File("needle\n"), "gone": gittest.File("needle\n")})
	s.must("track")
	s.write("b", "3\n")
	s.must("restore", "@", "b")
	s.write(odd, "needle 2\n")
	if err := os.Remove(filepath.Join(s.project, "gone")); err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	url := func(path string) string { return console.FileURL(host, path) }
	ours, linked := url(filepath.Join(s.project, odd)), regexp.MustCompile("\x1b\\]8;;([^\x1b]*)\x1b\\\\")
	size := regexp.MustCompile(`\([0-9.]+ \w+\)`) // of the store, to which a look adds
	for _, c := range []struct {
		command string
		want    []string
	}{
		{"grep -n needle", []string{ours}},
		{"grep -c needle", []string{ours}},
		{"diff --stat", []string{ours}},
		{"diff --name-status", []string{ours}},
		{"ls @ -l", []string{url(filepath.Join(s.project, "a")), url(filepath.Join(s.project, "b")), ours}},
		{"status", []string{url(s.project)}},
		{"patch @", []string{ours}},
		{"diff", nil},
		{"ls @ -z", nil},
		{"grep needle --json", nil},
		{"operations --paths", []string{url(filepath.Join(s.project, "b"))}},
	} {
		plain := s.must(strings.Fields(c.command)...)
		got := s.must(append(strings.Fields(c.command), "--hyperlink=always")...)
		plain = size.ReplaceAllString(plain, "(SIZE)")
		if text := size.ReplaceAllString(linked.ReplaceAllString(got, ""), "(SIZE)"); text != plain {
			t.Errorf("%s: %q without links, want %q", c.command, text, plain)
		}
		var urls []string
		for _, m := range linked.FindAllStringSubmatch(got, -1) {
			if m[1] != "" && strings.Contains(m[1], "project") {
				urls = append(urls, m[1])
			}
		}
		if strings.Join(urls, " ") != strings.Join(c.want, " ") {
			t.Errorf("%s: links to %q, want %q", c.command, urls, c.want)
		}
	}
}
