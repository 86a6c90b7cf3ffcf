package webui

import "github.com/seed-fb9cbc17/cairn"

// placesOf lists where captures found credentials in the files of a checkpoint. A checkpoint that cannot be read has
// none: its own page says why.
func placesOf(c *cairn.Checkpoint) (places []string) {
	list, err := c.Secrets()
	if err != nil {
		return nil
	}
	for i := range list {
		places = append(places, list[i].String())
	}
	return places
}

func (v *visit) secretsOf(id string) []string {
	c, err := v.project.Repo.Lookup(v.ctx(), id)
	if err != nil {
		return nil
	}
	return placesOf(c)
}
