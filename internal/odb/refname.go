package odb

import (
	"fmt"
	"strings"
)

// checkRefName accepts what git check-ref-format accepts below refs/.
func checkRefName(name string) error {
	if why := refNameFault(name); why != "" {
		return fmt.Errorf("ref name %q %s", name, why)
	}
	return nil
}

func refNameFault(name string) string {
	switch {
	case !strings.HasPrefix(name, "refs/"):
		return "does not begin with refs/"
	case strings.HasSuffix(name, "."):
		return "ends with a dot"
	case strings.Contains(name, ".."), strings.Contains(name, "@{"):
		return "contains .. or @{"
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "":
			return "has an empty component"
		case part[0] == '.':
			return "has a component that begins with a dot"
		case strings.HasSuffix(part, ".lock"):
			return "has a component that ends with .lock"
		}
	}
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c == 0x7f || strings.IndexByte("~^:?*[\\", c) >= 0 {
			return fmt.Sprintf("contains the character %q", c)
		}
	}
	return ""
}

// refConflict refuses a name that is a directory of another one: git could not store it beside the
// packed refs. A conflict with a loose ref fails in the file system.
func (db *DB) refConflict(name string, packed packedRefs) error {
	for _, r := range packed {
		if r.Err == nil && (strings.HasPrefix(r.Name, name+"/") || strings.HasPrefix(name, r.Name+"/")) {
			if _, err := db.Ref(r.Name); err == nil {
				return fmt.Errorf("there is a ref %s", r.Name)
			}
		}
	}
	return nil
}
