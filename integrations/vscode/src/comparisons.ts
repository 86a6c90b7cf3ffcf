// Comparisons that are open: which two states a document is a side of.
import * as vscode from "vscode"
import type { Change } from "./api.ts"
import { type Subject, subjectOf } from "./filehistory.ts"
import { sideOf } from "./files.ts"
import type { Project, Projects } from "./projects.ts"
import { isPlain, shown, unreadable } from "./pathtext.ts"
import type { Span } from "./turns.ts"
import { decodePlace, scheme } from "./uri.ts"

// Comparison is one file between two states.
export interface Comparison extends Subject, Span {}

export async function openComparison(project: Project, path: string, span: Span, title: string): Promise<void> {
  if (!isReadable(project, path)) throw new Error(unreadable)
  const name = shown(path).slice(shown(path).lastIndexOf("/") + 1)
  await vscode.commands.executeCommand(
    "vscode.diff",
    sideOf(project, span.from, path),
    sideOf(project, span.to, path),
    `${name} (${title})`,
    { preview: true },
  )
}

// openAll opens several files in one editor. An added file has no older side, a deleted one no newer.
export async function openAll(project: Project, changes: Change[], span: Span, title: string): Promise<void> {
  const readable = changes.filter((c) => isReadable(project, c.path))
  const sides = readable.map(({ path, status }) => {
    const [from, to] = [sideOf(project, span.from, path), sideOf(project, span.to, path)]
    return [to, status === "added" ? undefined : from, status === "deleted" ? undefined : to]
  })
  await vscode.commands.executeCommand("vscode.changes", title, sides)
  if (readable.length < changes.length) void vscode.window.showWarningMessage("cairn: " + unreadable)
}

// isReadable reports whether the contents of a path can be had.
function isReadable(project: Project, path: string): boolean {
  return isPlain(path) || project.backend.kind === "server"
}

// originalOf returns the older side of an open comparison whose newer side is a document.
function originalOf(modified: vscode.Uri): vscode.Uri | undefined {
  for (const group of vscode.window.tabGroups.all) {
    for (const { input } of group.tabs) {
      if (input instanceof vscode.TabInputTextDiff && input.original.scheme === scheme && input.modified.toString() === modified.toString())
        return input.original
    }
  }
  return undefined
}

// isCompared reports whether a document is the newer side of an open comparison.
export function isCompared(uri: vscode.Uri): boolean {
  return originalOf(uri) !== undefined
}

// comparisonOf returns the comparison whose newer side is a document.
export async function comparisonOf(projects: Projects, modified: vscode.Uri): Promise<Comparison | undefined> {
  const original = originalOf(modified)
  const subject = original && (await subjectOf(projects, original))
  if (!subject) return undefined
  return { ...subject, from: decodePlace(original.query).hash, to: modified.scheme === scheme ? decodePlace(modified.query).hash : "" }
}
