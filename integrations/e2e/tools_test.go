//go:build linux

package e2e

import (
	"errors"
	"slices"
	"strings"
)

// call turns an op into a call of one of the agent's tools, whatever it is called and
// however it names its arguments.
func (o op) call(tools []tool) (call, error) {
	switch {
	case o.Write != "":
		if t, ok := find(tools, "write", "Write", "write_file", "create", "Create", "editor"); ok {
			return t.with(arg{o.Write, paths}, arg{o.Text, []string{"content", "file_text", "new_text"}}), nil
		}
		return patch(tools, "*** Add File: "+o.Write+"\n"+prefixed("+", o.Text))
	case o.Edit != "":
		if t, ok := find(tools, "edit", "Edit", "replace", "editor"); ok {
			if _, several := t.schema.Properties["edits"]; several {
				return t.with(arg{o.Edit, paths}, arg{[]object{{"oldText": o.Old, "newText": o.New}}, []string{"edits"}}), nil
			}
			return t.with(arg{o.Edit, paths}, arg{o.Old, []string{"oldString", "old_string", "old_str", "old_text"}},
				arg{o.New, []string{"newString", "new_string", "new_str", "new_text"}}), nil
		}
		return patch(tools, "*** Update File: "+o.Edit+"\n@@\n"+prefixed("-", o.Old)+prefixed("+", o.New))
	case o.Read != "":
		if t, ok := find(tools, "read", "Read", "read_file"); ok {
			return t.with(arg{o.Read, paths}), nil
		}
		return op{Shell: "cat '" + o.Read + "'"}.call(tools)
	case o.Task != "":
		if t, ok := find(tools, "Task", "Agent", "task", "spawn_agent"); ok {
			kind := "general-purpose"
			if _, open := t.schema.Properties["subagent_type"]; open && t.name == "task" {
				kind = "general" // OpenCode's
			}
			c := t.with(arg{o.Task, []string{"prompt", "task"}}, arg{kind, []string{"subagent_type", "agent_type"}}, arg{"a task", []string{"description"}})
			if _, ok := t.schema.Properties["mode"]; ok {
				c.args["mode"] = "sync"
			}
			return c, nil
		}
	case o.Code != "":
		if t, ok := find(tools, "codemode"); ok {
			return t.with(arg{o.Code, []string{"code"}}), nil
		}
	case o.Shell != "":
		if t, ok := find(tools, "bash", "Bash", "run_shell_command", "exec_command", "shell_command", "shell", "Execute", "run_commands"); ok {
			a := arg{o.Shell, []string{"command", "cmd"}}
			if t.name == "run_commands" {
				return t.with(arg{[]string{o.Shell}, []string{"commands"}}), nil
			}
			if t.schema.Properties["command"].Type == "array" {
				a.value = []string{"bash", "-c", o.Shell}
			}
			c := t.with(a)
			if _, ok := t.schema.Properties["is_background"]; ok {
				c.args["is_background"] = o.After
			} else if o.After {
				c.args["run_in_background"] = true
			}
			return c, nil
		}
	}
	var names []string
	for _, t := range tools {
		names = append(names, t.name)
	}
	return call{}, errors.New("no tool for it among " + strings.Join(names, " "))
}

var paths = []string{"filePath", "file_path", "absolute_path", "path"}

// arg is a value and the names that its argument may have.
type arg struct {
	value any
	names []string
}

func find(tools []tool, names ...string) (tool, bool) {
	for _, name := range names {
		if i := slices.IndexFunc(tools, func(t tool) bool { return t.name == name }); i >= 0 {
			return tools[i], true
		}
	}
	return tool{}, false
}

// with makes a call; what else the schema requires gets any value that it allows.
func (t tool) with(list ...arg) call {
	c := call{name: t.name, args: make(object)}
	for _, a := range list {
		name := a.names[0]
		for _, n := range a.names {
			if _, ok := t.schema.Properties[n]; ok {
				name = n
				break
			}
		}
		c.args[name] = a.value
	}
	for _, name := range t.schema.Required {
		if _, ok := c.args[name]; ok {
			continue
		}
		p := t.schema.Properties[name]
		switch {
		case len(p.Enum) > 0:
			c.args[name] = p.Enum[0]
		case p.Type == "boolean":
			c.args[name] = false
		case p.Type == "number", p.Type == "integer":
			c.args[name] = 1
		case p.Type == "array":
			c.args[name] = []any{}
		default:
			c.args[name] = "because"
		}
	}
	return c
}

// patch is for agents whose only edit tool takes patches.
func patch(tools []tool, text string) (call, error) {
	text = "*** Begin Patch\n" + text + "*** End Patch"
	t, ok := find(tools, "apply_patch")
	switch {
	case !ok:
		return call{}, errors.New("no tool that edits")
	case t.kind == "custom":
		return call{name: t.name, raw: text}, nil
	}
	return t.with(arg{text, []string{"patchText", "input", "patch"}}), nil
}

func prefixed(prefix, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(prefix + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}
