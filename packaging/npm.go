package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed npm/cairn.js
var npmStarter string

// npmMain makes the package that people name. It has a starter, and depends on one package for each
// system, of which npm installs the one that fits. No script runs at installation.
func (r *release) npmMain() error {
	programs := make(map[string]string)
	for _, name := range r.systems {
		system, arch, _ := strings.Cut(name, "/")
		programs[r.npmName(target{system, arch})] = r.version
	}
	starter := strings.ReplaceAll(npmStarter, "PACKAGE", r.npm)
	return r.npmPackage(r.npm, map[string]any{
		"bin": map[string]string{"cairn": "cairn.js"}, "optionalDependencies": programs, "engines": map[string]string{"node": ">=18"},
	}, []file{{"cairn.js", 0o755, []byte(starter)}})
}

// npmProgram makes the package with the programs of one system.
func (r *release) npmProgram(t target, files []file) error {
	return r.npmPackage(r.npmName(t), map[string]any{
		"os": []string{npmSystem(t.system)}, "cpu": []string{npmArch(t.arch)}, "preferUnplugged": true,
	}, files[:2])
}

// npmPackage makes a package of npm: an archive whose files are below "package".
func (r *release) npmPackage(name string, fields map[string]any, files []file) error {
	fields["name"], fields["version"], fields["license"] = name, r.version, "Apache-2.0"
	fields["description"] = strings.SplitN(description, "\n", 2)[0]
	if r.homepage != "" {
		fields["homepage"] = r.homepage
	}
	manifest, err := json.MarshalIndent(fields, "", "  ")
	if err != nil {
		return err
	}
	license, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return err
	}
	files = append([]file{{"package.json", 0o644, append(manifest, '\n')}, {"LICENSE", 0o644, license}}, files...)
	data, err := r.tarGz(under("package", files))
	if err != nil {
		return err
	}
	return r.write(fmt.Sprintf("%s-%s.tgz", strings.NewReplacer("@", "", "/", "-").Replace(name), r.version), data)
}

func (r *release) npmName(t target) string {
	return r.npm + "-" + npmSystem(t.system) + "-" + npmArch(t.arch)
}

// npmSystem and npmArch are the names that Node has for systems and processors.
func npmSystem(system string) string {
	if system == "windows" {
		return "win32"
	}
	return system
}

func npmArch(arch string) string {
	if arch == "amd64" {
		return "x64"
	}
	return arch
}
