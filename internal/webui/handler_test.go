package webui

import "testing"

func TestTemplatesParse(t *testing.T) { t.Parallel(); templates() }
