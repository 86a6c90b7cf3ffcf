package outside

import (
	"bytes"
	"path"
	"path/filepath"
	"strings"
)

// secretDirs hold credentials. Names are in lower case; one with a slash counts below any directory.
var secretDirs = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store", ".config/gcloud", ".config/gh", ".config/op",
	".local/share/keyrings", "library/keychains", "etc/ssl/private", "etc/ssh", "etc/sudoers.d",
}

// secretNames are names of files with credentials, as patterns of package path, in lower case.
var secretNames = []string{
	"id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk",
	".env", ".env.*", ".netrc", "_netrc", ".pgpass", ".git-credentials", ".npmrc", ".pypirc", ".vault-token", ".htpasswd",
	"credentials", "credentials.json", "shadow", "shadow-", "gshadow", "gshadow-", "sudoers",
}

// Secret reports whether a path names a file that may hold credentials: keys, tokens, passwords.
func Secret(p string) bool {
	p = strings.ToLower(filepath.ToSlash(p))
	for _, dir := range secretDirs {
		if strings.Contains(p, "/"+dir+"/") {
			return true
		}
	}
	for _, pattern := range secretNames {
		if ok, _ := path.Match(pattern, path.Base(p)); ok {
			return true
		}
	}
	return strings.HasSuffix(p, "/.docker/config.json")
}

// holdsKey reports whether contents hold a private key in the form of PEM or OpenSSH.
func holdsKey(content []byte) bool {
	return bytes.Contains(content, []byte("-----BEGIN ")) && bytes.Contains(content, []byte("PRIVATE KEY-----"))
}
