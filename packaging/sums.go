package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/CycloneDX/cyclonedx-go"
)

// contents writes what a program is made of, as CycloneDX: the modules that the linker recorded.
func (r *release) contents(t target, program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	bom := cyclonedx.NewBOM()
	main := cyclonedx.Component{
		BOMRef: "cairn", Type: cyclonedx.ComponentTypeApplication, Name: "cairn", Version: r.version,
		Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}},
	}
	bom.Metadata = &cyclonedx.Metadata{Timestamp: r.time.Format("2006-01-02T15:04:05Z"), Component: &main}
	parts := []cyclonedx.Component{{BOMRef: "go", Type: cyclonedx.ComponentTypeFramework, Name: "go", Version: info.GoVersion}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		name := "pkg:golang/" + m.Path + "@" + m.Version
		parts = append(parts, cyclonedx.Component{BOMRef: name, Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: name})
	}
	bom.Components = &parts
	var out bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return err
	}
	return r.write(fmt.Sprintf("cairn_%s_%s_%s.cdx.json", r.version, t.system, t.arch), out.Bytes())
}

// checksums writes the SHA-256 of every file as sha256sum reads them.
func (r *release) checksums() error {
	slices.Sort(r.made)
	var out bytes.Buffer
	for _, path := range r.made {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(data), filepath.Base(path))
	}
	return r.write("SHA256SUMS", out.Bytes())
}
