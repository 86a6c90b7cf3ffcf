// Package toolnames knows tools of coding agents by their names.
package toolnames

import (
	"slices"
	"strings"
)

// editors are tools that name the files they change in their input.
const editors = `
	write edit multiedit notebookedit apply_patch patch create delete editor applypatch
	write_file replace edit_file create_file delete_file move_file rename_file str_replace_editor str_replace_based_edit_tool`

// Listed reports whether a tool is in a list of names between blanks, whatever the case.
func Listed(list, tool string) bool {
	return slices.Contains(strings.Fields(list), strings.ToLower(tool))
}

// Edits reports whether a tool names what it changes. Tools of MCP servers go by their
// names, as they are all that is known of them.
func Edits(tool string) bool {
	if server, ok := strings.CutPrefix(strings.ToLower(tool), "mcp__"); ok {
		_, name, _ := strings.Cut(server, "__")
		return slices.ContainsFunc([]string{"write", "edit", "create", "delete", "move", "rename", "patch", "replace"},
			func(verb string) bool { return strings.Contains(name, verb) })
	}
	return EditsOnly(tool)
}

// EditsOnly reports whether a tool is known to change the files that its input names, and no others.
func EditsOnly(tool string) bool { return Listed(editors, tool) }
