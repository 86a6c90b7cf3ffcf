package secrets

// The ids of rules that go by names.
const (
	password = "password"
	secret   = "secret"
)

// url64 is a character of base64url.
const url64 = `[A-Za-z0-9_-]`

func table() []rule {
	return []rule{
		{id: privateKey}, // see privateKeys
		{id: "age-key", keywords: []string{"AGE-SECRET-KEY-1"}, pattern: `AGE-SECRET-KEY-1[0-9A-Z]{58}`},

		{id: "aws-access-key", keywords: []string{"AKIA", "ASIA", "ABIA", "ACCA"}, pattern: `[A-Z]{4}[A-Z0-9]{16}\b`},
		{id: "aws-secret-key", keywords: []string{"secret"}, anyCase: true, inWord: true, pattern: `(?i)secret[_ -]?(?:access[_ -]?)?key[^A-Za-z0-9/+\n]{1,12}([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|\z)`},

		// The issuers chose prefixes that make these tokens recognizable.
		{id: "github-token", keywords: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, pattern: `gh[a-z]_[A-Za-z0-9]{36,255}`},
		{id: "github-token", keywords: []string{"github_pat_"}, pattern: `github_pat_[A-Za-z0-9_]{22,255}`},
		{id: "gitlab-token", keywords: []string{"glpat-", "glptt-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glft-", "glffct-", "glimt-", "glsoat-", "glagent-", "gloas-"},
			pattern: `gl[a-z]+-` + url64 + `{20,}(?:\.[A-Za-z0-9]{2}\.[A-Za-z0-9]{7,9})?`},
		{id: "slack-token", keywords: []string{"xox"}, pattern: `xox(?:e\.xox)?[abceoprs]-[A-Za-z0-9-]{10,}`},
		{id: "slack-token", keywords: []string{"xapp-"}, pattern: `xapp-\d-[A-Za-z0-9-]{10,}`},
		{id: "slack-webhook", keywords: []string{"hooks.slack.com/"}, pattern: `hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{20,})`},
		{id: "stripe-key", keywords: []string{"sk_", "rk_"}, pattern: `[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}`},
		{id: "stripe-key", keywords: []string{"whsec_"}, pattern: `whsec_[A-Za-z0-9+/]{24,}=*`},
		{id: "anthropic-key", keywords: []string{"sk-ant-"}, pattern: `sk-ant-[a-z]{3,8}\d{2}-` + url64 + `{20,}`},
		{id: "openrouter-key", keywords: []string{"sk-or-"}, pattern: `sk-or-(?:v1-)?[A-Za-z0-9]{32,}`},
		{id: "openai-key", keywords: []string{"sk-"}, pattern: `sk-(?:(?:proj|svcacct|admin|None)-` + url64 + `{20,}|[A-Za-z0-9]{32,})`},
		{id: "google-key", keywords: []string{"AIza"}, pattern: `AIza` + url64 + `{35}`},
		{id: "google-key", keywords: []string{"GOCSPX-"}, pattern: `GOCSPX-` + url64 + `{20,}`},
		{id: "google-key", keywords: []string{"ya29."}, pattern: `ya29\.` + url64 + `{20,}`},
		{id: "azure-key", keywords: []string{"AccountKey="}, pattern: `AccountKey=([A-Za-z0-9+/]{40,}={0,2})`},
		{id: "npm-token", keywords: []string{"npm_"}, pattern: `npm_[A-Za-z0-9]{36}`},
		{id: "pypi-token", keywords: []string{"pypi-"}, pattern: `pypi-` + url64 + `{50,}`},
		{id: "docker-token", keywords: []string{"dckr_"}, pattern: `dckr_(?:pat|oat)_` + url64 + `{20,}`},
		{id: "huggingface-token", keywords: []string{"hf_"}, pattern: `hf_[A-Za-z0-9]{30,}`},
		{id: "groq-key", keywords: []string{"gsk_"}, pattern: `gsk_[A-Za-z0-9]{40,}`},
		{id: "xai-key", keywords: []string{"xai-"}, pattern: `xai-[A-Za-z0-9]{40,}`},
		{id: "sendgrid-key", keywords: []string{"SG."}, pattern: `SG\.` + url64 + `{16,64}\.` + url64 + `{32,}`},
		{id: "twilio-key", keywords: []string{"SK"}, pattern: `SK[0-9a-f]{32}\b`},
		{id: "digitalocean-token", keywords: []string{"dop_v1_", "doo_v1_", "dor_v1_"}, pattern: `do[a-z]_v1_[0-9a-f]{64}`},
		{id: "shopify-token", keywords: []string{"shpat_", "shpca_", "shppa_", "shpss_"}, pattern: `shp[a-z]{2}_[0-9a-fA-F]{32}`},
		{id: "databricks-token", keywords: []string{"dapi"}, pattern: `dapi[0-9a-f]{32}(?:-\d)?\b`},
		{id: "vault-token", keywords: []string{"hvs.", "hvb."}, pattern: `hv[a-z]\.` + url64 + `{24,}`},
		{id: "linear-key", keywords: []string{"lin_api_"}, pattern: `lin_api_[A-Za-z0-9]{32,}`},
		{id: "atlassian-token", keywords: []string{"ATATT3"}, pattern: `ATATT3[A-Za-z0-9_=-]{60,}`},
		{id: "telegram-token", keywords: []string{":AA"}, inWord: true, pattern: `:(AA` + url64 + `{33})\b`, literal: behindDigit},

		// RFC 7519: the header and the claims are JSON objects in base64url.
		{id: "jwt", keywords: []string{"eyJ"}, pattern: `eyJ` + url64 + `{8,999}\.eyJ` + url64 + `{8,}(?:\.` + url64 + `*)?`},

		// RFC 3986, user information.
		{id: "url-password", keywords: []string{"://"}, inWord: true, literal: notPlaceholder,
			pattern: `://[^\s/?#:@"'<>` + "`" + `]{0,200}:([^\s/?#@"'<>` + "`" + `]{1,500})@[A-Za-z0-9\[]`},

		{id: "authorization", keywords: []string{"authorization"}, anyCase: true, literal: notPlaceholder,
			pattern: `(?i)authorization["']?\s{0,3}[:=]\s{0,3}["']?(?:basic|bearer|token)\s{1,3}([^\s"',;]{6,})`},
		{id: "authorization", keywords: []string{"bearer"}, anyCase: true, literal: isMixed, pattern: `(?i)bearer\s{1,3}([A-Za-z0-9._~+/=-]{20,})`},
		{id: password, keywords: []string{"curl "}, literal: notPlaceholder, pattern: `curl\b[^\n]{0,400}?\s(?:-u|--user)[ =]["']?[^\s:"']{1,200}:([^\s"']{1,500})`},

		{id: password, keywords: []string{"passwor", "passwd", "passphrase", "passcode", "pwd"}, anyCase: true, inWord: true, literal: isAssigned, pattern: assignment(`passwor[dt]|passwd|passphrase|passcode|pwd`)},
		{id: secret, keywords: []string{"secret", "token", "credential"}, anyCase: true, inWord: true, literal: isAssigned, pattern: assignment(`secret|token|credentials?`)},
		{id: secret, keywords: []string{"key"}, anyCase: true, inWord: true, literal: isAssignedKey, pattern: assignment(`key`)},
		{id: password, keywords: []string{"-pass"}, anyCase: true, inWord: true, literal: isMixed, pattern: option(`-password|-passwd|-passphrase`)},
		{id: secret, keywords: []string{"-token", "-secret", "-api"}, anyCase: true, inWord: true, literal: isMixed, pattern: option(`-token|-secret|-api-?key`)},
	}
}

func behindDigit(m *match) bool { return m.at > 0 && '0' <= m.text[m.at-1] && m.text[m.at-1] <= '9' }
