// Package webui is the page of the server: the history of a project as a timeline,
// what each step changed side by side, and the way back with a preview of every path.
//
// Everything works with links and forms alone. The script (assets/page.js) adds keys,
// folding, more of a list in place and live updates; it makes no HTML of its own.
// Nothing is fetched from elsewhere, and the policy in the headers forbids it.
//
// A way back always has two requests. GET .../plan shows the plan and its id; POST .../apply
// carries out exactly that plan, or answers 409 because the disk has moved. Nothing else writes to
// the user's directory. A preview has boxes for its steps, files and changes. POST .../choose leads to
// the preview of the ticked ones, and so does POST .../apply if they are not those of the plan.
//
// Names and texts are hostile: templates escape them, code.go escapes the text that it prints for
// the templates, and names that could mislead are made visible (visible.go). Addresses carry paths
// as their bytes, percent-encoded, so that names of any bytes can be reached; forms carry them in
// the address, since browsers send fields as UTF-8.
//
// The application that mounts the handler decides who may see the page, and does the login.
package webui
