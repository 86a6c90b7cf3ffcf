package main

import (
	"bytes"
	"compress/gzip"
	"crypto/md5" // the format has it
	"fmt"
	"strings"
)

// debianArch is Debian's name of an architecture.
func debianArch(arch string) string {
	switch arch {
	case "386":
		return "i386"
	case "arm":
		return "armhf"
	case "ppc64le":
		return "ppc64el"
	}
	return arch
}

// debian makes a package for Debian, as deb(5) has it: the version of the format, what the package
// is, and the files, in an archive of ar.
func (r *release) debian(files []file) ([]byte, error) {
	files, err := r.debianFiles(files)
	if err != nil {
		return nil, err
	}
	control, err := tarGz(under(".", []file{{"control", 0o644, []byte(r.control(files))}, {"md5sums", 0o644, sums(files)}}), r.time)
	if err != nil {
		return nil, err
	}
	data, err := tarGz(under(".", files), r.time)
	if err != nil {
		return nil, err
	}
	out := bytes.NewBufferString("!<arch>\n")
	for _, part := range []file{{name: "debian-binary", data: []byte("2.0\n")}, {name: "control.tar.gz", data: control}, {name: "data.tar.gz", data: data}} {
		fmt.Fprintf(out, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", part.name, r.time.Unix(), 0, 0, "100644", len(part.data))
		out.Write(part.data)
		if len(part.data)%2 != 0 {
			out.WriteByte('\n')
		}
	}
	return out.Bytes(), nil
}

// debianFiles puts the files where Debian has them: below usr, manual pages and the changelog
// compressed, the license under its name there.
func (r *release) debianFiles(files []file) ([]file, error) {
	out := under("usr", files)
	for i := range out {
		f := &out[i]
		f.name = strings.Replace(f.name, "/zsh/site-functions/", "/zsh/vendor-completions/", 1)
		f.name = strings.Replace(f.name, "doc/cairn/LICENSE", "doc/cairn/copyright", 1)
		f.name = strings.Replace(f.name, "doc/cairn/CHANGELOG.md", "doc/cairn/changelog", 1)
		if !strings.Contains(f.name, "/man1/") && !strings.HasSuffix(f.name, "/changelog") {
			continue
		}
		data, err := gzipped(f.data)
		if err != nil {
			return nil, err
		}
		f.name, f.data = f.name+".gz", data
	}
	return out, nil
}

func gzipped(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// control is what a package says of itself. No git is needed to use cairn.
func (r *release) control(files []file) string {
	size := 0
	for _, f := range files {
		size += (len(f.data) + 1023) / 1024
	}
	return fmt.Sprintf(`Package: cairn
Version: %s
Architecture: %s
Maintainer: The authors of cairn <cairn@localhost>
Installed-Size: %d
Recommends: less
Suggests: git
Section: vcs
Priority: optional
Description: checkpoints of a directory
 cairn takes checkpoints of a directory and goes back to them without losing
 any work. It records what AI coding agents change, and takes it back turn by
 turn, file by file or hunk by hunk.
`, r.version, debianArch(r.arch), size)
}

// sums are the MD5 sums of the files, for debsums.
func sums(files []file) []byte {
	var out bytes.Buffer
	for _, f := range files {
		fmt.Fprintf(&out, "%x  %s\n", md5.Sum(f.data), f.name)
	}
	return out.Bytes()
}
