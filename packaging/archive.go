package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// archive makes the archive of a system: a zip for Windows, which unpacks nothing else by itself.
func (r *release) archive(t target, files []file) error {
	pack, suffix := r.tarGz, "tar.gz"
	if t.system == "windows" {
		pack, suffix = r.zipped, "zip"
	}
	data, err := pack(under("cairn-"+r.version, files))
	if err != nil {
		return err
	}
	return r.write(fmt.Sprintf("cairn_%s_%s_%s.%s", r.version, t.system, t.arch, suffix), data)
}

func (r *release) gzipped(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, cmp.Or(r.level, gzip.BestCompression))
	if err != nil {
		return nil, err
	}
	_, err = w.Write(data)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

// tarGz packs files and their directories. They belong to root, and are all of one time.
func (r *release) tarGz(files []file) ([]byte, error) {
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	made := make(map[string]bool)
	for _, f := range files {
		for i, c := range f.name {
			if dir := f.name[:i+1]; c == '/' && !made[dir] {
				made[dir] = true
				if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755, ModTime: r.time, Uname: "root", Gname: "root"}); err != nil {
					return nil, err
				}
			}
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: r.time, Uname: "root", Gname: "root"}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return r.gzipped(out.Bytes())
}

// zipped packs files, all of one time.
func (r *release) zipped(files []file) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, cmp.Or(r.level, flate.DefaultCompression))
	})
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.time}
		header.SetMode(fs.FileMode(f.mode))
		w, err := archive.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return out.Bytes(), err
}
