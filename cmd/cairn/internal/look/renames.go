package look

import (
	"encoding/json"
	"fmt"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// renamedJSON is a change with the path before, if it is a rename.
type renamedJSON struct {
	cairn.FileChange
}

// MarshalJSON implements json.Marshaler.
func (r renamedJSON) MarshalJSON() ([]byte, error) {
	data, err := json.Marshal(r.Change)
	if err != nil || r.From == "" {
		return data, err
	}
	more, err := json.Marshal(struct {
		OldPath    cairn.Path `json:"oldPath"`
		Similarity int        `json:"similarity"`
	}{cairn.Path(r.From), r.Similarity})
	data[len(data)-1] = ','
	return append(data, more[1:]...), err
}

// printRenamed is printNameStatus with renames, as git prints them.
func (c *commands) printRenamed(list []cairn.FileChange, null bool) error {
	if c.Global.JSON {
		array := c.NewArray()
		for _, r := range list {
			if err := array.Add(renamedJSON{r}); err != nil {
				return err
			}
		}
		return array.Close()
	}
	for i := range list {
		r := &list[i]
		if r.From == "" {
			if err := c.printNameStatus([]cairn.Change{r.Change}, null); err != nil {
				return err
			}
			continue
		}
		if null {
			fmt.Fprintf(c.Out, "R%03d\x00%s\x00%s\x00", r.Similarity, r.From, r.Path)
		} else {
			fmt.Fprintf(c.Out, "R%03d\t%s\t%s\n", r.Similarity, pathtext.Quote(r.From), pathtext.Quote(r.Path))
		}
	}
	return nil
}
