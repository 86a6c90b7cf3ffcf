package settings

import "fmt"

// SecretsPolicy says what becomes of files with credentials, such as tokens and private keys.
type SecretsPolicy string

// The policies. SecretsRefuse makes a checkpoint that is asked for fail with ErrSecrets; captures for
// other ends, such as a status or the state before a restore, then leave the files out.
const (
	SecretsWarn   SecretsPolicy = "warn"   // captured, and listed; as ""
	SecretsSkip   SecretsPolicy = "skip"   // left out, like paths on the deny list: neither stored nor overwritten
	SecretsRefuse SecretsPolicy = "refuse" // no checkpoint
	SecretsOff    SecretsPolicy = "off"    // not looked for
)

// ParseSecretsPolicy returns an error for a text that is no policy.
func ParseSecretsPolicy(text string) (SecretsPolicy, error) {
	switch p := SecretsPolicy(text); p {
	case SecretsWarn, SecretsSkip, SecretsRefuse, SecretsOff:
		return p, nil
	case "":
		return SecretsWarn, nil
	}
	return "", fmt.Errorf("want warn, skip, refuse or off, not %.80q", text)
}
