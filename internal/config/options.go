package config

import (
	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/sealed"
)

// Configure puts the settings into the options of the library.
func (c *Config) Configure(opt *cairn.Options) {
	retention := c.Retention()
	opt.Retention = &retention
	opt.MaxFileSize, opt.MaxFiles, opt.MaxScanBytes = c.MaxFileSize, c.MaxFiles, c.MaxScanBytes
	opt.Include, opt.MaxIncludeSize, opt.Never = c.Include, c.MaxIncludeSize, c.Never
	opt.RequireGit, opt.NoPrompts, opt.NoMask, opt.NoGit = c.RequireGit, !c.Prompts, !c.Mask, !c.Git
	opt.Sync, opt.RemoteTimeout = c.Sync, c.RemoteTimeout
	opt.Encrypt, opt.Identity, opt.Sealer, opt.Unseal = c.Encrypt, c.Identity, sealed.Age{}, c.Seal
	opt.Secrets, opt.SecretRules = c.Secrets, c.SecretRules
	opt.Sign, opt.Signers = c.Sign, c.Signers
	opt.MaxOutsideSize, opt.NoOutside = c.OutsideSize, c.NoOutside
	if opt.LockTimeout == 0 {
		opt.LockTimeout = c.LockTimeout
	}
	if !c.Enabled {
		opt.Disabled = "enabled = false"
		for _, d := range c.Decisions() {
			if d.Key == "enabled" {
				opt.Disabled += " in " + d.Origin
			}
		}
	}
}

// Retention is what the settings let a cleaning keep.
func (c *Config) Retention() cairn.Retention {
	return cairn.Retention{
		MaxAge: c.MaxAge, MaxCount: c.MaxCount, MaxBytes: c.MaxBytes, MinFree: c.MinFree,
		KeepLast: c.KeepLast, Keep: c.Keep,
	}
}
