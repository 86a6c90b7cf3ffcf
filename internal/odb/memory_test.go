package odb

import "github.com/seed-fb9cbc17/cairn/internal/gittest"

func init() { gittest.Prepare() }
