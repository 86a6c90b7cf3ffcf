package cairn

import "github.com/seed-fb9cbc17/cairn/internal/odb"

// packer makes delta-compressed packs by means of the git program; nil where there
// is none.
func (r *Repo) packer() odb.PackFunc { return nil }
