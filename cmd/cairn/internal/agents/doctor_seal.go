package agents

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn"
)

// Faults of settings with which seal = true seals nothing.
var (
	errNoRecipient = errors.New("the setting encrypt names no recipient")
	errNoIdentity  = errors.New("the setting identity names no key")
	errOtherKey    = errors.New("the key that identity names opens nothing that is sealed for the recipients of encrypt")
)

// checkSealing tries the keys of the settings where seal = true leaves the store open: the process that seals works in
// the background and says nothing. A store that is sealed is up to checkStore.
func (c *commands) checkSealing(context.Context, doctorFlags) ([]cairn.Fault, error) {
	opt, err := c.Options()
	if err != nil || !opt.Unseal || cairn.StoreSealed(opt.DataDir, opt.Root) {
		return nil, nil // the checks before report the error
	}
	if err = tryKeys(&opt); err == nil {
		return nil, nil
	}
	return []cairn.Fault{{
		Kind: "configuration", Text: fmt.Sprintf("seal = true, and the store stays open: %v", err),
		Repair: "correct encrypt and identity in your own settings by hand (cairn config lists them); cairn seal tries them",
	}}, nil
}

// tryKeys seals nothing for the recipients and opens it with the identity.
func tryKeys(opt *cairn.Options) error {
	if len(opt.Encrypt) == 0 || len(opt.Encrypt) == 1 && opt.Encrypt[0] == cairn.EncryptNone {
		return errNoRecipient
	}
	identity, err := opt.ReadIdentity()
	switch {
	case err != nil:
		return err
	case identity == nil:
		return errNoIdentity
	}
	var out bytes.Buffer
	w, err := opt.Sealer.Seal(&out, opt.Encrypt)
	if err != nil {
		return err
	}
	if err = w.Close(); err == nil {
		_, err = opt.Sealer.Open(&out, identity)
	}
	if errors.Is(err, cairn.ErrKey) {
		return errOtherKey
	}
	return err
}
