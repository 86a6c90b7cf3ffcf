package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// harmlessReceiving lists the settings of a receiving git that concern branches alone, and the one by which it takes
// shallow lines, too.
var harmlessReceiving = map[string]bool{
	"receive.denynonfastforwards": true,
	"receive.denydeletes":         true,
	"receive.denydeletecurrent":   true,
	"receive.denycurrentbranch":   true,
	"receive.shallowupdate":       true,
}

// ReceivesPlainly reports whether nothing in the repository has a say in what a push brings to refs that are no
// branches: no hook, and no setting of the receiving git. A repository that cannot be read has one.
func (r *Repo) ReceivesPlainly() bool {
	plain := true
	reader := &configReader{repo: r, sources: r.configFiles(UserConfig{})}
	reader.visit = func(set setting) error {
		section, _, _ := strings.Cut(set.name, ".")
		switch {
		case harmlessReceiving[set.name]:
		case section == "receive" || section == "transfer" || section == "hook":
			plain = false
		case set.name == "core.hookspath" || strings.HasPrefix(set.name, "core.alternaterefs"):
			plain = false
		}
		return nil
	}
	reader.readAll()
	return plain && len(reader.errs) == 0 && !r.hasHooks()
}

// AutoMaintenance reports whether a push may let git tidy the repository: unless maintenance.auto says no.
func (r *Repo) AutoMaintenance() bool {
	auto := true
	reader := &configReader{repo: r, sources: r.configFiles(UserConfig{})}
	reader.visit = func(set setting) (err error) {
		if set.name == "maintenance.auto" {
			err = assign(&auto)(set.boolean())
		}
		return err
	}
	reader.readAll()
	return auto
}

// hasHooks reports whether there may be a hook. git init makes examples, which do not run.
func (r *Repo) hasHooks() bool {
	list, err := os.ReadDir(filepath.Join(r.CommonDir, "hooks"))
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	for _, e := range list {
		if !strings.HasSuffix(e.Name(), ".sample") {
			return true
		}
	}
	return err != nil
}
