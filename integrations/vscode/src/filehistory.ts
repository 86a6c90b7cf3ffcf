// The checkpoints that changed one file: what the history view and the timeline show.
import * as vscode from "vscode"
import type { Checkpoint, Page } from "./api.ts"
import { isPlain } from "./pathtext.ts"
import type { Project, Projects } from "./projects.ts"
import { decodePlace, scheme } from "./uri.ts"
import { ago, authorOf, titleOf } from "./words.ts"

// Entry is one change of a file.
export interface Entry {
  kind: "entry"
  project: Project
  path: string
  checkpoint: Checkpoint
}

// Subject is a file whose history is shown.
export interface Subject {
  project: Project
  path: string
}

const pageSize = 50

// subjectOf returns the file of an editor: on disk, or as of a checkpoint.
export async function subjectOf(projects: Projects, uri: vscode.Uri): Promise<Subject | undefined> {
  if (uri.scheme !== scheme) return projects.at(uri)
  const place = decodePlace(uri.query)
  const project = (await projects.all()).find((p) => p.backend.root === place.root)
  return project && { project, path: place.path }
}

export async function entriesOf(subject: Subject, after?: string): Promise<{ entries: Entry[]; next?: string }> {
  if (subject.project.backend.kind === "program" && !isPlain(subject.path)) return { entries: [] }
  const page: Page = await subject.project.backend.log(subject.path, pageSize, after)
  return { entries: page.checkpoints.map((checkpoint) => ({ kind: "entry", ...subject, checkpoint })), next: page.next }
}

export function iconOf(c: Checkpoint): vscode.ThemeIcon {
  return new vscode.ThemeIcon(c.work ? "edit" : c.author === "user" ? "account" : "history")
}

type Node = Entry | { kind: "more"; subject: Subject; after: string }

// HistoryView shows the history of the file in the active editor.
export class HistoryView implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<Node | undefined>()
  readonly onDidChangeTreeData = this.changed.event
  private uri: vscode.Uri | undefined
  private pages: { entries: Entry[]; next?: string }[] = []
  view: vscode.TreeView<Node> | undefined

  constructor(
    private readonly projects: Projects,
    private readonly failed: (err: unknown) => void,
  ) {}

  // follow shows the file of a URI. Other documents, such as the output, leave the view as it is.
  follow(uri: vscode.Uri | undefined): void {
    if (!uri || (uri.scheme !== "file" && uri.scheme !== scheme)) return
    if (uri.toString() === this.uri?.toString()) return
    this.uri = uri
    this.refresh()
  }

  refresh(): void {
    this.pages = []
    this.changed.fire(undefined)
  }

  async more(node: { subject: Subject; after: string }): Promise<void> {
    this.pages.push(await entriesOf(node.subject, node.after))
    this.changed.fire(undefined)
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (node || !this.uri) return []
    try {
      const subject = await subjectOf(this.projects, this.uri)
      if (this.view) this.view.description = subject && subject.path.slice(subject.path.lastIndexOf("/") + 1)
      if (!subject) return []
      const pages = this.pages // refresh begins another list while this one is read
      if (pages.length === 0) {
        const first = await entriesOf(subject)
        if (pages.length === 0) pages.push(first)
      }
      const after = pages.at(-1)?.next
      const list: Node[] = pages.flatMap((p) => p.entries)
      return after === undefined ? list : [...list, { kind: "more", subject, after }]
    } catch (err) {
      this.failed(err)
      return []
    }
  }

  getTreeItem(node: Node): vscode.TreeItem {
    if (node.kind === "more") {
      const item = new vscode.TreeItem("Show more")
      item.command = { command: "cairn.moreHistory", title: "Show more", arguments: [node] }
      return item
    }
    const c = node.checkpoint
    const item = new vscode.TreeItem(titleOf(c))
    item.description = `${authorOf(c)} · ${ago(c.time)}`
    item.iconPath = iconOf(c)
    item.contextValue = "cairn.entry"
    item.tooltip = [c.work?.prompt ?? c.message, authorOf(c), new Date(c.time).toLocaleString(), c.id.slice(0, 12)]
      .filter(Boolean)
      .join("\n")
    item.command = { command: "cairn.openEntry", title: "Compare with This Checkpoint", arguments: [node] }
    return item
  }
}
