package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk" // registers the format
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the format
	nfpmfiles "github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers the format
)

// description is what the packages say of cairn.
const description = `checkpoints of a directory
cairn takes checkpoints of a directory and goes back to them without losing
any work. It records what AI coding agents change, and takes it back turn by
turn, file by file or hunk by hunk.`

// linux makes the packages of Debian, RPM and Alpine.
func (r *release) linux(t target, files []file) error {
	dir, err := os.MkdirTemp("", "cairn-linux-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, format := range []string{"deb", "rpm", "apk"} {
		contents, err := r.staged(filepath.Join(dir, format), format, files)
		if err != nil {
			return err
		}
		if err := r.linuxPackage(format, t, contents); err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
	}
	return nil
}

func (r *release) linuxPackage(format string, t target, contents nfpmfiles.Contents) error {
	compression := "gzip:" + strconv.Itoa(cmp.Or(r.level, gzip.DefaultCompression))
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "cairn", Arch: t.arch, Platform: "linux", Version: r.version, Section: "vcs", Priority: "optional",
		Maintainer: r.maintainer, Homepage: r.homepage, Description: description, License: "Apache-2.0",
		DisableGlobbing: true, MTime: r.time,
		Overridables: nfpm.Overridables{
			Contents: contents, Recommends: []string{"less"}, Suggests: []string{"git"}, // cairn needs neither
			RPM: nfpm.RPM{BuildHost: "localhost", Summary: strings.SplitN(description, "\n", 2)[0], Compression: compression},
			Deb: nfpm.Deb{Compression: compression},
		},
	})
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := packager.Package(info, &out); err != nil {
		return err
	}
	return r.write(packager.ConventionalFileName(info), out.Bytes())
}

// staged writes files where a format finds them, and names their places on the system.
func (r *release) staged(dir, format string, files []file) (nfpmfiles.Contents, error) {
	var contents nfpmfiles.Contents
	for _, f := range files {
		f, err := r.placed(format, f)
		if err != nil {
			return nil, err
		}
		from := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(from), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(from, f.data, 0o644); err != nil {
			return nil, err
		}
		contents = append(contents, &nfpmfiles.Content{Source: from, Destination: "/usr/" + f.name, FileInfo: &nfpmfiles.ContentFileInfo{
			Owner: "root", Group: "root", Mode: fs.FileMode(f.mode), MTime: r.time,
		}})
	}
	return contents, nil
}

// placed puts a file where a distribution has such files: manual pages are compressed everywhere,
// and Debian has places of its own for the scripts of zsh, the license and the changelog.
func (r *release) placed(format string, f file) (file, error) {
	if format == "deb" {
		f.name = strings.Replace(f.name, "/zsh/site-functions/", "/zsh/vendor-completions/", 1)
		f.name = strings.Replace(f.name, "doc/cairn/LICENSE", "doc/cairn/copyright", 1)
		f.name = strings.Replace(f.name, "doc/cairn/CHANGELOG.md", "doc/cairn/changelog", 1)
	} else {
		f.name = strings.Replace(f.name, "doc/cairn/LICENSE", "licenses/cairn/LICENSE", 1)
	}
	if !strings.Contains(f.name, "/man1/") && !strings.HasSuffix(f.name, "/changelog") {
		return f, nil
	}
	data, err := r.gzipped(f.data)
	return file{f.name + ".gz", f.mode, data}, err
}
